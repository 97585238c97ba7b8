#ifndef CJPEG_VARIANTS_H
#define CJPEG_VARIANTS_H

#include "blocks.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define CJPEG_HAS_X86 1
#else
#define CJPEG_HAS_X86 0
#endif

// A block: a byte with a bit for each row (of 8 coefficients in natural order) that is not all zero; these rows' bytes, a bit for
// each coefficient that is not zero; for the kept ones of them half a byte each, -8 to 7, where 0 says that the value is
// too large and follows; these values, a byte each. Bit 0 of the first row stands for the first coefficient, which is not
// here: it is set when the large values are two bytes each.
enum { CJPEG_WIDE = 1 };

/// A row of blocks in four parts, so that four blocks can be unpacked at once: where a block ends is known only when it was
/// read. All parts but the last have `length` blocks.
enum { CJPEG_PARTS = 4 };
typedef struct {
  const uint8_t *starts[CJPEG_PARTS];
  size_t length;
} cjpeg_parts;

/// Packs blocks one after the other and adds the bits of what is not zero to `any`.
typedef uint8_t *cjpeg_packer(uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept, uint64_t *any);
typedef void cjpeg_unpacker(cjpeg_parts parts, cjpeg_block *blocks, size_t count, uint64_t kept);

/// One block, in plain C: also what the others use for blocks with values of two bytes.
uint8_t *cjpeg_pack_block(uint8_t *out, const int16_t *block, uint64_t kept, uint64_t *any);
const uint8_t *cjpeg_unpack_block(const uint8_t *in, int16_t *block, uint64_t kept);

#if CJPEG_HAS_X86
cjpeg_packer cjpeg_pack_avx2, cjpeg_pack_vbmi2;
cjpeg_unpacker cjpeg_unpack_avx2, cjpeg_unpack_vbmi2;
#endif

/// How many blocks there are in the part, which may be cut off by the row's end.
static inline size_t cjpeg_part_length(const cjpeg_parts *parts, size_t part, size_t count) {
  const size_t first = part * parts->length;
  return first >= count ? 0 : count - first < parts->length ? count - first : parts->length;
}

/// The body of an unpacker that has four blocks under way at once, by UNPACK(in, block, kept), which gives the block's end. No
/// function, since UNPACK is compiled for other processors than a shared one.
#define CJPEG_UNPACK_PARTS(UNPACK, PARTS, BLOCKS, COUNT, KEPT)                               \
  const size_t together = cjpeg_part_length(&(PARTS), CJPEG_PARTS - 1, COUNT);               \
  const uint8_t *in[CJPEG_PARTS];                                                            \
  memcpy(in, (PARTS).starts, sizeof in);                                                     \
  for (size_t i = 0; i < together; i++)                                                      \
    for (size_t part = 0; part < CJPEG_PARTS; part++)                                        \
      in[part] = UNPACK(in[part], (BLOCKS)[part * (PARTS).length + i], KEPT);                \
  for (size_t part = 0; part < CJPEG_PARTS; part++)                                          \
    for (size_t i = together; i < cjpeg_part_length(&(PARTS), part, COUNT); i++)             \
      in[part] = UNPACK(in[part], (BLOCKS)[part * (PARTS).length + i], KEPT);

#endif
