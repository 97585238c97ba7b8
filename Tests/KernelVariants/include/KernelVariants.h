/// The kernels of CKernels compiled again for one kind of processor each, so that a test can call every variant, not only the
/// one that the loader picked.
#ifndef KERNEL_VARIANTS_H
#define KERNEL_VARIANTS_H

#include "CKernels.h"

typedef struct {
  const char *name;
  __typeof__(ck_vertical_u8) *vertical_u8;
  __typeof__(ck_vertical_u16) *vertical_u16;
  __typeof__(ck_shape_u8_u8) *shape_u8_u8;
  __typeof__(ck_shape_u8_u16) *shape_u8_u16;
  __typeof__(ck_shape_u16_u8) *shape_u16_u8;
  __typeof__(ck_shape_u16_u16) *shape_u16_u16;
  __typeof__(ck_columns_f32) *columns_f32;
  __typeof__(ck_horizontal_u8) *horizontal_u8;
  __typeof__(ck_horizontal_f32_u8) *horizontal_f32_u8;
  __typeof__(ck_horizontal_f32_u16) *horizontal_f32_u16;
  __typeof__(ck_box_add_u8) *box_add_u8;
  __typeof__(ck_box_add_u16) *box_add_u16;
  __typeof__(ck_box_mean) *box_mean;
  __typeof__(ck_premultiply_u8) *premultiply_u8;
  __typeof__(ck_premultiply_u16) *premultiply_u16;
  __typeof__(ck_unpremultiply_u8) *unpremultiply_u8;
  __typeof__(ck_unpremultiply_u16) *unpremultiply_u16;
  __typeof__(ck_flatten_u8) *flatten_u8;
  __typeof__(ck_matrix_u8) *matrix_u8;
  __typeof__(ck_matrix_u16) *matrix_u16;
  __typeof__(ck_interleave_u8) *interleave_u8;
  __typeof__(ck_interleave_u16) *interleave_u16;
  __typeof__(ck_cmyk_u8) *cmyk_u8;
  __typeof__(ck_turn) *turn;
  __typeof__(ck_columns_u8) *columns_u8;
  __typeof__(ck_columns_u16) *columns_u16;
  __typeof__(ck_pass_i16) *pass_i16;
  __typeof__(ck_pass_f32_i16) *pass_f32_i16;
  __typeof__(ck_pass_f32) *pass_f32;
  __typeof__(ck_box_pass_u8) *box_pass_u8;
  __typeof__(ck_box_pass_u16) *box_pass_u16;
  __typeof__(ck_add_rows_i16) *add_rows_i16;
  __typeof__(ck_add_rows_f32) *add_rows_f32;
  __typeof__(ck_finish_i16_u8) *finish_i16_u8;
  __typeof__(ck_finish_i16_u16) *finish_i16_u16;
  __typeof__(ck_finish_f32_u16) *finish_f32_u16;
  __typeof__(ck_tone_u8) *tone_u8;
  __typeof__(ck_tone_u16) *tone_u16;
  __typeof__(ck_widen) *widen;
  __typeof__(ck_narrow) *narrow;
  __typeof__(ck_horizontal_premultiplied) *horizontal_premultiplied;
  __typeof__(ck_mean_add_u8) *mean_add_u8;
  __typeof__(ck_mean_add_u16) *mean_add_u16;
  __typeof__(ck_finish_premultiplied_i16) *finish_premultiplied_i16;
  __typeof__(ck_finish_premultiplied_f32) *finish_premultiplied_f32;
  __typeof__(ck_flatten_u16) *flatten_u16;
  __typeof__(ck_curves_u8_u16) *curves_u8_u16;
  __typeof__(ck_curves_u16_u8) *curves_u16_u8;
  __typeof__(ck_curves_u16_u16) *curves_u16_u16;
} kernel_table;

/// The variants that this processor can run, the one that ships (and picks for itself) first; NULL after the last.
const kernel_table *kernel_variant(int index);

#endif
