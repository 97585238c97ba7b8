#include "CKernels.h"
#include "variants.h"

// Eight columns at a time: each cache line written is then full.
enum { TILE = 8 };

#define COLUMNS(TYPE)                                                                  \
  size_t x = 0;                                                                        \
  for (; x + TILE <= count; x += TILE) {                                               \
    TYPE *out = columns + x * CK_BATCH;                                                \
    for (int r = 0; r < CK_BATCH; r++) {                                               \
      const TYPE *in = rows + (size_t)r * stride + x;                                  \
      for (int i = 0; i < TILE; i++) out[i * CK_BATCH + r] = in[i];                    \
    }                                                                                  \
  }                                                                                    \
  for (; x < count; x++)                                                               \
    for (int r = 0; r < CK_BATCH; r++) columns[x * CK_BATCH + (size_t)r] = rows[(size_t)r * stride + x];

CK_VARIANTS
void ck_columns_i16(const int16_t *rows, size_t stride, size_t count, int16_t *columns) { COLUMNS(int16_t) }

CK_VARIANTS
void ck_columns_f32(const float *rows, size_t stride, size_t count, float *columns) { COLUMNS(float) }

// Output samples gathered before they are turned back into rows.
enum { RUN = 64 };

#define SCATTER(TYPE)                                                                  \
  for (int r = 0; r < CK_BATCH; r++) {                                                 \
    TYPE *to = out + (size_t)r * stride + done;                                        \
    for (int i = 0; i < filled; i++) to[i] = gathered[i][r];                           \
  }

CK_VARIANTS
void ck_horizontal_u8(const int16_t *columns, int channels, ck_axis axis, const int16_t *weights, int32_t bias,
                      uint8_t *out, size_t stride) {
  const int shift = CK_WEIGHT_BITS + CK_ROW_BITS;
  uint8_t gathered[RUN][CK_BATCH];
  size_t done = 0;
  int filled = 0;
  for (int32_t x = 0; x < axis.count; x++) {
    const int16_t *taps = weights + (size_t)x * (size_t)axis.taps;
    for (int c = 0; c < channels; c++) {
      const int16_t *column = columns + ((size_t)axis.starts[x] * (size_t)channels + (size_t)c) * CK_BATCH;
      int32_t sums[CK_BATCH];
      for (int r = 0; r < CK_BATCH; r++) sums[r] = bias + (1 << (shift - 1));
      for (int32_t k = 0; k < axis.taps; k++) {
        for (int r = 0; r < CK_BATCH; r++) sums[r] += column[r] * taps[k];
        column += channels * CK_BATCH;
      }
      for (int r = 0; r < CK_BATCH; r++) {
        const int32_t value = sums[r] >> shift;
        gathered[filled][r] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
      }
      if (++filled == RUN) {
        SCATTER(uint8_t)
        done += RUN;
        filled = 0;
      }
    }
  }
  SCATTER(uint8_t)
}

#define HORIZONTAL_F32(TYPE)                                                                                 \
  TYPE gathered[RUN][CK_BATCH];                                                                              \
  size_t done = 0;                                                                                           \
  int filled = 0;                                                                                            \
  for (int32_t x = 0; x < axis.count; x++) {                                                                 \
    const float *taps = weights + (size_t)x * (size_t)axis.taps;                                             \
    for (int c = 0; c < channels; c++) {                                                                     \
      const float *column = columns + ((size_t)axis.starts[x] * (size_t)channels + (size_t)c) * CK_BATCH;    \
      float sums[CK_BATCH] = {0};                                                                            \
      for (int32_t k = 0; k < axis.taps; k++) {                                                              \
        for (int r = 0; r < CK_BATCH; r++) sums[r] += column[r] * taps[k];                                   \
        column += channels * CK_BATCH;                                                                       \
      }                                                                                                      \
      for (int r = 0; r < CK_BATCH; r++) {                                                                   \
        const float value = sums[r] * scale + bias;                                                          \
        gathered[filled][r] = (TYPE)((value < 0 ? 0 : value > maximum ? maximum : value) + 0.5f);            \
      }                                                                                                      \
      if (++filled == RUN) {                                                                                 \
        SCATTER(TYPE)                                                                                        \
        done += RUN;                                                                                         \
        filled = 0;                                                                                          \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  SCATTER(TYPE)

CK_VARIANTS
void ck_horizontal_premultiplied(const float *columns, int channels, ck_axis axis, const float *weights, float scale,
                                 float maximum, uint16_t *out, size_t stride) {
  uint16_t gathered[RUN][CK_BATCH];
  size_t done = 0;
  int filled = 0;
  for (int32_t x = 0; x < axis.count; x++) {
    const float *taps = weights + (size_t)x * (size_t)axis.taps;
    float values[4][CK_BATCH];
    for (int c = 0; c < channels; c++) {
      const float *column = columns + ((size_t)axis.starts[x] * (size_t)channels + (size_t)c) * CK_BATCH;
      float sums[CK_BATCH] = {0};
      for (int32_t k = 0; k < axis.taps; k++) {
        for (int r = 0; r < CK_BATCH; r++) sums[r] += column[r] * taps[k];
        column += channels * CK_BATCH;
      }
      for (int r = 0; r < CK_BATCH; r++) values[c][r] = sums[r] * scale;
    }
    for (int c = 0; c < channels; c++) {
      for (int r = 0; r < CK_BATCH; r++)
        gathered[filled][r] = ck_within_coverage(values[c][r], values[channels - 1][r], maximum);
      if (++filled == RUN) {
        SCATTER(uint16_t)
        done += RUN;
        filled = 0;
      }
    }
  }
  SCATTER(uint16_t)
}

CK_VARIANTS
void ck_horizontal_f32_u8(const float *columns, int channels, ck_axis axis, const float *weights, float scale,
                          float bias, uint8_t *out, size_t stride) {
  const float maximum = 255;
  HORIZONTAL_F32(uint8_t)
}

CK_VARIANTS
void ck_horizontal_f32_u16(const float *columns, int channels, ck_axis axis, const float *weights, float scale,
                           float bias, float maximum, uint16_t *out, size_t stride) {
  HORIZONTAL_F32(uint16_t)
}
