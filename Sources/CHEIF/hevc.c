#define _GNU_SOURCE  // dladdr

#include "decoders.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MARK: Parameter sets

/// Bits of a NAL unit's payload, in which a 3 after two zero bytes is no data.
typedef struct {
  const uint8_t *bytes;
  size_t count, next;
  int zeros;       // zero bytes just read
  uint32_t bits;   // the byte at hand
  int left;        // bits left of it
  bool ended;
} bit_reader;

static uint32_t read_bit(bit_reader *reader) {
  if (reader->left == 0) {
    if (reader->zeros >= 2 && reader->next < reader->count && reader->bytes[reader->next] == 3) {
      reader->next++;
      reader->zeros = 0;
    }
    if (reader->next >= reader->count) {
      reader->ended = true;
      return 0;
    }
    reader->bits = reader->bytes[reader->next++];
    reader->zeros = reader->bits == 0 ? reader->zeros + 1 : 0;
    reader->left = 8;
  }
  reader->left--;
  return reader->bits >> reader->left & 1;
}

static uint32_t read_bits(bit_reader *reader, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; i++) value = value << 1 | read_bit(reader);
  return value;
}

/// An Exp-Golomb code; above 2^31 - 1 the set is broken.
static uint32_t read_code(bit_reader *reader) {
  int zeros = 0;
  while (zeros < 31 && !reader->ended && read_bit(reader) == 0) zeros++;
  if (zeros == 31) reader->ended = true;
  return ((uint32_t)1 << zeros) - 1 + read_bits(reader, zeros);
}

static void skip_profile(bit_reader *reader, int sub_layers) {
  for (int i = 0; i < 11; i++) read_bits(reader, 8);
  read_bits(reader, 8);
  bool has_profile[8] = {false}, has_level[8] = {false};
  for (int i = 0; i < sub_layers; i++) {
    has_profile[i] = read_bit(reader) != 0;
    has_level[i] = read_bit(reader) != 0;
  }
  for (int i = sub_layers; i < 8 && sub_layers > 0; i++) read_bits(reader, 2);
  for (int i = 0; i < sub_layers; i++) {
    for (int j = 0; j < 11 && has_profile[i]; j++) read_bits(reader, 8);
    if (has_level[i]) read_bits(reader, 8);
  }
}

static void skip_scaling_lists(bit_reader *reader) {
  for (int size = 0; size < 4; size++) {
    for (int matrix = 0; matrix < 6; matrix += size == 3 ? 3 : 1) {
      if (read_bit(reader) == 0) {
        read_code(reader);
        continue;
      }
      int count = size == 0 ? 16 : 64;
      if (size > 1) read_code(reader);
      for (int i = 0; i < count; i++) read_code(reader);
    }
  }
}

enum { MOST_REFERENCES = 64, MOST_DELTAS = 16 };

/// ITU-T H.265, 7.3.7: sets of pictures to refer to, each maybe told by how it differs from the one before it.
static bool skip_reference_sets(bit_reader *reader) {
  uint32_t sets = read_code(reader), deltas = 0;
  if (sets > MOST_REFERENCES) return false;
  for (uint32_t i = 0; i < sets && !reader->ended; i++) {
    if (i > 0 && read_bit(reader) != 0) {
      read_bit(reader);
      read_code(reader);
      uint32_t kept = 0;
      for (uint32_t j = 0; j <= deltas; j++) {
        bool is_used = read_bit(reader) != 0;
        kept += is_used || read_bit(reader) != 0;
      }
      deltas = kept;
    } else {
      deltas = read_code(reader);
      deltas += read_code(reader);
      if (deltas > MOST_DELTAS) return false;
      for (uint32_t j = 0; j < deltas; j++) {
        read_code(reader);
        read_bit(reader);
      }
    }
    if (deltas > MOST_DELTAS) return false;
  }
  return true;
}

/// What follows the sample adaptive offset's flag up to the colour in the set's usability information (annex E.2.1).
static void read_color(bit_reader *reader, int order_bits, cheif_stream *stream) {
  if (read_bit(reader) != 0) {  // pulse code modulation
    read_bits(reader, 8);
    read_code(reader);
    read_code(reader);
    read_bit(reader);
  }
  if (!skip_reference_sets(reader)) return;
  if (read_bit(reader) != 0) {
    uint32_t count = read_code(reader);
    for (uint32_t i = 0; i < count && !reader->ended; i++) read_bits(reader, order_bits + 1);
  }
  read_bits(reader, 2);
  if (read_bit(reader) == 0) return;
  enum { any_aspect = 255 };
  if (read_bit(reader) != 0 && read_bits(reader, 8) == any_aspect) read_bits(reader, 32);
  if (read_bit(reader) != 0) read_bit(reader);
  if (read_bit(reader) == 0) return;
  read_bits(reader, 3);
  bool full_range = read_bit(reader) != 0;
  uint32_t numbers[3] = {2, 2, 2};
  if (read_bit(reader) != 0) {
    for (int i = 0; i < 3; i++) numbers[i] = read_bits(reader, 8);
  }
  if (reader->ended) return;
  stream->full_range = full_range;
  stream->primaries = cheif_known_primaries((int)numbers[0]);
  stream->transfer = cheif_known_transfer((int)numbers[1]);
  stream->matrix = cheif_known_matrix((int)numbers[2]);
}

/// ITU-T H.265, 7.3.2.2. Without usability information, or where it cannot be read, colour is unspecified.
static bool read_sequence_set(const uint8_t *bytes, size_t count, cheif_stream *stream) {
  bit_reader reader = {.bytes = bytes, .count = count, .next = 2};
  read_bits(&reader, 4);
  int sub_layers = (int)read_bits(&reader, 3);
  read_bit(&reader);
  skip_profile(&reader, sub_layers);
  read_code(&reader);
  uint32_t chroma = read_code(&reader);
  if (chroma > 3) return false;
  static const cheif_layout layouts[] = {CHEIF_LAYOUT_MONOCHROME, CHEIF_LAYOUT_420, CHEIF_LAYOUT_422,
                                         CHEIF_LAYOUT_444};
  stream->layout = layouts[chroma];
  if (chroma == 3 && read_bit(&reader) != 0) stream->layout = CHEIF_LAYOUT_MONOCHROME;
  stream->width = read_code(&reader);
  stream->height = read_code(&reader);
  if (read_bit(&reader) != 0) {
    for (int i = 0; i < 4; i++) read_code(&reader);
  }
  uint32_t luma = read_code(&reader), chroma_depth = read_code(&reader);
  if (luma > 8 || chroma_depth > 8) return false;
  stream->luma_bits = 8 + (int)luma;
  stream->chroma_bits = 8 + (int)chroma_depth;
  uint32_t order_bits = 4 + read_code(&reader);
  if (order_bits > 16) return false;
  for (int i = read_bit(&reader) != 0 ? 0 : sub_layers; i <= sub_layers; i++) {
    for (int j = 0; j < 3; j++) read_code(&reader);
  }
  for (int i = 0; i < 6; i++) read_code(&reader);
  if (read_bit(&reader) != 0 && read_bit(&reader) != 0) skip_scaling_lists(&reader);
  read_bit(&reader);
  stream->copies_plane = read_bit(&reader) != 0;
  stream->pictures = 1;
  stream->primaries = stream->transfer = stream->matrix = 2;
  if (reader.ended || stream->width == 0 || stream->height == 0) return false;
  read_color(&reader, (int)order_bits, stream);
  return true;
}

/// The next NAL unit, which its length in 4 bytes precedes. False at the end, and where it is cut short.
static bool next_unit(const cheif_coded *coded, size_t *position, const uint8_t **unit, size_t *count) {
  if (coded->count - *position < 4) return false;
  const uint8_t *bytes = coded->bytes + *position;
  *count = (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
  *unit = bytes + 4;
  if (*count > coded->count - *position - 4) return false;
  *position += 4 + *count;
  return true;
}

/// A set of the base layer: the decoder drops all others.
static bool is_sequence_set(const uint8_t *unit, size_t count) {
  return count > 2 && (unit[0] >> 1 & 63) == 33 && (unit[0] & 1) == 0 && unit[1] >> 3 == 0;
}

/// The first slice of a picture of the base layer.
static bool begins_picture(const uint8_t *unit, size_t count) {
  return count > 2 && (unit[0] >> 1 & 63) < 32 && (unit[0] & 1) == 0 && unit[1] >> 3 == 0 && unit[2] >> 7 != 0;
}

bool cheif_read_hevc_stream(const cheif_coded *coded, cheif_stream *stream) {
  size_t position = 0, count;
  const uint8_t *unit;
  while (next_unit(coded, &position, &unit, &count)) {
    *stream = (cheif_stream){0};
    if (is_sequence_set(unit, count)) return read_sequence_set(unit, count, stream);
  }
  return false;
}

bool cheif_is_one_hevc_picture(const cheif_coded *coded, const cheif_stream *limit, uint64_t *sets) {
  size_t position = 0, count;
  const uint8_t *unit;
  int pictures = 0;
  bool has_sets[3] = {false};
  *sets = 14695981039346656037u;  // FNV-1a
  while (next_unit(coded, &position, &unit, &count)) {
    if (count < 2) return false;
    int type = unit[0] >> 1 & 63;
    if (type < 32 && !(has_sets[0] && has_sets[1] && has_sets[2])) return false;
    if (begins_picture(unit, count)) pictures++;
    if (is_sequence_set(unit, count)) {
      cheif_stream stream = {0};
      if (!read_sequence_set(unit, count, &stream) || stream.width > limit->width || stream.height > limit->height) {
        return false;
      }
    }
    if (type < 32 || type > 34) continue;
    has_sets[type - 32] = true;
    for (size_t i = 0; i < count; i++) *sets = (*sets ^ unit[i]) * 1099511628211u;
    *sets = (*sets ^ count) * 1099511628211u;
  }
  return position == coded->count && pictures == 1;
}

#if CHEIF_BUILT_WITH_HEVC

// MARK: The library

#define FUNCTIONS(F)            \
  F(de265_init)                 \
  F(de265_new_decoder)          \
  F(de265_free_decoder)         \
  F(de265_push_NAL)             \
  F(de265_flush_data)           \
  F(de265_decode)               \
  F(de265_get_next_picture)     \
  F(de265_get_warning)          \
  F(de265_release_next_picture) \
  F(de265_set_image_allocation_functions) \
  F(de265_set_image_plane)      \
  F(de265_set_parameter_bool)   \
  F(de265_get_chroma_format)    \
  F(de265_get_image_width)      \
  F(de265_get_image_height)     \
  F(de265_get_bits_per_pixel)   \
  F(de265_get_image_plane)      \
  F(de265_get_image_full_range_flag)            \
  F(de265_get_image_colour_primaries)           \
  F(de265_get_image_transfer_characteristics)   \
  F(de265_get_image_matrix_coefficients)

static struct {
#define MEMBER(name) __typeof__(&name) name;
  FUNCTIONS(MEMBER)
#undef MEMBER
  bool is_open;
} library;
static pthread_once_t open_once = PTHREAD_ONCE_INIT, initialise_once = PTHREAD_ONCE_INIT;
static bool is_initialised;

static void open_library(void) {
  // Never closed, like libheif.
  void *handle = dlopen("libde265.so.0", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return;
#define FIND(name)                                    \
  *(void **)&library.name = dlsym(handle, #name);     \
  if (library.name == NULL) return;
  FUNCTIONS(FIND)
#undef FIND
  library.is_open = true;
}

/// Kept initialised: each decoder would else make the library's tables anew. That takes 2.5 ms, so not before something is
/// decoded.
static void initialise(void) { is_initialised = library.de265_init() == DE265_OK; }

bool cheif_find_beside_hevc(const char *name, char *path, size_t size) {
  Dl_info info;
  if (!cheif_has_hevc() || dladdr((void *)(uintptr_t)library.de265_init, &info) == 0 || info.dli_fname == NULL) {
    return false;
  }
  const char *end = strrchr(info.dli_fname, '/');
  if (end == NULL) return false;
  int length = snprintf(path, size, "%.*s/%s", (int)(end - info.dli_fname), info.dli_fname, name);
  return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

bool cheif_has_hevc(void) { return pthread_once(&open_once, open_library) == 0 && library.is_open; }

// MARK: Decoding

typedef struct {
  cheif_room room;
  const cheif_stream *limit;
} hevc_job;

static cheif_layout layout_of(const struct de265_image *image) {
  static const cheif_layout layouts[] = {CHEIF_LAYOUT_MONOCHROME, CHEIF_LAYOUT_420, CHEIF_LAYOUT_422,
                                         CHEIF_LAYOUT_444};
  return layouts[library.de265_get_chroma_format(image) & 3];
}

static int get_buffer(de265_decoder_context *context, struct de265_image_spec *spec, struct de265_image *image,
                      void *user_data) {
  hevc_job *job = user_data;
  const cheif_stream *limit = job->limit;
  enum de265_chroma chroma = library.de265_get_chroma_format(image);
  bool has_chroma = chroma != de265_chroma_mono;
  uint32_t across = chroma == de265_chroma_420 || chroma == de265_chroma_422 ? 2 : 1;
  uint32_t down = chroma == de265_chroma_420 ? 2 : 1;
  int bits = library.de265_get_bits_per_pixel(image, 0);
  if (has_chroma && library.de265_get_bits_per_pixel(image, 1) > bits) bits = library.de265_get_bits_per_pixel(image, 1);
  if (!cheif_fits(limit, spec->width, spec->height, layout_of(image), bits)) {
    job->room.too_large = true;
    return 0;
  }
  uint32_t width = (uint32_t)spec->width, height = (uint32_t)spec->height;
  size_t strides[3] = {0};
  uint32_t heights[3] = {0};
  for (int i = 0; i < (has_chroma ? 3 : 1); i++) {
    size_t bytes = library.de265_get_bits_per_pixel(image, i) > 8 ? 2 : 1;
    size_t samples = i == 0 ? width : (width + across - 1) / across;
    strides[i] = (samples * bytes + 63) / 64 * 64;
    heights[i] = i == 0 ? height : (height + down - 1) / down;
  }
  uint8_t *planes[3];
  if (cheif_take_room(&job->room, strides, heights, bits, planes) == NULL) return 0;
  for (int i = 0; i < 3; i++) library.de265_set_image_plane(image, i, planes[i], (int)strides[i], NULL);
  // See cheif_decode_hevc.
  library.de265_set_parameter_bool(context, DE265_DECODER_PARAM_DISABLE_SAO, 0);
  return 1;
}

static void release_buffer(de265_decoder_context *context, struct de265_image *image, void *user_data) {
  (void)context;
  (void)image;
  (void)user_data;  // the memory is the store's
}

static cheif_status describe(const hevc_job *job, const struct de265_image *image, cheif_frame *frame,
                             cheif_error *error) {
  *frame = (cheif_frame){.layout = layout_of(image)};
  frame->plane_count = frame->layout == CHEIF_LAYOUT_MONOCHROME ? 1 : 3;
  int bits = library.de265_get_bits_per_pixel(image, 0);
  for (int i = 0; i < frame->plane_count; i++) {
    if (library.de265_get_bits_per_pixel(image, i) != bits) {
      return cheif_fail(error, CHEIF_UNSUPPORTED, "luma and chroma have different numbers of bits a sample");
    }
    int stride = 0;
    int width = library.de265_get_image_width(image, i);
    int height = library.de265_get_image_height(image, i);
    const uint8_t *samples = library.de265_get_image_plane(image, i, &stride);
    if (width <= 0 || height <= 0 || stride <= 0) {
      return cheif_fail(error, CHEIF_DAMAGED, "the coded picture is cropped to nothing");
    }
    frame->planes[i] = (cheif_plane){samples, (size_t)stride, (uint32_t)width, (uint32_t)height, bits, bits > 8 ? 2 : 1};
    if (!cheif_is_inside(&job->room, &frame->planes[i])) {
      return cheif_fail(error, CHEIF_UNSUPPORTED, "libde265 did not put the picture where it was told to");
    }
  }
  frame->primaries = cheif_known_primaries(library.de265_get_image_colour_primaries(image));
  frame->transfer = cheif_known_transfer(library.de265_get_image_transfer_characteristics(image));
  frame->matrix = cheif_known_matrix(library.de265_get_image_matrix_coefficients(image));
  frame->full_range = library.de265_get_image_full_range_flag(image) != 0;
  return CHEIF_OK;
}

/// Hands the units on. The tables of a parameter set take memory before a picture is begun, so its size is looked at here.
static cheif_status push(de265_decoder_context *decoder, const cheif_coded *coded, const cheif_stream *limit,
                         cheif_error *error) {
  size_t position = 0, count;
  const uint8_t *unit;
  int pictures = 0;
  while (next_unit(coded, &position, &unit, &count)) {
    if (begins_picture(unit, count) && ++pictures > limit->pictures) {
      return cheif_fail(error, CHEIF_UNSUPPORTED, "several pictures where one is expected");
    }
    if (is_sequence_set(unit, count)) {
      cheif_stream stream = {0};
      if (!read_sequence_set(unit, count, &stream)) {
        return cheif_fail(error, CHEIF_DAMAGED, "a sequence parameter set cannot be read");
      }
      if (stream.width > limit->width || stream.height > limit->height) {
        return cheif_fail(error, CHEIF_DAMAGED, "the coded picture has %ux%u pixels, more than its header says",
                          stream.width, stream.height);
      }
    }
    if (count > INT32_MAX || library.de265_push_NAL(decoder, unit, (int)count, 0, NULL) == DE265_ERROR_OUT_OF_MEMORY) {
      return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for the coded data");
    }
  }
  if (position != coded->count) return cheif_fail(error, CHEIF_DAMAGED, "the coded data is cut short");
  return CHEIF_OK;
}

/// Whether libde265 met what no sound picture holds. It goes on then, and makes something of what follows.
static bool has_damage(de265_decoder_context *decoder) {
  enum { most_warnings = 64 };
  for (int i = 0; i < most_warnings; i++) {
    switch (library.de265_get_warning(decoder)) {
      case DE265_OK: return false;
      case DE265_WARNING_PREMATURE_END_OF_SLICE_SEGMENT:
      case DE265_WARNING_INCORRECT_ENTRY_POINT_OFFSET:
      case DE265_WARNING_CTB_OUTSIDE_IMAGE_AREA:
      case DE265_WARNING_SLICEHEADER_INVALID:
      case DE265_WARNING_EOSS_BIT_NOT_SET:
      case DE265_WARNING_SLICE_SEGMENT_ADDRESS_INVALID:
      case DE265_WARNING_DEPENDENT_SLICE_WITH_ADDRESS_ZERO: return true;
      default: break;
    }
  }
  return false;
}

static cheif_status decode(de265_decoder_context *decoder, hevc_job *job, cheif_frame *frame, cheif_error *error) {
  bool found = false;
  int more;
  de265_error result;
  do {
    more = 0;
    result = library.de265_decode(decoder, &more);
    if (result != DE265_OK) break;
    const struct de265_image *image = library.de265_get_next_picture(decoder);
    if (image == NULL) continue;
    cheif_status status = describe(job, image, frame, error);
    if (status != CHEIF_OK) return status;
    found = true;
  } while (more);
  if (found) {
    frame->is_damaged = has_damage(decoder);
    return CHEIF_OK;
  }
  if (job->room.too_many) return cheif_fail(error, CHEIF_UNSUPPORTED, "several pictures where one is expected");
  if (job->room.too_large) return cheif_fail(error, CHEIF_DAMAGED, "the coded picture is larger than its header says");
  if (result == DE265_ERROR_OUT_OF_MEMORY) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for the picture");
  return cheif_fail(error, CHEIF_DAMAGED, "libde265 found no picture in the coded data (%d)", (int)result);
}

cheif_status cheif_decode_hevc(cheif_coded *coded, const cheif_stream *limit, cheif_store *store, cheif_frame *frame,
                               cheif_error *error) {
  hevc_job job = {.room = {.store = store}, .limit = limit};
  bool is_ready = pthread_once(&initialise_once, initialise) == 0 && is_initialised;
  de265_decoder_context *decoder = is_ready ? library.de265_new_decoder() : NULL;
  if (decoder == NULL) {
    cheif_free_coded(coded);
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for libde265");
  }
  struct de265_image_allocation functions = {get_buffer, release_buffer};
  library.de265_set_image_allocation_functions(decoder, &functions, &job);
  // libde265 asks for no memory of ours where the sample adaptive offset, told by its parameter, will make another picture
  // of it. That it does in worker threads only, and none is started here: everything is done in this thread. So the filter
  // is off until the picture has its memory.
  library.de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_SAO, 1);
  cheif_status status = push(decoder, coded, limit, error);
  cheif_free_coded(coded);
  if (status == CHEIF_OK && library.de265_flush_data(decoder) != DE265_OK) {
    status = cheif_fail(error, CHEIF_NO_MEMORY, "no memory for the coded data");
  }
  if (status == CHEIF_OK) status = decode(decoder, &job, frame, error);
  library.de265_free_decoder(decoder);
  cheif_leave_room(&job.room);
  return status;
}

#else

bool cheif_has_hevc(void) { return false; }

bool cheif_find_beside_hevc(const char *name, char *path, size_t size) {
  (void)name;
  (void)path;
  (void)size;
  return false;
}

cheif_status cheif_decode_hevc(cheif_coded *coded, const cheif_stream *limit, cheif_store *store, cheif_frame *frame,
                               cheif_error *error) {
  (void)limit;
  (void)store;
  (void)frame;
  cheif_free_coded(coded);
  return cheif_fail(error, CHEIF_FAULT, "built without libde265");
}

#endif
