#ifndef CPNG_ISAL_H
#define CPNG_ISAL_H

/// ISA-L, which inflates twice as fast as zlib: its header where it is there at build time. The library is opened at first use.
#if __has_include(<isa-l/igzip_lib.h>) && __has_include(<isa-l/crc.h>)
#define CPNG_BUILT_WITH_ISAL 1
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

typedef struct {
  __typeof__(isal_inflate_init) *inflate_init;
  __typeof__(isal_inflate) *inflate;
  __typeof__(crc32_gzip_refl) *crc32;
} cpng_isal;

/// NULL where it cannot be opened or lacks one of these.
const cpng_isal *cpng_get_isal(void);
#else
#define CPNG_BUILT_WITH_ISAL 0
#endif

#endif
