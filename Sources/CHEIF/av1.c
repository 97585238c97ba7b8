#include "decoders.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if CHEIF_BUILT_WITH_AV1

// MARK: The library

#define FUNCTIONS(F)        \
  F(dav1d_default_settings) \
  F(dav1d_open)             \
  F(dav1d_close)            \
  F(dav1d_flush)            \
  F(dav1d_parse_sequence_header) \
  F(dav1d_data_wrap)        \
  F(dav1d_data_unref)       \
  F(dav1d_send_data)        \
  F(dav1d_get_picture)      \
  F(dav1d_picture_unref)

static struct {
#define MEMBER(name) __typeof__(&name) name;
  FUNCTIONS(MEMBER)
#undef MEMBER
  bool is_open;
} library;
static pthread_once_t open_once = PTHREAD_ONCE_INIT;

#define TEXT_OF(number) #number
#define LIBRARY_NAME(major) "libdav1d.so." TEXT_OF(major)

static void open_library(void) {
  // Never closed, like libheif. The structures are those of the header's version.
  void *handle = dlopen(LIBRARY_NAME(DAV1D_API_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return;
#define FIND(name)                                \
  *(void **)&library.name = dlsym(handle, #name); \
  if (library.name == NULL) return;
  FUNCTIONS(FIND)
#undef FIND
  library.is_open = true;
}

bool cheif_has_av1(void) { return pthread_once(&open_once, open_library) == 0 && library.is_open; }

static bool take_layout(enum Dav1dPixelLayout from, cheif_layout *layout) {
  switch (from) {
    case DAV1D_PIXEL_LAYOUT_I400: *layout = CHEIF_LAYOUT_MONOCHROME; return true;
    case DAV1D_PIXEL_LAYOUT_I420: *layout = CHEIF_LAYOUT_420; return true;
    case DAV1D_PIXEL_LAYOUT_I422: *layout = CHEIF_LAYOUT_422; return true;
    case DAV1D_PIXEL_LAYOUT_I444: *layout = CHEIF_LAYOUT_444; return true;
    default: return false;
  }
}

/// Finds the sequence header among the units (AV1, 5.3): only it is to be read, since what follows may be cut short.
static bool find_sequence_header(const cheif_coded *coded, size_t *begin, size_t *count) {
  size_t position = 0;
  while (position < coded->count) {
    uint8_t head = coded->bytes[position];
    *begin = position++;
    if (head & 4) position++;
    if ((head & 2) == 0) return false;
    uint64_t size = 0;
    for (int shift = 0;; shift += 7) {
      if (position >= coded->count || shift > 28) return false;
      uint8_t byte = coded->bytes[position++];
      size |= (uint64_t)(byte & 127) << shift;
      if ((byte & 128) == 0) break;
    }
    if (size > coded->count - position) return false;
    position += (size_t)size;
    *count = position - *begin;
    if ((head >> 3 & 15) == 1) return true;
  }
  return false;
}

bool cheif_read_av1_stream(const cheif_coded *coded, cheif_stream *stream) {
  Dav1dSequenceHeader header;
  memset(&header, 0, sizeof header);
  size_t begin = 0, count = 0;
  if (!find_sequence_header(coded, &begin, &count)) return false;
  if (library.dav1d_parse_sequence_header(&header, coded->bytes + begin, count) != 0) return false;
  *stream = (cheif_stream){.pictures = 1 + (header.film_grain_present != 0)};
  // Spatial layers are decoded one from the other.
  for (int layers = header.operating_points[0].idc >> 8 & 15; layers > 1; layers >>= 1) stream->pictures += layers & 1;
  if (header.max_width <= 0 || header.max_height <= 0 || !take_layout(header.layout, &stream->layout)) return false;
  stream->width = (uint32_t)header.max_width;
  stream->height = (uint32_t)header.max_height;
  stream->luma_bits = stream->chroma_bits = 8 + 2 * header.hbd;
  stream->primaries = cheif_known_primaries((int)header.pri);
  stream->transfer = cheif_known_transfer((int)header.trc);
  stream->matrix = cheif_known_matrix((int)header.mtrx);
  stream->full_range = header.color_range != 0;
  return true;
}

// MARK: Decoding

enum { MOST_PICTURES = 9 };  // what AV1 refers to, and the one at hand

typedef struct {
  Dav1dContext *context;
  cheif_store stores[MOST_PICTURES];
  cheif_room rooms[MOST_PICTURES];
  cheif_stream limit;
  bool too_large;
  bool too_many;
  bool no_memory;
} av1_job;

static int allocate(Dav1dPicture *picture, void *cookie) {
  av1_job *job = cookie;
  const cheif_stream *limit = &job->limit;
  cheif_layout layout;
  if (!take_layout(picture->p.layout, &layout) ||
      !cheif_fits(limit, picture->p.w, picture->p.h, layout, picture->p.bpc)) {
    job->too_large = true;
    return DAV1D_ERR(ENOMEM);
  }
  bool has_chroma = picture->p.layout != DAV1D_PIXEL_LAYOUT_I400;
  unsigned across = picture->p.layout == DAV1D_PIXEL_LAYOUT_I444 ? 0 : 1;
  unsigned down = picture->p.layout == DAV1D_PIXEL_LAYOUT_I420 ? 1 : 0;
  uint32_t width = ((uint32_t)picture->p.w + 127) / 128 * 128, height = ((uint32_t)picture->p.h + 127) / 128 * 128;
  size_t bytes = picture->p.bpc > 8 ? 2 : 1;
  size_t luma = width * bytes, chroma = has_chroma ? (width >> across) * bytes : 0;
  // Rows a power of two apart would compete for the same lines of the cache.
  if (luma % 1024 == 0) luma += DAV1D_PICTURE_ALIGNMENT;
  if (chroma % 1024 == 0 && has_chroma) chroma += DAV1D_PICTURE_ALIGNMENT;
  size_t strides[3] = {luma, chroma, chroma};
  uint32_t heights[3] = {height, height >> down, height >> down};
  uint8_t *planes[3];
  int index = 0;
  while (index < MOST_PICTURES && job->rooms[index].memory != NULL) index++;
  if (index >= limit->pictures || index == MOST_PICTURES) {
    job->too_many = true;
    return DAV1D_ERR(ENOMEM);
  }
  cheif_room *room = &job->rooms[index];
  if (cheif_take_room(room, strides, heights, picture->p.bpc, planes) == NULL) {
    job->no_memory = true;
    return DAV1D_ERR(ENOMEM);
  }
  for (int i = 0; i < 3; i++) picture->data[i] = planes[i];
  picture->stride[0] = (ptrdiff_t)luma;
  picture->stride[1] = (ptrdiff_t)chroma;
  picture->allocator_data = room;
  return 0;
}

static void release(Dav1dPicture *picture, void *cookie) {
  (void)cookie;
  cheif_leave_room(picture->allocator_data);
}

static void free_data(const uint8_t *data, void *cookie) {
  (void)cookie;
  free((void *)(uintptr_t)data);
}

static cheif_status describe(const Dav1dPicture *picture, cheif_frame *frame, cheif_error *error) {
  *frame = (cheif_frame){0};
  if (!take_layout(picture->p.layout, &frame->layout)) {
    return cheif_fail(error, CHEIF_UNSUPPORTED, "the picture's samples are laid out in an unsupported way");
  }
  frame->plane_count = frame->layout == CHEIF_LAYOUT_MONOCHROME ? 1 : 3;
  const cheif_room *room = picture->allocator_data;
  for (int i = 0; i < frame->plane_count; i++) {
    uint32_t width = (uint32_t)picture->p.w, height = (uint32_t)picture->p.h;
    if (i > 0 && frame->layout != CHEIF_LAYOUT_444) width = (width + 1) / 2;
    if (i > 0 && frame->layout == CHEIF_LAYOUT_420) height = (height + 1) / 2;
    int bits = picture->p.bpc;
    frame->planes[i] = (cheif_plane){picture->data[i], (size_t)picture->stride[i > 0], width, height, bits,
                                     bits > 8 ? 2 : 1};
    if (!cheif_is_inside(room, &frame->planes[i])) {
      return cheif_fail(error, CHEIF_FAULT, "dav1d gave a picture that is not in its memory");
    }
  }
  frame->primaries = cheif_known_primaries((int)picture->seq_hdr->pri);
  frame->transfer = cheif_known_transfer((int)picture->seq_hdr->trc);
  frame->matrix = cheif_known_matrix((int)picture->seq_hdr->mtrx);
  frame->full_range = picture->seq_hdr->color_range != 0;
  return CHEIF_OK;
}

/// The first picture that comes.
static int find_picture(Dav1dContext *context, Dav1dData *data, Dav1dPicture *picture) {
  bool sent = false;
  for (;;) {
    if (data->sz > 0) {
      int result = library.dav1d_send_data(context, data);
      if (result < 0 && result != DAV1D_ERR(EAGAIN)) return result;
    }
    int result = library.dav1d_get_picture(context, picture);
    if (result != DAV1D_ERR(EAGAIN) || sent) return result;
    sent = data->sz == 0;
  }
}

static void close_job(void *decoder) {
  av1_job *job = decoder;
  if (job->context != NULL) library.dav1d_close(&job->context);
  for (int i = 0; i < MOST_PICTURES; i++) cheif_free_store(&job->stores[i]);
  free(job);
}

static av1_job *open_job(const cheif_stream *limit, cheif_filling filling) {
  av1_job *job = calloc(1, sizeof *job);
  if (job == NULL) return NULL;
  job->limit = *limit;
  for (int i = 0; i < MOST_PICTURES; i++) {
    job->rooms[i].store = &job->stores[i];
    job->stores[i].filling = filling;
  }
  Dav1dSettings settings;
  library.dav1d_default_settings(&settings);
  settings.n_threads = 1;
  settings.max_frame_delay = 1;
  settings.apply_grain = 1;
  settings.all_layers = 0;
  settings.frame_size_limit = limit->width > UINT32_MAX / limit->height ? 0 : limit->width * limit->height;
  settings.allocator = (Dav1dPicAllocator){job, allocate, release};
  settings.logger.callback = NULL;
  if (library.dav1d_open(&job->context, &settings) == 0) return job;
  free(job);
  return NULL;
}

/// The store's decoder, where it keeps one and it has the same limit.
static av1_job *find_job(cheif_store *store, const cheif_stream *limit) {
  av1_job *job = store->decoder;
  if (job != NULL && job->limit.width == limit->width && job->limit.height == limit->height &&
      job->limit.pictures == limit->pictures && job->limit.layout == limit->layout &&
      job->limit.luma_bits == limit->luma_bits) {
    job->too_large = job->too_many = job->no_memory = false;
    return job;
  }
  cheif_close_decoder(store);
  job = open_job(limit, store->filling);
  store->decoder = job;
  store->close = close_job;
  return job;
}

static cheif_status explain(const av1_job *job, int result, cheif_error *error) {
  if (job->too_large || result == DAV1D_ERR(ERANGE)) {
    return cheif_fail(error, CHEIF_DAMAGED, "the coded picture is larger than its header says");
  }
  if (job->too_many) return cheif_fail(error, CHEIF_UNSUPPORTED, "several pictures where one is expected");
  if (job->no_memory || result == DAV1D_ERR(ENOMEM)) {
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for the picture");
  }
  return cheif_fail(error, CHEIF_DAMAGED, "dav1d found no picture in the coded data (%d)", result);
}

static void take_memory(cheif_store *to, cheif_store *from) {
  to->memory = from->memory;
  to->bytes = from->bytes;
  from->memory = NULL;
  from->bytes = 0;
}

cheif_status cheif_decode_av1(cheif_coded *coded, const cheif_stream *limit, cheif_store *store, cheif_frame *frame,
                              cheif_error *error) {
  Dav1dData data = {0};
  Dav1dPicture picture = {0};
  if (coded->count == 0) {
    cheif_free_coded(coded);
    return cheif_fail(error, CHEIF_DAMAGED, "there is no coded data");
  }
  av1_job *job = find_job(store, limit);
  if (job == NULL || library.dav1d_data_wrap(&data, coded->bytes, coded->count, free_data, NULL) != 0) {
    cheif_free_coded(coded);
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for dav1d");
  }
  *coded = (cheif_coded){0};  // dav1d frees it
  take_memory(&job->stores[0], store);
  int result = find_picture(job->context, &data, &picture);
  if (data.sz > 0) library.dav1d_data_unref(&data);
  cheif_status status = result == 0 ? describe(&picture, frame, error) : explain(job, result, error);
  int kept = 0;
  if (result == 0) {
    kept = (int)((cheif_room *)picture.allocator_data - job->rooms);
    library.dav1d_picture_unref(&picture);
  }
  library.dav1d_flush(job->context);
  take_memory(store, &job->stores[kept]);
  if (!store->keeps_decoder || status != CHEIF_OK) cheif_close_decoder(store);
  return status;
}

#else

bool cheif_has_av1(void) { return false; }

bool cheif_read_av1_stream(const cheif_coded *coded, cheif_stream *stream) {
  (void)coded;
  (void)stream;
  return false;
}

cheif_status cheif_decode_av1(cheif_coded *coded, const cheif_stream *limit, cheif_store *store, cheif_frame *frame,
                              cheif_error *error) {
  (void)limit;
  (void)store;
  (void)frame;
  cheif_free_coded(coded);
  return cheif_fail(error, CHEIF_FAULT, "built without dav1d");
}

#endif
