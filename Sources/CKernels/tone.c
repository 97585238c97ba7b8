#include "CKernels.h"

#include "variants.h"

// The value of a table of `steps` + 1 entries at x, 0 to 1, between two of them on a straight line.
CK_INLINE float look_up(const float *table, int steps, float x) {
  const float place = (x < 0 ? 0 : x > 1 ? 1 : x) * (float)steps;
  const int whole = (int)place;
  const int index = whole < steps ? whole : steps - 1;
  return table[index] + (place - (float)index) * (table[index + 1] - table[index]);
}

CK_INLINE float fourth_root(float x) { return __builtin_sqrtf(__builtin_sqrtf(x < 0 ? 0 : x)); }

CK_INLINE float larger(float a, float b) { return a > b ? a : b; }
CK_INLINE float smaller(float a, float b) { return a < b ? a : b; }

CK_INLINE float coded(const ck_tone *tone, float light) {
  return look_up(tone->code, CK_TONE_STEPS, __builtin_sqrtf(light < 0 ? 0 : light));
}

#define TONE(TYPE)                                                                                                 \
  const int has_alpha = channels == 2 || channels == 4;                                                            \
  const int colors = channels - has_alpha;                                                                         \
  const float *const m = tone->matrix, *const weights = tone->weights;                                             \
  const float maximum = tone->maximum;                                                                             \
  for (size_t i = 0; i < pixels; i++, in += channels, out += channels) {                                           \
    float c[3], result[3];                                                                                         \
    for (int k = 0; k < 3; k++)                                                                                    \
      c[k] = look_up(tone->light, CK_LIGHT_STEPS, (float)in[colors == 1 ? 0 : k] * (1.0f / 65535));                \
    if (tone->system) {                                                                                            \
      const float luminance = tone->luma[0] * c[0] + tone->luma[1] * c[1] + tone->luma[2] * c[2];                  \
      const float factor = look_up(tone->system, CK_TONE_STEPS, fourth_root(luminance));                           \
      for (int k = 0; k < 3; k++) c[k] *= factor;                                                                  \
    }                                                                                                              \
    const float brightest = larger(larger(c[0], c[1]), c[2]);                                                      \
    const float gain = look_up(tone->gain, CK_TONE_STEPS, fourth_root(brightest));                                 \
    for (int k = 0; k < 3; k++) c[k] *= gain;                                                                      \
    if (colors == 1) {                                                                                             \
      out[0] = (TYPE)(coded(tone, c[0]) * maximum + 0.5f);                                                         \
    } else {                                                                                                       \
      for (int k = 0; k < 3; k++) result[k] = m[3 * k] * c[0] + m[3 * k + 1] * c[1] + m[3 * k + 2] * c[2];         \
      /* Towards gray of the same luminance, until every channel is within 0 and 1. */                             \
      const float gray = smaller(weights[0] * result[0] + weights[1] * result[1] + weights[2] * result[2], 1);     \
      const float least = smaller(smaller(result[0], result[1]), result[2]);                                       \
      const float most = larger(larger(result[0], result[1]), result[2]);                                          \
      float kept = 1;                                                                                              \
      if (least < 0) kept = gray / (gray - least);                                                                 \
      if (most > 1) kept = smaller(kept, (1 - gray) / (most - gray));                                              \
      for (int k = 0; k < 3; k++)                                                                                  \
        out[k] = (TYPE)(coded(tone, gray + (result[k] - gray) * kept) * maximum + 0.5f);                           \
    }                                                                                                              \
    if (has_alpha) out[colors] = (TYPE)((float)in[colors] * (maximum * (1.0f / 65535)) + 0.5f);                    \
  }

CK_VARIANTS
void ck_tone_u8(const uint16_t *in, int channels, size_t pixels, const ck_tone *tone, uint8_t *out) { TONE(uint8_t) }

CK_VARIANTS
void ck_tone_u16(const uint16_t *in, int channels, size_t pixels, const ck_tone *tone, uint16_t *out) {
  TONE(uint16_t)
}

CK_VARIANTS
void ck_widen(const uint8_t *in, size_t count, uint16_t *out) {
  for (size_t i = 0; i < count; i++) out[i] = (uint16_t)(in[i] * 257);
}

CK_VARIANTS
void ck_narrow(const uint16_t *in, size_t count, uint8_t *out) {
  for (size_t i = 0; i < count; i++) out[i] = (uint8_t)((in[i] + 128u) / 257);
}
