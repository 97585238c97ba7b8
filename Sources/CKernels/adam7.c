#include "CKernels.h"
#include "variants.h"

CK_INLINE int16_t saturated(int32_t value) {
  return (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

// Truncation rounds to the nearest where the number is positive.
CK_INLINE int32_t nearest(float value) {
  const float limited = value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value;
  return (int32_t)(limited + 32768.5f) - 32768;
}

// Columns written at a time: whole cache lines.
enum { PASS_TILE = 8 };

#define PASS_COLUMNS(FROM, TO)                                                                                \
  size_t x = 0;                                                                                               \
  for (; x + PASS_TILE <= count; x += PASS_TILE) {                                                            \
    TO *out = columns + x * CK_BATCH;                                                                         \
    for (int r = 0; r < CK_BATCH; r++) {                                                                      \
      const FROM *in = rows + (size_t)r * stride + x;                                                         \
      for (int i = 0; i < PASS_TILE; i++) out[i * CK_BATCH + r] = (TO)in[i];                                  \
    }                                                                                                         \
  }                                                                                                           \
  for (; x < count; x++)                                                                                      \
    for (int r = 0; r < CK_BATCH; r++) columns[x * CK_BATCH + (size_t)r] = (TO)rows[(size_t)r * stride + x];

CK_VARIANTS
void ck_columns_u8(const uint8_t *rows, size_t stride, size_t count, int16_t *columns) {
  PASS_COLUMNS(uint8_t, int16_t)
}

CK_VARIANTS
void ck_columns_u16(const uint16_t *rows, size_t stride, size_t count, float *columns) {
  PASS_COLUMNS(uint16_t, float)
}

// Output samples gathered before they are turned back into rows.
enum { PASS_RUN = 64 };

#define PASS_SCATTER(TYPE, ADDED)                                                      \
  for (int r = 0; r < rows; r++) {                                                     \
    TYPE *to = out + (size_t)r * stride + done;                                        \
    for (int i = 0; i < filled; i++) to[i] = ADDED(to[i], gathered[i][r]);             \
  }

#define PASS(SUM, WEIGHT, TYPE, VALUE, ADDED)                                                                         \
  TYPE gathered[PASS_RUN][CK_BATCH];                                                                                  \
  size_t done = 0;                                                                                                    \
  int filled = 0;                                                                                                     \
  const int32_t step = 1 << pass.shift;                                                                               \
  for (int32_t x = 0; x < axis.count; x++) {                                                                          \
    /* The pass's first column under the filter, and how many follow. */                                              \
    const int32_t before = axis.starts[x] - pass.first;                                                               \
    const int32_t first = before <= 0 ? 0 : (before + step - 1) >> pass.shift;                                        \
    const int32_t skipped = (first << pass.shift) - before;                                                           \
    const int32_t under = skipped < axis.taps ? (axis.taps - skipped + step - 1) >> pass.shift : 0;                   \
    const int32_t taps = under < pass.count - first ? under : pass.count - first;                                     \
    const size_t offset = (size_t)x * (size_t)axis.taps + (taps > 0 ? (size_t)skipped : 0);                           \
    for (int c = 0; c < channels; c++) {                                                                              \
      SUM sums[CK_BATCH] = {0};                                                                                       \
      for (int32_t k = 0; k < taps; k++) {                                                                            \
        const WEIGHT weight = weights[offset + ((size_t)k << pass.shift)];                                            \
        const __typeof__(*columns) *column =                                                                          \
            columns + ((size_t)(first + k) * (size_t)channels + (size_t)c) * CK_BATCH;                                \
        for (int r = 0; r < CK_BATCH; r++) sums[r] += column[r] * weight;                                             \
      }                                                                                                               \
      for (int r = 0; r < CK_BATCH; r++) gathered[filled][r] = VALUE(sums[r]);                                        \
      if (++filled == PASS_RUN) {                                                                                     \
        PASS_SCATTER(TYPE, ADDED)                                                                                     \
        done += PASS_RUN;                                                                                             \
        filled = 0;                                                                                                   \
      }                                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  PASS_SCATTER(TYPE, ADDED)

#define SUM_OF_WORDS(A, B) saturated((A) + (B))
#define SUM_OF_FLOATS(A, B) ((A) + (B))

CK_VARIANTS
void ck_pass_i16(const int16_t *columns, int channels, ck_axis axis, ck_pass pass, const int16_t *weights, int rows,
                 int16_t *out, size_t stride) {
  const int shift = CK_WEIGHT_BITS - CK_ROW_BITS;
#define ROUNDED(S) saturated(((S) + (1 << (shift - 1))) >> shift)
  PASS(int32_t, int16_t, int16_t, ROUNDED, SUM_OF_WORDS)
#undef ROUNDED
}

CK_VARIANTS
void ck_pass_f32_i16(const float *columns, int channels, ck_axis axis, ck_pass pass, const float *weights, float scale,
                     int rows, int16_t *out, size_t stride) {
#define SCALED(S) (int16_t)nearest((S) * scale)
  PASS(float, float, int16_t, SCALED, SUM_OF_WORDS)
#undef SCALED
}

CK_VARIANTS
void ck_pass_f32(const float *columns, int channels, ck_axis axis, ck_pass pass, const float *weights, int rows,
                 float *out, size_t stride) {
#define PLAIN(S) (S)
  PASS(float, float, float, PLAIN, SUM_OF_FLOATS)
#undef PLAIN
}

#define BOX_PASS                                                                                              \
  const size_t step = (size_t)1 << pass.shift;                                                                \
  const size_t end = (size_t)pass.first + (size_t)pass.count * step;                                          \
  size_t x = (size_t)pass.first;                                                                              \
  for (size_t box = x / factor; x < end; box++) {                                                             \
    float sum[4] = {0};                                                                                       \
    for (const size_t next = (box + 1) * factor; x < next && x < end; x += step, row += channels)             \
      for (int c = 0; c < channels; c++) sum[c] += (float)row[c];                                             \
    for (int c = 0; c < channels; c++) sums[box * (size_t)channels + (size_t)c] += sum[c];                    \
  }

CK_INLINE void box_u8(const uint8_t *row, int channels, ck_pass pass, size_t factor, float *sums) { BOX_PASS }

CK_INLINE void box_u16(const uint16_t *row, int channels, ck_pass pass, size_t factor, float *sums) { BOX_PASS }

// With a number that the compiler knows, the sums of a pixel's channels stay in registers.
#define BY_CHANNELS(BOX)                                   \
  switch (channels) {                                      \
    case 1: BOX(row, 1, pass, factor, sums); break;        \
    case 2: BOX(row, 2, pass, factor, sums); break;        \
    case 3: BOX(row, 3, pass, factor, sums); break;        \
    default: BOX(row, 4, pass, factor, sums); break;       \
  }

void ck_box_pass_u8(const uint8_t *row, int channels, ck_pass pass, size_t factor, float *sums) { BY_CHANNELS(box_u8) }

void ck_box_pass_u16(const uint16_t *row, int channels, ck_pass pass, size_t factor, float *sums) {
  BY_CHANNELS(box_u16)
}

// A strip's sums stay in registers over all taps.
enum { PASS_STRIP = 64 };

CK_VARIANTS
void ck_add_rows_i16(const int16_t *const *rows, const float *weights, int taps, int16_t *sums, size_t count) {
  size_t x = 0;
  for (; x + PASS_STRIP <= count; x += PASS_STRIP) {
    float strip[PASS_STRIP] = {0};
    for (int k = 0; k < taps; k++) {
      const int16_t *row = rows[k] + x;
      const float weight = weights[k];
      for (int i = 0; i < PASS_STRIP; i++) strip[i] += (float)row[i] * weight;
    }
    for (int i = 0; i < PASS_STRIP; i++) sums[x + (size_t)i] = saturated(sums[x + (size_t)i] + nearest(strip[i]));
  }
  for (; x < count; x++) {
    float sum = 0;
    for (int k = 0; k < taps; k++) sum += (float)rows[k][x] * weights[k];
    sums[x] = saturated(sums[x] + nearest(sum));
  }
}

CK_VARIANTS
void ck_add_rows_f32(const float *const *rows, const float *weights, int taps, float *sums, size_t count) {
  size_t x = 0;
  for (; x + PASS_STRIP <= count; x += PASS_STRIP) {
    float strip[PASS_STRIP] = {0};
    for (int k = 0; k < taps; k++) {
      const float *row = rows[k] + x;
      const float weight = weights[k];
      for (int i = 0; i < PASS_STRIP; i++) strip[i] += row[i] * weight;
    }
    for (int i = 0; i < PASS_STRIP; i++) sums[x + (size_t)i] += strip[i];
  }
  for (; x < count; x++) {
    float sum = 0;
    for (int k = 0; k < taps; k++) sum += rows[k][x] * weights[k];
    sums[x] += sum;
  }
}

#define FINISH(TYPE)                                                                                          \
  for (size_t i = 0; i < count; i++) {                                                                        \
    const float value = (float)sums[i] * scale + bias;                                                        \
    out[i] = (TYPE)((value < 0 ? 0 : value > maximum ? maximum : value) + 0.5f);                              \
  }

CK_VARIANTS
void ck_finish_i16_u8(const int16_t *sums, size_t count, float scale, float bias, float maximum, uint8_t *out) {
  FINISH(uint8_t)
}

CK_VARIANTS
void ck_finish_i16_u16(const int16_t *sums, size_t count, float scale, float bias, float maximum, uint16_t *out) {
  FINISH(uint16_t)
}

CK_VARIANTS
void ck_finish_f32_u16(const float *sums, size_t count, float scale, float bias, float maximum, uint16_t *out) {
  FINISH(uint16_t)
}

#define FINISH_PREMULTIPLIED                                                                                  \
  for (size_t i = 0; i < pixels; i++, sums += channels, out += channels) {                                    \
    const float coverage = (float)sums[channels - 1] * scale;                                                 \
    for (int c = 0; c < channels; c++) out[c] = ck_within_coverage((float)sums[c] * scale, coverage, maximum); \
  }

void ck_finish_premultiplied_i16(const int16_t *sums, int channels, size_t pixels, float scale, float maximum,
                                 uint16_t *out) {
  FINISH_PREMULTIPLIED
}

void ck_finish_premultiplied_f32(const float *sums, int channels, size_t pixels, float scale, float maximum,
                                 uint16_t *out) {
  FINISH_PREMULTIPLIED
}
