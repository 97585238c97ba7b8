#include "CMemory.h"

#include <malloc.h>

#ifdef __GLIBC__
bool cmemory_configure_allocator(void) {
  // Setting either threshold also turns off their growing by themselves, after which freed blocks of up to 32 MB would
  // stay in the heap. Below 128 KB, a mapping and its page faults cost more than they save.
  enum { arenas = 2, mapped_from = 128 << 10, trimmed_from = 256 << 10 };
  return mallopt(M_ARENA_MAX, arenas) == 1 && mallopt(M_MMAP_THRESHOLD, mapped_from) == 1 &&
         mallopt(M_TRIM_THRESHOLD, trimmed_from) == 1;
}
#else
bool cmemory_configure_allocator(void) { return false; }
#endif
