// memmem is a GNU function.
#define _GNU_SOURCE

#include "internal.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

cpic_heif_options cpic_heif_defaults(void) {
  return (cpic_heif_options){.codec = CPIC_HEVC,
                             .quality = 80,
                             .chroma = CPIC_CHROMA_420,
                             .bits = 8,
                             .full_range = true,
                             .primaries = 1,
                             .transfer = 13,
                             .matrix = 6,
                             .write_nclx = true,
                             .alpha = true,
                             .orientation = 1,
                             .threads = 1};
}

#if LIBHEIF_HAVE_VERSION(1, 19, 0)  // grids, overlays and properties of one's own can be written from then on

#include <libheif/heif_items.h>
#include <libheif/heif_properties.h>

bool cpic_has_heif(void) { return true; }

static void load_plugins(void) { heif_init(NULL); }

static void start_library(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_plugins);
}

static int check(struct heif_error error, const char *what) {
  return error.code == heif_error_Ok ? 0 : cpic_fail("libheif, %s: %s", what, error.message);
}

// MARK: Writing

typedef struct {
  const cpic_picture *picture;
  const cpic_heif_options *options;
  cpic_chroma chroma;
  bool alpha;
  double red_weight, blue_weight;  // of luma
  struct heif_context *context;
  struct heif_encoder *encoder;
  struct heif_encoding_options *encoding;
  struct heif_color_profile_nclx *nclx;
  heif_item_id main, alpha_grid, thumbnail;  // 0: none yet
} writer;

/// A part of the picture to encode; what lies outside repeats the edge.
typedef struct {
  int left, top, width, height;
} area;

/// One pixel as R, G, B and alpha of 0 to 1.
static void fetch(const writer *w, int x, int y, float out[4]) {
  const cpic_picture *picture = w->picture;
  if (x >= picture->width) x = picture->width - 1;
  if (y >= picture->height) y = picture->height - 1;
  int channels = picture->channels;
  size_t at = ((size_t)y * (size_t)picture->width + (size_t)x) * (size_t)channels;
  float value[4] = {0};
  for (int c = 0; c < channels; c++) {
    value[c] = picture->bits == 8 ? (float)((const uint8_t *)picture->samples)[at + (size_t)c] / 255.0f
                                  : (float)((const uint16_t *)picture->samples)[at + (size_t)c] / 65535.0f;
  }
  bool colour = channels >= 3;
  out[0] = value[0];
  out[1] = value[colour ? 1 : 0];
  out[2] = value[colour ? 2 : 0];
  out[3] = channels == 2 || channels == 4 ? value[channels - 1] : 1;
  if (w->options->premultiplied) {
    for (int c = 0; c < 3; c++) out[c] *= out[3];
  }
}

static float luma(const writer *w, const float rgb[4]) {
  if (w->options->matrix == 0) return rgb[1];
  float red = (float)w->red_weight, blue = (float)w->blue_weight;
  return red * rgb[0] + (1 - red - blue) * rgb[1] + blue * rgb[2];
}

static int quantise(float value, int bits, bool full_range, bool is_chroma) {
  float top = (float)((1 << bits) - 1), step = (float)(1 << (bits - 8)), result;
  if (full_range) {
    result = value * top + (is_chroma ? (float)(1 << (bits - 1)) : 0);
  } else {
    result = is_chroma ? (128 + 224 * value) * step : (16 + 219 * value) * step;
  }
  result = floorf(result + 0.5f);
  return (int)(result < 0 ? 0 : result > top ? top : result);
}

static void put(uint8_t *plane, int stride, int x, int y, int bits, int value) {
  uint8_t *row = plane + (size_t)y * (size_t)stride;
  if (bits > 8) {
    ((uint16_t *)row)[x] = (uint16_t)value;
  } else {
    row[x] = (uint8_t)value;
  }
}

static int add_plane(struct heif_image *image, enum heif_channel channel, int width, int height, int bits,
                     uint8_t **plane, int *stride) {
  if (check(heif_image_add_plane(image, channel, width, height, bits), "adding a plane")) return 1;
  *plane = heif_image_get_plane(image, channel, stride);
  return *plane ? 0 : cpic_fail("libheif gave no plane");
}

static int fill_luma(const writer *w, struct heif_image *image, area part, bool alpha_as_luma) {
  uint8_t *plane;
  int stride, bits = w->options->bits;
  if (add_plane(image, heif_channel_Y, part.width, part.height, bits, &plane, &stride)) return 1;
  for (int y = 0; y < part.height; y++) {
    for (int x = 0; x < part.width; x++) {
      float pixel[4];
      fetch(w, part.left + x, part.top + y, pixel);
      int value = alpha_as_luma ? quantise(pixel[3], bits, true, false)
                                : quantise(luma(w, pixel), bits, w->options->full_range, false);
      put(plane, stride, x, y, bits, value);
    }
  }
  return 0;
}

static int fill_chroma(const writer *w, struct heif_image *image, area part) {
  uint8_t *planes[2];
  int strides[2], bits = w->options->bits;
  int h = w->chroma == CPIC_CHROMA_444 ? 1 : 2, v = w->chroma == CPIC_CHROMA_420 ? 2 : 1;
  int width = (part.width + h - 1) / h, height = (part.height + v - 1) / v;
  if (add_plane(image, heif_channel_Cb, width, height, bits, &planes[0], &strides[0]) ||
      add_plane(image, heif_channel_Cr, width, height, bits, &planes[1], &strides[1])) {
    return 1;
  }
  bool is_rgb = w->options->matrix == 0, full = w->options->full_range;
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      // Sited left: a quarter of the column before, half of the column and a quarter of the one after.
      bool left = h == 2 && !w->options->centered_chroma;
      int first = left ? -1 : 0, across = left ? 3 : h;
      float mean[4] = {0};
      for (int i = 0; i < across * v; i++) {
        float pixel[4];
        int px = x * h + first + i % across, py = y * v + i / across;
        if (px < 0 && part.left == 0) px = 0;
        fetch(w, part.left + (px < part.width ? px : part.width - 1),
              part.top + (py < part.height ? py : part.height - 1), pixel);
        float weight = !left ? 1.0f / (float)h : i % across == 1 ? 0.5f : 0.25f;
        for (int c = 0; c < 3; c++) mean[c] += pixel[c] * weight / (float)v;
      }
      float light = luma(w, mean);
      float cb = is_rgb ? mean[2] : (mean[2] - light) / (2 * (1 - (float)w->blue_weight));
      float cr = is_rgb ? mean[0] : (mean[0] - light) / (2 * (1 - (float)w->red_weight));
      put(planes[0], strides[0], x, y, bits, quantise(cb, bits, full, !is_rgb));
      put(planes[1], strides[1], x, y, bits, quantise(cr, bits, full, !is_rgb));
    }
  }
  return 0;
}

static int fill_alpha(const writer *w, struct heif_image *image, area part) {
  uint8_t *plane;
  int stride, bits = w->options->bits;
  if (add_plane(image, heif_channel_Alpha, part.width, part.height, bits, &plane, &stride)) return 1;
  for (int y = 0; y < part.height; y++) {
    for (int x = 0; x < part.width; x++) {
      float pixel[4];
      fetch(w, part.left + x, part.top + y, pixel);
      put(plane, stride, x, y, bits, quantise(pixel[3], bits, true, false));
    }
  }
  if (w->options->premultiplied) heif_image_set_premultiplied_alpha(image, 1);
  return 0;
}

static int set_colour(const writer *w, struct heif_image *image) {
  if (w->options->write_nclx && check(heif_image_set_nclx_color_profile(image, w->nclx), "setting nclx")) return 1;
  const cpic_bytes *icc = &w->options->icc;
  if (icc->length == 0) return 0;
  return check(heif_image_set_raw_color_profile(image, "prof", icc->data, icc->length), "setting the ICC profile");
}

/// `alpha_as_luma` makes a monochrome picture of the alpha channel; else alpha goes along when `with_alpha`.
static int make_image(const writer *w, area part, bool with_alpha, bool alpha_as_luma, struct heif_image **out) {
  static const enum heif_chroma chromas[] = {heif_chroma_420, heif_chroma_422, heif_chroma_444,
                                             heif_chroma_monochrome};
  bool mono = alpha_as_luma || w->chroma == CPIC_CHROMA_MONO;
  *out = NULL;
  struct heif_image *image = NULL;
  if (check(heif_image_create(part.width, part.height, mono ? heif_colorspace_monochrome : heif_colorspace_YCbCr,
                              mono ? heif_chroma_monochrome : chromas[w->chroma], &image),
            "making a picture")) {
    return 1;
  }
  int status = fill_luma(w, image, part, alpha_as_luma);
  if (status == 0 && !mono) status = fill_chroma(w, image, part);
  if (status == 0 && with_alpha) status = fill_alpha(w, image, part);
  if (status == 0 && !alpha_as_luma) status = set_colour(w, image);
  if (status != 0) {
    heif_image_release(image);
    return status;
  }
  *out = image;
  return 0;
}

static int add_property(const writer *w, heif_item_id item, const char *type, const uint8_t *data, size_t length,
                        bool essential) {
  uint32_t code = heif_fourcc(type[0], type[1], type[2], type[3]);
  return check(heif_item_add_raw_property(w->context, item, code, NULL, data, length, essential, NULL),
               "adding a property");
}

static int add_crop(const writer *w, heif_item_id item, int width, int height) {
  const int *crop = w->options->crop;
  if (crop[0] == 0 && crop[1] == 0 && crop[2] == 0 && crop[3] == 0) return 0;
  int numbers[8] = {width - crop[0] - crop[2], 1, height - crop[1] - crop[3], 1,
                    crop[0] - crop[2],         2, crop[1] - crop[3],          2};
  cpic_buffer box = {0};
  bool failed = false;
  for (int i = 0; i < 8; i++) cpic_put32(&box, (uint32_t)numbers[i], true, &failed);
  int status = failed || add_property(w, item, "clap", box.bytes.data, box.bytes.length, true);
  cpic_bytes_free(&box.bytes);
  return status;
}

/// clap, irot and imir in the order that MIAF asks for. By hand, because the library's own orientation would come before
/// the crop, and does not reach grids.
static int add_transforms(const writer *w, heif_item_id item, int width, int height, bool with_crop) {
  static const uint8_t quarter_turns[9] = {0, 0, 0, 2, 0, 3, 3, 3, 1};  // counter-clockwise
  static const int8_t axes[9] = {-1, -1, 1, -1, 0, 1, -1, 0, -1};       // 0 top and bottom swap, 1 left and right
  int orientation = w->options->orientation;
  if (with_crop && add_crop(w, item, width, height)) return 1;
  if (quarter_turns[orientation] != 0 && add_property(w, item, "irot", &quarter_turns[orientation], 1, true)) return 1;
  if (axes[orientation] < 0) return 0;
  uint8_t axis = (uint8_t)axes[orientation];
  return add_property(w, item, "imir", &axis, 1, true);
}

/// The properties of colour, for the derived pictures that the library gives none.
static int add_colour(const writer *w, heif_item_id item) {
  const cpic_heif_options *o = w->options;
  int status = 0;
  if (o->icc.length > 0) {
    cpic_buffer box = {0};
    status = cpic_append(&box, "prof", 4) || cpic_append(&box, o->icc.data, o->icc.length) ||
             add_property(w, item, "colr", box.bytes.data, box.bytes.length, false);
    cpic_bytes_free(&box.bytes);
  }
  if (status == 0 && o->write_nclx && !o->stream_nclx_only) {
    uint8_t nclx[11] = {'n', 'c', 'l', 'x', (uint8_t)(o->primaries >> 8), (uint8_t)o->primaries,
                        (uint8_t)(o->transfer >> 8), (uint8_t)o->transfer, (uint8_t)(o->matrix >> 8),
                        (uint8_t)o->matrix, o->full_range ? 0x80 : 0};
    status = add_property(w, item, "colr", nclx, sizeof nclx, false);
  }
  return status;
}

static bool has_property(const writer *w, heif_item_id item, uint32_t type) {
  return heif_item_get_properties_of_type(w->context, item, (enum heif_item_property_type)type, NULL, 0) > 0;
}

/// clli and mdcv; the primaries of the display are those of BT.2020.
static int add_luminance(const writer *w, heif_item_id item) {
  static const unsigned chromaticities[8] = {8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450};
  const cpic_heif_options *o = w->options;
  cpic_buffer light = {0}, display = {0};
  bool failed = false;
  cpic_put16(&light, (unsigned)o->content_luminance, true, &failed);
  cpic_put16(&light, (unsigned)o->content_luminance / 2, true, &failed);
  for (int i = 0; i < 8; i++) cpic_put16(&display, chromaticities[i], true, &failed);
  cpic_put32(&display, (uint32_t)o->mastering_luminance * 10000, true, &failed);
  cpic_put32(&display, 50, true, &failed);
  int status = failed;
  if (status == 0 && o->content_luminance > 0) {
    status = add_property(w, item, "clli", light.bytes.data, light.bytes.length, false);
  }
  if (status == 0 && o->mastering_luminance > 0) {
    status = add_property(w, item, "mdcv", display.bytes.data, display.bytes.length, false);
  }
  cpic_bytes_free(&light.bytes);
  cpic_bytes_free(&display.bytes);
  return status;
}

static int encode_single(writer *w, struct heif_image_handle **out) {
  area whole = {0, 0, w->picture->width, w->picture->height};
  struct heif_image *image;
  if (make_image(w, whole, w->alpha, false, &image)) return 1;
  int status = check(heif_context_encode_image(w->context, image, w->encoder, w->encoding, out), "encoding");
  heif_image_release(image);
  return status;
}

static int encode_grid(writer *w, bool alpha, struct heif_image_handle **out) {
  const cpic_heif_options *o = w->options;
  int tile_width = o->tile_width, tile_height = o->tile_height > 0 ? o->tile_height : o->tile_width;
  int columns = (w->picture->width + tile_width - 1) / tile_width;
  int rows = (w->picture->height + tile_height - 1) / tile_height;
  if (columns > 256 || rows > 256) return cpic_fail("a grid of %d x %d tiles", columns, rows);
  if (check(heif_context_add_grid_image(w->context, (uint32_t)w->picture->width, (uint32_t)w->picture->height,
                                        (uint32_t)columns, (uint32_t)rows, w->encoding, out),
            "adding a grid")) {
    return 1;
  }
  for (int i = 0; i < columns * rows; i++) {
    area part = {i % columns * tile_width, i / columns * tile_height, tile_width, tile_height};
    struct heif_image *image;
    if (make_image(w, part, false, alpha, &image)) return 1;
    int status = check(heif_context_add_image_tile(w->context, *out, (uint32_t)(i % columns), (uint32_t)(i / columns),
                                                   image, w->encoder),
                       "adding a tile");
    heif_image_release(image);
    if (status != 0) return status;
  }
  heif_item_id item = heif_image_handle_get_item_id(*out);
  if (alpha || has_property(w, item, heif_fourcc('c', 'o', 'l', 'r'))) return 0;
  return add_colour(w, item);
}

/// The alpha of a grid is a grid of its own. The library cannot refer from one to the other, but to thumbnails: such a
/// reference is written, and set right in the finished file.
static int encode_alpha_grid(writer *w, const struct heif_image_handle *main) {
  static const char hevc[] = "\0\0\0\0urn:mpeg:hevc:2015:auxid:1";
  static const char av1[] = "\0\0\0\0urn:mpeg:mpegB:cicp:systems:auxiliary:alpha";
  bool is_hevc = w->options->codec == CPIC_HEVC;
  struct heif_image_handle *handle = NULL;
  int status = encode_grid(w, true, &handle);
  if (status == 0) {
    w->alpha_grid = heif_image_handle_get_item_id(handle);
    status = add_property(w, w->alpha_grid, "auxC", (const uint8_t *)(is_hevc ? hevc : av1),
                          is_hevc ? sizeof hevc : sizeof av1, true) ||
             add_transforms(w, w->alpha_grid, w->picture->width, w->picture->height, true) ||
             check(heif_context_assign_thumbnail(w->context, main, handle), "referring to the alpha picture");
  }
  if (handle) heif_image_handle_release(handle);
  return status;
}

/// The picture by picking pixels, `side` pixels at its longer side.
static cpic_picture *shrink(const cpic_picture *picture, int side) {
  int longer = picture->width > picture->height ? picture->width : picture->height;
  if (side >= longer) side = longer;
  int width = (int)((int64_t)picture->width * side / longer), height = (int)((int64_t)picture->height * side / longer);
  cpic_picture *out =
      cpic_create(width > 0 ? width : 1, height > 0 ? height : 1, picture->channels, picture->bits);
  if (!out) return NULL;
  for (int y = 0; y < out->height; y++) {
    for (int x = 0; x < out->width; x++) {
      int from_x = (int)((int64_t)x * picture->width / out->width);
      int from_y = (int)((int64_t)y * picture->height / out->height);
      for (int c = 0; c < out->channels; c++) cpic_set_sample(out, x, y, c, cpic_sample(picture, from_x, from_y, c));
    }
  }
  return out;
}

static int add_thumbnail(writer *w, const struct heif_image_handle *main) {
  cpic_picture *small = shrink(w->picture, w->options->thumbnail);
  if (!small) return 1;
  const cpic_picture *whole = w->picture;
  bool alpha = w->alpha;
  struct heif_image_handle *handle = NULL;
  w->picture = small;
  w->alpha = false;
  int status = encode_single(w, &handle);
  if (status == 0) {
    w->thumbnail = heif_image_handle_get_item_id(handle);
    status = add_transforms(w, w->thumbnail, small->width, small->height, false) ||
             check(heif_context_assign_thumbnail(w->context, main, handle), "adding the thumbnail");
  }
  if (handle) heif_image_handle_release(handle);
  w->picture = whole;
  w->alpha = alpha;
  cpic_free(small);
  return status;
}

/// Apple's auxiliary picture, or a derived item of the base and the map with nothing of its own in it.
static int add_gain_map(writer *w, heif_item_id main) {
  static const char apple[] = "\0\0\0\0urn:com:apple:photo:2020:aux:hdrgainmap";
  if (w->options->gain_map == CPIC_GAIN_MAP_NONE) return 0;
  struct heif_image_handle *handle = NULL;
  struct heif_image *image;
  area whole = {0, 0, w->picture->width, w->picture->height};
  if (make_image(w, whole, false, true, &image)) return 1;
  int status = check(heif_context_encode_image(w->context, image, w->encoder, w->encoding, &handle), "encoding");
  heif_image_release(image);
  if (status != 0) return status;
  heif_item_id map = heif_image_handle_get_item_id(handle), derived = 0;
  heif_image_handle_release(handle);
  if (w->options->gain_map == CPIC_GAIN_MAP_APPLE) {
    return add_property(w, map, "auxC", (const uint8_t *)apple, sizeof apple, true) ||
           check(heif_context_add_item_reference(w->context, heif_fourcc('a', 'u', 'x', 'l'), map, main),
                 "referring to the gain map");
  }
  const heif_item_id inputs[2] = {main, map};
  return check(heif_context_add_item(w->context, "tmap", "\0", 1, &derived), "adding a tone map") ||
         check(heif_context_add_item_references(w->context, heif_fourcc('d', 'i', 'm', 'g'), derived, inputs, 2),
               "referring to the gain map");
}

static int add_metadata(const writer *w, const struct heif_image_handle *main) {
  cpic_bytes exif, owned;
  if (cpic_choose_exif(&w->options->exif, w->options->exif_raw, &exif, &owned)) return 1;
  int status = 0;
  if (exif.length > 0) {
    status = check(heif_context_add_exif_metadata(w->context, main, exif.data, (int)exif.length), "adding EXIF");
  }
  const cpic_bytes *xmp = &w->options->xmp;
  if (status == 0 && xmp->length > 0) {
    status = check(heif_context_add_XMP_metadata(w->context, main, xmp->data, (int)xmp->length), "adding XMP");
  }
  cpic_bytes_free(&owned);
  return status;
}

static struct heif_error collect(struct heif_context *context, const void *data, size_t size, void *user) {
  (void)context;
  if (cpic_append(user, data, size)) {
    return (struct heif_error){heif_error_Memory_allocation_error, heif_suberror_Unspecified, "no memory"};
  }
  return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, "Success"};
}

/// Version 1.19 of the library writes a thumbnail reference with its two ends exchanged.
static int set_reference(cpic_bytes *file, const char *type, heif_item_id from, heif_item_id to) {
  const uint8_t right[10] = {'t', 'h', 'm', 'b', (uint8_t)(from >> 8), (uint8_t)from, 0, 1, (uint8_t)(to >> 8),
                             (uint8_t)to};
  const uint8_t wrong[10] = {'t', 'h', 'm', 'b', right[8], right[9], 0, 1, right[4], right[5]};
  uint8_t *at = memmem(file->data, file->length, right, sizeof right);
  if (!at) at = memmem(file->data, file->length, wrong, sizeof wrong);
  if (!at) return cpic_fail("the reference of item %u is not in the file", from);
  memcpy(at, right, sizeof right);
  memcpy(at, type, 4);
  return 0;
}

static int finish(const writer *w, cpic_bytes *out) {
  struct heif_writer sink = {.writer_api_version = 1, .write = collect};
  cpic_buffer file = {0};
  int status = check(heif_context_write(w->context, &sink, &file), "writing");
  if (status == 0 && w->alpha_grid != 0) status = set_reference(&file.bytes, "auxl", w->alpha_grid, w->main);
  if (status == 0 && w->thumbnail != 0) status = set_reference(&file.bytes, "thmb", w->thumbnail, w->main);
  if (status != 0) {
    cpic_bytes_free(&file.bytes);
    return status;
  }
  *out = file.bytes;
  return 0;
}

static int check_heif_options(const cpic_picture *picture, const cpic_heif_options *o, cpic_chroma chroma) {
  if (picture->cmyk) return cpic_fail("no HEIF of CMYK");
  if (o->bits != 8 && o->bits != 10 && o->bits != 12) return cpic_fail("no HEIF of %d bits", o->bits);
  if (o->orientation < 1 || o->orientation > 8) return cpic_fail("no orientation %d", o->orientation);
  if (o->quality < 0 || o->quality > 100) return cpic_fail("HEIF quality %d", o->quality);
  if (o->matrix == 0 && chroma != CPIC_CHROMA_444) return cpic_fail("matrix 0 needs chroma 444");
  if (o->tile_width < 0 || o->tile_height < 0 || (o->tile_width > 0 && o->tile_width < 64) || o->tile_width % 2 != 0 ||
      (o->tile_height > 0 && o->tile_height < 64) || o->tile_height % 2 != 0) {
    return cpic_fail("tiles of %d x %d", o->tile_width, o->tile_height);
  }
  if (o->premultiplied && o->tile_width > 0) return cpic_fail("no grid with premultiplied alpha");
  for (int i = 0; i < 4; i++) {
    if (o->crop[i] < 0) return cpic_fail("a negative crop");
  }
  if (o->crop[0] >= picture->width - o->crop[2] || o->crop[1] >= picture->height - o->crop[3]) {
    return cpic_fail("the crop leaves nothing");
  }
  return 0;
}

static int set_encoder(writer *w) {
  static const char *const chromas[] = {"420", "422", "444", "420"};
  const cpic_heif_options *o = w->options;
  bool is_hevc = o->codec == CPIC_HEVC;
  if (check(heif_context_get_encoder_for_format(w->context, is_hevc ? heif_compression_HEVC : heif_compression_AV1,
                                                &w->encoder),
            "finding an encoder") ||
      check(heif_encoder_set_lossy_quality(w->encoder, o->quality), "setting the quality") ||
      check(heif_encoder_set_lossless(w->encoder, o->lossless), "setting lossless") ||
      check(heif_encoder_set_parameter_string(w->encoder, "chroma", chromas[w->chroma]), "setting the chroma")) {
    return 1;
  }
  if (is_hevc) {
    char pools[12] = "none";
    if (o->threads > 1) snprintf(pools, sizeof pools, "%d", o->threads);
    return check(heif_encoder_set_parameter_string(w->encoder, "preset", "ultrafast"), "setting the preset") ||
           check(heif_encoder_set_parameter_string(w->encoder, "x265:pools", pools), "setting the threads");
  }
  return check(heif_encoder_set_parameter_integer(w->encoder, "speed", 9), "setting the speed") ||
         check(heif_encoder_set_parameter_integer(w->encoder, "threads", o->threads > 1 ? o->threads : 1),
               "setting the threads");
}

static int begin(writer *w, const cpic_picture *picture, const cpic_heif_options *options) {
  memset(w, 0, sizeof *w);
  w->picture = picture;
  w->options = options;
  w->chroma = picture->channels <= 2 ? CPIC_CHROMA_MONO : options->chroma;
  w->alpha = options->alpha && (picture->channels == 2 || picture->channels == 4);
  if (check_heif_options(picture, options, w->chroma)) return 1;
  switch (options->matrix) {
    case 0: break;
    case 1: w->red_weight = 0.2126, w->blue_weight = 0.0722; break;
    case 5:
    case 6: w->red_weight = 0.299, w->blue_weight = 0.114; break;
    case 9: w->red_weight = 0.2627, w->blue_weight = 0.0593; break;
    default: return cpic_fail("no matrix %d", options->matrix);
  }
  start_library();
  w->context = heif_context_alloc();
  w->encoding = heif_encoding_options_alloc();
  w->nclx = heif_nclx_color_profile_alloc();
  if (!w->context || !w->encoding || !w->nclx) return cpic_fail("no memory");
  w->nclx->color_primaries = (enum heif_color_primaries)options->primaries;
  w->nclx->transfer_characteristics = (enum heif_transfer_characteristics)options->transfer;
  w->nclx->matrix_coefficients = (enum heif_matrix_coefficients)options->matrix;
  w->nclx->full_range_flag = options->full_range;
  w->encoding->save_alpha_channel = 1;
  if (options->write_nclx && options->stream_nclx_only) {
    w->encoding->output_nclx_profile = w->nclx;
    w->encoding->macOS_compatibility_workaround_no_nclx_profile = 1;
  } else if (options->write_nclx) {
    w->encoding->output_nclx_profile = w->nclx;
    w->encoding->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
  } else {
    w->encoding->macOS_compatibility_workaround_no_nclx_profile = 1;
  }
  return set_encoder(w);
}

static void end(writer *w) {
  if (w->encoder) heif_encoder_release(w->encoder);
  if (w->nclx) heif_nclx_color_profile_free(w->nclx);
  if (w->encoding) heif_encoding_options_free(w->encoding);
  if (w->context) heif_context_free(w->context);
}

/// The library encodes alpha as the next item, which has to be turned like the picture itself.
static int transform_single(const writer *w, const struct heif_image_handle *main) {
  heif_item_id item = heif_image_handle_get_item_id(main), alpha = item + 1;
  if (add_transforms(w, item, w->picture->width, w->picture->height, true)) return 1;
  if (!w->alpha) return 0;
  if (!has_property(w, alpha, heif_fourcc('a', 'u', 'x', 'C'))) return cpic_fail("the alpha picture was not found");
  return add_transforms(w, alpha, w->picture->width, w->picture->height, true);
}

int cpic_encode_heif(const cpic_picture *picture, const cpic_heif_options *options, cpic_bytes *out) {
  *out = (cpic_bytes){0};
  writer w;
  struct heif_image_handle *main = NULL;
  int status = begin(&w, picture, options);
  if (status == 0 && options->tile_width > 0) {
    status = encode_grid(&w, false, &main) ||
             add_transforms(&w, heif_image_handle_get_item_id(main), picture->width, picture->height, true) ||
             (w.alpha && encode_alpha_grid(&w, main));
  } else if (status == 0) {
    status = encode_single(&w, &main) || transform_single(&w, main);
  }
  if (status == 0) {
    w.main = heif_image_handle_get_item_id(main);
    status = check(heif_context_set_primary_image(w.context, main), "setting the primary picture");
  }
  if (status == 0) status = add_luminance(&w, w.main) || add_gain_map(&w, w.main);
  if (status == 0 && options->thumbnail > 0) status = add_thumbnail(&w, main);
  if (status == 0) status = add_metadata(&w, main);
  if (status == 0) status = finish(&w, out);
  if (main) heif_image_handle_release(main);
  end(&w);
  return status;
}

int cpic_encode_heif_overlay(const cpic_picture *picture, int canvas_width, int canvas_height, int left, int top,
                             const cpic_heif_options *options, cpic_bytes *out) {
  static const uint16_t gray[4] = {0x8080, 0x8080, 0x8080, 0xffff};
  *out = (cpic_bytes){0};
  if (canvas_width < 1 || canvas_height < 1) return cpic_fail("a canvas of %d x %d", canvas_width, canvas_height);
  cpic_heif_options single = *options;
  single.alpha = false;
  memset(single.crop, 0, sizeof single.crop);
  writer w;
  struct heif_image_handle *part = NULL, *main = NULL;
  int status = begin(&w, picture, &single);
  if (status == 0) status = encode_single(&w, &part);
  if (status == 0) {
    heif_item_id item = heif_image_handle_get_item_id(part);
    int32_t offsets[2] = {left, top};
    status = check(heif_context_add_overlay_image(w.context, (uint32_t)canvas_width, (uint32_t)canvas_height, 1, &item,
                                                  offsets, gray, &main),
                   "adding an overlay");
  }
  if (status == 0) {
    heif_item_id item = heif_image_handle_get_item_id(main);
    bool coloured = has_property(&w, item, heif_fourcc('c', 'o', 'l', 'r'));
    status = (!coloured && add_colour(&w, item)) || add_transforms(&w, item, canvas_width, canvas_height, false) ||
             check(heif_context_set_primary_image(w.context, main), "setting the primary picture") ||
             add_metadata(&w, main);
  }
  if (status == 0) status = finish(&w, out);
  if (part) heif_image_handle_release(part);
  if (main) heif_image_handle_release(main);
  end(&w);
  return status;
}

int cpic_write_heif(const cpic_picture *picture, const cpic_heif_options *options, const char *path) {
  cpic_bytes bytes;
  return cpic_encode_heif(picture, options, &bytes) ? 1 : cpic_save_and_free(path, &bytes);
}

// MARK: Reading

static int read_exif(const struct heif_image_handle *main, heif_item_id item, cpic_info *info) {
  size_t size = heif_image_handle_get_metadata_size(main, item);
  if (size < 4 || info->exif.length > 0) return 0;
  uint8_t *block = malloc(size);
  if (!block) return cpic_fail("no memory");
  int status = check(heif_image_handle_get_metadata(main, item, block), "reading EXIF");
  // The item begins with the offset of the TIFF header from the end of that number.
  size_t start = status != 0 ? 0
                             : 4 + ((size_t)block[0] << 24 | (size_t)block[1] << 16 | (size_t)block[2] << 8 | block[3]);
  if (status == 0 && start < size) {
    cpic_buffer copy = {0};
    status = cpic_append(&copy, block + start, size - start);
    info->exif = copy.bytes;
    info->orientation = cpic_exif_orientation(block + start, size - start);
  }
  free(block);
  return status;
}

static int read_metadata(const struct heif_image_handle *main, cpic_info *info) {
  heif_item_id items[16];
  int count = heif_image_handle_get_list_of_metadata_block_IDs(main, NULL, items, 16);
  for (int i = 0; i < count; i++) {
    const char *type = heif_image_handle_get_metadata_type(main, items[i]);
    const char *content = heif_image_handle_get_metadata_content_type(main, items[i]);
    if (type && strcmp(type, "Exif") == 0) {
      if (read_exif(main, items[i], info)) return 1;
    } else if (content && strcmp(content, "application/rdf+xml") == 0) {
      info->has_xmp = true;
    }
  }
  return 0;
}

static int read_colour(const struct heif_image_handle *main, cpic_info *info) {
  size_t length = heif_image_handle_get_raw_color_profile_size(main);
  if (length > 0) {
    info->icc.data = malloc(length);
    if (!info->icc.data) return cpic_fail("no memory");
    info->icc.length = length;
    if (check(heif_image_handle_get_raw_color_profile(main, info->icc.data), "reading the ICC profile")) return 1;
  }
  struct heif_color_profile_nclx *nclx = NULL;
  if (heif_image_handle_get_nclx_color_profile(main, &nclx).code == heif_error_Ok && nclx) {
    info->has_nclx = true;
    info->primaries = (int)nclx->color_primaries;
    info->transfer = (int)nclx->transfer_characteristics;
    info->matrix = (int)nclx->matrix_coefficients;
    info->full_range = nclx->full_range_flag != 0;
    heif_nclx_color_profile_free(nclx);
  }
  return 0;
}

static int describe(struct heif_context *context, const struct heif_image_handle *main, cpic_info *info) {
  info->width = heif_image_handle_get_width(main);
  info->height = heif_image_handle_get_height(main);
  info->bits = heif_image_handle_get_luma_bits_per_pixel(main);
  info->has_alpha = heif_image_handle_has_alpha_channel(main) != 0;
  info->thumbnails = heif_image_handle_get_number_of_thumbnails(main);
  uint32_t type = heif_item_get_item_type(context, heif_image_handle_get_item_id(main));
  for (int i = 0; i < 4; i++) info->item_type[i] = (char)(type >> (24 - 8 * i));
  info->tile_columns = info->tile_rows = 1;
  struct heif_image_tiling tiling;
  if (strcmp(info->item_type, "grid") == 0 &&
      heif_image_handle_get_image_tiling(main, 0, &tiling).code == heif_error_Ok) {
    info->tile_columns = (int)tiling.num_columns;
    info->tile_rows = (int)tiling.num_rows;
  }
  enum heif_colorspace space;
  enum heif_chroma chroma = heif_chroma_undefined;
  if (check(heif_image_handle_get_preferred_decoding_colorspace(main, &space, &chroma), "asking for the chroma")) {
    return 1;
  }
  info->chroma = chroma == heif_chroma_420   ? CPIC_CHROMA_420
                 : chroma == heif_chroma_422 ? CPIC_CHROMA_422
                 : chroma == heif_chroma_monochrome ? CPIC_CHROMA_MONO
                                                    : CPIC_CHROMA_444;
  info->channels = (info->chroma == CPIC_CHROMA_MONO ? 1 : 3) + (info->has_alpha ? 1 : 0);
  return read_colour(main, info) || read_metadata(main, info);
}

static int read_pixels(const struct heif_image_handle *main, cpic_picture **picture, cpic_info *info) {
  int channels = info->has_alpha ? 4 : 3;
  struct heif_decoding_options *options = heif_decoding_options_alloc();
  if (!options) return cpic_fail("no memory");
  options->convert_hdr_to_8bit = 1;
  struct heif_image *image = NULL;
  int status = check(heif_decode_image(main, &image, heif_colorspace_RGB,
                                       channels == 4 ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB,
                                       options),
                     "decoding");
  heif_decoding_options_free(options);
  if (status != 0) return status;
  int stride;
  const uint8_t *plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
  int width = heif_image_get_width(image, heif_channel_interleaved);
  int height = heif_image_get_height(image, heif_channel_interleaved);
  *picture = plane ? cpic_create(width, height, channels, 8) : NULL;
  if (*picture) {
    size_t row = (size_t)width * (size_t)channels;
    for (int y = 0; y < height; y++) {
      memcpy((uint8_t *)(*picture)->samples + (size_t)y * row, plane + (size_t)y * (size_t)stride, row);
    }
  } else {
    status = plane ? 1 : cpic_fail("libheif gave no plane");
  }
  info->warnings = heif_image_get_decoding_warnings(image, 0, NULL, 0);
  heif_image_release(image);
  return status;
}

int cpic_decode_heif(const void *data, size_t length, cpic_picture **picture, cpic_info *info) {
  start_library();
  struct heif_context *context = heif_context_alloc();
  if (!context) return cpic_fail("no memory");
  struct heif_image_handle *main = NULL;
  int status = check(heif_context_read_from_memory_without_copy(context, data, length, NULL), "reading") ||
               check(heif_context_get_primary_image_handle(context, &main), "finding the primary picture") ||
               describe(context, main, info);
  if (status == 0 && picture) status = read_pixels(main, picture, info);
  if (main) heif_image_handle_release(main);
  heif_context_free(context);
  return status;
}

#else

bool cpic_has_heif(void) { return false; }

static int too_old(void) {
  return cpic_fail("this was built with libheif %s; HEIC and AVIF are made with 1.19 or newer", LIBHEIF_VERSION);
}

int cpic_encode_heif(const cpic_picture *picture, const cpic_heif_options *options, cpic_bytes *out) {
  (void)picture, (void)options;
  *out = (cpic_bytes){0};
  return too_old();
}

int cpic_encode_heif_overlay(const cpic_picture *picture, int canvas_width, int canvas_height, int left, int top,
                             const cpic_heif_options *options, cpic_bytes *out) {
  (void)canvas_width, (void)canvas_height, (void)left, (void)top;
  return cpic_encode_heif(picture, options, out);
}

int cpic_write_heif(const cpic_picture *picture, const cpic_heif_options *options, const char *path) {
  (void)picture, (void)options, (void)path;
  return too_old();
}

int cpic_decode_heif(const void *data, size_t length, cpic_picture **picture, cpic_info *info) {
  (void)data, (void)length, (void)picture, (void)info;
  return too_old();
}

#endif
