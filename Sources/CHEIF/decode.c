#define _GNU_SOURCE  // processor affinity

#include "decode.h"
#include "threads.h"

#include <string.h>

uint32_t cheif_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

int cheif_color_planes(cheif_layout layout) { return layout == CHEIF_LAYOUT_MONOCHROME ? 1 : 3; }

uint32_t cheif_divisor_across(cheif_layout layout, int plane) {
  return (plane == 1 || plane == 2) && (layout == CHEIF_LAYOUT_420 || layout == CHEIF_LAYOUT_422) ? 2 : 1;
}

uint32_t cheif_divisor_down(cheif_layout layout, int plane) {
  return (plane == 1 || plane == 2) && layout == CHEIF_LAYOUT_420 ? 2 : 1;
}

uint32_t cheif_divided(uint32_t size, uint32_t divisor) { return size / divisor + (size % divisor != 0); }

enum heif_channel cheif_channel_of(cheif_layout layout, int plane) {
  static const enum heif_channel ycbcr[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
  static const enum heif_channel rgb[] = {heif_channel_R, heif_channel_G, heif_channel_B};
  return layout == CHEIF_LAYOUT_RGB ? rgb[plane] : ycbcr[plane];
}

bool cheif_layout_of(const cheif_library *library, const struct heif_image *image, cheif_layout *layout) {
  enum heif_colorspace colorspace = library->heif_image_get_colorspace(image);
  enum heif_chroma chroma = library->heif_image_get_chroma_format(image);
  if (colorspace == heif_colorspace_monochrome) {
    *layout = CHEIF_LAYOUT_MONOCHROME;
  } else if (colorspace == heif_colorspace_RGB && chroma == heif_chroma_444) {
    *layout = CHEIF_LAYOUT_RGB;
  } else if (colorspace == heif_colorspace_YCbCr && chroma == heif_chroma_420) {
    *layout = CHEIF_LAYOUT_420;
  } else if (colorspace == heif_colorspace_YCbCr && chroma == heif_chroma_422) {
    *layout = CHEIF_LAYOUT_422;
  } else if (colorspace == heif_colorspace_YCbCr && chroma == heif_chroma_444) {
    *layout = CHEIF_LAYOUT_444;
  } else {
    return false;
  }
  return true;
}

bool cheif_get_plane(const cheif_library *library, const struct heif_image *image, enum heif_channel channel,
                     cheif_plane *plane) {
  if (!library->heif_image_has_channel(image, channel)) return false;
  int width = library->heif_image_get_width(image, channel), height = library->heif_image_get_height(image, channel);
  int storage = library->heif_image_get_bits_per_pixel(image, channel);
  int bits = library->heif_image_get_bits_per_pixel_range(image, channel);
  int stride = 0;
  const uint8_t *samples = library->heif_image_get_plane_readonly(image, channel, &stride);
  if (samples == NULL || width <= 0 || height <= 0 || stride <= 0) return false;
  if (bits < 1 || bits > 16 || storage > 16) return false;
  int bytes = storage > 8 ? 2 : 1;
  if (bits > 8 * bytes || (int64_t)width * bytes > stride) return false;
  *plane = (cheif_plane){samples, (size_t)stride, (uint32_t)width, (uint32_t)height, bits, bytes};
  return true;
}

void cheif_take_stream_nclx(cheif_reader *reader, const struct heif_image *image) {
  struct heif_color_profile_nclx *nclx = NULL;
  struct heif_error result = reader->library->heif_image_get_nclx_color_profile(image, &nclx);
  if (result.code == heif_error_Ok && nclx != NULL) {
    reader->has_stream_nclx = true;
    reader->stream_primaries = (int)nclx->color_primaries;
    reader->stream_transfer = (int)nclx->transfer_characteristics;
    reader->stream_matrix = (int)nclx->matrix_coefficients;
    reader->stream_full_range = nclx->full_range_flag != 0;
  }
  if (nclx != NULL) reader->library->heif_nclx_color_profile_free(nclx);
}

// MARK: Processor affinity

cheif_processors cheif_find_processors(const cheif_reader *reader) {
  cheif_processors found = {0};
  found.narrows = strcmp(reader->header.codec, "av01") == 0 &&
                  sched_getaffinity(0, sizeof found.allowed, &found.allowed) == 0;
  int here = sched_getcpu();
  found.here = here > 0 ? here : 0;
  return found;
}

void cheif_narrow(const cheif_processors *all, int skipped, int count) {
  if (!all->narrows) return;
  int usable = CPU_COUNT(&all->allowed);
  if (usable <= count) return;
  skipped %= usable;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int i = 0, seen = 0, taken = 0; i < 2 * CPU_SETSIZE && taken < count; i++) {
    int cpu = (all->here + i) % CPU_SETSIZE;
    if (!CPU_ISSET(cpu, &all->allowed) || seen++ < skipped) continue;
    CPU_SET(cpu, &chosen);
    taken++;
  }
  (void)sched_setaffinity(0, sizeof chosen, &chosen);
}

void cheif_widen(const cheif_processors *all) {
  if (all->narrows) (void)sched_setaffinity(0, sizeof all->allowed, &all->allowed);
}

// MARK: Whole pictures

cheif_status cheif_decode_item(cheif_reader *reader, const struct heif_image_handle *handle, const cheif_layout *wanted,
                               struct heif_image **image, cheif_error *error) {
  static const struct {
    enum heif_colorspace colorspace;
    enum heif_chroma chroma;
  } formats[] = {
    [CHEIF_LAYOUT_MONOCHROME] = {heif_colorspace_monochrome, heif_chroma_monochrome},
    [CHEIF_LAYOUT_420] = {heif_colorspace_YCbCr, heif_chroma_420},
    [CHEIF_LAYOUT_422] = {heif_colorspace_YCbCr, heif_chroma_422},
    [CHEIF_LAYOUT_444] = {heif_colorspace_YCbCr, heif_chroma_444},
    [CHEIF_LAYOUT_RGB] = {heif_colorspace_RGB, heif_chroma_444},
  };
  *image = NULL;
  struct heif_error result = reader->library->heif_decode_image(
    handle, image, wanted != NULL ? formats[*wanted].colorspace : heif_colorspace_undefined,
    wanted != NULL ? formats[*wanted].chroma : heif_chroma_undefined, reader->options);
  if (result.code != heif_error_Ok) return cheif_reader_fail(reader, result, error);
  if (*image == NULL) return cheif_fail(error, CHEIF_DAMAGED, "libheif gave no picture");
  return CHEIF_OK;
}

cheif_status cheif_convert(cheif_reader *reader, const struct heif_image_handle *handle, cheif_layout layout,
                           struct heif_image **image, cheif_error *error) {
  cheif_layout found;
  if (cheif_layout_of(reader->library, *image, &found) && found == layout) return CHEIF_OK;
  reader->library->heif_image_release(*image);
  cheif_status status = cheif_decode_item(reader, handle, &layout, image, error);
  if (status == CHEIF_OK && (!cheif_layout_of(reader->library, *image, &found) || found != layout)) {
    status = cheif_fail(error, CHEIF_UNSUPPORTED, "the picture's samples are laid out in an unsupported way");
  }
  return status;
}

/// Makes the header what the decoded picture is.
static cheif_status settle_header(cheif_reader *reader, cheif_layout layout, cheif_error *error) {
  cheif_header *header = &reader->header;
  cheif_plane plane;
  header->layout = layout;
  if (!cheif_get_plane(reader->library, reader->whole, cheif_channel_of(layout, 0), &plane)) {
    return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture lacks a plane");
  }
  if (reader->library_transforms && (plane.width < header->width || plane.height < header->height)) {
    // Old versions leave some rotations out of the size that they announce.
    header->width = header->tile_width = plane.width;
    header->height = header->tile_height = plane.height;
  }
  for (int i = 0; i < cheif_color_planes(layout) && i < 2; i++) {
    if (!cheif_get_plane(reader->library, reader->whole, cheif_channel_of(layout, i), &plane)) {
      return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture lacks a plane");
    }
    if (i == 0) header->luma_bits = plane.bits;
    header->chroma_bits = plane.bits;
  }
  header->has_alpha = cheif_get_plane(reader->library, reader->whole, heif_channel_Alpha, &plane);
  header->alpha_bits = header->has_alpha ? plane.bits : 0;
  header->alpha_width = header->has_alpha ? header->width : 0;
  header->alpha_height = header->has_alpha ? header->height : 0;
  if (!header->has_alpha) header->alpha_premultiplied = false;
  reader->alpha_way = header->has_alpha ? CHEIF_ALPHA_WITH_COLOR : CHEIF_ALPHA_NONE;
  header->layout_known = true;
  return CHEIF_OK;
}

static cheif_status decode_whole_here(cheif_reader *reader, cheif_error *error) {
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  cheif_status status = cheif_decode_item(reader, reader->primary, NULL, &reader->whole, error);
  if (status != CHEIF_OK) return status;
  cheif_take_stream_nclx(reader, reader->whole);
  cheif_layout layout = CHEIF_LAYOUT_RGB;
  if (header->layout_known || !cheif_layout_of(library, reader->whole, &layout)) {
    if (header->layout_known) layout = header->layout;
    status = cheif_convert(reader, reader->primary, layout, &reader->whole, error);
    if (status != CHEIF_OK) return status;
  }
  return header->layout_known ? CHEIF_OK : settle_header(reader, layout, error);
}

static cheif_status decode_whole(cheif_reader *reader, int threads, cheif_error *error) {
  if (reader->whole != NULL) return CHEIF_OK;
  cheif_processors all = cheif_find_processors(reader);
  cheif_narrow(&all, 0, threads);
  cheif_enter();
  cheif_status status = decode_whole_here(reader, error);
  cheif_leave();
  cheif_widen(&all);
  return status;
}

int cheif_announced_bits(const cheif_header *header, int plane) {
  if (plane == cheif_color_planes(header->layout)) return header->alpha_bits;
  return plane == 0 || header->layout == CHEIF_LAYOUT_RGB ? header->luma_bits : header->chroma_bits;
}

static cheif_status deliver_whole(cheif_reader *reader, cheif_rows *rows, cheif_error *error) {
  const cheif_header *header = &reader->header;
  int colors = cheif_color_planes(header->layout);
  rows->plane_count = colors + (header->has_alpha ? 1 : 0);
  for (int i = 0; i < rows->plane_count; i++) {
    bool is_alpha = i == colors;
    cheif_plane plane;
    enum heif_channel channel = is_alpha ? heif_channel_Alpha : cheif_channel_of(header->layout, i);
    if (!cheif_get_plane(reader->library, reader->whole, channel, &plane)) {
      return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture lacks its %s plane", is_alpha ? "alpha" : "color");
    }
    if (plane.bits != cheif_announced_bits(header, i)) {
      return cheif_fail(error, CHEIF_DAMAGED, "the picture has %d bits a sample, its header says %d", plane.bits,
                        cheif_announced_bits(header, i));
    }
    uint32_t width = cheif_divided(header->width, is_alpha ? 1 : cheif_divisor_across(header->layout, i));
    uint32_t height = cheif_divided(header->height, is_alpha ? 1 : cheif_divisor_down(header->layout, i));
    if (plane.width < width || plane.height < height) {
      return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture is smaller than its header says");
    }
    rows->planes[i].samples = plane.samples;
    rows->planes[i].stride = plane.stride;
    rows->planes[i].width = width;
    rows->planes[i].row_count = height;
    rows->planes[i].bytes_per_sample = plane.bytes_per_sample;
    rows->planes[i].bits = plane.bits;
  }
  return CHEIF_OK;
}

void cheif_state_stream_color(const cheif_reader *reader, cheif_rows *rows) {
  rows->has_nclx = reader->has_stream_nclx;
  rows->primaries = reader->stream_primaries;
  rows->transfer = reader->stream_transfer;
  rows->matrix = reader->stream_matrix;
  rows->full_range = reader->stream_full_range;
}

static cheif_status next_whole(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error) {
  if (reader->whole_delivered) {
    if (reader->whole != NULL) {
      cheif_enter();
      reader->library->heif_image_release(reader->whole);
      cheif_leave();
      reader->whole = NULL;
    }
    return CHEIF_OK;
  }
  cheif_status status = decode_whole(reader, threads, error);
  if (status == CHEIF_OK) status = deliver_whole(reader, rows, error);
  if (status != CHEIF_OK) return status;
  cheif_state_stream_color(reader, rows);
  reader->whole_delivered = true;
  return CHEIF_OK;
}

// MARK: Interface

static int clamp_threads(int threads) {
  return threads < 1 ? 1 : threads > CHEIF_MAX_THREADS ? CHEIF_MAX_THREADS : threads;
}

/// libde265 decodes in a thread of its own for each picture, and waits for it for ever when it could not be started:
/// under a limit on processes or on address space that has to be known before.
static cheif_status find_threads(cheif_reader *reader, int *threads, cheif_error *error) {
  if (strcmp(reader->header.codec, "hvc1") != 0) return CHEIF_OK;
  if (reader->usable_threads == 0) {
    // Ours but this one, and as many of libde265.
    int startable = cheif_startable_threads(2 * *threads - 1);
    if (startable < 1) return cheif_fail(error, CHEIF_NO_MEMORY, "no thread can be started to decode in");
    reader->usable_threads = (startable + 1) / 2;
  }
  if (*threads > reader->usable_threads) *threads = reader->usable_threads;
  return CHEIF_OK;
}

cheif_status cheif_settle(cheif_reader *reader, int threads, cheif_error *error) {
  cheif_error own;
  if (error == NULL) error = &own;
  *error = reader->failure;
  if (reader->failure.status != CHEIF_OK || reader->header.layout_known) return reader->failure.status;
  threads = clamp_threads(threads);
  cheif_status status = find_threads(reader, &threads, error);
  if (status == CHEIF_OK) status = decode_whole(reader, threads, error);
  if (status != CHEIF_OK) reader->failure = *error;
  return status;
}

static cheif_status decode_rows(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error) {
  cheif_status status = find_threads(reader, &threads, error);
  if (status != CHEIF_OK) return status;
#if CHEIF_BUILT_WITH_TILES
  if (reader->header.tiled) return cheif_next_tiles(reader, threads, rows, error);
#endif
  return next_whole(reader, threads, rows, error);
}

cheif_status cheif_next_rows(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error) {
  cheif_error own;
  if (error == NULL) error = &own;
  *rows = (cheif_rows){0};
  *error = reader->failure;
  if (reader->failure.status != CHEIF_OK) return reader->failure.status;
  cheif_status status = decode_rows(reader, clamp_threads(threads), rows, error);
  if (status != CHEIF_OK) {
    *rows = (cheif_rows){0};
    reader->failure = *error;
  }
  return status;
}
