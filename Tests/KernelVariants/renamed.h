// Included once by each variant, which defines CK_VARIANTS, VARIANT (the end of the names) and VARIANT_NAME: the kernels'
// sources under names of their own.
#include "table.h"

#define VARIANT_JOIN(NAME, END) NAME##_##END
#define VARIANT_RENAME(NAME, END) VARIANT_JOIN(NAME, END)
#define ck_vertical_u8 VARIANT_RENAME(vertical_u8, VARIANT)
#define ck_vertical_u16 VARIANT_RENAME(vertical_u16, VARIANT)
#define ck_shape_u8_u8 VARIANT_RENAME(shape_u8_u8, VARIANT)
#define ck_shape_u8_u16 VARIANT_RENAME(shape_u8_u16, VARIANT)
#define ck_shape_u16_u8 VARIANT_RENAME(shape_u16_u8, VARIANT)
#define ck_shape_u16_u16 VARIANT_RENAME(shape_u16_u16, VARIANT)
#define ck_columns_f32 VARIANT_RENAME(columns_f32, VARIANT)
#define ck_horizontal_u8 VARIANT_RENAME(horizontal_u8, VARIANT)
#define ck_horizontal_f32_u8 VARIANT_RENAME(horizontal_f32_u8, VARIANT)
#define ck_horizontal_f32_u16 VARIANT_RENAME(horizontal_f32_u16, VARIANT)
#define ck_box_add_u8 VARIANT_RENAME(box_add_u8, VARIANT)
#define ck_box_add_u16 VARIANT_RENAME(box_add_u16, VARIANT)
#define ck_box_mean VARIANT_RENAME(box_mean, VARIANT)
#define ck_premultiply_u8 VARIANT_RENAME(premultiply_u8, VARIANT)
#define ck_premultiply_u16 VARIANT_RENAME(premultiply_u16, VARIANT)
#define ck_unpremultiply_u8 VARIANT_RENAME(unpremultiply_u8, VARIANT)
#define ck_unpremultiply_u16 VARIANT_RENAME(unpremultiply_u16, VARIANT)
#define ck_flatten_u8 VARIANT_RENAME(flatten_u8, VARIANT)
#define ck_matrix_u8 VARIANT_RENAME(matrix_u8, VARIANT)
#define ck_matrix_u16 VARIANT_RENAME(matrix_u16, VARIANT)
#define ck_interleave_u8 VARIANT_RENAME(interleave_u8, VARIANT)
#define ck_interleave_u16 VARIANT_RENAME(interleave_u16, VARIANT)
#define ck_cmyk_u8 VARIANT_RENAME(cmyk_u8, VARIANT)
#define ck_turn VARIANT_RENAME(turn, VARIANT)
#define ck_columns_u8 VARIANT_RENAME(columns_u8, VARIANT)
#define ck_columns_u16 VARIANT_RENAME(columns_u16, VARIANT)
#define ck_pass_i16 VARIANT_RENAME(pass_i16, VARIANT)
#define ck_pass_f32_i16 VARIANT_RENAME(pass_f32_i16, VARIANT)
#define ck_pass_f32 VARIANT_RENAME(pass_f32, VARIANT)
#define ck_box_pass_u8 VARIANT_RENAME(box_pass_u8, VARIANT)
#define ck_box_pass_u16 VARIANT_RENAME(box_pass_u16, VARIANT)
#define ck_add_rows_i16 VARIANT_RENAME(add_rows_i16, VARIANT)
#define ck_add_rows_f32 VARIANT_RENAME(add_rows_f32, VARIANT)
#define ck_finish_i16_u8 VARIANT_RENAME(finish_i16_u8, VARIANT)
#define ck_finish_i16_u16 VARIANT_RENAME(finish_i16_u16, VARIANT)
#define ck_finish_f32_u16 VARIANT_RENAME(finish_f32_u16, VARIANT)
#define ck_tone_u8 VARIANT_RENAME(tone_u8, VARIANT)
#define ck_tone_u16 VARIANT_RENAME(tone_u16, VARIANT)
#define ck_widen VARIANT_RENAME(widen, VARIANT)
#define ck_narrow VARIANT_RENAME(narrow, VARIANT)
#define ck_horizontal_premultiplied VARIANT_RENAME(horizontal_premultiplied, VARIANT)
#define ck_mean_add_u8 VARIANT_RENAME(mean_add_u8, VARIANT)
#define ck_mean_add_u16 VARIANT_RENAME(mean_add_u16, VARIANT)
#define ck_finish_premultiplied_i16 VARIANT_RENAME(finish_premultiplied_i16, VARIANT)
#define ck_finish_premultiplied_f32 VARIANT_RENAME(finish_premultiplied_f32, VARIANT)
#define ck_flatten_u16 VARIANT_RENAME(flatten_u16, VARIANT)
#define ck_curves_u8_u16 VARIANT_RENAME(curves_u8_u16, VARIANT)
#define ck_curves_u16_u8 VARIANT_RENAME(curves_u16_u8, VARIANT)
#define ck_curves_u16_u16 VARIANT_RENAME(curves_u16_u16, VARIANT)

#include "../../Sources/CKernels/adam7.c"
#include "../../Sources/CKernels/curves.c"
#include "../../Sources/CKernels/fixed.c"
#include "../../Sources/CKernels/horizontal.c"
#include "../../Sources/CKernels/pixels.c"
#include "../../Sources/CKernels/shaper.c"
#include "../../Sources/CKernels/tone.c"
#include "../../Sources/CKernels/turn.c"
#include "../../Sources/CKernels/vertical.c"

const kernel_table VARIANT_RENAME(kernels, VARIANT) = KERNEL_TABLE(VARIANT_NAME);
