#include "isal.h"

#include "CPNG.h"

#if CPNG_BUILT_WITH_ISAL
#include <dlfcn.h>
#include <pthread.h>

static cpng_isal the_library;
static bool is_open;
static pthread_once_t open_once = PTHREAD_ONCE_INIT;

static void open_library(void) {
  // Never closed: another thread may be using it.
  void *const handle = dlopen("libisal.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return;
  *(void **)&the_library.inflate_init = dlsym(handle, "isal_inflate_init");
  *(void **)&the_library.inflate = dlsym(handle, "isal_inflate");
  *(void **)&the_library.crc32 = dlsym(handle, "crc32_gzip_refl");
  is_open = the_library.inflate_init && the_library.inflate && the_library.crc32;
}

const cpng_isal *cpng_get_isal(void) { return pthread_once(&open_once, open_library) == 0 && is_open ? &the_library : 0; }

bool cpng_has_isal(void) { return cpng_get_isal() != 0; }
#else
bool cpng_has_isal(void) { return false; }
#endif
