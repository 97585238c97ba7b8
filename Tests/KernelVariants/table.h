#ifndef KERNEL_VARIANTS_TABLE_H
#define KERNEL_VARIANTS_TABLE_H

#include "KernelVariants.h"

// All kernels by the names that they have where this is used.
#define KERNEL_TABLE(NAME)                                                                                            \
  {NAME, ck_vertical_u8, ck_vertical_u16, ck_shape_u8_u8, ck_shape_u8_u16, ck_shape_u16_u8,              \
   ck_shape_u16_u16, ck_columns_f32, ck_horizontal_u8, ck_horizontal_f32_u8,                                          \
   ck_horizontal_f32_u16, ck_box_add_u8, ck_box_add_u16, ck_box_mean, ck_premultiply_u8, ck_premultiply_u16,          \
   ck_unpremultiply_u8, ck_unpremultiply_u16, ck_flatten_u8, ck_matrix_u8, ck_matrix_u16, ck_interleave_u8,           \
   ck_interleave_u16, ck_cmyk_u8, ck_turn, ck_columns_u8, ck_columns_u16, ck_pass_i16, ck_pass_f32_i16, ck_pass_f32,  \
   ck_box_pass_u8, ck_box_pass_u16, ck_add_rows_i16, ck_add_rows_f32, ck_finish_i16_u8, ck_finish_i16_u16,            \
    ck_finish_f32_u16, ck_tone_u8, ck_tone_u16, ck_widen, ck_narrow, ck_horizontal_premultiplied, ck_mean_add_u8,      \
    ck_mean_add_u16, ck_finish_premultiplied_i16, ck_finish_premultiplied_f32, ck_flatten_u16, ck_curves_u8_u16,       \
    ck_curves_u16_u8, ck_curves_u16_u16}

extern const kernel_table kernels_baseline;
#if defined(__x86_64__)
extern const kernel_table kernels_avx2;
extern const kernel_table kernels_avx512;
#endif

#endif
