#define _GNU_SOURCE  // processor affinity

#include "decode.h"

#include "coded.h"
#include "threads.h"

#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static bool get_image_plane(const cheif_library *library, const struct heif_image *image, enum heif_channel channel,
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

bool cheif_get_plane(const cheif_reader *reader, const cheif_picture *picture, cheif_layout layout, int plane,
                     cheif_plane *found) {
  if (!picture->is_frame) {
    enum heif_channel channel = plane == cheif_color_planes(layout) ? heif_channel_Alpha : cheif_channel_of(layout, plane);
    return get_image_plane(reader->library, picture->image, channel, found);
  }
  if (plane >= picture->frame.plane_count) return false;
  *found = picture->frame.planes[plane];
  return true;
}

bool cheif_get_alpha(const cheif_reader *reader, const cheif_picture *picture, cheif_plane *found) {
  if (picture->is_frame) return cheif_get_plane(reader, picture, CHEIF_LAYOUT_MONOCHROME, 0, found);
  enum heif_colorspace colorspace = reader->library->heif_image_get_colorspace(picture->image);
  enum heif_channel channel = colorspace == heif_colorspace_RGB ? heif_channel_R : heif_channel_Y;
  return get_image_plane(reader->library, picture->image, channel, found);
}

void cheif_free_picture(cheif_reader *reader, cheif_picture *picture) {
  if (picture->image != NULL) reader->library->heif_image_release(picture->image);
  *picture = (cheif_picture){0};
}

void cheif_take_stream_color(cheif_reader *reader, const cheif_picture *picture) {
  if (picture->is_frame) {
    reader->has_stream_nclx = true;
    reader->stream_primaries = picture->frame.primaries;
    reader->stream_transfer = picture->frame.transfer;
    reader->stream_matrix = picture->frame.matrix;
    reader->stream_full_range = picture->frame.full_range;
    return;
  }
  struct heif_color_profile_nclx *nclx = NULL;
  struct heif_error result = reader->library->heif_image_get_nclx_color_profile(picture->image, &nclx);
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
  bool is_ours = reader->color.decoder != CHEIF_DECODER_NONE &&
                 (!reader->header.has_alpha || reader->alpha_coding.decoder != CHEIF_DECODER_NONE);
  found.narrows = !is_ours && strcmp(reader->header.codec, "av01") == 0 &&
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

// MARK: Room

bool cheif_has_room(uint64_t bytes) {
  if (bytes > PTRDIFF_MAX) return false;
  void *space = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return false;
  munmap(space, (size_t)bytes);
  return true;
}

uint64_t cheif_space_of(const cheif_way *way) {
  if (way->decoder == CHEIF_DECODER_NONE) return 0;
  // More than either decoder takes: a plane's worth of 4 samples for each pixel, for each picture and for the filters, and 4
  // bytes a pixel of notes about blocks.
  uint64_t pixels = ((uint64_t)way->limit.width + 127) * ((uint64_t)way->limit.height + 127);
  uint64_t sample_bytes = way->limit.luma_bits > 8 ? 2 : 1;
  uint64_t samples = way->limit.layout == CHEIF_LAYOUT_444 ? 3 : way->limit.layout == CHEIF_LAYOUT_422 ? 2 : 1;
  if (way->limit.layout == CHEIF_LAYOUT_420) samples = 2;
  uint64_t each = samples * sample_bytes * (uint64_t)way->limit.pictures + (way->limit.copies_plane ? sample_bytes : 0);
  return pixels * (each + 2) + (4 << 20);
}

cheif_status cheif_ask(const cheif_reader *reader, cheif_error *error) {
  if (reader->source.may_go_on == NULL || reader->source.may_go_on(reader->source.context)) return CHEIF_OK;
  return cheif_fail(error, CHEIF_STOPPED, "decoding was stopped");
}

// MARK: Whole pictures

static cheif_status decode_by_library(cheif_reader *reader, const struct heif_image_handle *handle,
                                      const cheif_layout *wanted, struct heif_image **image, cheif_error *error) {
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

cheif_status cheif_decode_item(cheif_reader *reader, const struct heif_image_handle *handle, const cheif_layout *wanted,
                               cheif_picture *picture, cheif_error *error) {
  *picture = (cheif_picture){0};
  cheif_status status = decode_by_library(reader, handle, NULL, &picture->image, error);
  if (status != CHEIF_OK || wanted == NULL) return status;
  cheif_layout found;
  if (cheif_layout_of(reader->library, picture->image, &found) && found == *wanted) return CHEIF_OK;
  cheif_free_picture(reader, picture);
  status = decode_by_library(reader, handle, wanted, &picture->image, error);
  if (status != CHEIF_OK) return status;
  if (cheif_layout_of(reader->library, picture->image, &found) && found == *wanted) return CHEIF_OK;
  cheif_free_picture(reader, picture);
  return cheif_fail(error, CHEIF_UNSUPPORTED, "the picture's samples are laid out in an unsupported way");
}

cheif_status cheif_decode_coded(const cheif_way *way, cheif_coded *coded, cheif_store *store, cheif_picture *picture,
                                cheif_error *error) {
  *picture = (cheif_picture){0};
  cheif_status status = way->decoder == CHEIF_DECODER_HEVC
                          ? cheif_decode_hevc(coded, &way->limit, store, &picture->frame, error)
                          : cheif_decode_av1(coded, &way->limit, store, &picture->frame, error);
  picture->is_frame = status == CHEIF_OK;
  if (status == CHEIF_OK && picture->frame.is_damaged && store->filling == CHEIF_FILL_NONE) {
    *picture = (cheif_picture){0};
    return cheif_fail(error, CHEIF_DAMAGED, "libde265 found errors in the coded data");
  }
  return status;
}

/// Makes the header what the decoded picture is.
static cheif_status settle_header(cheif_reader *reader, cheif_layout layout, cheif_error *error) {
  cheif_header *header = &reader->header;
  cheif_plane plane;
  header->layout = layout;
  if (!cheif_get_plane(reader, &reader->whole, layout, 0, &plane)) {
    return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture lacks a plane");
  }
  if (reader->library_transforms && (plane.width < header->width || plane.height < header->height)) {
    // Old versions leave some rotations out of the size that they announce.
    header->width = header->tile_width = plane.width;
    header->height = header->tile_height = plane.height;
  }
  for (int i = 0; i < cheif_color_planes(layout) && i < 2; i++) {
    if (!cheif_get_plane(reader, &reader->whole, layout, i, &plane)) {
      return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture lacks a plane");
    }
    if (i == 0) header->luma_bits = plane.bits;
    header->chroma_bits = plane.bits;
  }
  header->has_alpha = cheif_get_plane(reader, &reader->whole, layout, cheif_color_planes(layout), &plane);
  header->alpha_bits = header->has_alpha ? plane.bits : 0;
  header->alpha_width = header->has_alpha ? header->width : 0;
  header->alpha_height = header->has_alpha ? header->height : 0;
  if (!header->has_alpha) header->alpha_premultiplied = false;
  reader->alpha_way = header->has_alpha ? CHEIF_ALPHA_WITH_COLOR : CHEIF_ALPHA_NONE;
  header->layout_known = true;
  return CHEIF_OK;
}

/// What is known when the picture is decoded by libheif.
static cheif_status check_library_picture(cheif_reader *reader, cheif_error *error) {
  if (reader->header.layout_known) return CHEIF_OK;
  cheif_layout layout;
  if (!cheif_layout_of(reader->library, reader->whole.image, &layout)) {
    layout = CHEIF_LAYOUT_RGB;
    cheif_free_picture(reader, &reader->whole);
    cheif_status status = cheif_decode_item(reader, reader->primary, &layout, &reader->whole, error);
    if (status != CHEIF_OK) return status;
  }
  return settle_header(reader, layout, error);
}

bool cheif_can_salvage(const cheif_reader *reader, cheif_status status) {
  return reader->source.salvages && (status == CHEIF_DAMAGED || status == CHEIF_UNSUPPORTED);
}

/// Decodes the undivided picture with our decoders, into its store. `is_cut`: the file does not have all of it.
static cheif_status decode_once(cheif_reader *reader, bool is_alpha, bool *is_cut, cheif_error *error) {
  enum { hardly_any = 1 << 16 };  // bytes of coded data
  const cheif_way *way = is_alpha ? &reader->alpha_coding : &reader->color;
  cheif_coded coded;
  cheif_status status = cheif_catch(reader, is_alpha ? reader->alpha : reader->primary, &coded, error);
  *is_cut = cheif_made_up() > 0;
  if (status != CHEIF_OK) return status;
  // libheif has dropped one copy and keeps another.
  status = cheif_refresh(reader, hardly_any, error);
  (void)malloc_trim(0);
  if (status == CHEIF_OK && !cheif_has_room(cheif_space_of(way) + coded.count)) {
    status = cheif_fail(error, CHEIF_NO_MEMORY, "no memory to decode a picture of %ux%u pixels", way->limit.width,
                        way->limit.height);
  }
  if (status != CHEIF_OK) {
    cheif_free_coded(&coded);
    return status;
  }
  status = cheif_decode_coded(way, &coded, is_alpha ? &reader->whole_alpha_store : &reader->whole_store,
                              is_alpha ? &reader->whole_alpha : &reader->whole, error);
  (void)malloc_trim(0);
  return status;
}

// MARK: Salvage

enum { BAND_ROWS = 64, MADE_UP = 0x55, MADE_UP_AGAIN = 0xAA };

/// A number of the rows of a frame from `first` on, `BAND_ROWS` of luma (FNV-1a, by words).
static uint64_t number_of_band(const cheif_frame *frame, uint32_t first) {
  uint64_t number = 14695981039346656037u;
  for (int i = 0; i < frame->plane_count; i++) {
    const cheif_plane *plane = &frame->planes[i];
    uint64_t scale = plane->height == frame->planes[0].height ? 1 : 2;
    size_t bytes = plane->width * (size_t)plane->bytes_per_sample;
    for (uint64_t y = first / scale; y < (first + BAND_ROWS) / scale && y < plane->height; y++) {
      const uint8_t *row = plane->samples + y * plane->stride;
      for (size_t x = 0; x + 8 <= bytes; x += 8) {
        uint64_t word;
        memcpy(&word, row + x, sizeof word);
        number = (number ^ word) * 1099511628211u;
        number ^= number >> 29;
      }
    }
  }
  return number;
}

/// The frame lies in a store, whose memory is ours.
static void fill_rows(const cheif_frame *frame, uint32_t first, cheif_filling filling) {
  for (int i = 0; i < frame->plane_count; i++) {
    const cheif_plane *plane = &frame->planes[i];
    uint32_t scale = plane->height == frame->planes[0].height ? 1 : 2, from = first / scale;
    if (from >= plane->height) continue;
    uint8_t *rows = (uint8_t *)(uintptr_t)plane->samples + (size_t)from * plane->stride;
    cheif_fill(rows, plane->stride, plane->width, plane->height - from, plane->bits, filling);
  }
}

/// Neither decoder tells where the coded data ran out: both go on with what comes after, and here that is made up. So the
/// picture is decoded once more with other bytes made up: the rows that differ are not the picture's.
static cheif_status keep_what_is_there(cheif_reader *reader, bool is_alpha, cheif_error *error) {
  cheif_picture *picture = is_alpha ? &reader->whole_alpha : &reader->whole;
  uint32_t height = picture->frame.planes[0].height, bands = height / BAND_ROWS + (height % BAND_ROWS != 0), same = 0;
  uint64_t *numbers = malloc(bands * sizeof *numbers);
  if (numbers == NULL) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory to find out which rows are there");
  for (uint32_t i = 0; i < bands; i++) numbers[i] = number_of_band(&picture->frame, i * BAND_ROWS);
  cheif_make_up_with(MADE_UP_AGAIN);
  *picture = (cheif_picture){0};
  bool is_cut;
  cheif_status status = decode_once(reader, is_alpha, &is_cut, error);
  if (status == CHEIF_OK && picture->frame.planes[0].height == height) {
    while (same < bands && number_of_band(&picture->frame, same * BAND_ROWS) == numbers[same]) same++;
  }
  free(numbers);
  if (status != CHEIF_OK) return status;
  if (same == 0) {
    *picture = (cheif_picture){0};
    return cheif_fail(error, CHEIF_DAMAGED, "the file ends before any rows of the picture");
  }
  uint32_t rows = same * BAND_ROWS;
  if (rows >= height) return CHEIF_OK;
  fill_rows(&picture->frame, rows, is_alpha ? CHEIF_FILL_OPAQUE : CHEIF_FILL_GRAY);
  if (is_alpha) reader->losses.lost_alpha = true;
  if (!is_alpha && rows < reader->header.height) reader->losses.lost_rows = reader->header.height - rows;
  return CHEIF_OK;
}

/// Alpha that cannot be decoded.
static cheif_status make_opaque(cheif_reader *reader, cheif_error *error) {
  const cheif_header *header = &reader->header;
  cheif_room room = {.store = &reader->whole_alpha_store};
  size_t stride = ((size_t)header->alpha_width * (header->alpha_bits > 8 ? 2 : 1) + 63) / 64 * 64;
  uint8_t *planes[3];
  if (cheif_take_room(&room, (size_t[]){stride, 0, 0}, (uint32_t[]){header->alpha_height, 0, 0}, header->alpha_bits,
                      planes) == NULL) {
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for alpha");
  }
  cheif_frame frame = {.layout = CHEIF_LAYOUT_MONOCHROME, .plane_count = 1};
  frame.planes[0] = (cheif_plane){planes[0], stride, header->alpha_width, header->alpha_height, header->alpha_bits,
                                  header->alpha_bits > 8 ? 2 : 1};
  reader->whole_alpha = (cheif_picture){.is_frame = true, .frame = frame};
  reader->losses.lost_alpha = true;
  return CHEIF_OK;
}

cheif_losses cheif_get_losses(const cheif_reader *reader) { return reader->losses; }

static cheif_status decode_undivided_here(cheif_reader *reader, bool is_alpha, cheif_error *error) {
  const cheif_way *way = is_alpha ? &reader->alpha_coding : &reader->color;
  cheif_picture *picture = is_alpha ? &reader->whole_alpha : &reader->whole;
  if (way->decoder == CHEIF_DECODER_NONE) {
    bool converts = !is_alpha && reader->header.layout_known;
    cheif_make_up_with(0);
    cheif_status status = cheif_decode_item(reader, is_alpha ? reader->alpha : reader->primary,
                                            converts ? &reader->header.layout : NULL, picture, error);
    if (status == CHEIF_OK && cheif_made_up() > 0) {
      cheif_free_picture(reader, picture);
      return cheif_fail(error, CHEIF_DAMAGED, "the file ends inside the picture");
    }
    return status == CHEIF_OK && !is_alpha ? check_library_picture(reader, error) : status;
  }
  cheif_make_up_with(MADE_UP);
  bool is_cut = false;
  cheif_status status = decode_once(reader, is_alpha, &is_cut, error);
  if (status == CHEIF_OK && is_cut) status = keep_what_is_there(reader, is_alpha, error);
  if (status == CHEIF_OK && picture->frame.is_damaged) {
    if (is_alpha) reader->losses.lost_alpha = true;
    if (!is_alpha) reader->losses.is_damaged = true;
  }
  if (is_alpha && cheif_can_salvage(reader, status)) status = make_opaque(reader, error);
  return status;
}

cheif_status cheif_decode_undivided(cheif_reader *reader, bool is_alpha, int threads, cheif_error *error) {
  const cheif_picture *picture = is_alpha ? &reader->whole_alpha : &reader->whole;
  if (picture->image != NULL || picture->is_frame) return CHEIF_OK;
  cheif_status status = cheif_ask(reader, error);
  if (status != CHEIF_OK) return status;
  cheif_processors all = cheif_find_processors(reader);
  cheif_narrow(&all, 0, threads);
  cheif_enter();
  status = decode_undivided_here(reader, is_alpha, error);
  cheif_leave();
  cheif_widen(&all);
  if (status == CHEIF_OK && !is_alpha) cheif_take_stream_color(reader, picture);
  return status;
}

int cheif_announced_bits(const cheif_header *header, int plane) {
  if (plane == cheif_color_planes(header->layout)) return header->alpha_bits;
  return plane == 0 || header->layout == CHEIF_LAYOUT_RGB ? header->luma_bits : header->chroma_bits;
}

static cheif_status find_whole_plane(const cheif_reader *reader, int index, cheif_plane *plane, cheif_error *error) {
  const cheif_header *header = &reader->header;
  bool is_alpha = index == cheif_color_planes(header->layout);
  if (!cheif_get_plane(reader, &reader->whole, header->layout, index, plane)) {
    return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture lacks its %s plane", is_alpha ? "alpha" : "color");
  }
  if (plane->bits != cheif_announced_bits(header, index)) {
    return cheif_fail(error, CHEIF_DAMAGED, "the picture has %d bits a sample, its header says %d", plane->bits,
                      cheif_announced_bits(header, index));
  }
  uint32_t width = cheif_divided(header->width, is_alpha ? 1 : cheif_divisor_across(header->layout, index));
  uint32_t height = cheif_divided(header->height, is_alpha ? 1 : cheif_divisor_down(header->layout, index));
  if (plane->width < width || plane->height < height) {
    return cheif_fail(error, CHEIF_DAMAGED, "the decoded picture is smaller than its header says");
  }
  plane->width = width;
  plane->height = height;
  return CHEIF_OK;
}

/// Gives back the pages of rows that were delivered.
static void drop_rows(const cheif_picture *picture, const cheif_plane *plane, uint32_t first, uint32_t end) {
  if (!picture->is_frame) return;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t from = (uintptr_t)plane->samples + first * plane->stride, to = (uintptr_t)plane->samples + end * plane->stride;
  from = (from + page - 1) / page * page;
  to = to / page * page;
  if (to > from) (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

static cheif_plane_rows rows_of(const cheif_plane *plane, uint32_t first, uint32_t end) {
  return (cheif_plane_rows){
    .samples = plane->samples + (size_t)first * plane->stride,
    .stride = plane->stride,
    .width = plane->width,
    .first_row = first,
    .row_count = end - first,
    .bytes_per_sample = plane->bytes_per_sample,
    .bits = plane->bits,
  };
}

/// The rows of a plane of `height` rows that lie beside the first `row` of the picture.
static uint32_t rows_beside(const cheif_header *header, uint32_t row, uint32_t height) {
  return (uint32_t)((uint64_t)row * height / header->height);
}

cheif_status cheif_deliver_alpha(cheif_reader *reader, cheif_rows *rows, cheif_error *error) {
  const cheif_header *header = &reader->header;
  cheif_plane plane;
  if (!cheif_get_alpha(reader, &reader->whole_alpha, &plane) || plane.bits != header->alpha_bits ||
      plane.width < header->alpha_width || plane.height < header->alpha_height) {
    return cheif_fail(error, CHEIF_DAMAGED, "the alpha picture is not what its header says");
  }
  plane.width = header->alpha_width;
  int index = cheif_color_planes(header->layout);
  uint32_t from = rows->planes[0].first_row;
  uint32_t first = rows_beside(header, from, header->alpha_height);
  uint32_t end = rows_beside(header, from + rows->planes[0].row_count, header->alpha_height);
  drop_rows(&reader->whole_alpha, &plane, 0, first);
  rows->plane_count = index + 1;
  rows->planes[index] = rows_of(&plane, first, end);
  return CHEIF_OK;
}

/// The next rows of the whole picture. What libheif decoded is delivered at once.
static cheif_status deliver_whole(cheif_reader *reader, cheif_rows *rows, cheif_error *error) {
  enum { rows_at_once = 128 };
  const cheif_header *header = &reader->header;
  int colors = cheif_color_planes(header->layout);
  uint32_t first = reader->next_row, end = header->height;
  if (reader->whole.is_frame && end - first > rows_at_once) end = first + rows_at_once;
  rows->plane_count = colors + (reader->alpha_way == CHEIF_ALPHA_WITH_COLOR ? 1 : 0);
  for (int i = 0; i < rows->plane_count; i++) {
    cheif_plane plane;
    cheif_status status = find_whole_plane(reader, i, &plane, error);
    if (status != CHEIF_OK) return status;
    uint32_t down = i < colors ? cheif_divisor_down(header->layout, i) : 1;
    uint32_t from = first / down, to = end < header->height ? end / down : plane.height;
    drop_rows(&reader->whole, &plane, 0, from);
    rows->planes[i] = rows_of(&plane, from, to);
  }
  if (reader->alpha_way == CHEIF_ALPHA_WHOLE) {
    cheif_status status = cheif_deliver_alpha(reader, rows, error);
    if (status != CHEIF_OK) return status;
  }
  reader->next_row = end;
  return CHEIF_OK;
}

void cheif_state_stream_color(const cheif_reader *reader, cheif_rows *rows) {
  rows->has_nclx = reader->has_stream_nclx;
  rows->primaries = reader->stream_primaries;
  rows->transfer = reader->stream_transfer;
  rows->matrix = reader->stream_matrix;
  rows->full_range = reader->stream_full_range;
}

static void free_whole(cheif_reader *reader) {
  cheif_enter();
  cheif_free_picture(reader, &reader->whole);
  cheif_free_picture(reader, &reader->whole_alpha);
  cheif_leave();
  cheif_free_store(&reader->whole_store);
  cheif_free_store(&reader->whole_alpha_store);
}

static cheif_status next_whole(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error) {
  if (reader->next_row >= reader->header.height) {
    free_whole(reader);
    return CHEIF_OK;
  }
  cheif_status status = cheif_decode_undivided(reader, false, threads, error);
  if (status == CHEIF_OK && reader->whole.is_frame && reader->whole.frame.layout != reader->header.layout) {
    status = cheif_fail(error, CHEIF_DAMAGED, "the picture has another subsampling than its header says");
  }
  if (status == CHEIF_OK && reader->alpha_way == CHEIF_ALPHA_WHOLE) {
    status = cheif_decode_undivided(reader, true, threads, error);
  }
  if (status == CHEIF_OK) status = deliver_whole(reader, rows, error);
  if (status != CHEIF_OK) return status;
  cheif_state_stream_color(reader, rows);
  return CHEIF_OK;
}

// MARK: Interface

static int clamp_threads(int threads) {
  return threads < 1 ? 1 : threads > CHEIF_MAX_THREADS ? CHEIF_MAX_THREADS : threads;
}

/// Where libheif calls libde265, that decodes in a thread of its own for each picture, and waits for it for ever when it could not be started:
/// under a limit on processes or on address space that has to be known before.
static cheif_status find_threads(cheif_reader *reader, int *threads, cheif_error *error) {
  if (strcmp(reader->header.codec, "hvc1") != 0 || reader->color.decoder != CHEIF_DECODER_NONE) return CHEIF_OK;
  if (reader->usable_threads == 0) {
    // Ours but this one, and as many of libde265.
    int startable = cheif_startable_threads(2 * *threads - 1);
    if (startable < 1) return cheif_fail(error, CHEIF_NO_MEMORY, "no thread can be started to decode in");
    reader->usable_threads = (startable + 1) / 2;
  }
  if (*threads > reader->usable_threads) *threads = reader->usable_threads;
  return CHEIF_OK;
}

/// A file that ends too early is refused before anything of it is decoded.
static cheif_status refuse_cut(const cheif_reader *reader, cheif_error *error) {
  for (int is_alpha = 0; is_alpha < 2; is_alpha++) {
    const cheif_cut *cut = is_alpha ? &reader->alpha_cut : &reader->cut;
    // What libheif decodes whole comes as it can, or not at all.
    bool is_ours = reader->header.tiled || (is_alpha ? &reader->alpha_coding : &reader->color)->decoder != CHEIF_DECODER_NONE;
    if (cut->count == 0 || (reader->source.salvages && is_ours)) continue;
    const char *of = is_alpha ? "alpha" : "the picture";
    int percent = cut->bytes > 0 ? (int)(100.0 * (double)cut->there / (double)cut->bytes) : 0;
    if (cut->items == 1) return cheif_fail(error, CHEIF_DAMAGED, "the file ends inside %s (%d%% of it is there)", of, percent);
    return cheif_fail(error, CHEIF_DAMAGED, "the file ends inside %s%s %u of %u (%d%% of %s is there)",
                      is_alpha ? "alpha's " : "", is_alpha || reader->header.tiled ? "tile" : "part", cut->first + 1,
                      cut->items, percent, of);
  }
  return CHEIF_OK;
}

cheif_status cheif_settle(cheif_reader *reader, int threads, cheif_error *error) {
  cheif_error own;
  if (error == NULL) error = &own;
  *error = reader->failure;
  if (reader->failure.status != CHEIF_OK || reader->header.layout_known) return reader->failure.status;
  threads = clamp_threads(threads);
  cheif_status status = refuse_cut(reader, error);
  if (status == CHEIF_OK) status = find_threads(reader, &threads, error);
  if (status == CHEIF_OK) status = cheif_decode_undivided(reader, false, threads, error);
  if (status == CHEIF_OK) status = cheif_check_source(reader, error);
  if (status != CHEIF_OK) reader->failure = *error;
  return status;
}

static cheif_status decode_rows(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error) {
  cheif_status status = refuse_cut(reader, error);
  if (status == CHEIF_OK) status = find_threads(reader, &threads, error);
  if (status != CHEIF_OK) return status;
#if CHEIF_BUILT_WITH_TILES
  if (reader->header.tiled) {
    // Tiles decoded ahead are not waited for: a caller in no hurry would never be asked.
    status = cheif_ask(reader, error);
    return status == CHEIF_OK ? cheif_next_tiles(reader, threads, rows, error) : status;
  }
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
  if (status == CHEIF_OK) status = cheif_check_source(reader, error);
  if (status != CHEIF_OK) {
    *rows = (cheif_rows){0};
    reader->failure = *error;
  }
  return status;
}
