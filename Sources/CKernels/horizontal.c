#include "CKernels.h"
#include "columns.h"
#include "variants.h"

// Samples `first` to `end` of CK_BATCH rows as columns.
CK_INLINE void float_columns(const float *rows, size_t stride, size_t first, size_t end, float *columns) {
  size_t x = first;
  for (; x + 4 <= end; x += 4, columns += 4 * CK_BATCH)
    ck_turn_ints((const uint8_t *)(rows + x), stride * sizeof *rows, columns);
  for (; x < end; x++, columns += CK_BATCH)
    for (size_t r = 0; r < CK_BATCH; r++) columns[r] = rows[r * stride + x];
}

CK_VARIANTS
void ck_columns_f32(const float *rows, size_t stride, size_t count, float *columns) {
  float_columns(rows, stride, 0, count, columns);
}

// Output samples gathered before they are turned back into rows.
enum { RUN = 64 };

#define SCATTER(TYPE)                                                                  \
  for (int r = 0; r < CK_BATCH; r++) {                                                 \
    TYPE *to = out + (size_t)r * stride + done;                                        \
    for (int i = 0; i < filled; i++) to[i] = gathered[i][r];                           \
  }

CK_INLINE void turn_uint8_t(uint8_t (*gathered)[CK_BATCH], uint8_t *out, size_t stride) {
  for (size_t i = 0; i < RUN; i += 32) ck_turn_bytes(gathered[i], out + i, stride);
}

CK_INLINE void turn_uint16_t(uint16_t (*gathered)[CK_BATCH], uint16_t *out, size_t stride) {
  for (size_t i = 0; i < RUN; i += 8) ck_turn_word_columns(gathered[i], out + i, stride);
}

#define GATHERED(TYPE)                            \
  if (++filled == RUN) {                          \
    turn_##TYPE(gathered, out + done, stride);    \
    done += RUN;                                  \
    filled = 0;                                   \
  }

// Filters channel `c` of output pixel `x` into `sums`.
#define FILTER                                                                                       \
  const float *taps = weights + (size_t)x * (size_t)axis.taps;                                       \
  const float *column = columns + (((size_t)axis.starts[x] - first) * step + (size_t)c) * CK_BATCH;  \
  float sums[CK_BATCH] = {0};                                                                        \
  for (int32_t k = 0; k < axis.taps; k++) {                                                          \
    for (int r = 0; r < CK_BATCH; r++) sums[r] += column[r] * taps[k];                               \
    column += step * CK_BATCH;                                                                       \
  }

#define HORIZONTAL(TYPE, PIXEL)                                                            \
  TYPE gathered[RUN][CK_BATCH];                                                            \
  const size_t step = (size_t)channels;                                                    \
  size_t done = 0;                                                                         \
  int filled = 0;                                                                          \
  for (int32_t x = 0; x < axis.count;) {                                                   \
    const int32_t end = ck_window_end(axis, x, capacity);                                  \
    const size_t first = (size_t)axis.starts[x];                                           \
    const size_t last = (size_t)axis.starts[end - 1] + (size_t)axis.taps;                  \
    float_columns(rows, row_stride, first * step, last * step, columns);                   \
    for (; x < end; x++) PIXEL                                                             \
  }                                                                                        \
  SCATTER(TYPE)

#define INDEPENDENT(TYPE)                                                                               \
  for (int c = 0; c < channels; c++) {                                                                  \
    FILTER                                                                                              \
    for (int r = 0; r < CK_BATCH; r++) {                                                                \
      const float value = sums[r] * scale + bias;                                                       \
      gathered[filled][r] = (TYPE)((value < 0 ? 0 : value > maximum ? maximum : value) + 0.5f);         \
    }                                                                                                   \
    GATHERED(TYPE)                                                                                      \
  }

#define PREMULTIPLIED                                                                              \
  {                                                                                                \
    float values[4][CK_BATCH];                                                                     \
    for (int c = 0; c < channels; c++) {                                                           \
      FILTER                                                                                       \
      for (int r = 0; r < CK_BATCH; r++) values[c][r] = sums[r] * scale;                           \
    }                                                                                              \
    for (int c = 0; c < channels; c++) {                                                           \
      for (int r = 0; r < CK_BATCH; r++)                                                           \
        gathered[filled][r] = ck_within_coverage(values[c][r], values[channels - 1][r], maximum);  \
      GATHERED(uint16_t)                                                                           \
    }                                                                                              \
  }

CK_VARIANTS
void ck_horizontal_premultiplied(const float *rows, size_t row_stride, int channels, ck_axis axis, const float *weights,
                                 float scale, float maximum, float *columns, size_t capacity, uint16_t *out,
                                 size_t stride) {
  HORIZONTAL(uint16_t, PREMULTIPLIED)
}

CK_VARIANTS
void ck_horizontal_f32_u8(const float *rows, size_t row_stride, int channels, ck_axis axis, const float *weights,
                          float scale, float bias, float *columns, size_t capacity, uint8_t *out, size_t stride) {
  const float maximum = 255;
  HORIZONTAL(uint8_t, INDEPENDENT(uint8_t))
}

CK_VARIANTS
void ck_horizontal_f32_u16(const float *rows, size_t row_stride, int channels, ck_axis axis, const float *weights,
                           float scale, float bias, float maximum, float *columns, size_t capacity, uint16_t *out,
                           size_t stride) {
  HORIZONTAL(uint16_t, INDEPENDENT(uint16_t))
}
