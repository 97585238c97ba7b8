#include "CKernels.h"
#include "variants.h"

// A table is looked up sample by sample: there is nothing for wider registers to gain.
#define CURVES(PROPORTIONAL)                                                                            \
  const size_t step = (size_t)channels;                                                                 \
  for (size_t c = 0; c < step; c++) {                                                                   \
    if (tables[c] == NULL) {                                                                            \
      for (size_t i = c; i < pixels * step; i += step) out[i] = PROPORTIONAL(in[i]);                    \
    }                                                                                                   \
  }                                                                                                     \
  if (step == 3 && tables[0] && tables[1] && tables[2]) {                                               \
    const __typeof__(*out) *const a = tables[0], *const b = tables[1], *const d = tables[2];            \
    for (size_t i = 0; i < pixels; i++, in += 3, out += 3) {                                            \
      out[0] = a[in[0]];                                                                                \
      out[1] = b[in[1]];                                                                                \
      out[2] = d[in[2]];                                                                                \
    }                                                                                                   \
    return;                                                                                             \
  }                                                                                                     \
  for (size_t c = 0; c < step; c++) {                                                                   \
    const __typeof__(*out) *const table = tables[c];                                                    \
    if (table == NULL) continue;                                                                        \
    for (size_t i = c; i < pixels * step; i += step) out[i] = table[in[i]];                             \
  }

#define WIDENED(V) (uint16_t)((V) * 257)
#define NARROWED(V) (uint8_t)(((uint32_t)(V) * 255 + 32767) / 65535)
#define SAME(V) (V)

void ck_curves_u8_u16(const uint8_t *in, int channels, size_t pixels, const uint16_t *const *tables, uint16_t *out) {
  CURVES(WIDENED)
}

void ck_curves_u16_u8(const uint16_t *in, int channels, size_t pixels, const uint8_t *const *tables, uint8_t *out) {
  CURVES(NARROWED)
}

void ck_curves_u16_u16(const uint16_t *in, int channels, size_t pixels, const uint16_t *const *tables, uint16_t *out) {
  CURVES(SAME)
}
