#include "CKernels.h"
#include "variants.h"

// Pixels at a time: tables are read sample by sample, what lies between is done on many.
enum { SHAPED = 64 };

CK_INLINE float byte_light(const float *table, uint8_t value) { return table[value]; }

CK_INLINE float nearest_light(const float *table, uint16_t value) { return table[(value + 4) >> 3]; }

CK_INLINE float word_light(const float *table, uint16_t value) {
  const float place = (float)value * ((float)CK_LIGHT_STEPS / 65535);
  const int whole = (int)place;
  const int index = whole < CK_LIGHT_STEPS ? whole : CK_LIGHT_STEPS - 1;
  return table[index] + (place - (float)index) * (table[index + 1] - table[index]);
}

CK_INLINE uint8_t byte_code(const ck_shaper *shaper, uint16_t place) { return shaper->bytes[place]; }

CK_INLINE uint16_t word_code(const ck_shaper *shaper, float place) {
  const int whole = (int)place;
  const int index = whole < CK_CODE_STEPS ? whole : CK_CODE_STEPS - 1;
  const float *const code = shaper->codes + index;
  return (uint16_t)(code[0] + (place - (float)index) * (code[1] - code[0]) + 0.5f);
}

#define SAME_ALPHA(V) (V)
#define WIDENED_ALPHA(V) (uint16_t)((V) * 257)
#define NARROWED_ALPHA(V) (uint8_t)(((V) + 128u) / 257)

#define SHAPE(LIGHT, PLACE, ROUNDING, CODE, ALPHA, STEP)                                                           \
  const size_t step = STEP;                                                                                        \
  float m[9], light[3][SHAPED] = {{0}};                                                                            \
  PLACE place[3][SHAPED];                                                                                          \
  for (int k = 0; k < 9; k++) m[k] = shaper->matrix[k] * (float)CK_CODE_STEPS;                                     \
  const float most = (float)CK_CODE_STEPS;                                                                         \
  for (size_t first = 0; first < pixels; first += SHAPED, in += SHAPED * step, out += SHAPED * step) {             \
    const size_t count = pixels - first < SHAPED ? pixels - first : SHAPED;                                        \
    for (size_t i = 0; i < count; i++) {                                                                           \
      light[0][i] = LIGHT(shaper->light[0], in[i * step]);                                                         \
      light[1][i] = LIGHT(shaper->light[1], in[i * step + 1]);                                                     \
      light[2][i] = LIGHT(shaper->light[2], in[i * step + 2]);                                                     \
    }                                                                                                              \
    for (size_t k = 0; k < 3; k++) {                                                                               \
      const float a = m[3 * k], b = m[3 * k + 1], c = m[3 * k + 2];                                                \
      for (size_t i = 0; i < SHAPED; i++) {                                                                        \
        const float value = a * light[0][i] + b * light[1][i] + c * light[2][i];                                   \
        place[k][i] = (PLACE)((value < 0 ? 0 : value > most ? most : value) + ROUNDING);                           \
      }                                                                                                            \
    }                                                                                                              \
    for (size_t i = 0; i < count; i++) {                                                                           \
      out[i * step] = CODE(shaper, place[0][i]);                                                                   \
      out[i * step + 1] = CODE(shaper, place[1][i]);                                                               \
      out[i * step + 2] = CODE(shaper, place[2][i]);                                                               \
      if (step == 4) out[i * 4 + 3] = ALPHA(in[i * 4 + 3]);                                                        \
    }                                                                                                              \
  }

// With a number of channels that the compiler knows.
#define SHAPES(NAME, FROM, TO, LIGHT, PLACE, ROUNDING, CODE, ALPHA)                                                \
  CK_INLINE void NAME##_3(const FROM *in, size_t pixels, const ck_shaper *shaper, TO *out) {                       \
    SHAPE(LIGHT, PLACE, ROUNDING, CODE, ALPHA, 3)                                                                  \
  }                                                                                                                \
  CK_INLINE void NAME##_4(const FROM *in, size_t pixels, const ck_shaper *shaper, TO *out) {                       \
    SHAPE(LIGHT, PLACE, ROUNDING, CODE, ALPHA, 4)                                                                  \
  }                                                                                                                \
  CK_VARIANTS                                                                                                      \
  void ck_##NAME(const FROM *in, int channels, size_t pixels, const ck_shaper *shaper, TO *out) {                  \
    if (channels == 4) {                                                                                           \
      NAME##_4(in, pixels, shaper, out);                                                                           \
    } else {                                                                                                       \
      NAME##_3(in, pixels, shaper, out);                                                                           \
    }                                                                                                              \
  }

SHAPES(shape_u8_u8, uint8_t, uint8_t, byte_light, uint16_t, 0.5f, byte_code, SAME_ALPHA)
SHAPES(shape_u8_u16, uint8_t, uint16_t, byte_light, float, 0, word_code, WIDENED_ALPHA)
SHAPES(shape_u16_u8, uint16_t, uint8_t, nearest_light, uint16_t, 0.5f, byte_code, NARROWED_ALPHA)
SHAPES(shape_u16_u16, uint16_t, uint16_t, word_light, float, 0, word_code, SAME_ALPHA)
