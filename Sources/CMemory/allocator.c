#define _GNU_SOURCE  // dl_iterate_phdr

#include "CMemory.h"

#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

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

/// Segments that are never written: all of their pages are those of the file.
static int release_segments(struct dl_phdr_info *object, size_t size, void *page_bytes) {
  (void)size;
  enum { most = 32 };
  const uintptr_t page = *(const uintptr_t *)page_bytes;
  uintptr_t starts[most], ends[most];
  int count = 0;
  // Where they are stands in a page that is given back too, and would come again with its neighbours.
  for (int i = 0; i < object->dlpi_phnum && count < most; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    const uintptr_t start = (uintptr_t)object->dlpi_addr + (uintptr_t)segment->p_vaddr;
    starts[count] = start / page * page;
    ends[count++] = (start + (uintptr_t)segment->p_memsz) / page * page;
  }
  for (int i = 0; i < count; i++) {
    // The vDSO has no file, and refuses. A failure costs memory, nothing else.
    if (ends[i] > starts[i]) (void)madvise((void *)starts[i], ends[i] - starts[i], MADV_DONTNEED);
  }
  return 0;
}

void cmemory_release_code(void) {
  const long bytes = sysconf(_SC_PAGESIZE);
  uintptr_t page = bytes > 0 ? (uintptr_t)bytes : 0;
  if (page > 0) dl_iterate_phdr(release_segments, &page);
}

void cmemory_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  cmemory_release_code();
}
