#define _GNU_SOURCE  // for decode.h

#include "coded.h"
#include "decode.h"

#if CHEIF_BUILT_WITH_TILES

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PLANE_ALIGNMENT = 64 };

// Decoders keep their work on the heap, but dav1d asks 1 MB for its own threads, and only touched pages count.
static const size_t worker_stack_bytes = 1 << 20;

/// The tiles of one row, taken one after the other by several threads: first the colour's, then alpha's.
typedef struct {
  cheif_reader *reader;
  uint32_t row;
  uint32_t task_count;
  cheif_processors processors;
  pthread_t caller;
  atomic_uint next_task;
  atomic_uint next_worker;
  atomic_uint lost, lost_alpha;  // tiles that were made up for
  atomic_uint failed_task;  // the first in reading order; UINT32_MAX while none has failed
  pthread_mutex_t lock;     // over `error`
  cheif_error error;
} tile_row;

static cheif_status make_band(cheif_reader *reader, cheif_error *error) {
  const cheif_header *header = &reader->header;
  int colors = cheif_color_planes(header->layout);
  int count = colors + (reader->alpha_way == CHEIF_ALPHA_TILES ? 1 : 0);
  for (int i = 0; i < count; i++) {
    cheif_band_plane *plane = &reader->planes[i];
    uint32_t across = i < colors ? cheif_divisor_across(header->layout, i) : 1;
    uint32_t down = i < colors ? cheif_divisor_down(header->layout, i) : 1;
    plane->width = cheif_divided(header->width, across);
    plane->height = cheif_divided(header->height, down);
    plane->tile_width = i < colors ? cheif_divided(header->tile_width, across) : reader->alpha_tile_width;
    plane->tile_height = cheif_divided(header->tile_height, down);
    plane->bits = cheif_announced_bits(header, i);
    plane->bytes_per_sample = plane->bits > 8 ? 2 : 1;
    uint64_t stride = (uint64_t)plane->width * (uint64_t)plane->bytes_per_sample;
    stride = (stride + PLANE_ALIGNMENT - 1) / PLANE_ALIGNMENT * PLANE_ALIGNMENT;
    uint64_t rows = cheif_least(plane->tile_height, plane->height);
    if (stride > PTRDIFF_MAX / rows) return cheif_fail(error, CHEIF_NO_MEMORY, "a row of tiles is too large");
    plane->stride = (size_t)stride;
    plane->samples = aligned_alloc(PLANE_ALIGNMENT, (size_t)(stride * rows));
    if (plane->samples == NULL) {
      return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for a row of tiles of %llu bytes",
                        (unsigned long long)(stride * rows));
    }
  }
  reader->plane_count = count;
  return CHEIF_OK;
}

static cheif_status copy_tile(const cheif_band_plane *band, const cheif_plane *tile, uint32_t row, uint32_t column,
                              cheif_error *error) {
  if (tile->bits != band->bits || tile->bytes_per_sample != band->bytes_per_sample) {
    return cheif_fail(error, CHEIF_DAMAGED, "it has %d bits a sample, the picture %d", tile->bits, band->bits);
  }
  // What find_tiles checked: the column begins inside the picture, and so does the row.
  uint32_t left = column * band->tile_width, top = row * band->tile_height;
  uint32_t width = cheif_least(band->tile_width, band->width - left);
  uint32_t height = cheif_least(band->tile_height, band->height - top);
  if (tile->width < width || tile->height < height) {
    return cheif_fail(error, CHEIF_DAMAGED, "it has %ux%u samples where %ux%u are needed", tile->width, tile->height,
                      width, height);
  }
  size_t bytes = (size_t)band->bytes_per_sample;
  for (uint32_t y = 0; y < height; y++) {
    memcpy(band->samples + y * band->stride + left * bytes, tile->samples + y * tile->stride, width * bytes);
  }
  return CHEIF_OK;
}

/// The limits are those of the first tile's coding.
static bool tile_is_coded_alike(const cheif_reader *reader, heif_item_id id, const cheif_way *way) {
  uint32_t type = reader->library->heif_item_get_item_type(reader->context, id);
  return type == (way->decoder == CHEIF_DECODER_HEVC ? heif_fourcc('h', 'v', 'c', '1') : heif_fourcc('a', 'v', '0', '1'));
}

/// Decodes a tile through its own item. heif_image_handle_decode_image_tile would do the same for a sound file, but
/// 1.19 reads address 0 when the tile's item is missing, and decodes the alpha of the whole grid along: wrongly where
/// alpha is no grid, and not at all where its samples are deeper than 8 bits and its tiles of another size.
static cheif_status decode_tile(tile_row *work, bool is_alpha, uint32_t column, cheif_store *store,
                                cheif_picture *picture, cheif_error *error) {
  cheif_reader *reader = work->reader;
  const cheif_library *library = reader->library;
  const struct heif_image_handle *grid = is_alpha ? reader->alpha : reader->primary;
  const cheif_way *way = is_alpha ? &reader->alpha_coding : &reader->color;
  heif_item_id id = 0;
  struct heif_image_handle *tile = NULL;
  struct heif_error result = library->heif_image_handle_get_grid_image_tile_id(grid, 0, column, work->row, &id);
  if (result.code != heif_error_Ok) return cheif_reader_fail(reader, result, error);
  result = library->heif_context_get_image_handle(reader->context, id, &tile);
  if (result.code != heif_error_Ok || tile == NULL) {
    return cheif_fail(error, CHEIF_DAMAGED, "the file has no picture with its number, %u", id);
  }
  cheif_status status;
  cheif_coded coded;
  int width = library->heif_image_handle_get_ispe_width(tile);
  int height = library->heif_image_handle_get_ispe_height(tile);
  uint32_t most_width = is_alpha ? reader->alpha_tile_width : reader->header.tile_width;
  if (width > 0 && height > 0 && ((uint32_t)width > most_width || (uint32_t)height > reader->header.tile_height)) {
    // Its memory was not planned for.
    status = cheif_fail(error, CHEIF_DAMAGED, "it has %dx%d pixels where the grid's tiles have %ux%u", width, height,
                        most_width, reader->header.tile_height);
  } else if (way->decoder == CHEIF_DECODER_NONE) {
    cheif_make_up_with(0);
    status = cheif_decode_item(reader, tile, is_alpha ? NULL : &reader->header.layout, picture, error);
    if (status == CHEIF_OK && cheif_made_up() > 0) {
      cheif_free_picture(reader, picture);
      status = cheif_fail(error, CHEIF_DAMAGED, "the file ends inside it");
    }
  } else if (!tile_is_coded_alike(reader, id, way)) {
    status = cheif_fail(error, CHEIF_UNSUPPORTED, "it is coded in another way than the first tile");
  } else {
    cheif_make_up_with(0);
    status = cheif_catch(reader, tile, &coded, error);
    if (status == CHEIF_OK && cheif_made_up() > 0) {
      cheif_free_coded(&coded);
      status = cheif_fail(error, CHEIF_DAMAGED, "the file ends inside it");
    }
    if (status == CHEIF_OK) status = cheif_decode_coded(way, &coded, store, picture, error);
  }
  library->heif_image_handle_release(tile);
  return status;
}

static cheif_status decode_color_tile(tile_row *work, uint32_t column, cheif_store *store, cheif_error *error) {
  cheif_reader *reader = work->reader;
  cheif_layout layout = reader->header.layout;
  cheif_picture picture = {0};
  cheif_status status = decode_tile(work, false, column, store, &picture, error);
  if (status == CHEIF_OK && picture.is_frame && picture.frame.layout != layout) {
    status = cheif_fail(error, CHEIF_DAMAGED, "it has another subsampling than the first tile");
  }
  for (int i = 0; i < cheif_color_planes(layout) && status == CHEIF_OK; i++) {
    cheif_plane plane;
    if (!cheif_get_plane(reader, &picture, layout, i, &plane)) {
      status = cheif_fail(error, CHEIF_DAMAGED, "it lacks a plane");
    } else {
      status = copy_tile(&reader->planes[i], &plane, work->row, column, error);
    }
  }
  if (status == CHEIF_OK && work->row == 0 && column == 0) cheif_take_stream_color(reader, &picture);
  cheif_free_picture(reader, &picture);
  return status;
}

static cheif_status decode_alpha_tile(tile_row *work, uint32_t column, cheif_store *store, cheif_error *error) {
  cheif_reader *reader = work->reader;
  cheif_picture picture = {0};
  cheif_status status = decode_tile(work, true, column, store, &picture, error);
  if (status != CHEIF_OK) return status;
  cheif_plane plane;
  if (!cheif_get_alpha(reader, &picture, &plane)) {
    status = cheif_fail(error, CHEIF_DAMAGED, "it lacks a plane");
  } else {
    status = copy_tile(&reader->planes[cheif_color_planes(reader->header.layout)], &plane, work->row, column, error);
  }
  cheif_free_picture(reader, &picture);
  return status;
}

/// Puts gray in the place of a tile that could not be decoded, or what is opaque.
static void fill_tile(tile_row *work, bool is_alpha, uint32_t column) {
  cheif_reader *reader = work->reader;
  int colors = cheif_color_planes(reader->header.layout);
  for (int i = is_alpha ? colors : 0; i < (is_alpha ? colors + 1 : colors); i++) {
    const cheif_band_plane *band = &reader->planes[i];
    uint32_t left = column * band->tile_width, top = work->row * band->tile_height;
    cheif_fill(band->samples + left * (size_t)band->bytes_per_sample, band->stride,
               cheif_least(band->tile_width, band->width - left), cheif_least(band->tile_height, band->height - top),
               band->bits, is_alpha ? CHEIF_FILL_OPAQUE : CHEIF_FILL_GRAY);
  }
  atomic_fetch_add(is_alpha ? &work->lost_alpha : &work->lost, 1);
}

static void *work_on_row(void *context) {
  tile_row *work = context;
  cheif_reader *reader = work->reader;
  uint32_t columns = reader->header.tile_columns;
  int worker = (int)atomic_fetch_add(&work->next_worker, 1);
  reader->stores[worker].keeps_decoder = true;
  cheif_narrow(&work->processors, worker, 1);
  bool asks = pthread_equal(pthread_self(), work->caller);
  for (;;) {
    uint32_t task = atomic_fetch_add(&work->next_task, 1);
    // Tasks before the failed one were taken before it: they are finished, and may take its place.
    if (task >= work->task_count || atomic_load(&work->failed_task) != UINT32_MAX) break;
    cheif_error error = {0};
    cheif_status status = asks ? cheif_ask(reader, &error) : CHEIF_OK;
    if (status == CHEIF_OK) {
      cheif_enter();
      status = task < columns ? decode_color_tile(work, task, &reader->stores[worker], &error)
                              : decode_alpha_tile(work, task - columns, &reader->stores[worker], &error);
      cheif_leave();
    }
    if (cheif_can_salvage(reader, status)) {
      fill_tile(work, task >= columns, task < columns ? task : task - columns);
      continue;
    }
    if (status == CHEIF_OK) continue;
    pthread_mutex_lock(&work->lock);
    if (task < atomic_load(&work->failed_task)) {
      atomic_store(&work->failed_task, task);
      work->error = error;
    }
    pthread_mutex_unlock(&work->lock);
  }
  return NULL;
}

/// Decodes the row on this thread and, where they can be had, on `threads` - 1 more.
static cheif_status decode_row(cheif_reader *reader, uint32_t row, int threads, cheif_error *error) {
  tile_row work = {
    .reader = reader, .row = row, .processors = cheif_find_processors(reader), .caller = pthread_self()};
  work.task_count = reader->header.tile_columns + (reader->alpha_way == CHEIF_ALPHA_TILES ? reader->alpha_columns : 0);
  atomic_init(&work.next_task, 0);
  atomic_init(&work.next_worker, 0);
  atomic_init(&work.lost, 0);
  atomic_init(&work.lost_alpha, 0);
  atomic_init(&work.failed_task, UINT32_MAX);
  if (pthread_mutex_init(&work.lock, NULL) != 0) return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for a lock");

  uint64_t space = cheif_space_of(&reader->color), alpha_space = cheif_space_of(&reader->alpha_coding);
  if (alpha_space > space && reader->alpha_way == CHEIF_ALPHA_TILES) space = alpha_space;
  if (!cheif_has_room(space + 1)) {
    pthread_mutex_destroy(&work.lock);
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory to decode a tile");
  }
  pthread_t workers[CHEIF_MAX_THREADS];
  int started = 0;
  pthread_attr_t attributes;
  if (threads > 1 && pthread_attr_init(&attributes) == 0) {
    (void)pthread_attr_setstacksize(&attributes, worker_stack_bytes);
    while (started + 1 < threads && (uint32_t)started + 1 < work.task_count) {
      // Fewer threads where there is no address space for more.
      if (!cheif_has_room(space * ((uint64_t)started + 2) + 1)) break;
      if (pthread_create(&workers[started], &attributes, work_on_row, &work) != 0) break;
      started++;
    }
    pthread_attr_destroy(&attributes);
  }
  work_on_row(&work);
  for (int i = 0; i < started; i++) pthread_join(workers[i], NULL);
  cheif_widen(&work.processors);
  pthread_mutex_destroy(&work.lock);

  reader->losses.tiles += reader->header.tile_columns;
  reader->losses.lost_tiles += atomic_load(&work.lost);
  if (reader->alpha_way == CHEIF_ALPHA_TILES) reader->losses.alpha_tiles += reader->alpha_columns;
  reader->losses.lost_alpha_tiles += atomic_load(&work.lost_alpha);
  uint32_t failed = atomic_load(&work.failed_task);
  if (failed == UINT32_MAX) return CHEIF_OK;
  if (work.error.status != CHEIF_DAMAGED) {
    *error = work.error;
    return error->status;
  }
  uint32_t columns = reader->header.tile_columns;
  bool is_alpha = failed >= columns;
  if (is_alpha) columns = reader->alpha_columns;
  uint32_t place = row * columns + (is_alpha ? failed - reader->header.tile_columns : failed);
  return cheif_fail(error, work.error.status, "%stile %u of %u: %.200s", is_alpha ? "alpha's " : "", place + 1,
                    columns * reader->header.tile_rows, work.error.message);
}

cheif_status cheif_next_tiles(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error) {
  enum { most_kept_bytes = 1 << 20 };  // of coded data, by libheif
  if (reader->next_tile_row >= reader->header.tile_rows) {
    for (int i = 0; i < CHEIF_MAX_THREADS; i++) cheif_free_store(&reader->stores[i]);
    if (reader->losses.tiles > 0 && reader->losses.lost_tiles == reader->losses.tiles) {
      return cheif_fail(error, CHEIF_DAMAGED, "none of its %u tiles can be decoded", reader->losses.tiles);
    }
    return CHEIF_OK;
  }
  if (reader->alpha_way == CHEIF_ALPHA_WHOLE) {
    cheif_status status = cheif_decode_undivided(reader, true, threads, error);
    if (status != CHEIF_OK) return status;
  }
  if (reader->plane_count == 0) {
    cheif_status status = make_band(reader, error);
    if (status != CHEIF_OK) return status;
  }
  uint32_t row = reader->next_tile_row;
  cheif_status status = cheif_refresh(reader, most_kept_bytes, error);
  if (status == CHEIF_OK) status = decode_row(reader, row, threads, error);
  if (status != CHEIF_OK) return status;
  rows->plane_count = reader->plane_count;
  for (int i = 0; i < reader->plane_count; i++) {
    const cheif_band_plane *plane = &reader->planes[i];
    uint32_t first = row * plane->tile_height;
    rows->planes[i].samples = plane->samples;
    rows->planes[i].stride = plane->stride;
    rows->planes[i].width = plane->width;
    rows->planes[i].first_row = first;
    rows->planes[i].row_count = cheif_least(plane->tile_height, plane->height - first);
    rows->planes[i].bytes_per_sample = plane->bytes_per_sample;
    rows->planes[i].bits = plane->bits;
  }
  if (reader->alpha_way == CHEIF_ALPHA_WHOLE) {
    status = cheif_deliver_alpha(reader, rows, error);
    if (status != CHEIF_OK) return status;
  }
  cheif_state_stream_color(reader, rows);
  reader->next_tile_row++;
  return CHEIF_OK;
}

#endif
