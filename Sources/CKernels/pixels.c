#include "CKernels.h"

#include <string.h>

#include "variants.h"

void ck_premultiply_u8(const uint8_t *in, int channels, size_t pixels, uint16_t *out) {
  const int alpha = channels - 1;
  for (size_t i = 0; i < pixels; i++, in += channels, out += channels) {
    for (int c = 0; c < alpha; c++) out[c] = (uint16_t)(in[c] * in[alpha]);
    out[alpha] = (uint16_t)(in[alpha] * 255);
  }
}

void ck_premultiply_u16(const uint16_t *in, int channels, size_t pixels, uint16_t *out) {
  const int alpha = channels - 1;
  for (size_t i = 0; i < pixels; i++, in += channels, out += channels) {
    for (int c = 0; c < alpha; c++) out[c] = (uint16_t)(((uint32_t)in[c] * in[alpha] + 32767) / 65535);
    out[alpha] = in[alpha];
  }
}

#define UNPREMULTIPLY(TYPE, MAXIMUM)                                                                       \
  const int alpha = channels - 1;                                                                          \
  for (size_t i = 0; i < pixels; i++, in += channels, out += channels) {                                   \
    const uint64_t coverage = in[alpha];                                                                   \
    for (int c = 0; c < alpha; c++) {                                                                      \
      const uint64_t value = coverage ? ((uint64_t)in[c] * MAXIMUM + coverage / 2) / coverage : 0;         \
      out[c] = (TYPE)(value > MAXIMUM ? MAXIMUM : value);                                                  \
    }                                                                                                      \
    out[alpha] = (TYPE)((coverage * MAXIMUM + full / 2) / full);                                           \
  }

void ck_unpremultiply_u8(const uint16_t *in, int channels, size_t pixels, uint32_t full, uint8_t *out) {
  UNPREMULTIPLY(uint8_t, 255u)
}

void ck_unpremultiply_u16(const uint16_t *in, int channels, size_t pixels, uint32_t full, uint16_t *out) {
  UNPREMULTIPLY(uint16_t, 65535u)
}

#define FLATTEN(TYPE, MAXIMUM)                                                                             \
  const int alpha = channels - 1;                                                                          \
  for (size_t i = 0; i < pixels; i++, in += channels, out += alpha) {                                      \
    const uint64_t rest = full - (in[alpha] < full ? in[alpha] : full);                                    \
    for (int c = 0; c < alpha; c++) {                                                                      \
      const uint64_t value = ((uint64_t)in[c] * MAXIMUM + rest * background[c] + full / 2) / full;         \
      out[c] = (TYPE)(value > MAXIMUM ? MAXIMUM : value);                                                  \
    }                                                                                                      \
  }

void ck_flatten_u8(const uint16_t *in, int channels, size_t pixels, uint32_t full, const uint8_t *background,
                   uint8_t *out) {
  FLATTEN(uint8_t, 255u)
}

void ck_flatten_u16(const uint16_t *in, int channels, size_t pixels, uint32_t full, const uint16_t *background,
                    uint16_t *out) {
  FLATTEN(uint16_t, 65535u)
}

#define MATRIX(TYPE)                                                                                            \
  const TYPE *const a = planes[0], *const b = planes[1], *const c = planes[2];                                  \
  const float *const m = matrix->matrix;                                                                        \
  const float oa = matrix->offset[0], ob = matrix->offset[1], oc = matrix->offset[2];                           \
  const float maximum = matrix->maximum, alpha_scale = matrix->alpha_scale;                                     \
  const size_t channels = alpha ? 4 : 3;                                                                        \
  for (size_t i = 0; i < pixels; i++) {                                                                         \
    const float va = (float)a[i] - oa, vb = (float)b[i] - ob, vc = (float)c[i] - oc;                            \
    for (size_t k = 0; k < 3; k++) {                                                                            \
      const float value = m[3 * k] * va + m[3 * k + 1] * vb + m[3 * k + 2] * vc;                                \
      out[i * channels + k] = (TYPE)((value < 0 ? 0 : value > maximum ? maximum : value) + 0.5f);               \
    }                                                                                                           \
    if (alpha) out[i * 4 + 3] = (TYPE)((float)alpha[i] * alpha_scale + 0.5f);                                   \
  }

CK_VARIANTS
void ck_matrix_u8(const uint8_t *const *planes, const uint8_t *alpha, size_t pixels, const ck_matrix *matrix,
                  uint8_t *out) {
  MATRIX(uint8_t)
}

CK_VARIANTS
void ck_matrix_u16(const uint16_t *const *planes, const uint16_t *alpha, size_t pixels, const ck_matrix *matrix,
                   uint16_t *out) {
  MATRIX(uint16_t)
}

#define INTERLEAVE                                                               \
  for (int c = 0; c < channels; c++)                                             \
    for (size_t i = 0; i < pixels; i++) out[i * (size_t)channels + (size_t)c] = planes[c][i];

void ck_interleave_u8(const uint8_t *const *planes, int channels, size_t pixels, uint8_t *out) { INTERLEAVE }

void ck_interleave_u16(const uint16_t *const *planes, int channels, size_t pixels, uint16_t *out) { INTERLEAVE }

CK_VARIANTS
void ck_cmyk_u8(const uint8_t *in, size_t pixels, int inverted, uint8_t *out) {
  const uint8_t flip = inverted ? 0 : 255;
  for (size_t i = 0; i < pixels; i++) {
    const uint32_t k = in[4 * i + 3] ^ flip;
    for (size_t c = 0; c < 3; c++) out[3 * i + c] = (uint8_t)(((in[4 * i + c] ^ flip) * k + 127) / 255);
  }
}
