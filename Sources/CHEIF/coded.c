#define _GNU_SOURCE  // for reader.h

#include "coded.h"

#include <stdlib.h>
#include <string.h>

// libheif hands coded data to decoder plugins only. Ours keeps the data and answers with an error, so that libheif drops
// its own copies; the picture is decoded afterwards, when nothing of libheif's is in memory beside it.

/// libheif's decoder plugin as of interface version 5: declared here because the headers differ from version to version
/// while the layout only grows. 1.15 to 1.20 take version 3 and read as far as `id`, newer ones want 5.
typedef struct {
  int interface_version;
  const char *(*name)(void);
  void (*initialise)(void);
  void (*uninitialise)(void);
  int (*supports)(enum heif_compression_format format);
  struct heif_error (*open)(void **decoder);
  void (*close)(void *decoder);
  struct heif_error (*push)(void *decoder, const void *data, size_t size);
  struct heif_error (*decode)(void *decoder, struct heif_image **image);
  void (*set_strict)(void *decoder, int flag);
  const char *id;
  struct heif_error (*decode_next)(void *decoder, struct heif_image **image, const void *limits);
  uint32_t least_library_version;
  int (*supports_format)(const enum heif_compression_format *format);
  struct heif_error (*open_with)(void **decoder, const void *options);
  struct heif_error (*push_with)(void *decoder, const void *data, size_t size, uintptr_t user_data);
  struct heif_error (*flush)(void *decoder);
  struct heif_error (*decode_next_with)(void *decoder, struct heif_image **image, uintptr_t *user_data,
                                        const void *limits);
} decoder_plugin;

typedef struct {
  cheif_coded coded;
  size_t most;   // to keep
  size_t found;  // in all
  bool no_memory;
  bool finished;
} catcher;

// The catch on this thread: without one, the plugin supports nothing and is never chosen.
static _Thread_local catcher *at_work;

static const struct heif_error no_error = {heif_error_Ok, heif_suberror_Unspecified, "Success"};
static const struct heif_error caught = {heif_error_Decoder_plugin_error, heif_suberror_Unspecified, "caught"};

static const char *plugin_name(void) { return "Downsample's catcher of coded data"; }

static int supports(enum heif_compression_format format) {
  return at_work != NULL && (format == heif_compression_HEVC || format == heif_compression_AV1) ? 1 : 0;
}

static int supports_format(const enum heif_compression_format *format) { return supports(*format); }

// What libheif takes for a decoder. From 1.21 on it keeps one with the item, beyond the catch, so that nothing may hang on it.
static int stand_in;

static struct heif_error open_catch(void **decoder) {
  *decoder = &stand_in;
  return at_work != NULL ? no_error : caught;
}

static struct heif_error open_with(void **decoder, const void *options) {
  (void)options;
  return open_catch(decoder);
}

static void close_catch(void *decoder) { (void)decoder; }

static struct heif_error push(void *decoder, const void *data, size_t size) {
  (void)decoder;
  catcher *catch = at_work;
  if (catch == NULL || catch->no_memory || size > PTRDIFF_MAX - catch->found) return caught;
  catch->found += size;
  if (size > catch->most - catch->coded.count) size = catch->most - catch->coded.count;
  size_t count = catch->coded.count + size;
  uint8_t *bytes = realloc(catch->coded.bytes, count > 0 ? count : 1);
  if (bytes == NULL) {
    catch->no_memory = true;
    return caught;
  }
  if (size > 0) memcpy(bytes + catch->coded.count, data, size);
  catch->coded = (cheif_coded){bytes, count};
  return no_error;
}

static struct heif_error push_with(void *decoder, const void *data, size_t size, uintptr_t user_data) {
  (void)user_data;
  return push(decoder, data, size);
}

static struct heif_error decode(void *decoder, struct heif_image **image) {
  (void)decoder;
  *image = NULL;
  if (at_work != NULL) at_work->finished = true;
  return caught;
}

static struct heif_error decode_next(void *decoder, struct heif_image **image, const void *limits) {
  (void)limits;
  return decode(decoder, image);
}

static struct heif_error decode_next_with(void *decoder, struct heif_image **image, uintptr_t *user_data,
                                          const void *limits) {
  (void)user_data;
  (void)limits;
  return decode(decoder, image);
}

static struct heif_error flush(void *decoder) {
  (void)decoder;
  return no_error;
}

static void set_strict(void *decoder, int flag) {
  (void)decoder;
  (void)flag;
}

static decoder_plugin plugin = {
  .name = plugin_name,
  .supports = supports,
  .open = open_catch,
  .close = close_catch,
  .push = push,
  .decode = decode,
  .set_strict = set_strict,
  .id = CHEIF_CATCHER_ID,
  .decode_next = decode_next,
  .supports_format = supports_format,
  .open_with = open_with,
  .push_with = push_with,
  .flush = flush,
  .decode_next_with = decode_next_with,
};

void cheif_register_catcher(cheif_library *library) {
  if (library->heif_register_decoder_plugin == NULL) return;
  // The newer first: 1.23 takes the older too, but refuses to decode with it.
  for (plugin.interface_version = 5; plugin.interface_version >= 3; plugin.interface_version -= 2) {
    library->catches = library->heif_register_decoder_plugin(&plugin).code == heif_error_Ok;
    if (library->catches) return;
  }
}

cheif_decoder cheif_decoder_of(const cheif_reader *reader, const char *item_type) {
  if (!reader->library->catches || reader->catching == NULL) return CHEIF_DECODER_NONE;
  if (strcmp(item_type, "hvc1") == 0 && cheif_has_hevc()) return CHEIF_DECODER_HEVC;
  if (strcmp(item_type, "av01") == 0 && cheif_has_av1()) return CHEIF_DECODER_AV1;
  return CHEIF_DECODER_NONE;
}

/// Keeps `most` bytes, and reads so many of the picture's own, which follow the parameter sets out of the boxes.
static cheif_status catch_most(cheif_reader *reader, const struct heif_image_handle *handle, int64_t most_read,
                               size_t most, cheif_coded *coded, uint64_t *found, cheif_error *error) {
  catcher catch = {.most = most};
  struct heif_image *image = NULL;
  at_work = &catch;
  cheif_limit_reading(most_read);
  struct heif_error result = reader->library->heif_decode_image(handle, &image, heif_colorspace_undefined,
                                                                heif_chroma_undefined, reader->catching);
  cheif_limit_reading(INT64_MAX);
  at_work = NULL;
  if (image != NULL) reader->library->heif_image_release(image);
  *coded = catch.coded;
  *found = catch.found;
  if (catch.finished && !catch.no_memory) return CHEIF_OK;
  cheif_free_coded(coded);
  if (catch.no_memory) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for the coded data");
  if (result.subcode == heif_suberror_Security_limit_exceeded && reader->is_finding) {
    return cheif_fail(error, CHEIF_NO_MEMORY,
                      "the coded data of one picture, which is held three times for a moment, does not fit");
  }
  if (result.code == heif_error_Ok) return cheif_fail(error, CHEIF_UNSUPPORTED, "libheif decoded the picture itself");
  return cheif_reader_fail(reader, result, error);
}

cheif_status cheif_catch(cheif_reader *reader, const struct heif_image_handle *handle, cheif_coded *coded,
                         cheif_error *error) {
  uint64_t found;
  return catch_most(reader, handle, INT64_MAX, PTRDIFF_MAX, coded, &found, error);
}

cheif_status cheif_catch_beginning(cheif_reader *reader, const struct heif_image_handle *handle, cheif_coded *coded,
                                   uint64_t *found, cheif_error *error) {
  enum { most_read = 4096, most_kept = 65536 };
  cheif_status status = catch_most(reader, handle, most_read, most_kept, coded, found, error);
  // From 1.21 on libheif keeps a decoder with the item, and hands it no data again.
  if (plugin.interface_version >= 5) reader->is_spent = true;
  return status;
}
