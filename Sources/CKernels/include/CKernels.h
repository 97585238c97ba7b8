/// The arithmetic of resampling and of colour on rows. Every function is pure: it touches only what it is given, allocates
/// nothing, and gives the same bytes in each of its variants (baseline, AVX2, AVX-512).
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stddef.h>
#include <stdint.h>

/// Output rows that the horizontal pass takes at a time: its vector lanes are rows.
enum { CK_BATCH = 16 };

/// Weights are fixed point with 14 bits of fraction; the rows between the two passes have 6.
enum { CK_WEIGHT_BITS = 14, CK_ROW_BITS = 6 };

/// out[i] = sum over k of rows[k][i] * weights[k], rounded to CK_ROW_BITS of fraction.
/// The absolute weights of one output row may sum to 2 at most.
void ck_vertical_u8(const uint8_t *const *rows, const int16_t *weights, int taps, int16_t *out, size_t count);

/// The same for 16-bit samples, in single precision.
void ck_vertical_u16(const uint16_t *const *rows, const float *weights, int taps, float *out, size_t count);

/// One axis of a resampling: output sample x is the weighted sum of `taps` source samples from starts[x] on, with the
/// weights from weights[x * taps] on. Every start + taps lies within the source row; starts never fall.
typedef struct {
  const int32_t *starts;
  int32_t taps;
  int32_t count;  // output samples
} ck_axis;

/// The horizontal pass over CK_BATCH rows, `row_stride` samples apart, of `count` pixels of `channels` (1 to 4) interleaved
/// samples. `bias` is added with CK_WEIGHT_BITS + CK_ROW_BITS of fraction; the result is rounded and clamped to 0...255. Output
/// row r begins at out + r * stride.
///
/// Starts and taps are even; what they reach beyond the row counts as 0. `columns` is room for `capacity` pixels (even, at
/// least `taps`) of all rows, which the kernel goes through the rows with.
void ck_horizontal_u8(const int16_t *rows, size_t row_stride, size_t count, int channels, ck_axis axis,
                      const int16_t *weights, int32_t bias, int16_t *columns, size_t capacity, uint8_t *out,
                      size_t stride);

/// In single precision: results are multiplied by `scale`, `bias` is added, then they are rounded and clamped to 0...maximum.
/// Strides are in samples. `columns` has room for `capacity` pixels, at least `taps`, of all rows.
void ck_horizontal_f32_u8(const float *rows, size_t row_stride, int channels, ck_axis axis, const float *weights,
                          float scale, float bias, float *columns, size_t capacity, uint8_t *out, size_t stride);
void ck_horizontal_f32_u16(const float *rows, size_t row_stride, int channels, ck_axis axis, const float *weights,
                           float scale, float bias, float maximum, float *columns, size_t capacity, uint16_t *out,
                           size_t stride);

/// Colour multiplied by alpha, the last of the `channels` (2 or 4): what filtering made of alpha beyond the maximum is taken
/// back from colour and alpha alike, so that the colour stays what it is, and colour is no more than alpha.
void ck_horizontal_premultiplied(const float *rows, size_t row_stride, int channels, ck_axis axis, const float *weights,
                                 float scale, float maximum, float *columns, size_t capacity, uint16_t *out,
                                 size_t stride);

/// Turns CK_BATCH rows of `count` samples, `stride` samples apart, into `count` columns of CK_BATCH samples.
void ck_columns_f32(const float *rows, size_t stride, size_t count, float *columns);

/// sums[i] += row[i] * weight.
void ck_mean_add_u8(const uint8_t *row, float weight, float *sums, size_t count);
void ck_mean_add_u16(const uint16_t *row, float weight, float *sums, size_t count);

/// sums[i] += row[i].
void ck_box_add_u8(const uint8_t *row, uint32_t *sums, size_t count);
void ck_box_add_u16(const uint16_t *row, uint32_t *sums, size_t count);

/// Ends one row of boxes: the mean of each `factor` pixels of `sums` (which hold `rows` rows, at most 256; factor is at most
/// 256 too), times `scale`, rounded. The last box may hold fewer pixels. out gets ceil(width / factor) pixels.
void ck_box_mean(const uint32_t *sums, size_t width, int channels, size_t factor, size_t rows, uint32_t scale,
                 uint16_t *out);

/// The pixels of a row that one pass of an interlaced picture brings, packed: first, first + 2^shift, ..., `count` of them.
typedef struct {
  int32_t first, shift, count;
} ck_pass;

/// As ck_columns_i16, from other kinds of samples.
void ck_columns_u8(const uint8_t *rows, size_t stride, size_t count, int16_t *columns);
void ck_columns_u16(const uint16_t *rows, size_t stride, size_t count, float *columns);

/// The horizontal pass over the columns of one pass alone: `axis` and `weights` are those of whole rows. Adds what it gives,
/// which no clamp has touched, to the first `rows` (at most CK_BATCH) of the output rows, `stride` samples apart. 16-bit sums
/// saturate: ck_pass_i16 adds with CK_ROW_BITS of fraction, ck_pass_f32_i16 what it has multiplied by `scale`.
void ck_pass_i16(const int16_t *columns, int channels, ck_axis axis, ck_pass pass, const int16_t *weights, int rows,
                 int16_t *out, size_t stride);
void ck_pass_f32_i16(const float *columns, int channels, ck_axis axis, ck_pass pass, const float *weights, float scale,
                     int rows, int16_t *out, size_t stride);
void ck_pass_f32(const float *columns, int channels, ck_axis axis, ck_pass pass, const float *weights, int rows,
                 float *out, size_t stride);

/// Adds each pixel of a pass, of 1 to 4 channels, to the sum of the box of `factor` (at most 256) pixels that it lies in. The
/// sums are exact.
void ck_box_pass_u8(const uint8_t *row, int channels, ck_pass pass, size_t factor, float *sums);
void ck_box_pass_u16(const uint16_t *row, int channels, ck_pass pass, size_t factor, float *sums);

/// sums[i] += sum over k of rows[k][i] * weights[k]; 16-bit sums are rounded once and saturate.
void ck_add_rows_i16(const int16_t *const *rows, const float *weights, int taps, int16_t *sums, size_t count);
void ck_add_rows_f32(const float *const *rows, const float *weights, int taps, float *sums, size_t count);

/// out[i] = sums[i] * scale + bias, rounded and clamped to 0...maximum.
void ck_finish_i16_u8(const int16_t *sums, size_t count, float scale, float bias, float maximum, uint8_t *out);
void ck_finish_i16_u16(const int16_t *sums, size_t count, float scale, float bias, float maximum, uint16_t *out);
void ck_finish_f32_u16(const float *sums, size_t count, float scale, float bias, float maximum, uint16_t *out);

/// The same for colour multiplied by alpha, as ck_horizontal_premultiplied.
void ck_finish_premultiplied_i16(const int16_t *sums, int channels, size_t pixels, float scale, float maximum,
                                 uint16_t *out);
void ck_finish_premultiplied_f32(const float *sums, int channels, size_t pixels, float scale, float maximum,
                                 uint16_t *out);

/// Colour times alpha, the last of the `channels` (2 or 4) samples a pixel. 8 bit becomes 16: colour * alpha, alpha * 255, so
/// that 65,025 is full. 16 bit stays 16: colour * alpha / 65,535, rounded.
void ck_premultiply_u8(const uint8_t *in, int channels, size_t pixels, uint16_t *out);
void ck_premultiply_u16(const uint16_t *in, int channels, size_t pixels, uint16_t *out);

/// Undoes it: `full` is the value of full coverage. Where alpha is 0 so is the colour.
void ck_unpremultiply_u8(const uint16_t *in, int channels, size_t pixels, uint32_t full, uint8_t *out);
void ck_unpremultiply_u16(const uint16_t *in, int channels, size_t pixels, uint32_t full, uint16_t *out);

/// Lays premultiplied pixels over a background (`channels` - 1 samples of the output's range) and drops alpha.
void ck_flatten_u8(const uint16_t *in, int channels, size_t pixels, uint32_t full, const uint8_t *background,
                   uint8_t *out);
void ck_flatten_u16(const uint16_t *in, int channels, size_t pixels, uint32_t full, const uint16_t *background,
                    uint16_t *out);

/// Each of the 1 to 4 interleaved channels by its table, which has an entry for every value of the input; where that is NULL,
/// in proportion to the ranges.
void ck_curves_u8_u16(const uint8_t *in, int channels, size_t pixels, const uint16_t *const *tables, uint16_t *out);
void ck_curves_u16_u8(const uint16_t *in, int channels, size_t pixels, const uint8_t *const *tables, uint8_t *out);
void ck_curves_u16_u16(const uint16_t *in, int channels, size_t pixels, const uint16_t *const *tables, uint16_t *out);

/// Three planes to interleaved pixels with a 3 x 3 matrix: out[i] = sum over j of m[3 i + j] * (plane j - offset[j]), rounded
/// and clamped to 0...maximum. An alpha plane, when not NULL, is copied times `alpha_scale`, as the fourth channel.
typedef struct {
  float matrix[9];
  float offset[3];
  float maximum;
  float alpha_scale;
} ck_matrix;
void ck_matrix_u8(const uint8_t *const *planes, const uint8_t *alpha, size_t pixels, const ck_matrix *matrix,
                  uint8_t *out);
void ck_matrix_u16(const uint16_t *const *planes, const uint16_t *alpha, size_t pixels, const ck_matrix *matrix,
                   uint16_t *out);

/// Planes side by side to interleaved pixels.
void ck_interleave_u8(const uint8_t *const *planes, int channels, size_t pixels, uint8_t *out);
void ck_interleave_u16(const uint16_t *const *planes, int channels, size_t pixels, uint16_t *out);

/// CMYK to RGB without a profile: R = (1 - C)(1 - K), likewise G and B. `inverted` says that 255 means no ink, as Adobe
/// writes it.
void ck_cmyk_u8(const uint8_t *in, size_t pixels, int inverted, uint8_t *out);

enum { CK_LIGHT_STEPS = 4096, CK_TONE_STEPS = 1024 };

/// How pixels of high dynamic range become those of a display. Tables have one entry more than steps, and are read on straight
/// lines between entries.
typedef struct {
  const float *light;   // CK_LIGHT_STEPS: by coded value of 0 to 1, its light, 0 to 1
  const float *system;  // CK_TONE_STEPS: by the fourth root of luminance, the factor of the system's own gamma; NULL for none
  float luma[3];        // the luminance of linear R, G, B of the input, for `system`
  const float *gain;    // CK_TONE_STEPS: by the fourth root of the brightest channel's light, the factor of all of them
  float matrix[9];      // linear R, G, B of the input to the output's
  float weights[3];     // the luminance of linear R, G, B of the output
  const float *code;    // CK_TONE_STEPS: by the square root of light, the output's coded value, 0 to 1
  float maximum;        // of the output: 255 or 65,535
} ck_tone;

/// Interleaved 16-bit pixels of 1 or 3 colours, and maybe alpha, which is only scaled. What the output's primaries cannot make
/// moves towards gray of the same luminance as far as it must.
void ck_tone_u8(const uint16_t *in, int channels, size_t pixels, const ck_tone *tone, uint8_t *out);
void ck_tone_u16(const uint16_t *in, int channels, size_t pixels, const ck_tone *tone, uint16_t *out);

enum { CK_CODE_STEPS = 16384, CK_WORD_LIGHTS = 8193 };

/// How pixels of one matrix profile become those of another.
typedef struct {
  // The light of R, G and B: of each 8-bit value; of every eighth 16-bit value, CK_WORD_LIGHTS of them, where the output has 8
  // bits, and the nearest is taken; else of CK_LIGHT_STEPS and one, read on straight lines.
  const float *light[3];
  float matrix[9];        // linear R, G, B of the input to the output's
  const float *codes;     // CK_CODE_STEPS and one: by light of 0 to 1, the 16-bit value; read on straight lines
  const uint8_t *bytes;   // CK_CODE_STEPS and one: the 8-bit value; the nearest is taken
} ck_shaper;

/// Interleaved pixels of 3 channels, or of 4, the last of which is alpha and only changes its depth. Light beyond 0 and 1 is
/// cut off.
void ck_shape_u8_u8(const uint8_t *in, int channels, size_t pixels, const ck_shaper *shaper, uint8_t *out);
void ck_shape_u8_u16(const uint8_t *in, int channels, size_t pixels, const ck_shaper *shaper, uint16_t *out);
void ck_shape_u16_u8(const uint16_t *in, int channels, size_t pixels, const ck_shaper *shaper, uint8_t *out);
void ck_shape_u16_u16(const uint16_t *in, int channels, size_t pixels, const ck_shaper *shaper, uint16_t *out);

/// 8-bit samples to 16 bits and back, rounded.
void ck_widen(const uint8_t *in, size_t count, uint16_t *out);
void ck_narrow(const uint16_t *in, size_t count, uint8_t *out);

/// Copies `count` rows, `stride` bytes apart, of `pixels` pixels of `bytes` bytes (1 to 8) so that pixel x of row r begins at
/// out + x * along + r * across: rows into columns, or, with a negative stride, back to front.
void ck_turn(const void *rows, size_t stride, size_t count, size_t pixels, size_t bytes, void *out, ptrdiff_t along,
             ptrdiff_t across);

#endif
