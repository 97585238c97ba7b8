#ifndef CJPEG_BLOCKS_H
#define CJPEG_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/// Rows of coefficient blocks, packed: see docs/coefficient-store.md for the format.
typedef int16_t cjpeg_block[64];

enum {
  CJPEG_PACKED_AC_MOST = 1 + 8 + 32 + 63 * 2,  // bytes of one block
  CJPEG_PACKED_AC_HEADER = 3 * 4,              // bytes before a row's blocks
  CJPEG_PACKED_DC_MOST = 3,
  CJPEG_PACKED_PADDING = 64,  // bytes past the end of packed data that packing may write and unpacking may read
};

/// Which code does the work: plain C, AVX2, or AVX-512 that compresses bytes; each is faster than those before it. All make
/// the same bytes.
typedef enum { CJPEG_BLOCKS_PLAIN, CJPEG_BLOCKS_AVX2, CJPEG_BLOCKS_VBMI2 } cjpeg_blocks_variant;

/// The best that this processor can run; it can run those before it, too.
cjpeg_blocks_variant cjpeg_blocks_best(void);

/// Packs all coefficients but the first of each block: those of `kept` (bit i: coefficient i in natural order) with their
/// values, of the others that they are not zero. Gives the end; `out` itself when all are zero.
uint8_t *cjpeg_pack_ac(cjpeg_blocks_variant variant, uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept);

/// Fills the blocks: what was not kept becomes 1 where it was not zero, the first coefficient becomes 0.
void cjpeg_unpack_ac(cjpeg_blocks_variant variant, const uint8_t *in, cjpeg_block *blocks, size_t count, uint64_t kept);

/// Packs the first coefficient of each block. Gives the end; `out` itself when all are zero.
uint8_t *cjpeg_pack_dc(uint8_t *out, const cjpeg_block *blocks, size_t count);

/// Sets the first coefficient of each block; the others are left alone.
void cjpeg_unpack_dc(const uint8_t *in, cjpeg_block *blocks, size_t count);

#endif
