#define _GNU_SOURCE  // for decode.h

#include "boxes.h"
#include "coded.h"
#include "decode.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// Where this thread reads. libheif seeks before it reads, but takes no lock around the two when several threads decode
// from one context, so the position belongs to the thread, not to the reader.
static _Thread_local int64_t position;

// How much it still reads.
static _Thread_local int64_t readable = INT64_MAX;

// How many bytes it was given that the file does not have, and which.
static _Thread_local int64_t made_up;
static _Thread_local uint8_t made_up_byte;

void cheif_limit_reading(int64_t most) { readable = most; }

void cheif_make_up_with(uint8_t byte) {
  made_up_byte = byte;
  made_up = 0;
}

int64_t cheif_made_up(void) { return made_up; }

static int64_t callback_position(void *context) {
  (void)context;
  return position;
}

static int callback_seek(int64_t target, void *context) {
  (void)context;
  if (target < 0) return -1;
  position = target;
  return 0;
}

// Small reads, of which libheif makes thousands, go through the cache.
bool cheif_read_exactly(cheif_reader *reader, int64_t offset, void *buffer, int64_t count) {
  if (offset < 0 || count < 0 || offset > reader->source.size || count > reader->source.size - offset) return false;
  bool done = true;
  pthread_mutex_lock(&reader->source_lock);
  uint8_t *out = buffer;
  while (count > 0) {
    int64_t in_cache = offset - reader->cache_offset;
    if (in_cache >= 0 && in_cache < reader->cache_count) {
      int64_t part = reader->cache_count - in_cache < count ? reader->cache_count - in_cache : count;
      memcpy(out, reader->cache + in_cache, (size_t)part);
      out += part, offset += part, count -= part;
      continue;
    }
    bool direct = count >= CHEIF_CACHE_BYTES;
    int64_t part = reader->source.read(reader->source.context, offset, direct ? out : reader->cache,
                                       direct ? count : (int64_t)CHEIF_CACHE_BYTES);
    if (part <= 0 || part > (direct ? count : (int64_t)CHEIF_CACHE_BYTES)) {
      // The end of a file that is shorter than it said it was is damage to libheif, not a failed read.
      if (part != 0) reader->read_failed = true;
      if (!direct) reader->cache_count = 0;
      done = false;
      break;
    }
    reader->bytes_read += part;
    if (direct) {
      out += part, offset += part, count -= part;
    } else {
      reader->cache_offset = offset;
      reader->cache_count = part;
    }
  }
  pthread_mutex_unlock(&reader->source_lock);
  return done;
}

/// `most`, or that part of what opening may hold.
static int64_t allowed(const cheif_reader *reader, int64_t most, int part) {
  int64_t share = reader->source.most_bytes / part;
  return reader->source.most_bytes > 0 && share < most ? share : most;
}

/// Reading the boxes also reads the metadata items, whole.
static bool may_open(cheif_reader *reader, int64_t count) {
  if (!reader->is_opening || count <= allowed(reader, 32 << 20, 2) - reader->bytes_read) return true;
  reader->too_much_to_open = true;
  return false;
}

/// While the boxes are read, and where damage is made up for, the file is as long as its boxes say.
static bool fills_up(const cheif_reader *reader) {
  return reader->is_opening || reader->is_finding || reader->source.salvages;
}

static bool has_failed(cheif_reader *reader) {
  pthread_mutex_lock(&reader->source_lock);
  bool failed = reader->read_failed;
  pthread_mutex_unlock(&reader->source_lock);
  return failed;
}

cheif_status cheif_check_source(cheif_reader *reader, cheif_error *error) {
  return has_failed(reader) ? cheif_fail(error, CHEIF_READ_FAILED, "the input could not be read") : CHEIF_OK;
}

static int callback_read(void *buffer, size_t size, void *context) {
  cheif_reader *reader = context;
  if (size > INT64_MAX || !may_open(reader, (int64_t)size)) return -1;
  cheif_leave();  // the source is not libheif
  int64_t count = (int64_t)size;
  int64_t rest = reader->source.size - position, missing = 0;
  if (fills_up(reader) && count > rest && position <= reader->full_size - count) {
    missing = rest > 0 ? count - rest : count;
    made_up += missing;
  }
  int64_t part = count - missing < readable ? count - missing : readable;
  bool done = part == 0 || cheif_read_exactly(reader, position, buffer, part);
  cheif_enter();
  if (!done) {
    if (!has_failed(reader)) return -1;
    // libheif asserts that some of its reads succeed. It is told the failure when it has returned: cheif_check_source.
    memset(buffer, 0, size);
    position += count;
    return 0;
  }
  if (part < count - missing) {
    memset((uint8_t *)buffer + part, 0, (size_t)(count - missing - part));
    reader->is_spent = true;
  }
  if (missing > 0) memset((uint8_t *)buffer + count - missing, made_up_byte, (size_t)missing);
  if (readable != INT64_MAX) readable -= part;
  position += count;
  return 0;
}

static enum heif_reader_grow_status callback_wait(int64_t target, void *context) {
  const cheif_reader *reader = context;
  return target <= (fills_up(reader) ? reader->full_size : reader->source.size) ? heif_reader_grow_status_size_reached
                                       : heif_reader_grow_status_size_beyond_eof;
}

cheif_status cheif_reader_fail(cheif_reader *reader, struct heif_error from, cheif_error *error) {
  cheif_status status = cheif_check_source(reader, error);
  if (status != CHEIF_OK) return status;
  if (reader->too_much_to_open) {
    return cheif_fail(error, CHEIF_NO_MEMORY, "the file's boxes and metadata take more than %lld MB",
                      (long long)(allowed(reader, 32 << 20, 2) >> 20));
  }
  return cheif_fail_with(error, from, reader->header.codec);
}

static uint32_t big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Looks at the outermost boxes: is there a still picture (meta or mini; of how many bytes, and of how many that the file
/// does not have?), is there a sequence (moov)?
static void scan_boxes(cheif_reader *reader, bool *still, bool *sequence, uint64_t *meta_bytes,
                       uint64_t *missing_bytes) {
  *still = *sequence = false;
  *meta_bytes = 0;
  int64_t offset = 0;
  for (int i = 0; i < 256; i++) {
    uint8_t head[16];
    if (!cheif_read_exactly(reader, offset, head, 8)) return;
    uint64_t size = big_endian(head);
    bool is_meta = memcmp(head + 4, "meta", 4) == 0 || memcmp(head + 4, "mini", 4) == 0;
    if (is_meta) *still = true;
    if (memcmp(head + 4, "moov", 4) == 0) *sequence = true;
    uint64_t least = 8;
    if (size == 1) {
      if (!cheif_read_exactly(reader, offset + 8, head + 8, 8)) return;
      size = (uint64_t)big_endian(head + 8) << 32 | big_endian(head + 12);
      least = 16;
    }
    if (is_meta) {
      uint64_t rest = (uint64_t)(reader->source.size - offset);
      *meta_bytes += size > rest || size == 0 ? rest : size;
      if (size > rest) *missing_bytes = size - rest;
    }
    if (size < least || size > (uint64_t)(reader->source.size - offset)) return;
    offset += (int64_t)size;
  }
}

static void set_type(char *text, uint32_t type) {
  for (int i = 0; i < 4; i++) {
    unsigned char c = (unsigned char)(type >> (24 - 8 * i));
    text[i] = (char)(c >= 32 && c < 127 ? c : '?');
  }
  text[4] = 0;
  if (type == 0) text[0] = 0;
}

static bool is_coded(const char *type) {
  static const char *const coded[] = {"hvc1", "hev1", "lhv1", "av01", "avc1", "vvc1", "jpeg", "j2k1", "unci"};
  for (size_t i = 0; i < sizeof coded / sizeof *coded; i++) {
    if (strcmp(type, coded[i]) == 0) return true;
  }
  return false;
}

/// The first picture that a derived item is made of; 0 when that cannot be told.
static heif_item_id first_input(const cheif_reader *reader, heif_item_id id) {
  const cheif_library *library = reader->library;
  if (library->heif_context_get_item_references == NULL || library->heif_release_item_references == NULL) return 0;
  heif_item_id found = 0;
  for (int i = 0; i < 16 && found == 0; i++) {
    uint32_t type = 0;
    heif_item_id *targets = NULL;
    size_t count = library->heif_context_get_item_references(reader->context, id, i, &type, &targets);
    if (count == 0) break;
    if (type == heif_fourcc('d', 'i', 'm', 'g') && targets != NULL) found = targets[0];
    library->heif_release_item_references(reader->context, &targets);
  }
  return found;
}

/// Gives the first input (a grid's first tile) too.
static heif_item_id find_types(cheif_reader *reader, heif_item_id primary) {
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  if (library->heif_item_get_item_type == NULL) return 0;
  set_type(header->item_type, library->heif_item_get_item_type(reader->context, primary));
  if (is_coded(header->item_type)) {
    memcpy(header->codec, header->item_type, sizeof header->codec);
    return 0;
  }
  heif_item_id input = first_input(reader, primary), id = input;
  for (int depth = 0; depth < 8 && id != 0; depth++) {
    char type[5];
    set_type(type, library->heif_item_get_item_type(reader->context, id));
    if (is_coded(type)) {
      memcpy(header->codec, type, sizeof header->codec);
      break;
    }
    id = first_input(reader, id);
  }
  return input;
}

static cheif_status find_transforms(cheif_reader *reader, heif_item_id primary, cheif_error *error) {
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  enum { most = sizeof header->transforms / sizeof header->transforms[0] };
  uint32_t properties[most];
  int count = library->heif_item_get_transformation_properties(reader->context, primary, NULL, 0);
  if (count > most) return cheif_fail(error, CHEIF_UNSUPPORTED, "more than %d crops and rotations", (int)most);
  if (count <= 0) return CHEIF_OK;
  count = library->heif_item_get_transformation_properties(reader->context, primary, properties, most);
  int width = (int)header->width, height = (int)header->height;  // as the picture stands at each step
  for (int i = 0; i < count; i++) {
    cheif_transform transform = {0};
    uint32_t type = library->heif_item_get_property_type(reader->context, primary, properties[i]);
    if (type == heif_fourcc('c', 'l', 'a', 'p')) {
      int left = 0, top = 0, right = 0, bottom = 0;
      library->heif_item_get_property_transform_crop_borders(reader->context, primary, properties[i], width, height,
                                                             &left, &top, &right, &bottom);
      transform.kind = CHEIF_CROP;
      transform.left = left > 0 ? left : 0;
      transform.top = top > 0 ? top : 0;
      transform.right = right > 0 ? right : 0;
      transform.bottom = bottom > 0 ? bottom : 0;
      if ((int64_t)transform.left + transform.right >= width || (int64_t)transform.top + transform.bottom >= height) {
        return cheif_fail(error, CHEIF_DAMAGED, "the clean aperture lies outside of the picture");
      }
      width -= transform.left + transform.right;
      height -= transform.top + transform.bottom;
    } else if (type == heif_fourcc('i', 'r', 'o', 't')) {
      transform.kind = CHEIF_ROTATE;
      int degrees = library->heif_item_get_property_transform_rotation_ccw(reader->context, primary, properties[i]);
      if (degrees == 0) continue;
      if (degrees != 90 && degrees != 180 && degrees != 270) {
        return cheif_fail(error, CHEIF_DAMAGED, "a rotation by %d degrees", degrees);
      }
      transform.degrees_ccw = degrees;
      if (degrees != 180) {
        int swapped = width;
        width = height;
        height = swapped;
      }
    } else if (type == heif_fourcc('i', 'm', 'i', 'r')) {
      transform.kind = CHEIF_MIRROR;
      int direction = library->heif_item_get_property_transform_mirror(reader->context, primary, properties[i]);
      if (direction != 0 && direction != 1) return cheif_fail(error, CHEIF_DAMAGED, "a mirroring about no axis");
      transform.left_right = direction == 1;
    } else {
      continue;
    }
    header->transforms[header->transform_count++] = transform;
  }
  return CHEIF_OK;
}

static void find_auxiliaries(cheif_reader *reader) {
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  int count = library->heif_image_handle_get_number_of_auxiliary_images(reader->primary, 0);
  if (count <= 0) return;
  heif_item_id *ids = calloc((size_t)count, sizeof *ids);
  if (ids == NULL) return;
  count = library->heif_image_handle_get_list_of_auxiliary_image_IDs(reader->primary, 0, ids, count);
  for (int i = 0; i < count; i++) {
    struct heif_image_handle *auxiliary = NULL;
    struct heif_error result =
      library->heif_image_handle_get_auxiliary_image_handle(reader->primary, ids[i], &auxiliary);
    if (result.code != heif_error_Ok || auxiliary == NULL) continue;
    const char *type = NULL;
    result = library->heif_image_handle_get_auxiliary_type(auxiliary, &type);
    bool is_alpha = false;
    if (result.code == heif_error_Ok && type != NULL) {
      is_alpha = strcmp(type, "urn:mpeg:hevc:2015:auxid:1") == 0 || strcmp(type, "urn:mpeg:avc:2015:auxid:1") == 0 ||
                 strcmp(type, "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha") == 0;
      if (strcmp(type, "urn:com:apple:photo:2020:aux:hdrgainmap") == 0) {
        header->gain_map = CHEIF_GAIN_MAP_APPLE;
      } else if (strstr(type, "gainmap") != NULL && header->gain_map == CHEIF_GAIN_MAP_NONE) {
        header->gain_map = CHEIF_GAIN_MAP_OTHER;
      }
      library->heif_image_handle_free_auxiliary_types(auxiliary, &type);
    }
    if (is_alpha && header->has_alpha && reader->alpha == NULL) {
      reader->alpha = auxiliary;
      reader->alpha_id = ids[i];
    } else {
      library->heif_image_handle_release(auxiliary);
    }
  }
  free(ids);
}

/// ISO 21496-1 gain maps hang on a derived item of their own, not on the primary one.
static bool has_tone_map_item(const cheif_reader *reader) {
  const cheif_library *library = reader->library;
  if (!library->items) return false;
  int count = library->heif_context_get_number_of_items(reader->context);
  if (count <= 0) return false;
  heif_item_id *ids = calloc((size_t)count, sizeof *ids);
  if (ids == NULL) return false;
  count = library->heif_context_get_list_of_item_IDs(reader->context, ids, count);
  bool found = false;
  for (int i = 0; i < count && !found; i++) {
    found = library->heif_item_get_item_type(reader->context, ids[i]) == heif_fourcc('t', 'm', 'a', 'p');
  }
  free(ids);
  return found;
}

/// Takes the colour that the handle states. False when it states none.
static bool take_profiles(cheif_reader *reader, const struct heif_image_handle *handle) {
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  header->icc_bytes = library->heif_image_handle_get_raw_color_profile_size(handle);
  struct heif_color_profile_nclx *nclx = NULL;
  struct heif_error result = library->heif_image_handle_get_nclx_color_profile(handle, &nclx);
  if (result.code == heif_error_Ok && nclx != NULL) {
    header->has_nclx = true;
    header->primaries = (int)nclx->color_primaries;
    header->transfer = (int)nclx->transfer_characteristics;
    header->matrix = (int)nclx->matrix_coefficients;
    header->full_range = nclx->full_range_flag != 0;
  }
  if (nclx != NULL) library->heif_nclx_color_profile_free(nclx);
  return header->has_nclx || header->icc_bytes > 0;
}

static bool take_luminance(cheif_reader *reader, const struct heif_image_handle *handle) {
  // As libheif lays them out since 1.16.
  struct {
    uint16_t content, frame_average;
  } light = {0};
  struct {
    uint16_t primaries[6], white[2];
    uint32_t most, least;  // in 0.0001 cd/m2
  } display = {0};
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  if (library->heif_image_handle_get_content_light_level != NULL &&
      library->heif_image_handle_get_content_light_level(handle, &light) != 0) {
    header->content_luminance = light.content;
  }
  if (library->heif_image_handle_get_mastering_display_colour_volume != NULL &&
      library->heif_image_handle_get_mastering_display_colour_volume(handle, &display) != 0) {
    header->mastering_luminance = display.most / 10000.0;
  }
  return header->content_luminance > 0 || header->mastering_luminance > 0;
}

/// Of the picture, else of a grid's first tile.
static void find_luminance(cheif_reader *reader, heif_item_id input) {
  const cheif_library *library = reader->library;
  if (take_luminance(reader, reader->primary) || input == 0) return;
  if (strcmp(reader->header.item_type, "grid") != 0) return;
  struct heif_image_handle *tile = NULL;
  struct heif_error result = library->heif_context_get_image_handle(reader->context, input, &tile);
  if (result.code != heif_error_Ok || tile == NULL) return;
  take_luminance(reader, tile);
  library->heif_image_handle_release(tile);
}

static bool is_cut(cheif_reader *reader, heif_item_id item) {
  if (reader->full_size <= reader->source.size) return false;
  cheif_leave();  // the source is not libheif
  cheif_coded_bytes bytes = cheif_find_coded_bytes(reader, &item, 1);
  cheif_enter();
  return bytes.cut_count > 0;
}

/// The items that libheif has read already; each may be as large as limit_context allows.
static void find_metadata(cheif_reader *reader) {
  enum { most = 32, offset_bytes = 4 };
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  heif_item_id items[most];
  int count = library->heif_image_handle_get_list_of_metadata_block_IDs(reader->primary, NULL, items, most);
  for (int i = 0; i < count; i++) {
    const char *type = library->heif_image_handle_get_metadata_type(reader->primary, items[i]);
    size_t bytes = library->heif_image_handle_get_metadata_size(reader->primary, items[i]);
    if (type == NULL) continue;
    bool is_exif = strcmp(type, "Exif") == 0;
    if ((is_exif || strcmp(type, "mime") == 0) && is_cut(reader, items[i])) {
      header->metadata_cut = true;
      continue;
    }
    if (is_exif && header->exif_bytes == 0 && bytes > offset_bytes) {
      reader->exif_id = items[i];
      header->exif_bytes = bytes - offset_bytes;
    }
    const char *content = library->heif_image_handle_get_metadata_content_type(reader->primary, items[i]);
    if (strcmp(type, "mime") == 0 && content != NULL && strcmp(content, "application/rdf+xml") == 0 &&
        header->xmp_bytes == 0) {
      reader->xmp_id = items[i];
      header->xmp_bytes = bytes;
    }
  }
}

static void find_layout(cheif_reader *reader) {
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  // Until it is known, the layout that takes the most.
  header->layout = CHEIF_LAYOUT_444;
  // An overlay is put together in RGB whatever its parts are.
  if (strcmp(header->item_type, "iovl") == 0) {
    header->layout = CHEIF_LAYOUT_RGB;
    return;
  }
  if (library->heif_image_handle_get_preferred_decoding_colorspace == NULL) return;
  enum heif_colorspace colorspace = heif_colorspace_undefined;
  enum heif_chroma chroma = heif_chroma_undefined;
  struct heif_error result =
    library->heif_image_handle_get_preferred_decoding_colorspace(reader->primary, &colorspace, &chroma);
  if (result.code != heif_error_Ok) return;
  header->layout_known = true;
  if (colorspace == heif_colorspace_monochrome) {
    header->layout = CHEIF_LAYOUT_MONOCHROME;
  } else if (colorspace == heif_colorspace_YCbCr && chroma == heif_chroma_420) {
    header->layout = CHEIF_LAYOUT_420;
  } else if (colorspace == heif_colorspace_YCbCr && chroma == heif_chroma_422) {
    header->layout = CHEIF_LAYOUT_422;
  } else if (colorspace == heif_colorspace_YCbCr && chroma == heif_chroma_444) {
    header->layout = CHEIF_LAYOUT_444;
  } else if (colorspace == heif_colorspace_RGB) {
    // Proposed for a matrix of 0 too, where the decoder gives 4:4:4 with G, B, R in the place of Y, Cb, Cr.
    bool video = strcmp(header->codec, "unci") != 0 && header->codec[0] != 0;
    header->layout = video ? CHEIF_LAYOUT_444 : CHEIF_LAYOUT_RGB;
  } else {
    header->layout_known = false;
  }
}

/// Reads the parameter sets of a coded picture, to learn what decoding it without libheif's plugins takes.
static void find_way(cheif_reader *reader, heif_item_id id, cheif_way *way, cheif_coded_form *form) {
  const cheif_library *library = reader->library;
  char type[5];
  if (library->heif_item_get_item_type == NULL) return;
  set_type(type, library->heif_item_get_item_type(reader->context, id));
  cheif_decoder decoder = cheif_decoder_of(reader, type);
  struct heif_image_handle *handle = NULL;
  if (decoder == CHEIF_DECODER_NONE) return;
  // libheif reads all of it, and copies it.
  heif_item_id ids[] = {id};
  cheif_leave();  // the source is not libheif
  cheif_coded_bytes extents = cheif_find_coded_bytes(reader, ids, 1);
  uint64_t bytes = extents.largest;
  cheif_enter();
  if (bytes > (uint64_t)allowed(reader, INT64_MAX, 3)) {
    cheif_fail(&reader->refusal, CHEIF_NO_MEMORY,
               "the coded data of one picture are %.1f MB, and are held three times for a moment",
               (double)bytes / (1 << 20));
    return;
  }
  struct heif_error result = library->heif_context_get_image_handle(reader->context, id, &handle);
  if (result.code != heif_error_Ok || handle == NULL) return;
  cheif_coded coded;
  cheif_error ignored;
  uint64_t found;
  cheif_status status = cheif_catch_beginning(reader, handle, &coded, &found, &ignored);
  if (status == CHEIF_NO_MEMORY) reader->refusal = ignored;
  if (status == CHEIF_OK) {
    cheif_stream stream;
    bool is_read = decoder == CHEIF_DECODER_HEVC ? cheif_read_hevc_stream(&coded, &stream)
                                                 : cheif_read_av1_stream(&coded, &stream);
    // Deeper chroma than luma, or the other way round, is left to libheif to refuse.
    if (is_read && stream.luma_bits == stream.chroma_bits) {
      *way = (cheif_way){.decoder = decoder, .limit = stream};
      *form = (cheif_coded_form){true, stream.width, stream.height, stream.layout, stream.luma_bits,
                                 stream.pictures, stream.copies_plane, found, found};
    }
    cheif_free_coded(&coded);
  }
  library->heif_image_handle_release(handle);
}

/// The colour's pictures. What their parameter sets state stands above what the boxes announce.
static void find_color_way(cheif_reader *reader, heif_item_id input) {
  cheif_header *header = &reader->header;
  bool is_grid = strcmp(header->item_type, "grid") == 0;
  if (reader->library_transforms || !header->layout_known || (is_grid && input == 0)) return;
  find_way(reader, is_grid ? input : reader->primary_id, &reader->color, &header->form);
  if (!header->form.known) return;
  header->layout = header->form.layout;
  header->luma_bits = header->chroma_bits = header->form.bits;
  if (header->has_nclx) return;
  const cheif_stream *stream = &reader->color.limit;
  header->has_nclx = true;
  header->primaries = stream->primaries;
  header->transfer = stream->transfer;
  header->matrix = stream->matrix;
  header->full_range = stream->full_range;
}

/// The first tile's coded data tell nothing of the others'.
static void count_tiles(cheif_reader *reader, heif_item_id grid, cheif_coded_form *form, cheif_cut *cut) {
  const cheif_library *library = reader->library;
  if (library->heif_context_get_item_references == NULL || library->heif_release_item_references == NULL) return;
  for (int i = 0; i < 16; i++) {
    uint32_t type = 0;
    heif_item_id *tiles = NULL;
    size_t count = library->heif_context_get_item_references(reader->context, grid, i, &type, &tiles);
    if (count == 0) break;
    if (type == heif_fourcc('d', 'i', 'm', 'g') && tiles != NULL) {
      cheif_leave();  // the source is not libheif
      cheif_coded_bytes bytes = cheif_find_coded_bytes(reader, tiles, count);
      cheif_enter();
      if (form->known && form->bytes < bytes.largest) form->bytes = bytes.largest;
      if (form->known && form->all_bytes < bytes.total) form->all_bytes = bytes.total;
      *cut = (cheif_cut){bytes.cut_count, bytes.first_cut, (uint32_t)count, bytes.wanted, bytes.there};
    }
    library->heif_release_item_references(reader->context, &tiles);
  }
}

static void count_bytes(cheif_reader *reader, heif_item_id item, cheif_cut *cut) {
  cheif_leave();  // the source is not libheif
  cheif_coded_bytes bytes = cheif_find_coded_bytes(reader, &item, 1);
  cheif_enter();
  *cut = (cheif_cut){bytes.cut_count, 0, 1, bytes.wanted, bytes.there};
}

static void forget_way(cheif_way *way, cheif_coded_form *form) {
  *way = (cheif_way){0};
  *form = (cheif_coded_form){0};
}

/// Tiles are all of one size, as coded too, but for what a coder adds to fill its blocks.
static void raise_limit(cheif_way *way, cheif_coded_form *form, uint32_t width, uint32_t height) {
  enum { most_added = 64 };
  if (way->decoder == CHEIF_DECODER_NONE) return;
  uint64_t wide = ((uint64_t)width + most_added - 1) / most_added * most_added;
  uint64_t high = ((uint64_t)height + most_added - 1) / most_added * most_added;
  if (form->width < wide) form->width = wide > UINT32_MAX ? width : (uint32_t)wide;
  if (form->height < high) form->height = high > UINT32_MAX ? height : (uint32_t)high;
  way->limit.width = form->width;
  way->limit.height = form->height;
}

/// A picture that is not tiled: its alpha is a picture of its own when we decode.
static void find_whole_alpha(cheif_reader *reader) {
  cheif_header *header = &reader->header;
  if (reader->color.decoder == CHEIF_DECODER_NONE || !header->has_alpha) return;
  if (reader->alpha != NULL) find_way(reader, reader->alpha_id, &reader->alpha_coding, &header->alpha_form);
  if (!header->alpha_form.known) {
    forget_way(&reader->color, &header->form);
    return;
  }
  reader->alpha_way = CHEIF_ALPHA_WHOLE;
  int width = reader->library->heif_image_handle_get_ispe_width(reader->alpha);
  int height = reader->library->heif_image_handle_get_ispe_height(reader->alpha);
  if (width > 0) header->alpha_width = (uint32_t)width;
  if (height > 0) header->alpha_height = (uint32_t)height;
  header->alpha_bits = header->alpha_form.bits;
  raise_limit(&reader->alpha_coding, &header->alpha_form, header->alpha_width, header->alpha_height);
}

static void find_tiles(cheif_reader *reader) {
  cheif_header *header = &reader->header;
  header->tile_width = header->width;
  header->tile_height = header->height;
  header->tile_columns = header->tile_rows = 1;
  reader->alpha_way = header->has_alpha ? CHEIF_ALPHA_WITH_COLOR : CHEIF_ALPHA_NONE;
#if CHEIF_BUILT_WITH_TILES
  const cheif_library *library = reader->library;
  if (!library->tiles || reader->library_transforms || !header->layout_known) return;
  if (strcmp(header->item_type, "grid") != 0 || (header->has_alpha && reader->alpha == NULL)) return;
  struct heif_image_tiling tiling = {0};
  struct heif_error result = library->heif_image_handle_get_image_tiling(reader->primary, 0, &tiling);
  if (result.code != heif_error_Ok) return;
  uint64_t columns = tiling.num_columns, rows = tiling.num_rows;
  if (columns * rows < 2 || tiling.image_width != header->width || tiling.image_height != header->height) return;
  if (tiling.tile_width == 0 || tiling.tile_height == 0 || tiling.number_of_extra_dimensions != 0) return;
  // The tiles must cover the picture, each some of it.
  if (columns * tiling.tile_width < header->width || (columns - 1) * tiling.tile_width >= header->width) return;
  if (rows * tiling.tile_height < header->height || (rows - 1) * tiling.tile_height >= header->height) return;
  // Tiles of an odd size would not meet in the subsampled planes.
  bool halved_across = header->layout == CHEIF_LAYOUT_420 || header->layout == CHEIF_LAYOUT_422;
  if (halved_across && columns > 1 && tiling.tile_width % 2 != 0) return;
  if (header->layout == CHEIF_LAYOUT_420 && rows > 1 && tiling.tile_height % 2 != 0) return;
  header->tiled = true;
  header->tile_width = tiling.tile_width;
  header->tile_height = tiling.tile_height;
  header->tile_columns = tiling.num_columns;
  header->tile_rows = tiling.num_rows;

  if (!header->has_alpha) return;
  reader->alpha_way = CHEIF_ALPHA_WHOLE;
  header->alpha_whole = true;
  int alpha_width = library->heif_image_handle_get_ispe_width(reader->alpha);
  int alpha_height = library->heif_image_handle_get_ispe_height(reader->alpha);
  if (alpha_width > 0) header->alpha_width = (uint32_t)alpha_width;
  if (alpha_height > 0) header->alpha_height = (uint32_t)alpha_height;
  struct heif_image_tiling alpha = {0};
  result = library->heif_image_handle_get_image_tiling(reader->alpha, 0, &alpha);
  if (result.code != heif_error_Ok || alpha.num_rows != tiling.num_rows || alpha.tile_height != tiling.tile_height ||
      alpha.image_width != tiling.image_width || alpha.image_height != tiling.image_height || alpha.tile_width == 0 ||
      alpha.num_columns == 0 || alpha.number_of_extra_dimensions != 0 ||
      (uint64_t)alpha.num_columns * alpha.tile_width < header->width ||
      (uint64_t)(alpha.num_columns - 1) * alpha.tile_width >= header->width) {
    return;
  }
  heif_item_id first_tile = 0;
  result = library->heif_image_handle_get_grid_image_tile_id(reader->alpha, 0, 0, 0, &first_tile);
  if (result.code != heif_error_Ok) return;
  reader->alpha_way = CHEIF_ALPHA_TILES;
  header->alpha_whole = false;
  reader->alpha_columns = alpha.num_columns;
  header->alpha_tile_width = reader->alpha_tile_width = alpha.tile_width;
  find_way(reader, first_tile, &reader->alpha_coding, &header->alpha_form);
#endif
}

/// The primary picture's item. Files exist whose primary item is another one's thumbnail or auxiliary picture: what they
/// show is then the first picture that stands for itself.
static struct heif_error find_primary(const cheif_reader *reader, heif_item_id *primary) {
  const cheif_library *library = reader->library;
  struct heif_error result = library->heif_context_get_primary_image_ID(reader->context, primary);
  if (result.code == heif_error_Ok && !library->heif_context_is_top_level_image_ID(reader->context, *primary)) {
    library->heif_context_get_list_of_top_level_image_IDs(reader->context, primary, 1);
  }
  return result;
}

static cheif_status read_header(cheif_reader *reader, cheif_error *error) {
  const cheif_library *library = reader->library;
  cheif_header *header = &reader->header;
  heif_item_id primary = 0;
  struct heif_error result = find_primary(reader, &primary);
  if (result.code != heif_error_Ok) return cheif_reader_fail(reader, result, error);
  reader->primary_id = primary;
  heif_item_id input = find_types(reader, primary);
  result = library->heif_context_get_image_handle(reader->context, primary, &reader->primary);
  if (result.code != heif_error_Ok) return cheif_reader_fail(reader, result, error);
  if (reader->primary == NULL) return cheif_fail(error, CHEIF_DAMAGED, "the file has no primary picture");

  // The parts of a derived picture may be turned too: ignoring that would ignore theirs.
  reader->library_transforms =
    !library->transforms || !(is_coded(header->item_type) || strcmp(header->item_type, "grid") == 0);
  int width = reader->library_transforms ? library->heif_image_handle_get_width(reader->primary)
                                         : library->heif_image_handle_get_ispe_width(reader->primary);
  int height = reader->library_transforms ? library->heif_image_handle_get_height(reader->primary)
                                          : library->heif_image_handle_get_ispe_height(reader->primary);
  if (width <= 0 || height <= 0) return cheif_fail(error, CHEIF_DAMAGED, "the primary picture has no size");
  header->width = (uint32_t)width;
  header->height = (uint32_t)height;
  if (!reader->library_transforms) {
    cheif_status status = find_transforms(reader, primary, error);
    if (status != CHEIF_OK) return status;
  }

  header->has_alpha = library->heif_image_handle_has_alpha_channel(reader->primary) != 0;
  header->alpha_premultiplied = header->has_alpha && library->heif_image_handle_is_premultiplied_alpha != NULL &&
                                library->heif_image_handle_is_premultiplied_alpha(reader->primary) != 0;
  find_auxiliaries(reader);
  if (header->gain_map != CHEIF_GAIN_MAP_APPLE && has_tone_map_item(reader)) header->gain_map = CHEIF_GAIN_MAP_ISO;
  find_luminance(reader, input);
  find_metadata(reader);
  if (!take_profiles(reader, reader->primary) && strcmp(header->item_type, "grid") == 0 && input != 0) {
    result = library->heif_context_get_image_handle(reader->context, input, &reader->profile_owner);
    reader->profile_owner_id = input;
    if (result.code == heif_error_Ok && reader->profile_owner != NULL) take_profiles(reader, reader->profile_owner);
  }

  find_layout(reader);
  // A library that is too old to be told of the rotations may announce the size from before them.
  if (!library->transforms || !library->items) header->layout_known = false;
  header->luma_bits = library->heif_image_handle_get_luma_bits_per_pixel(reader->primary);
  header->chroma_bits = library->heif_image_handle_get_chroma_bits_per_pixel(reader->primary);
  if (header->luma_bits < 1 || header->luma_bits > 16) {
    header->luma_bits = 16;
    header->layout_known = false;
  }
  if (header->chroma_bits < 1 || header->chroma_bits > 16) header->chroma_bits = header->luma_bits;
  if (header->has_alpha) {
    header->alpha_bits =
      reader->alpha != NULL ? library->heif_image_handle_get_luma_bits_per_pixel(reader->alpha) : header->luma_bits;
    if (header->alpha_bits < 1 || header->alpha_bits > 16) header->alpha_bits = header->luma_bits;
    header->alpha_width = header->width;
    header->alpha_height = header->height;
  }
  if (header->layout_known && header->luma_bits < 8) {
    return cheif_fail(error, CHEIF_UNSUPPORTED, "samples of %d bits cannot be decoded", header->luma_bits);
  }
  find_color_way(reader, input);
  find_tiles(reader);
  if (!header->tiled) {
    if (strcmp(header->item_type, "grid") == 0) forget_way(&reader->color, &header->form);
    find_whole_alpha(reader);
  } else if (reader->alpha_way == CHEIF_ALPHA_WHOLE) {
    find_way(reader, reader->alpha_id, &reader->alpha_coding, &header->alpha_form);
    raise_limit(&reader->alpha_coding, &header->alpha_form, header->alpha_width, header->alpha_height);
  } else {
    raise_limit(&reader->alpha_coding, &header->alpha_form, header->alpha_tile_width, header->tile_height);
  }
  if (is_coded(header->item_type)) {
    count_bytes(reader, primary, &reader->cut);
  } else {
    count_tiles(reader, primary, &header->form, &reader->cut);
  }
  if (reader->alpha_way == CHEIF_ALPHA_TILES) {
    count_tiles(reader, reader->alpha_id, &header->alpha_form, &reader->alpha_cut);
  } else if (reader->alpha != NULL) {
    count_bytes(reader, reader->alpha_id, &reader->alpha_cut);
  }
  if (header->alpha_form.known) header->alpha_bits = header->alpha_form.bits;
  raise_limit(&reader->color, &header->form, header->tile_width, header->tile_height);
  *error = reader->refusal;
  return error->status;
}

/// libheif's own limits are there to keep a machine alive: these follow from the picture, and before its size is known from
/// what pictures have.
static void limit_context(const cheif_reader *reader) {
#if CHEIF_BUILT_WITH_TILES
  enum { most_profile_bytes = 16 << 20, most_metadata_bytes = 16 << 20, most_block_bytes = 512 << 20 };
  if (reader->library->heif_context_get_security_limits == NULL) return;
  struct heif_security_limits *limits = reader->library->heif_context_get_security_limits(reader->context);
  if (limits == NULL || limits->version < 1) return;
  const cheif_header *header = &reader->header;
  limits->max_color_profile_size = most_profile_bytes;
  if (reader->is_opening) {
    limits->max_memory_block_size = (uint64_t)allowed(reader, most_metadata_bytes, 4);
    return;
  }
  limits->max_memory_block_size = (uint64_t)(reader->is_finding ? allowed(reader, most_block_bytes, 3) : most_block_bytes);
  if (reader->library_transforms || header->width == 0) return;
  // No block is larger than the coded data, or a plane of 4 samples of 16 bits.
  uint64_t pixels = (uint64_t)header->width * header->height;
  uint64_t block = pixels > UINT64_MAX / 16 ? UINT64_MAX : 8 * pixels + (1 << 20);
  if (block < header->file_bytes) block = header->file_bytes;
  if (limits->max_memory_block_size > block) limits->max_memory_block_size = block;
#else
  (void)reader;
#endif
}

static cheif_status open_context(cheif_reader *reader, cheif_error *error) {
  const cheif_library *library = reader->library;
  reader->context = library->heif_context_alloc();
  if (reader->context == NULL) return cheif_fail(error, CHEIF_NO_MEMORY, "libheif could not allocate its context");
  // Its own threads stay off: the tiles are decoded on ours.
  if (library->heif_context_set_max_decoding_threads != NULL) {
    library->heif_context_set_max_decoding_threads(reader->context, 0);
  }
  position = 0;
  reader->bytes_read = 0;
  reader->is_spent = false;
  reader->is_opening = true;
  limit_context(reader);
  struct heif_error result = library->heif_context_read_from_reader(reader->context, &reader->callbacks, reader, NULL);
  reader->is_opening = false;
  reader->bytes_read = 0;
  limit_context(reader);
  return result.code == heif_error_Ok ? CHEIF_OK : cheif_reader_fail(reader, result, error);
}

static void close_context(cheif_reader *reader) {
  const cheif_library *library = reader->library;
  if (reader->alpha != NULL) library->heif_image_handle_release(reader->alpha);
  if (reader->profile_owner != NULL) library->heif_image_handle_release(reader->profile_owner);
  if (reader->primary != NULL) library->heif_image_handle_release(reader->primary);
  if (reader->context != NULL) library->heif_context_free(reader->context);
  reader->alpha = reader->profile_owner = reader->primary = NULL;
  reader->context = NULL;
}

static cheif_status reopen_context(cheif_reader *reader, cheif_error *error) {
  const struct {
    heif_item_id id;
    struct heif_image_handle **handle;
    bool needed;
  } handles[] = {
    {reader->primary_id, &reader->primary, true},
    {reader->profile_owner_id, &reader->profile_owner, reader->profile_owner != NULL},
    {reader->alpha_id, &reader->alpha, reader->alpha != NULL},
  };
  close_context(reader);
  cheif_status status = open_context(reader, error);
  for (size_t i = 0; i < sizeof handles / sizeof *handles && status == CHEIF_OK; i++) {
    if (!handles[i].needed) continue;
    struct heif_error result =
      reader->library->heif_context_get_image_handle(reader->context, handles[i].id, handles[i].handle);
    if (result.code != heif_error_Ok) status = cheif_reader_fail(reader, result, error);
  }
  return status;
}

cheif_status cheif_refresh(cheif_reader *reader, int64_t most, cheif_error *error) {
  // Every item keeps its coded data once it was decoded, so a row of tiles after the other the whole file would gather.
  // Reading the boxes anew costs about a millisecond.
  if (reader->bytes_read <= most && !reader->is_spent) return CHEIF_OK;
  cheif_enter();
  cheif_status status = reopen_context(reader, error);
  cheif_leave();
  return status;
}

/// The decoding options as far as libheif 1.23 has them, whatever the headers at hand know. They only ever grow at the end,
/// and `version` says how far they reach.
typedef struct {
  uint8_t version, ignore_transformations;
  void (*progress[3])(void);
  void *progress_data;
  uint8_t convert_hdr_to_8bit, strict_decoding;
  const char *decoder_id;
  struct {
    uint8_t version;
    int downsampling, upsampling;
    uint8_t only_preferred;
  } chroma;
  int (*cancel)(void *);
  void *more_chroma;
  int ignore_edit_list;
  struct heif_color_profile_nclx *output_nclx;  // from version 8 on
  int library_threads, codec_threads;
  uint8_t mend_broken_input;
  uint8_t keep_nclx;  // from version 10 on
} known_options;

/// libheif 1.21 and newer convert every picture to BT.601 of full range unless told otherwise: work and memory for nothing,
/// and the samples would no longer be what the header says.
static void keep_colors(cheif_reader *reader) {
  known_options *options = (known_options *)(void *)reader->options;
  if (options->version >= 10) {
    options->keep_nclx = 1;
  } else if (options->version >= 8) {
    const struct heif_image_handle *owner = reader->profile_owner != NULL ? reader->profile_owner : reader->primary;
    struct heif_error result = reader->library->heif_image_handle_get_nclx_color_profile(owner, &reader->kept_nclx);
    if (result.code != heif_error_Ok) reader->kept_nclx = NULL;
    options->output_nclx = reader->kept_nclx;
  }
}

/// Options with which libheif hands the coded data to our plugin.
static void make_catching_options(cheif_reader *reader) {
  if (!reader->library->catches) return;
  reader->catching = reader->library->heif_decoding_options_alloc();
  if (reader->catching == NULL) return;
  known_options *options = (known_options *)(void *)reader->catching;
  if (options->version < 4) {  // from 4 on a decoder can be named
    reader->library->heif_decoding_options_free(reader->catching);
    reader->catching = NULL;
    return;
  }
  options->ignore_transformations = 1;
  options->decoder_id = CHEIF_CATCHER_ID;
}

static cheif_status open_reader(cheif_reader *reader, cheif_error *error) {
  enum { most_meta_bytes = 24 << 20, large_bytes = 1 << 20 };
  const uint64_t most_file_bytes = (uint64_t)INT64_MAX / 2;
  const cheif_library *library = reader->library;
  bool still = false, sequence = false;
  uint64_t meta_bytes = 0, missing_bytes = 0;
  scan_boxes(reader, &still, &sequence, &meta_bytes, &missing_bytes);
  cheif_status status = cheif_check_source(reader, error);
  if (status != CHEIF_OK) return status;
  reader->header.is_sequence_file = sequence;
  if (sequence && !still) {
    return cheif_fail(error, CHEIF_UNSUPPORTED, "a HEIF image sequence without a still picture cannot be decoded");
  }

  if (!still) return cheif_fail(error, CHEIF_DAMAGED, "the file ends before the boxes that describe its picture");
  if (missing_bytes > 0) {
    return cheif_fail(error, CHEIF_DAMAGED, "the file ends inside the boxes that describe its picture (%llu of %llu bytes)",
                      (unsigned long long)meta_bytes, (unsigned long long)(meta_bytes + missing_bytes));
  }
  int64_t most = allowed(reader, most_meta_bytes, 3);
  if (meta_bytes > (uint64_t)most) {
    return cheif_fail(error, CHEIF_NO_MEMORY, "the file's boxes take %.1f MB, %.1f can be afforded",
                      (double)meta_bytes / (1 << 20), (double)most / (1 << 20));
  }
  reader->header.file_bytes = (uint64_t)reader->source.size;
  uint64_t full_size = cheif_find_end(reader);
  if (full_size > most_file_bytes) full_size = most_file_bytes;
  reader->full_size = full_size > reader->header.file_bytes ? (int64_t)full_size : reader->source.size;

  cheif_enter();
  reader->callbacks = (struct heif_reader){
    .reader_api_version = 1,
    .get_position = callback_position,
    .read = callback_read,
    .seek = callback_seek,
    .wait_for_file_size = callback_wait,
  };
  reader->options = library->heif_decoding_options_alloc();
  if (reader->options == NULL) {
    status = cheif_fail(error, CHEIF_NO_MEMORY, "libheif could not allocate its options");
  } else {
    status = open_context(reader, error);
  }
  if (status == CHEIF_OK) {
    make_catching_options(reader);
    reader->is_finding = true;
    limit_context(reader);
    status = read_header(reader, error);
    reader->is_finding = false;
    limit_context(reader);
    bool all_ours = reader->color.decoder != CHEIF_DECODER_NONE &&
                    (!reader->header.has_alpha || reader->alpha_coding.decoder != CHEIF_DECODER_NONE);
    if (!all_ours) cheif_load_decoders(library, reader->context);
    reader->options->ignore_transformations = !reader->library_transforms;
    reader->options->convert_hdr_to_8bit = 0;
    if (status == CHEIF_OK) keep_colors(reader);
    // What was read of the first pictures is not all of them.
    if (status == CHEIF_OK && reader->is_spent) {
      status = cheif_refresh(reader, INT64_MAX, error);
      if (reader->header.form.bytes > large_bytes) (void)malloc_trim(0);
    }
  }
  cheif_leave();
  return status;
}

cheif_reader *cheif_open(cheif_source source, cheif_error *error) {
  cheif_error own;
  if (error == NULL) error = &own;
  *error = (cheif_error){0};
  if (source.read == NULL || source.size < 0) {
    cheif_fail(error, CHEIF_FAULT, "a source without a read function or of negative size");
    return NULL;
  }
  const cheif_library *library = cheif_get_library(error);
  if (library == NULL) return NULL;
  cheif_reader *reader = calloc(1, sizeof *reader);
  bool has_locks = false;
  if (reader != NULL && pthread_mutex_init(&reader->source_lock, NULL) == 0) {
    has_locks = pthread_rwlock_init(&reader->context_lock, NULL) == 0;
    if (!has_locks) pthread_mutex_destroy(&reader->source_lock);
  }
  if (!has_locks) {
    free(reader);
    cheif_fail(error, CHEIF_NO_MEMORY, "no memory for the reader");
    return NULL;
  }
  reader->library = library;
  reader->source = source;
  if (source.salvages) {
    reader->whole_store.filling = CHEIF_FILL_GRAY;
    reader->whole_alpha_store.filling = CHEIF_FILL_OPAQUE;
  }
  if (open_reader(reader, error) != CHEIF_OK || cheif_check_source(reader, error) != CHEIF_OK) {
    cheif_close(reader);
    return NULL;
  }
  return reader;
}

void cheif_close(cheif_reader *reader) {
  if (reader == NULL) return;
  const cheif_library *library = reader->library;
  cheif_end_tiles(reader);
  cheif_enter();
  cheif_free_picture(reader, &reader->whole);
  cheif_free_picture(reader, &reader->whole_alpha);
  if (reader->catching != NULL) library->heif_decoding_options_free(reader->catching);
  if (reader->options != NULL) library->heif_decoding_options_free(reader->options);
  if (reader->kept_nclx != NULL) library->heif_nclx_color_profile_free(reader->kept_nclx);
  close_context(reader);
  cheif_leave();
  cheif_free_store(&reader->whole_store);
  cheif_free_store(&reader->whole_alpha_store);
  for (int i = 0; i < CHEIF_MAX_PLANES; i++) {
    for (int j = 0; j < CHEIF_MAX_BANDS; j++) free(reader->planes[i].samples[j]);
  }
  pthread_rwlock_destroy(&reader->context_lock);
  pthread_mutex_destroy(&reader->source_lock);
  free(reader);
}

cheif_header cheif_get_header(const cheif_reader *reader) { return reader->header; }

cheif_status cheif_get_icc(cheif_reader *reader, void *buffer, cheif_error *error) {
  if (reader->header.icc_bytes == 0) return cheif_fail(error, CHEIF_FAULT, "the picture has no ICC profile");
  // Tiles may be being decoded, which changes the handles.
  pthread_rwlock_wrlock(&reader->context_lock);
  const struct heif_image_handle *owner = reader->profile_owner != NULL ? reader->profile_owner : reader->primary;
  cheif_enter();
  struct heif_error result = reader->library->heif_image_handle_get_raw_color_profile(owner, buffer);
  cheif_leave();
  pthread_rwlock_unlock(&reader->context_lock);
  if (result.code != heif_error_Ok) return cheif_reader_fail(reader, result, error);
  return CHEIF_OK;
}

static cheif_status get_metadata(cheif_reader *reader, heif_item_id item, void *buffer, cheif_error *error) {
  pthread_rwlock_wrlock(&reader->context_lock);
  cheif_enter();
  struct heif_error result = reader->library->heif_image_handle_get_metadata(reader->primary, item, buffer);
  cheif_leave();
  pthread_rwlock_unlock(&reader->context_lock);
  return result.code == heif_error_Ok ? CHEIF_OK : cheif_reader_fail(reader, result, error);
}

cheif_status cheif_get_exif(cheif_reader *reader, void *buffer, size_t *count, cheif_error *error) {
  enum { offset_bytes = 4 };
  *count = 0;
  if (reader->header.exif_bytes == 0) return cheif_fail(error, CHEIF_FAULT, "the picture has no EXIF");
  // ISO/IEC 23008-12, A.2.1: how far the TIFF header lies behind this number, then often "Exif\0\0".
  size_t all = reader->header.exif_bytes + offset_bytes;
  uint8_t *item = malloc(all);
  if (item == NULL) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for EXIF");
  cheif_status status = get_metadata(reader, reader->exif_id, item, error);
  uint64_t start = offset_bytes + (uint64_t)big_endian(item);
  // Written with an offset of 0 by some.
  if (status == CHEIF_OK && start + 6 <= all && memcmp(item + start, "Exif\0\0", 6) == 0) start += 6;
  if (status == CHEIF_OK && start < all) {
    *count = all - (size_t)start;
    memcpy(buffer, item + start, *count);
  }
  free(item);
  return status;
}

cheif_status cheif_get_xmp(cheif_reader *reader, void *buffer, cheif_error *error) {
  if (reader->header.xmp_bytes == 0) return cheif_fail(error, CHEIF_FAULT, "the picture has no XMP");
  return get_metadata(reader, reader->xmp_id, buffer, error);
}
