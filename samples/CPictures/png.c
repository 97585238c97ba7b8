#include "internal.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

static void png_failed(png_structp library, png_const_charp text) {
  cpic_fail("libpng: %s", text);
  png_longjmp(library, 1);
}

// MARK: Writing

/// The nearest palette entries of colours met lately.
typedef struct {
  uint32_t colour;  // of 0x00RRGGBB; others: none
  uint8_t entry;
} nearest;

enum { nearest_slots = 4096 };

typedef struct {
  png_structp library;
  png_infop info;
  cpic_buffer out;
  FILE *file;                   // instead of `out`
  int width, height, channels;  // of the input
  const cpic_picture *picture;  // in the channels and, from 8 bits up, the depth of the file
  const cpic_scene *scene;      // instead of `picture`
  const cpic_png_options *options;
  int colour_type, bits;
  png_color palette[256];
  int palette_count;
  nearest cache[nearest_slots];
  cpic_bytes exif;
  cpic_buffer chunk;
  uint8_t *samples;  // a row of the scene
  uint8_t *row;
} encoder;

static void write_bytes(png_structp library, png_bytep data, size_t length) {
  encoder *e = png_get_io_ptr(library);
  if (e->file) {
    if (fwrite(data, 1, length, e->file) != length) png_error(library, strerror(errno));
  } else if (cpic_append(&e->out, data, length)) {
    png_error(library, cpic_message());
  }
}

static void flush_bytes(png_structp library) { (void)library; }

cpic_png_options cpic_png_defaults(void) {
  return (cpic_png_options){.colour_type = -1, .srgb_intent = -1, .compression = 3, .filter = 5};
}

void cpic_png_set_chromaticities(cpic_png_options *options, int kind) {
  static const double values[3][8] = {
      {0.3127, 0.3290, 0.640, 0.330, 0.300, 0.600, 0.150, 0.060},
      {0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060},
      {0.3127, 0.3290, 0.640, 0.330, 0.210, 0.710, 0.150, 0.060},
  };
  if (kind < 0 || kind > 2) return;
  options->has_chromaticities = true;
  memcpy(options->chromaticities, values[kind], sizeof values[kind]);
}

static void make_palette(encoder *e) {
  const cpic_bytes *given = &e->options->palette;
  if (given->length > 0) {
    e->palette_count = (int)(given->length / 3);
    for (int i = 0; i < e->palette_count; i++) {
      e->palette[i] = (png_color){given->data[3 * i], given->data[3 * i + 1], given->data[3 * i + 2]};
    }
    return;
  }
  e->palette_count = 1 << e->bits;
  if (e->bits == 8) {  // a cube of 6 x 6 x 6, then grays
    for (int i = 0; i < 256; i++) {
      int gray = (i - 216) * 6 + 10;
      e->palette[i] = i < 216 ? (png_color){(png_byte)(i / 36 * 51), (png_byte)(i / 6 % 6 * 51), (png_byte)(i % 6 * 51)}
                              : (png_color){(png_byte)gray, (png_byte)gray, (png_byte)gray};
    }
    return;
  }
  static const png_color few[16] = {{0, 0, 0},       {255, 255, 255}, {224, 32, 32},  {32, 48, 224},
                                    {32, 192, 48},   {240, 220, 40},  {40, 200, 220}, {200, 40, 200},
                                    {64, 64, 64},    {128, 128, 128}, {192, 192, 192}, {120, 70, 40},
                                    {230, 190, 160}, {40, 70, 30},    {120, 160, 220}, {250, 140, 30}};
  memcpy(e->palette, few, (size_t)e->palette_count * sizeof *few);
}

static uint8_t nearest_entry(encoder *e, const uint8_t *rgb) {
  uint32_t colour = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
  nearest *slot = &e->cache[colour * 2654435761u >> 20];
  if (slot->colour == colour) return slot->entry;
  int best = 0, least = 1 << 30;
  for (int i = 0; i < e->palette_count; i++) {
    int r = rgb[0] - e->palette[i].red, g = rgb[1] - e->palette[i].green, b = rgb[2] - e->palette[i].blue;
    int distance = r * r + g * g + b * b;
    if (distance < least) best = i, least = distance;
  }
  *slot = (nearest){colour, (uint8_t)best};
  return slot->entry;
}

static size_t input_stride(const encoder *e) {
  return (size_t)e->width * (size_t)e->channels * (e->bits == 16 ? 2 : 1);
}

/// One sample a byte for depths below 8 (libpng packs them), else as the picture has them.
static void make_row(encoder *e, int y) {
  size_t stride = input_stride(e);
  const uint8_t *samples = e->samples;
  if (e->scene) {
    cpic_scene_row(e->scene, 0, y, e->width, e->samples);
  } else {
    samples = (const uint8_t *)e->picture->samples + (size_t)y * stride;
  }
  if (e->colour_type == PNG_COLOR_TYPE_PALETTE) {
    for (int x = 0; x < e->width; x++) e->row[x] = nearest_entry(e, samples + 3 * x);
  } else if (e->bits < 8) {
    int top = (1 << e->bits) - 1;
    for (int x = 0; x < e->width; x++) e->row[x] = (uint8_t)((samples[x] * top + 127) / 255);
  } else if (e->bits == 16) {
    for (size_t i = 0; i < stride / 2; i++) {
      uint16_t value = ((const uint16_t *)samples)[i];
      e->row[2 * i] = (uint8_t)(value >> 8);
      e->row[2 * i + 1] = (uint8_t)value;
    }
  } else {
    memcpy(e->row, samples, stride);
  }
}

// Ancillary chunks are written by hand: libpng checks and drops combinations that a test wants.

static void chunk_bytes(encoder *e, const void *data, size_t length) {
  if (cpic_append(&e->chunk, data, length)) png_error(e->library, cpic_message());
}

static void chunk_number(encoder *e, uint32_t value) {
  bool failed = false;
  cpic_put32(&e->chunk, value, true, &failed);
  if (failed) png_error(e->library, cpic_message());
}

static void write_chunk(encoder *e, const char *name) {
  png_write_chunk(e->library, (png_const_bytep)name, e->chunk.bytes.data, e->chunk.bytes.length);
  e->chunk.bytes.length = 0;
}

/// A zlib stream of stored blocks.
static void chunk_stored(encoder *e, cpic_bytes bytes) {
  static const uint8_t header[2] = {0x78, 0x01};
  chunk_bytes(e, header, 2);
  uint32_t a = 1, b = 0;  // Adler-32
  for (size_t i = 0; i < bytes.length; i++) {
    a = (a + bytes.data[i]) % 65521;
    b = (b + a) % 65521;
  }
  for (size_t at = 0; at < bytes.length;) {
    size_t part = bytes.length - at < 65535 ? bytes.length - at : 65535;
    uint8_t block[5] = {at + part == bytes.length, (uint8_t)part, (uint8_t)(part >> 8), (uint8_t)~part,
                        (uint8_t)(~part >> 8)};
    chunk_bytes(e, block, 5);
    chunk_bytes(e, bytes.data + at, part);
    at += part;
  }
  chunk_number(e, b << 16 | a);
}

static void write_ancillary(encoder *e) {
  const cpic_png_options *options = e->options;
  if (options->has_cicp) {
    chunk_bytes(e, options->cicp, 4);
    write_chunk(e, "cICP");
  }
  if (options->has_chromaticities) {
    for (int i = 0; i < 8; i++) chunk_number(e, (uint32_t)lround(options->chromaticities[i] * 100000));
    write_chunk(e, "cHRM");
  }
  if (options->gamma > 0) {
    chunk_number(e, (uint32_t)lround(options->gamma * 100000));
    write_chunk(e, "gAMA");
  }
  if (options->srgb_intent >= 0) {
    uint8_t intent = (uint8_t)options->srgb_intent;
    chunk_bytes(e, &intent, 1);
    write_chunk(e, "sRGB");
  }
  if (options->icc.length > 0) {
    chunk_bytes(e, "made\0", 6);  // the name, its end, and compression method 0
    chunk_stored(e, options->icc);
    write_chunk(e, "iCCP");
  }
  if (e->exif.length > 0) {
    chunk_bytes(e, e->exif.data, e->exif.length);
    write_chunk(e, "eXIf");
  }
  if (options->xmp.length > 0) {
    chunk_bytes(e, "XML:com.adobe.xmp\0\0\0\0", 22);  // not compressed, no language, no translated keyword
    chunk_bytes(e, options->xmp.data, options->xmp.length);
    write_chunk(e, "iTXt");
  }
  if (options->text) {
    chunk_bytes(e, "Comment\0made by a program", 25);
    write_chunk(e, "tEXt");
  }
  for (int i = 0; i < options->junk_chunks; i++) {
    for (int at = 0; at < options->junk_chunk_bytes; at++) chunk_bytes(e, &"junk"[at % 4], 1);
    write_chunk(e, "juNk");
  }
}

static void write_transparency(encoder *e) {
  const cpic_png_options *options = e->options;
  if (e->colour_type == PNG_COLOR_TYPE_PALETTE && options->palette_alpha.length > 0) {
    png_set_tRNS(e->library, e->info, options->palette_alpha.data, (int)options->palette_alpha.length, NULL);
  } else if (options->has_key && (e->colour_type == PNG_COLOR_TYPE_GRAY || e->colour_type == PNG_COLOR_TYPE_RGB)) {
    png_color_16 key = {.red = options->key[0],
                        .green = options->key[1],
                        .blue = options->key[2],
                        .gray = options->key[0]};
    png_set_tRNS(e->library, e->info, NULL, 0, &key);
  }
}

static int compress(encoder *e) {
  if (setjmp(png_jmpbuf(e->library))) return 1;
  const cpic_png_options *options = e->options;
  static const int filters[] = {PNG_FILTER_NONE, PNG_FILTER_SUB,   PNG_FILTER_UP,
                                PNG_FILTER_AVG,  PNG_FILTER_PAETH, PNG_ALL_FILTERS};
  png_set_write_fn(e->library, e, write_bytes, flush_bytes);
  png_set_user_limits(e->library, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(e->library, e->info, (png_uint_32)e->width, (png_uint_32)e->height, e->bits,
               e->colour_type, options->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(e->library, options->compression);
  if (options->filter < 5 || e->bits >= 8) png_set_filter(e->library, PNG_FILTER_TYPE_BASE, filters[options->filter]);
  if (options->idat_bytes > 0) png_set_compression_buffer_size(e->library, (size_t)options->idat_bytes);
  if (e->colour_type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(e->library, e->info, e->palette, e->palette_count);
  write_transparency(e);
  png_write_info_before_PLTE(e->library, e->info);
  write_ancillary(e);
  png_write_info(e->library, e->info);
  if (e->bits < 8) png_set_packing(e->library);
  int passes = options->interlaced ? png_set_interlace_handling(e->library) : 1;
  for (int pass = 0; pass < passes; pass++) {
    for (int y = 0; y < e->height; y++) {
      // libpng takes no pixel of the other rows.
      if (passes == 1 || PNG_ROW_IN_INTERLACE_PASS((png_uint_32)y, pass)) make_row(e, y);
      png_write_row(e->library, e->row);
    }
  }
  png_write_end(e->library, NULL);
  return 0;
}

static int check_png_options(const cpic_png_options *options, int colour_type, int bits) {
  bool legal = false;
  switch (colour_type) {
    case 0: legal = bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16; break;
    case 3: legal = bits == 1 || bits == 2 || bits == 4 || bits == 8; break;
    case 2:
    case 4:
    case 6: legal = bits == 8 || bits == 16; break;
    default: break;
  }
  if (!legal) return cpic_fail("no PNG of colour type %d and %d bits", colour_type, bits);
  if (options->filter < 0 || options->filter > 5) return cpic_fail("no PNG filter %d", options->filter);
  if (options->compression < 0 || options->compression > 9) return cpic_fail("compression is 0 to 9");
  if (options->palette.length % 3 != 0 || options->palette.length > (size_t)3 << bits || options->palette.length > 768) {
    return cpic_fail("a palette of %zu bytes for %d bits", options->palette.length, bits);
  }
  return 0;
}

/// Encodes with the source and the destination that are set in `e`.
static int encode(encoder *e, const cpic_png_options *options) {
  cpic_bytes owned_exif;
  if (cpic_choose_exif(&options->exif, options->exif_raw, &e->exif, &owned_exif)) return 1;
  e->options = options;
  for (int i = 0; i < nearest_slots; i++) e->cache[i].colour = UINT32_MAX;
  if (e->colour_type == PNG_COLOR_TYPE_PALETTE) make_palette(e);
  e->row = malloc(input_stride(e));
  e->library = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, png_failed, NULL);
  e->info = e->library ? png_create_info_struct(e->library) : NULL;
  int status = e->row && e->info ? compress(e) : cpic_fail("no memory");
  png_destroy_write_struct(&e->library, &e->info);
  free(e->row);
  cpic_bytes_free(&e->chunk.bytes);
  cpic_bytes_free(&owned_exif);
  return status;
}

static const uint8_t type_channels[7] = {1, 0, 3, 3, 2, 0, 4};

int cpic_encode_png(const cpic_picture *picture, const cpic_png_options *options, cpic_bytes *out) {
  static const int types[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
  *out = (cpic_bytes){0};
  int colour_type = options->colour_type;
  if (colour_type < 0) colour_type = picture->cmyk ? PNG_COLOR_TYPE_RGB : types[picture->channels];
  int bits = options->bits;
  if (bits == 0) bits = colour_type == PNG_COLOR_TYPE_PALETTE ? 8 : picture->bits;
  if (check_png_options(options, colour_type, bits)) return 1;
  encoder *e = calloc(1, sizeof *e);
  cpic_picture *input = cpic_convert(picture, type_channels[colour_type], bits == 16 ? 16 : 8);
  int status = 1;
  if (!e) {
    cpic_fail("no memory");
  } else if (input) {
    e->picture = input;
    e->width = input->width;
    e->height = input->height;
    e->channels = input->channels;
    e->colour_type = colour_type;
    e->bits = bits;
    status = encode(e, options);
    if (status == 0) {
      *out = e->out.bytes;
    } else {
      cpic_bytes_free(&e->out.bytes);
    }
  }
  free(e);
  cpic_free(input);
  return status;
}

int cpic_stream_png(const cpic_scene *scene, const cpic_png_options *options, const char *path) {
  static const int types[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
  int colour_type = options->colour_type < 0 ? types[scene->channels] : options->colour_type;
  int bits = options->bits > 0 ? options->bits : colour_type == PNG_COLOR_TYPE_PALETTE ? 8 : scene->bits;
  if (check_png_options(options, colour_type, bits)) return 1;
  cpic_scene input = *scene;
  input.channels = type_channels[colour_type];
  input.bits = bits == 16 ? 16 : 8;
  encoder *e = calloc(1, sizeof *e);
  if (!e) return cpic_fail("no memory");
  e->scene = &input;
  e->width = input.width;
  e->height = input.height;
  e->channels = input.channels;
  e->colour_type = colour_type;
  e->bits = bits;
  e->samples = malloc(input_stride(e));
  e->file = fopen(path, "wb");
  int status = !e->samples ? cpic_fail("no memory")
               : !e->file  ? cpic_fail("cannot make %s: %s", path, strerror(errno))
                           : encode(e, options);
  if (e->file && fclose(e->file) != 0 && status == 0) {
    status = cpic_fail("cannot write %s: %s", path, strerror(errno));
  }
  free(e->samples);
  free(e);
  return status;
}

int cpic_write_png(const cpic_picture *picture, const cpic_png_options *options, const char *path) {
  cpic_bytes bytes;
  return cpic_encode_png(picture, options, &bytes) ? 1 : cpic_save_and_free(path, &bytes);
}

// MARK: Reading

typedef struct {
  png_structp library;
  png_infop info, end;
  const uint8_t *data;
  size_t length, position;
  cpic_picture *picture;
  cpic_info *found;
  bool wants_pixels;
} decoder;

static void count_warning(png_structp library, png_const_charp text) {
  (void)text;
  decoder *d = png_get_error_ptr(library);
  d->found->warnings++;
}

static void read_bytes(png_structp library, png_bytep out, size_t length) {
  decoder *d = png_get_io_ptr(library);
  if (length > d->length - d->position) png_error(library, "the file ends too early");
  memcpy(out, d->data + d->position, length);
  d->position += length;
}

static int keep_unknown(png_structp library, png_unknown_chunkp chunk) {
  decoder *d = png_get_user_chunk_ptr(library);
  if (memcmp(chunk->name, "cICP", 4) == 0 && chunk->size == 4) {
    d->found->has_cicp = true;
    memcpy(d->found->cicp, chunk->data, 4);
  } else {
    d->found->other_segments++;
  }
  return 1;
}

static void copy_bytes(decoder *d, const void *data, size_t length, cpic_bytes *out) {
  cpic_buffer copy = {0};
  cpic_bytes_free(out);
  if (cpic_append(&copy, data, length)) png_error(d->library, cpic_message());
  *out = copy.bytes;
}

static void read_ancillary(decoder *d, png_infop info) {
  cpic_info *found = d->found;
  png_charp name;
  int method;
  png_bytep profile, exif;
  png_uint_32 length;
  if (png_get_iCCP(d->library, info, &name, &method, &profile, &length)) {
    copy_bytes(d, profile, length, &found->icc);
  }
  if (png_get_eXIf_1(d->library, info, &length, &exif)) {
    copy_bytes(d, exif, length, &found->exif);
    found->orientation = cpic_exif_orientation(exif, length);
  }
  png_textp texts;
  int count = 0;
  png_get_text(d->library, info, &texts, &count);
  for (int i = 0; i < count; i++) {
    if (strcmp(texts[i].key, "XML:com.adobe.xmp") == 0) {
      found->has_xmp = true;
    } else {
      found->text_count++;
    }
  }
  double gamma;
  if (png_get_valid(d->library, info, PNG_INFO_gAMA) && png_get_gAMA(d->library, info, &gamma)) found->gamma = gamma;
  int intent;
  if (png_get_sRGB(d->library, info, &intent)) found->srgb_intent = intent;
}

static int decompress(decoder *d) {
  if (setjmp(png_jmpbuf(d->library))) return 1;
  png_set_read_fn(d->library, d, read_bytes);
  png_set_user_limits(d->library, 0x7fffffff, 0x7fffffff);
  png_set_chunk_malloc_max(d->library, 0);
  png_set_read_user_chunk_fn(d->library, d, keep_unknown);
  png_read_info(d->library, d->info);
  cpic_info *found = d->found;
  found->width = (int)png_get_image_width(d->library, d->info);
  found->height = (int)png_get_image_height(d->library, d->info);
  found->bits = png_get_bit_depth(d->library, d->info);
  found->colour_type = png_get_color_type(d->library, d->info);
  found->interlaced = png_get_interlace_type(d->library, d->info) != PNG_INTERLACE_NONE;
  bool key = png_get_valid(d->library, d->info, PNG_INFO_tRNS) != 0;
  found->channels = (found->colour_type & PNG_COLOR_MASK_COLOR ? 3 : 1) +
                    (found->colour_type & PNG_COLOR_MASK_ALPHA || key ? 1 : 0);
  read_ancillary(d, d->info);
  if (!d->wants_pixels) return 0;
  png_set_expand(d->library);
  uint16_t one = 1;
  if (*(uint8_t *)&one == 1) png_set_swap(d->library);
  int passes = png_set_interlace_handling(d->library);
  png_read_update_info(d->library, d->info);
  int bits = found->bits == 16 ? 16 : 8;
  d->picture = cpic_create(found->width, found->height, found->channels, bits);
  if (!d->picture) return 1;
  size_t stride = cpic_byte_count(d->picture) / (size_t)found->height;
  if (png_get_rowbytes(d->library, d->info) != stride) return cpic_fail("rows of an unexpected length");
  for (int pass = 0; pass < passes; pass++) {
    for (int y = 0; y < found->height; y++) {
      png_read_row(d->library, (png_bytep)d->picture->samples + (size_t)y * stride, NULL);
    }
  }
  png_read_end(d->library, d->end);
  read_ancillary(d, d->end);
  return 0;
}

int cpic_decode_png(const void *data, size_t length, cpic_picture **picture, cpic_info *info) {
  decoder *d = calloc(1, sizeof *d);
  if (!d) return cpic_fail("no memory");
  d->data = data;
  d->length = length;
  d->found = info;
  d->wants_pixels = picture != NULL;
  d->library = png_create_read_struct(PNG_LIBPNG_VER_STRING, d, png_failed, count_warning);
  d->info = d->library ? png_create_info_struct(d->library) : NULL;
  d->end = d->info ? png_create_info_struct(d->library) : NULL;
  int status = d->end ? decompress(d) : cpic_fail("no memory");
  png_destroy_read_struct(&d->library, &d->info, &d->end);
  if (picture) *picture = d->picture;
  free(d);
  return status;
}
