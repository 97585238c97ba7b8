#include "CPacking.h"

#include "../../Sources/CJPEG/blocks.h"

bool packing_has_variant(int variant) { return variant >= 0 && variant <= (int)cjpeg_blocks_best(); }

size_t packing_most_bytes(size_t count) {
  return count * (CJPEG_PACKED_AC_MOST + CJPEG_PACKED_DC_MOST) + CJPEG_PACKED_PADDING;
}

size_t packing_pack_ac(int variant, uint8_t *out, const int16_t *blocks, size_t count, uint64_t kept) {
  return (size_t)(cjpeg_pack_ac((cjpeg_blocks_variant)variant, out, (const cjpeg_block *)blocks, count, kept) - out);
}

size_t packing_pack_dc(uint8_t *out, const int16_t *blocks, size_t count) {
  return (size_t)(cjpeg_pack_dc(out, (const cjpeg_block *)blocks, count) - out);
}

void packing_unpack_ac(int variant, const uint8_t *in, int16_t *blocks, size_t count, uint64_t kept) {
  cjpeg_unpack_ac((cjpeg_blocks_variant)variant, in, (cjpeg_block *)blocks, count, kept);
}

void packing_unpack_dc(const uint8_t *in, int16_t *blocks, size_t count) {
  cjpeg_unpack_dc(in, (cjpeg_block *)blocks, count);
}
