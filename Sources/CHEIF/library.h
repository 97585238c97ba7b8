/// libheif opened at run time: the table of its functions, and what every part of the wrapper shares.
#ifndef CHEIF_LIBRARY_H
#define CHEIF_LIBRARY_H

#include "CHEIF.h"

#include <libheif/heif.h>

#pragma GCC visibility push(hidden)

// The tile interface needs a structure that the headers of older versions do not declare.
#if LIBHEIF_NUMERIC_VERSION >= ((1 << 24) | (19 << 16))
#define CHEIF_BUILT_WITH_TILES 1
#else
#define CHEIF_BUILT_WITH_TILES 0
#endif

/// Functions that every libheif since 1.12 has. Typed by the header.
#define CHEIF_REQUIRED_FUNCTIONS(F) \
  F(heif_get_version)               \
  F(heif_have_decoder_for_format)   \
  F(heif_context_alloc)             \
  F(heif_context_free)              \
  F(heif_context_read_from_reader)  \
  F(heif_context_get_primary_image_ID)     \
  F(heif_context_is_top_level_image_ID)    \
  F(heif_context_get_list_of_top_level_image_IDs) \
  F(heif_context_get_image_handle)  \
  F(heif_image_handle_release)      \
  F(heif_image_handle_get_width)    \
  F(heif_image_handle_get_height)   \
  F(heif_image_handle_get_ispe_width)      \
  F(heif_image_handle_get_ispe_height)     \
  F(heif_image_handle_has_alpha_channel)   \
  F(heif_image_handle_get_luma_bits_per_pixel)           \
  F(heif_image_handle_get_chroma_bits_per_pixel)         \
  F(heif_image_handle_get_list_of_metadata_block_IDs)    \
  F(heif_image_handle_get_metadata_type)                 \
  F(heif_image_handle_get_metadata_content_type)         \
  F(heif_image_handle_get_metadata_size)                 \
  F(heif_image_handle_get_metadata)                      \
  F(heif_image_handle_get_number_of_auxiliary_images)    \
  F(heif_image_handle_get_list_of_auxiliary_image_IDs)   \
  F(heif_image_handle_get_auxiliary_type)                \
  F(heif_image_handle_free_auxiliary_types)              \
  F(heif_image_handle_get_auxiliary_image_handle)        \
  F(heif_image_handle_get_raw_color_profile_size)        \
  F(heif_image_handle_get_raw_color_profile)             \
  F(heif_image_handle_get_nclx_color_profile)            \
  F(heif_nclx_color_profile_free)   \
  F(heif_decoding_options_alloc)    \
  F(heif_decoding_options_free)     \
  F(heif_decode_image)              \
  F(heif_image_get_colorspace)      \
  F(heif_image_get_chroma_format)   \
  F(heif_image_get_width)           \
  F(heif_image_get_height)          \
  F(heif_image_get_bits_per_pixel)  \
  F(heif_image_get_bits_per_pixel_range) \
  F(heif_image_has_channel)         \
  F(heif_image_get_plane_readonly)  \
  F(heif_image_get_nclx_color_profile) \
  F(heif_image_release)

struct heif_plugin_info;

/// Functions that came later: NULL where the library at hand has none. Typed here, as the header may be older too.
#define CHEIF_OPTIONAL_FUNCTIONS(F)                                                                                 \
  F(struct heif_error, heif_init, (void *parameters))                                                               \
  F(struct heif_error, heif_load_plugin, (const char *path, const struct heif_plugin_info **plugin))                \
  F(const char *const *, heif_get_plugin_directories, (void))                                                       \
  F(void, heif_free_plugin_directories, (const char *const *directories))                                           \
  F(void, heif_context_set_max_decoding_threads, (struct heif_context *, int max_threads))                           \
  F(struct heif_error, heif_register_decoder_plugin, (const void *plugin))                                          \
  F(void *, heif_context_get_security_limits, (const struct heif_context *))                                        \
  F(int, heif_context_get_number_of_items, (const struct heif_context *))                                           \
  F(int, heif_context_get_list_of_item_IDs, (const struct heif_context *, heif_item_id *ids, int count))            \
  F(uint32_t, heif_item_get_item_type, (const struct heif_context *, heif_item_id))                                 \
  F(size_t, heif_context_get_item_references,                                                                       \
    (const struct heif_context *, heif_item_id, int index, uint32_t *type, heif_item_id **targets))                 \
  F(void, heif_release_item_references, (const struct heif_context *, heif_item_id **targets))                      \
  F(int, heif_image_handle_is_premultiplied_alpha, (const struct heif_image_handle *))                              \
  F(struct heif_error, heif_image_handle_get_preferred_decoding_colorspace,                                         \
    (const struct heif_image_handle *, enum heif_colorspace *, enum heif_chroma *))                                 \
  F(int, heif_image_handle_get_content_light_level, (const struct heif_image_handle *, void *level))                \
  F(int, heif_image_handle_get_mastering_display_colour_volume, (const struct heif_image_handle *, void *volume))   \
  F(int, heif_item_get_transformation_properties,                                                                   \
    (const struct heif_context *, heif_item_id, uint32_t *properties, int count))                                   \
  F(uint32_t, heif_item_get_property_type, (const struct heif_context *, heif_item_id, uint32_t property))          \
  F(int, heif_item_get_property_transform_mirror, (const struct heif_context *, heif_item_id, uint32_t property))   \
  F(int, heif_item_get_property_transform_rotation_ccw,                                                             \
    (const struct heif_context *, heif_item_id, uint32_t property))                                                 \
  F(void, heif_item_get_property_transform_crop_borders,                                                            \
    (const struct heif_context *, heif_item_id, uint32_t property, int width, int height, int *left, int *top,      \
     int *right, int *bottom))

#if CHEIF_BUILT_WITH_TILES
#define CHEIF_TILE_FUNCTIONS(F)               \
  F(heif_image_handle_get_image_tiling)       \
  F(heif_image_handle_get_grid_image_tile_id)
#else
#define CHEIF_TILE_FUNCTIONS(F)
#endif

typedef struct {
#define CHEIF_MEMBER(name) __typeof__(&name) name;
#define CHEIF_TYPED_MEMBER(result, name, parameters) result(*name) parameters;
  CHEIF_REQUIRED_FUNCTIONS(CHEIF_MEMBER)
  CHEIF_TILE_FUNCTIONS(CHEIF_MEMBER)
  CHEIF_OPTIONAL_FUNCTIONS(CHEIF_TYPED_MEMBER)
#undef CHEIF_MEMBER
#undef CHEIF_TYPED_MEMBER
  bool tiles;       // every tile function is there
  bool items;       // items can be listed and their types asked
  bool transforms;  // transformative properties can be asked
  bool catches;     // coded data can be had
  bool choose_plugins;  // heif_init loaded no plugin: we load those that are needed
} cheif_library;

/// The library, opened and initialised at the first call; NULL with `error` set when it cannot be had.
const cheif_library *cheif_get_library(cheif_error *error);

/// The decoder plugin that catches coded data (coded.c).
#define CHEIF_CATCHER_ID "downsample-catcher"

void cheif_register_catcher(cheif_library *library);

/// Loads the plugins that decode the items of the file. A plugin that is missing is no error here: decoding will tell.
void cheif_load_decoders(const cheif_library *library, const struct heif_context *context);

/// Loads one encoder's plugin, by the name within its file name, where heif_init loaded none.
void cheif_load_encoder(const char *plugin);

/// Whether cheif_load_encoder would find it. It is not opened.
bool cheif_finds_plugin(const char *name);

/// Marks the time spent inside libheif on this thread, for cheif_is_busy. Calls nest.
void cheif_enter(void);
void cheif_leave(void);

/// Fills `error` and gives the status.
cheif_status cheif_fail(cheif_error *error, cheif_status status, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/// As cheif_fail, from what libheif said. `codec` is the four-character code of what was being decoded, or "".
cheif_status cheif_fail_with(cheif_error *error, struct heif_error from, const char *codec);

#pragma GCC visibility pop
#endif
