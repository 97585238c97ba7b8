#include "CHEIFWriter.h"
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLANES = 4, ALPHA = 3, SIDE_STEP = 16, LEAST_TILE = 64, BLOCK = 65536, MOST_METADATA = 1 << 30 };

// Functions that every libheif since 1.12 has, typed by the header; then those of grids, since 1.19, typed here.
#define WRITER_FUNCTIONS(F)               \
  F(heif_have_encoder_for_format)         \
  F(heif_context_alloc)                   \
  F(heif_context_free)                    \
  F(heif_context_get_encoder_for_format)  \
  F(heif_context_encode_image)            \
  F(heif_context_set_primary_image)       \
  F(heif_context_add_exif_metadata)       \
  F(heif_context_add_XMP_metadata)        \
  F(heif_context_write)                   \
  F(heif_encoder_release)                 \
  F(heif_encoder_set_lossy_quality)       \
  F(heif_encoder_set_logging_level)       \
  F(heif_encoder_set_parameter)           \
  F(heif_encoding_options_alloc)          \
  F(heif_encoding_options_free)           \
  F(heif_nclx_color_profile_alloc)        \
  F(heif_nclx_color_profile_free)         \
  F(heif_image_create)                    \
  F(heif_image_add_plane)                 \
  F(heif_image_get_plane)                 \
  F(heif_image_set_nclx_color_profile)    \
  F(heif_image_set_raw_color_profile)     \
  F(heif_image_handle_release)            \
  F(heif_image_release)

#define GRID_FUNCTIONS(F)                                                                                             \
  F(struct heif_error, heif_context_add_grid_image,                                                                   \
    (struct heif_context *, uint32_t width, uint32_t height, uint32_t columns, uint32_t rows,                         \
     const struct heif_encoding_options *, struct heif_image_handle **))                                              \
  F(struct heif_error, heif_context_add_image_tile,                                                                   \
    (struct heif_context *, struct heif_image_handle *, uint32_t x, uint32_t y, const struct heif_image *,            \
     struct heif_encoder *))                                                                                          \
  F(heif_item_id, heif_image_handle_get_item_id, (const struct heif_image_handle *))                                  \
  F(struct heif_error, heif_item_add_raw_property,                                                                    \
    (const struct heif_context *, heif_item_id, uint32_t type, const uint8_t *uuid, const uint8_t *data, size_t size, \
     int is_essential, uint32_t *property))                                                                           \
  F(struct heif_error, heif_context_add_item_reference,                                                               \
    (struct heif_context *, uint32_t type, heif_item_id from, heif_item_id to))

typedef struct {
#define MEMBER(name) __typeof__(&name) name;
#define TYPED_MEMBER(result, name, parameters) result(*name) parameters;
  WRITER_FUNCTIONS(MEMBER)
  GRID_FUNCTIONS(TYPED_MEMBER)
#undef MEMBER
#undef TYPED_MEMBER
} writer_library;

static writer_library the_functions;
static bool found_all;
static pthread_once_t find_once = PTHREAD_ONCE_INIT;

static void find_functions(void) {
  void *handle = dlopen("libheif.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return;
  found_all = true;
#define FIND(name)                                          \
  *(void **)&the_functions.name = dlsym(handle, #name);     \
  found_all = found_all && the_functions.name != NULL;
#define FIND_TYPED(result, name, parameters) FIND(name)
  WRITER_FUNCTIONS(FIND)
  GRID_FUNCTIONS(FIND_TYPED)
#undef FIND
#undef FIND_TYPED
}

/// A tile's place in memory, libheif's own: what is written here is encoded without another copy of ours.
typedef struct {
  struct heif_image *color, *alpha;  // alpha is NULL where there is none or `color` holds it
  uint8_t *planes[MOST_PLANES];
  size_t strides[MOST_PLANES];
} tile;

struct cheif_writer {
  const writer_library *heif;
  cheif_sink sink;
  cheif_writer_settings settings;
  uint8_t *icc, *exif, *xmp;
  cheif_tiling tiling;
  struct heif_context *context;
  struct heif_encoder *encoder;
  struct heif_encoding_options *options;
  struct heif_color_profile_nclx *nclx;
  struct heif_image_handle *grid, *alpha_grid;
  struct heif_image_handle *single;    // the picture that is no grid, once it is encoded
  int plane_count;                     // of the coded picture without alpha: 1 or 3
  int h_shift, v_shift;                // of chroma
  uint32_t taken[MOST_PLANES];         // rows of the coded planes that have come
  tile **bands;                        // rows of tiles in use, the first that of row `first_band`
  size_t band_count;
  uint32_t first_band;
  uint8_t *scratch;                    // RGB rows: the row before, then rows of Y, Cb, Cr and alpha
  uint32_t rows_seen;                  // interleaved rows
  bool write_failed;
  cheif_error failure;
};

/// The plugin's name within its file name, and Debian's package.
static const struct {
  enum heif_compression_format format;
  const char *name, *plugin, *package;
} encoders[] = {
  [CHEIF_HEVC] = {heif_compression_HEVC, "HEVC (HEIC)", "x265", "libheif-plugin-x265"},
  [CHEIF_AV1] = {heif_compression_AV1, "AV1 (AVIF)", "aomenc", "libheif-plugin-aomenc"},
};

static uint32_t round_up(uint32_t value, uint32_t step) { return (value + step - 1) / step * step; }

static void tile_side(uint32_t length, uint32_t most, uint32_t *side, uint32_t *count) {
  *count = (length + most - 1) / most;
  const uint32_t even = round_up((length + *count - 1) / *count, SIDE_STEP);
  *side = even < LEAST_TILE ? LEAST_TILE : even;
}

cheif_tiling cheif_tiling_for(uint32_t width, uint32_t height, uint32_t most, cheif_coding coding) {
  // x265 wants even sides of 64 at least; libheif would add a clean aperture, which 1.19 itself crashes on where odd.
  const bool fits = coding == CHEIF_AV1 || (width % 2 == 0 && height % 2 == 0 && width >= 64 && height >= 64);
  cheif_tiling tiling = {.width = width, .height = height, .columns = 1, .rows = 1, .single = fits};
  if (width <= most && height <= most && fits) return tiling;
  tiling.single = false;
  tile_side(width, most, &tiling.width, &tiling.columns);
  tile_side(height, most, &tiling.height, &tiling.rows);
  return tiling;
}

static cheif_status fail(cheif_writer *writer, struct heif_error from, cheif_error *error) {
  const char *text = from.message != NULL && from.message[0] != 0 ? from.message : "no reason given";
  const cheif_status status =
    from.code == heif_error_Memory_allocation_error ? CHEIF_NO_MEMORY : CHEIF_FAULT;
  cheif_fail(&writer->failure, status, "libheif, encoding %s: %s", encoders[writer->settings.coding].name, text);
  if (error != NULL) *error = writer->failure;
  return status;
}

// MARK: The encoder

static cheif_status set(cheif_writer *writer, const char *name, const char *value, cheif_error *error) {
  const struct heif_error result = writer->heif->heif_encoder_set_parameter(writer->encoder, name, value);
  return result.code == heif_error_Ok ? CHEIF_OK : fail(writer, result, error);
}

// x265 is built for films. What only serves pictures that follow one another is off, and so are its threads: each would
// hold a set of buffers of its own, and their number would be the machine's.
static cheif_status set_x265(cheif_writer *writer, cheif_error *error) {
  static const char *presets[] = {"ultrafast", "ultrafast", "superfast", "faster", "fast",
                                  "medium",    "slow",      "slower",    "veryslow"};
  // Adaptive quantisation makes a table of 256 KB for each quantiser it uses, and a picture no better.
  static const char *fixed[][2] = {
    {"tune", "ssim"},         {"x265:pools", "none"},  {"x265:frame-threads", "1"},     {"x265:wpp", "0"},
    {"x265:aq-mode", "0"},    {"x265:keyint", "1"},    {"x265:lookahead-slices", "0"},  {"x265:rc-lookahead", "0"},
    {"x265:bframes", "0"},    {"x265:b-adapt", "0"},   {"x265:scenecut", "0"},          {"x265:cutree", "0"},
    {"x265:ref", "1"},
  };
  static const char *chromas[] = {[CHEIF_LAYOUT_MONOCHROME] = "420",
                                  [CHEIF_LAYOUT_420] = "420",
                                  [CHEIF_LAYOUT_422] = "422",
                                  [CHEIF_LAYOUT_444] = "444"};
  cheif_status status = set(writer, "preset", presets[writer->settings.effort - 1], error);
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0] && status == CHEIF_OK; i++)
    status = set(writer, fixed[i][0], fixed[i][1], error);
  if (status == CHEIF_OK) status = set(writer, "chroma", chromas[writer->settings.layout], error);
  return status;
}

// Copying blocks from elsewhere in the picture is off: to find them, libaom indexes every block of text and dithering, in
// 60 MB for a tile of 512 x 512.
static cheif_status set_aom(cheif_writer *writer, cheif_error *error) {
  static const char *speeds[] = {"9", "8", "7", "6", "5", "4", "3", "2", "1"};
  static const char *chromas[] = {[CHEIF_LAYOUT_MONOCHROME] = "420",
                                  [CHEIF_LAYOUT_420] = "420",
                                  [CHEIF_LAYOUT_422] = "422",
                                  [CHEIF_LAYOUT_444] = "444"};
  cheif_status status = set(writer, "speed", speeds[writer->settings.effort - 1], error);
  if (status == CHEIF_OK) status = set(writer, "threads", "1", error);
  if (status == CHEIF_OK) status = set(writer, "aom:enable-intrabc", "0", error);
  if (status == CHEIF_OK) status = set(writer, "chroma", chromas[writer->settings.layout], error);
  return status;
}

static cheif_status set_up_encoder(cheif_writer *writer, cheif_error *error) {
  const int coding = (int)writer->settings.coding;
  cheif_load_encoder(encoders[coding].plugin);
  if (!writer->heif->heif_have_encoder_for_format(encoders[coding].format)) {
    return cheif_fail(error, CHEIF_UNSUPPORTED, "this libheif has no encoder for %s: the package %s brings one",
                      encoders[coding].name, encoders[coding].package);
  }
  struct heif_error result =
    writer->heif->heif_context_get_encoder_for_format(writer->context, encoders[coding].format, &writer->encoder);
  if (result.code == heif_error_Ok) result = writer->heif->heif_encoder_set_logging_level(writer->encoder, 0);
  if (result.code == heif_error_Ok)
    result = writer->heif->heif_encoder_set_lossy_quality(writer->encoder, writer->settings.quality);
  if (result.code != heif_error_Ok) return fail(writer, result, error);
  return coding == CHEIF_HEVC ? set_x265(writer, error) : set_aom(writer, error);
}

static uint32_t code(const char *name) {
  const unsigned char *c = (const unsigned char *)name;
  return (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 | (uint32_t)c[2] << 8 | c[3];
}

// MARK: What the grid's own item says

static struct heif_error add_property(
  cheif_writer *writer, heif_item_id item, const char *type, const uint8_t *data, size_t size, bool essential
) {
  return writer->heif->heif_item_add_raw_property(writer->context, item, code(type), NULL, data, size, essential, NULL);
}

static struct heif_error add_colors(cheif_writer *writer, heif_item_id item) {
  uint8_t nclx[11] = {'n', 'c', 'l', 'x', 0, (uint8_t)writer->nclx->color_primaries,
                      0, (uint8_t)writer->nclx->transfer_characteristics,
                      0, (uint8_t)writer->nclx->matrix_coefficients, 0x80};
  struct heif_error result = add_property(writer, item, "colr", nclx, sizeof nclx, false);
  if (result.code != heif_error_Ok || writer->icc == NULL) return result;
  uint8_t *box = malloc(writer->settings.icc_bytes + 4);
  if (box == NULL) return (struct heif_error){.code = heif_error_Memory_allocation_error, .message = "ICC profile"};
  memcpy(box, "prof", 4);
  memcpy(box + 4, writer->icc, writer->settings.icc_bytes);
  result = add_property(writer, item, "colr", box, writer->settings.icc_bytes + 4, false);
  free(box);
  return result;
}

static struct heif_error add_alpha_grid(cheif_writer *writer) {
  static const uint8_t type[] = "\0\0\0\0urn:mpeg:mpegB:cicp:systems:auxiliary:alpha";
  struct heif_error result = writer->heif->heif_context_add_grid_image(
    writer->context, writer->settings.width, writer->settings.height, writer->tiling.columns, writer->tiling.rows,
    writer->options, &writer->alpha_grid);
  if (result.code != heif_error_Ok) return result;
  const heif_item_id item = writer->heif->heif_image_handle_get_item_id(writer->alpha_grid);
  result = add_property(writer, item, "auxC", type, sizeof type, true);
  if (result.code != heif_error_Ok) return result;
  return writer->heif->heif_context_add_item_reference(
    writer->context, code("auxl"), item, writer->heif->heif_image_handle_get_item_id(writer->grid));
}

static cheif_status add_grid(cheif_writer *writer, cheif_error *error) {
  struct heif_error result = writer->heif->heif_context_add_grid_image(
    writer->context, writer->settings.width, writer->settings.height, writer->tiling.columns, writer->tiling.rows,
    writer->options, &writer->grid);
  if (result.code != heif_error_Ok) return fail(writer, result, error);
  const heif_item_id item = writer->heif->heif_image_handle_get_item_id(writer->grid);
  result = writer->heif->heif_context_set_primary_image(writer->context, writer->grid);
  if (result.code == heif_error_Ok) result = add_colors(writer, item);
  if (result.code == heif_error_Ok && writer->settings.has_alpha) result = add_alpha_grid(writer);
  return result.code == heif_error_Ok ? CHEIF_OK : fail(writer, result, error);
}

// MARK: Opening

// In BT.601 and full range, as JPEG has it. Colours are those of the profile, else sRGB's.
static cheif_status set_color(cheif_writer *writer, cheif_error *error) {
  writer->nclx = writer->heif->heif_nclx_color_profile_alloc();
  writer->options = writer->heif->heif_encoding_options_alloc();
  if (writer->nclx == NULL || writer->options == NULL)
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for an encoder");
  const bool has_icc = writer->icc != NULL;
  writer->nclx->color_primaries = has_icc ? heif_color_primaries_unspecified : heif_color_primaries_ITU_R_BT_709_5;
  writer->nclx->transfer_characteristics =
    has_icc ? heif_transfer_characteristic_unspecified : heif_transfer_characteristic_IEC_61966_2_1;
  writer->nclx->matrix_coefficients = heif_matrix_coefficients_ITU_R_BT_601_6;
  writer->nclx->full_range_flag = 1;
  if (writer->options->version >= 3) writer->options->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
  return CHEIF_OK;
}

static bool copy(const uint8_t *from, size_t count, uint8_t **to) {
  if (count == 0) return true;
  *to = malloc(count);
  if (*to != NULL) memcpy(*to, from, count);
  return *to != NULL;
}

static cheif_status start(cheif_writer *writer, const cheif_writer_settings *settings, cheif_error *error) {
  writer->settings = *settings;
  writer->settings.icc = writer->settings.exif = writer->settings.xmp = NULL;
  if (!copy(settings->icc, settings->icc_bytes, &writer->icc) ||
      !copy(settings->exif, settings->exif_bytes, &writer->exif) ||
      !copy(settings->xmp, settings->xmp_bytes, &writer->xmp)) {
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for the ICC profile and metadata");
  }
  writer->plane_count = settings->layout == CHEIF_LAYOUT_MONOCHROME ? 1 : 3;
  writer->h_shift = settings->layout == CHEIF_LAYOUT_420 || settings->layout == CHEIF_LAYOUT_422;
  writer->v_shift = settings->layout == CHEIF_LAYOUT_420;
  writer->tiling = cheif_tiling_for(settings->width, settings->height, settings->tile, settings->coding);
  if (settings->rows != CHEIF_ROWS_YCBCR) {
    writer->scratch = malloc((size_t)settings->width * 8);
    if (writer->scratch == NULL) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for an encoder");
  }
  writer->context = writer->heif->heif_context_alloc();
  if (writer->context == NULL) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for an encoder");
  cheif_status status = set_up_encoder(writer, error);
  if (status == CHEIF_OK) status = set_color(writer, error);
  if (status == CHEIF_OK && !writer->tiling.single) status = add_grid(writer, error);
  return status;
}

static bool is_valid(const cheif_writer_settings *s) {
  const bool is_gray = s->layout == CHEIF_LAYOUT_MONOCHROME;
  return s->width > 0 && s->width <= 65535 && s->height > 0 && s->height <= 65535 && s->effort >= 1 && s->effort <= 9 &&
         s->quality >= 0 && s->quality <= 100 && s->tile >= LEAST_TILE && s->tile % SIDE_STEP == 0 &&
         s->exif_bytes <= MOST_METADATA && s->xmp_bytes <= MOST_METADATA && s->layout != CHEIF_LAYOUT_RGB && is_gray == (s->rows == CHEIF_ROWS_GRAY) &&
         !(s->has_alpha && s->rows == CHEIF_ROWS_YCBCR);
}

/// libheif is open, and what writing needs of it is there.
static bool can_write(void) { return pthread_once(&find_once, find_functions) == 0 && found_all; }

bool cheif_has_encoder(cheif_coding coding) {
  if (cheif_get_library(NULL) == NULL || !can_write()) return false;
  return the_functions.heif_have_encoder_for_format(encoders[coding].format) ||
         cheif_finds_plugin(encoders[coding].plugin);
}

cheif_writer *cheif_writer_create(cheif_sink sink, const cheif_writer_settings *settings, cheif_error *error) {
  if (!is_valid(settings)) {
    cheif_fail(error, CHEIF_FAULT, "settings that are no picture's");
    return NULL;
  }
  if (cheif_get_library(error) == NULL) return NULL;
  if (!can_write()) {
    cheif_fail(error, CHEIF_UNSUPPORTED, "the installed libheif is too old to write HEIC or AVIF: 1.19 or newer is needed");
    return NULL;
  }
  cheif_writer *writer = calloc(1, sizeof *writer);
  if (writer == NULL) {
    cheif_fail(error, CHEIF_NO_MEMORY, "no memory for an encoder");
    return NULL;
  }
  writer->heif = &the_functions;
  writer->sink = sink;
  if (start(writer, settings, error) != CHEIF_OK) {
    cheif_writer_discard(writer);
    return NULL;
  }
  return writer;
}

static void free_band(cheif_writer *writer, tile *band) {
  for (uint32_t i = 0; band != NULL && i < writer->tiling.columns; i++) {
    if (band[i].color != NULL) writer->heif->heif_image_release(band[i].color);
    if (band[i].alpha != NULL) writer->heif->heif_image_release(band[i].alpha);
  }
  free(band);
}

static void free_encoder(cheif_writer *writer) {
  for (size_t i = 0; i < writer->band_count; i++) free_band(writer, writer->bands[i]);
  writer->band_count = 0;
  if (writer->encoder != NULL) writer->heif->heif_encoder_release(writer->encoder);
  writer->encoder = NULL;
}

void cheif_writer_discard(cheif_writer *writer) {
  if (writer == NULL) return;
  free_encoder(writer);
  if (writer->single != NULL) writer->heif->heif_image_handle_release(writer->single);
  if (writer->grid != NULL) writer->heif->heif_image_handle_release(writer->grid);
  if (writer->alpha_grid != NULL) writer->heif->heif_image_handle_release(writer->alpha_grid);
  if (writer->options != NULL) writer->heif->heif_encoding_options_free(writer->options);
  if (writer->nclx != NULL) writer->heif->heif_nclx_color_profile_free(writer->nclx);
  if (writer->context != NULL) writer->heif->heif_context_free(writer->context);
  free(writer->bands);
  free(writer->scratch);
  free(writer->icc);
  free(writer->exif);
  free(writer->xmp);
  free(writer);
}

// MARK: Tiles

static bool is_chroma(int plane) { return plane == 1 || plane == 2; }

static uint32_t shifted(uint32_t length, int shift) { return (length + (1u << shift) - 1) >> shift; }

static uint32_t plane_width(const cheif_writer *writer, int plane, uint32_t width) {
  return shifted(width, is_chroma(plane) ? writer->h_shift : 0);
}

static uint32_t plane_height(const cheif_writer *writer, int plane, uint32_t height) {
  return shifted(height, is_chroma(plane) ? writer->v_shift : 0);
}

static struct heif_error make_plane(
  cheif_writer *writer, tile *tile, struct heif_image *image, int plane, enum heif_channel channel
) {
  const int width = (int)plane_width(writer, plane, writer->tiling.width);
  const int height = (int)plane_height(writer, plane, writer->tiling.height);
  struct heif_error result = writer->heif->heif_image_add_plane(image, channel, width, height, 8);
  if (result.code != heif_error_Ok) return result;
  int stride = 0;
  tile->planes[plane] = writer->heif->heif_image_get_plane(image, channel, &stride);
  tile->strides[plane] = (size_t)stride;
  if (tile->planes[plane] == NULL || stride < width)
    return (struct heif_error){.code = heif_error_Memory_allocation_error, .message = "no plane"};
  return result;
}

static struct heif_error make_tile(cheif_writer *writer, tile *tile) {
  static const enum heif_chroma chromas[] = {[CHEIF_LAYOUT_MONOCHROME] = heif_chroma_monochrome,
                                             [CHEIF_LAYOUT_420] = heif_chroma_420,
                                             [CHEIF_LAYOUT_422] = heif_chroma_422,
                                             [CHEIF_LAYOUT_444] = heif_chroma_444};
  static const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
  const writer_library *heif = writer->heif;
  const int width = (int)writer->tiling.width, height = (int)writer->tiling.height;
  struct heif_error result = heif->heif_image_create(
    width, height, writer->plane_count == 1 ? heif_colorspace_monochrome : heif_colorspace_YCbCr,
    chromas[writer->settings.layout], &tile->color);
  for (int i = 0; i < writer->plane_count && result.code == heif_error_Ok; i++)
    result = make_plane(writer, tile, tile->color, i, channels[i]);
  if (result.code == heif_error_Ok) result = heif->heif_image_set_nclx_color_profile(tile->color, writer->nclx);
  if (result.code == heif_error_Ok && writer->tiling.single && writer->icc != NULL)
    result = heif->heif_image_set_raw_color_profile(tile->color, "prof", writer->icc, writer->settings.icc_bytes);
  if (result.code != heif_error_Ok || !writer->settings.has_alpha) return result;
  if (writer->tiling.single) return make_plane(writer, tile, tile->color, ALPHA, heif_channel_Alpha);
  result = heif->heif_image_create(width, height, heif_colorspace_monochrome, heif_chroma_monochrome, &tile->alpha);
  if (result.code == heif_error_Ok) result = make_plane(writer, tile, tile->alpha, ALPHA, heif_channel_Y);
  return result;
}

static cheif_status add_band(cheif_writer *writer, cheif_error *error) {
  tile **bands = realloc(writer->bands, (writer->band_count + 1) * sizeof *bands);
  if (bands == NULL) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for tiles to encode");
  writer->bands = bands;
  tile *band = calloc(writer->tiling.columns, sizeof *band);
  if (band == NULL) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for tiles to encode");
  bands[writer->band_count++] = band;
  for (uint32_t i = 0; i < writer->tiling.columns; i++) {
    const struct heif_error result = make_tile(writer, &band[i]);
    if (result.code != heif_error_Ok) return fail(writer, result, error);
  }
  return CHEIF_OK;
}

static cheif_status encode_tile(cheif_writer *writer, tile *tile, uint32_t x, uint32_t y, cheif_error *error) {
  const writer_library *heif = writer->heif;
  struct heif_error result;
  if (writer->tiling.single) {
    result =
      heif->heif_context_encode_image(writer->context, tile->color, writer->encoder, writer->options, &writer->single);
  } else {
    result = heif->heif_context_add_image_tile(writer->context, writer->grid, x, y, tile->color, writer->encoder);
    if (result.code == heif_error_Ok && tile->alpha != NULL)
      result =
        heif->heif_context_add_image_tile(writer->context, writer->alpha_grid, x, y, tile->alpha, writer->encoder);
  }
  return result.code == heif_error_Ok ? CHEIF_OK : fail(writer, result, error);
}

// Encodes the first band when all of its rows have come; its tiles then serve for another band.
static cheif_status encode_ready(cheif_writer *writer, cheif_error *error) {
  while (writer->band_count > 0) {
    const uint64_t end = (uint64_t)(writer->first_band + 1) * writer->tiling.height;
    for (int p = 0; p < MOST_PLANES; p++) {
      if (writer->bands[0][0].planes[p] == NULL) continue;
      const uint64_t height = end < writer->settings.height ? end : writer->settings.height;
      if (writer->taken[p] < plane_height(writer, p, (uint32_t)height)) return CHEIF_OK;
    }
    tile *band = writer->bands[0];
    for (uint32_t x = 0; x < writer->tiling.columns; x++) {
      const cheif_status status = encode_tile(writer, &band[x], x, writer->first_band, error);
      if (status != CHEIF_OK) return status;
    }
    writer->first_band++;
    if (writer->first_band == writer->tiling.rows || writer->band_count > 1) {
      free_band(writer, band);
      writer->band_count--;
      memmove(writer->bands, writer->bands + 1, writer->band_count * sizeof *writer->bands);
    } else {
      return CHEIF_OK;
    }
  }
  return CHEIF_OK;
}

static void put_row(tile *band, const cheif_writer *writer, int plane, uint32_t y, const uint8_t *row) {
  const uint32_t width = plane_width(writer, plane, writer->settings.width);
  const uint32_t side = plane_width(writer, plane, writer->tiling.width);
  for (uint32_t x = 0; x < writer->tiling.columns; x++) {
    uint8_t *to = band[x].planes[plane] + y * band[x].strides[plane];
    const uint64_t from = (uint64_t)x * side;
    const uint32_t count = from >= width ? 0 : width - from < side ? (uint32_t)(width - from) : side;
    memcpy(to, row + (count > 0 ? from : 0), count);
    memset(to + count, row[width - 1], side - count);
  }
}

static cheif_status put(cheif_writer *writer, int plane, const uint8_t *row, cheif_error *error) {
  const uint32_t height = plane_height(writer, plane, writer->settings.height);
  const uint32_t side = plane_height(writer, plane, writer->tiling.height);
  uint32_t y = writer->taken[plane];
  if (y >= height) return cheif_fail(error, CHEIF_FAULT, "too many rows for plane %d", plane);
  const uint32_t index = y / side - writer->first_band;
  while (index >= writer->band_count) {
    const cheif_status status = add_band(writer, error);
    if (status != CHEIF_OK) return status;
  }
  put_row(writer->bands[index], writer, plane, y % side, row);
  writer->taken[plane] = ++y;
  // The last row is repeated to the end of the tiles.
  for (uint32_t end = y; y == height && end % side != 0; end++)
    put_row(writer->bands[index], writer, plane, end % side, row);
  return CHEIF_OK;
}

// MARK: Interleaved rows

// BT.601 (ITU-T T.871, 7), in 16 bits of fraction.
enum { R_Y = 19595, G_Y = 38470, B_Y = 7471, R_CB = 11056, G_CB = 21712, G_CR = 27440, B_CR = 5328, HALF = 32768 };

static uint8_t clamped(int32_t value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

static void make_luma(const uint8_t *rgb, size_t channels, size_t width, uint8_t *y) {
  for (size_t i = 0; i < width; i++) {
    const uint8_t *p = rgb + i * channels;
    y[i] = (uint8_t)((R_Y * p[0] + G_Y * p[1] + B_Y * p[2] + HALF) >> 16);
  }
}

// Chroma of the mean of two rows; two rows that are the same one are a single row. Halved across, it is sited on the left
// one of two columns, as readers of HEVC and AV1 take it to be: a quarter of the column before, half of it and a quarter of
// the column after.
static void make_chroma(
  const uint8_t *above, const uint8_t *below, size_t channels, size_t width, int h, uint8_t *cb, uint8_t *cr
) {
  const size_t count = (width + (1u << h) - 1) >> h;
  const int shift = 17 + 2 * h;
  const int32_t offset = (int32_t)((128u << shift) + (1u << (shift - 1)) - 1);
  for (size_t i = 0; i < count; i++) {
    const size_t x = i << h, next = x + 1 < width ? channels : 0, last = x > 0 ? channels : 0;
    const uint8_t *a = above + x * channels, *b = below + x * channels;
    int32_t r = a[0] + b[0], g = a[1] + b[1], bl = a[2] + b[2];
    if (h) {
      const uint8_t *a1 = a - last, *b1 = b - last, *a2 = a + next, *b2 = b + next;
      r = 2 * r + a1[0] + b1[0] + a2[0] + b2[0];
      g = 2 * g + a1[1] + b1[1] + a2[1] + b2[1];
      bl = 2 * bl + a1[2] + b1[2] + a2[2] + b2[2];
    }
    cb[i] = clamped((offset - R_CB * r - G_CB * g + HALF * bl) >> shift);
    cr[i] = clamped((offset + HALF * r - G_CR * g - B_CR * bl) >> shift);
  }
}

static cheif_status put_alpha(
  cheif_writer *writer, const uint8_t *row, size_t channels, uint8_t *scratch, cheif_error *error
) {
  if (!writer->settings.has_alpha) return CHEIF_OK;
  for (size_t i = 0; i < writer->settings.width; i++) scratch[i] = row[i * channels + channels - 1];
  return put(writer, ALPHA, scratch, error);
}

static cheif_status put_gray(cheif_writer *writer, const uint8_t *row, cheif_error *error) {
  if (!writer->settings.has_alpha) return put(writer, 0, row, error);
  for (size_t i = 0; i < writer->settings.width; i++) writer->scratch[i] = row[2 * i];
  const cheif_status status = put(writer, 0, writer->scratch, error);
  return status == CHEIF_OK ? put_alpha(writer, row, 2, writer->scratch, error) : status;
}

static cheif_status put_rgb(cheif_writer *writer, const uint8_t *row, cheif_error *error) {
  const size_t width = writer->settings.width, channels = writer->settings.has_alpha ? 4 : 3;
  uint8_t *before = writer->scratch, *line = before + width * 4;
  make_luma(row, channels, width, line);
  cheif_status status = put(writer, 0, line, error);
  if (status == CHEIF_OK) status = put_alpha(writer, row, channels, line, error);
  if (status != CHEIF_OK) return status;
  const uint32_t y = writer->rows_seen++;
  if (writer->v_shift && y % 2 == 0 && y + 1 < writer->settings.height) {
    memcpy(before, row, width * channels);
    return CHEIF_OK;
  }
  const uint8_t *above = writer->v_shift && y % 2 == 1 ? before : row;
  make_chroma(above, row, channels, width, writer->h_shift, line, line + width);
  status = put(writer, 1, line, error);
  return status == CHEIF_OK ? put(writer, 2, line + width, error) : status;
}

cheif_status cheif_write_row(cheif_writer *writer, int plane, const uint8_t *row, cheif_error *error) {
  cheif_status status = CHEIF_FAULT;
  switch (writer->settings.rows) {
    case CHEIF_ROWS_GRAY: status = put_gray(writer, row, error); break;
    case CHEIF_ROWS_RGB: status = put_rgb(writer, row, error); break;
    case CHEIF_ROWS_YCBCR: status = put(writer, plane, row, error); break;
  }
  return status == CHEIF_OK ? encode_ready(writer, error) : status;
}

// MARK: The file

static struct heif_error deliver(struct heif_context *context, const void *data, size_t size, void *user) {
  (void)context;
  cheif_writer *writer = user;
  const uint8_t *bytes = data;
  for (size_t done = 0; done < size && !writer->write_failed; done += BLOCK) {
    const size_t count = size - done < BLOCK ? size - done : BLOCK;
    writer->write_failed = writer->sink.write(writer->sink.context, bytes + done, count) != 0;
  }
  if (writer->write_failed)
    return (struct heif_error){.code = heif_error_Encoding_error, .message = "writing failed"};
  return (struct heif_error){.code = heif_error_Ok, .message = ""};
}

/// Tied to the picture by `cdsc`; before the EXIF goes the offset of its TIFF header, 0 (ISO/IEC 23008-12, A.2.1).
static cheif_status add_metadata(cheif_writer *writer, cheif_error *error) {
  const writer_library *heif = writer->heif;
  const struct heif_image_handle *picture = writer->single != NULL ? writer->single : writer->grid;
  struct heif_error result = {.code = heif_error_Ok};
  if (writer->exif != NULL) {
    result = heif->heif_context_add_exif_metadata(writer->context, picture, writer->exif,
                                                  (int)writer->settings.exif_bytes);
  }
  if (result.code == heif_error_Ok && writer->xmp != NULL) {
    result =
      heif->heif_context_add_XMP_metadata(writer->context, picture, writer->xmp, (int)writer->settings.xmp_bytes);
  }
  free(writer->exif);
  free(writer->xmp);
  writer->exif = writer->xmp = NULL;
  return result.code == heif_error_Ok ? CHEIF_OK : fail(writer, result, error);
}

cheif_status cheif_writer_finish(cheif_writer *writer, cheif_error *error) {
  if (writer->first_band != writer->tiling.rows) return cheif_fail(error, CHEIF_FAULT, "rows are missing");
  // libheif puts the whole file together in memory, beside the coded tiles.
  free_encoder(writer);
  const cheif_status status = add_metadata(writer, error);
  if (status != CHEIF_OK) return status;
  struct heif_writer callbacks = {.writer_api_version = 1, .write = deliver};
  const struct heif_error result = writer->heif->heif_context_write(writer->context, &callbacks, writer);
  if (writer->write_failed) return cheif_fail(error, CHEIF_READ_FAILED, "writing failed");
  return result.code == heif_error_Ok ? CHEIF_OK : fail(writer, result, error);
}
