#define _GNU_SOURCE  // for decode.h

#include "tiles.h"

#if CHEIF_BUILT_WITH_TILES

#include <signal.h>
#include <stdlib.h>

enum { PLANE_ALIGNMENT = 64 };

// Decoders keep their work on the heap, but dav1d asks 1 MB for its own threads, and only touched pages count.
static const size_t worker_stack_bytes = 1 << 20;

/// What is known of a band: the row that lies in it, or that will.
typedef struct {
  uint32_t left;              // tiles that are not finished
  uint32_t lost, lost_alpha;  // tiles that were made up for
} tile_band;

/// Tiles are tasks, numbered in reading order: of each row first the colour's, then alpha's. The caller's thread takes them
/// while it waits for a row; with a second band, workers take them all the time, and are a row ahead at most.
struct cheif_tiles {
  cheif_reader *reader;
  uint32_t tasks_in_row;
  uint64_t task_count;
  uint64_t space;  // address space that decoding a tile takes
  cheif_processors processors;
  int started;
  pthread_t workers[CHEIF_MAX_THREADS];

  pthread_mutex_t lock;  // over the rest
  pthread_cond_t may_work, has_worked;
  uint64_t next_task;
  uint32_t first_row;   // the rows before it were consumed
  tile_band bands[CHEIF_MAX_BANDS];
  int working;          // workers that go on
  int at_work;          // tasks that were taken and are not finished
  int next_store;
  bool stops;
  uint64_t failed_task;  // the first in reading order; UINT64_MAX while none has failed
  cheif_error error;
};

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
    plane->samples[0] = aligned_alloc(PLANE_ALIGNMENT, (size_t)(stride * rows));
    if (plane->samples[0] == NULL) {
      return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for a row of tiles of %llu bytes",
                        (unsigned long long)(stride * rows));
    }
  }
  reader->plane_count = count;
  return CHEIF_OK;
}

/// The second band. False where there is no memory for it.
static bool add_band(cheif_reader *reader) {
  for (int i = 0; i < reader->plane_count; i++) {
    cheif_band_plane *plane = &reader->planes[i];
    size_t rows = cheif_least(plane->tile_height, plane->height);
    plane->samples[1] = aligned_alloc(PLANE_ALIGNMENT, plane->stride * rows);
    if (plane->samples[1] == NULL) {
      while (i-- > 0) {
        free(reader->planes[i].samples[1]);
        reader->planes[i].samples[1] = NULL;
      }
      return false;
    }
  }
  return true;
}

static uint64_t window_end(const cheif_tiles *tiles) {
  uint64_t end = ((uint64_t)tiles->first_row + tiles->reader->band_count) * tiles->tasks_in_row;
  return end < tiles->task_count ? end : tiles->task_count;
}

/// Nothing will be taken any more. Tasks before a failed one were taken before it.
static bool is_over(const cheif_tiles *tiles) {
  return tiles->stops || tiles->failed_task != UINT64_MAX || tiles->next_task >= tiles->task_count;
}

static bool has_task(const cheif_tiles *tiles) { return !is_over(tiles) && tiles->next_task < window_end(tiles); }

/// Whether there is address space for whoever may be decoding at once.
static bool has_room_for_all(const cheif_tiles *tiles) {
  return cheif_has_room(tiles->space * ((uint64_t)tiles->working + 1) + 1);
}

/// Takes the next task, decodes it and notes what came of it. The lock is held before and after.
static void work(cheif_tiles *tiles, cheif_store *store) {
  cheif_reader *reader = tiles->reader;
  uint64_t task = tiles->next_task++;
  tiles->at_work++;
  pthread_mutex_unlock(&tiles->lock);

  uint32_t row = (uint32_t)(task / tiles->tasks_in_row), column = (uint32_t)(task % tiles->tasks_in_row);
  bool is_alpha = column >= reader->header.tile_columns;
  if (is_alpha) column -= reader->header.tile_columns;
  cheif_error error = {0};
  cheif_status status = CHEIF_OK;
  if (!cheif_has_room(tiles->space + 1)) status = cheif_fail(&error, CHEIF_NO_MEMORY, "no memory to decode a tile");
  if (status == CHEIF_OK) {
    cheif_enter();
    status = cheif_decode_tile(reader, is_alpha, row, column, store, &error);
    cheif_leave();
  }
  bool is_lost = cheif_can_salvage(reader, status);
  if (is_lost) cheif_fill_tile(reader, is_alpha, row, column);

  pthread_mutex_lock(&tiles->lock);
  tile_band *band = &tiles->bands[row % tiles->reader->band_count];
  tiles->at_work--;
  band->left--;
  if (is_lost) (*(is_alpha ? &band->lost_alpha : &band->lost))++;
  if (!is_lost && status != CHEIF_OK && task < tiles->failed_task) {
    tiles->failed_task = task;
    tiles->error = error;
    pthread_cond_broadcast(&tiles->may_work);
  }
  pthread_cond_signal(&tiles->has_worked);
}

static void *work_ahead(void *context) {
  cheif_tiles *tiles = context;
  pthread_mutex_lock(&tiles->lock);
  int number = ++tiles->next_store;
  cheif_narrow(&tiles->processors, number, 1);
  while (!is_over(tiles)) {
    if (!has_task(tiles)) {
      pthread_cond_wait(&tiles->may_work, &tiles->lock);
      continue;
    }
    // Fewer threads where there is no address space for more. The caller's goes on.
    if (!has_room_for_all(tiles)) break;
    work(tiles, &tiles->reader->stores[number]);
  }
  tiles->working--;
  pthread_cond_signal(&tiles->has_worked);
  pthread_mutex_unlock(&tiles->lock);
  return NULL;
}

/// As many workers as can be had. They leave to others the signals that the process is sent.
static void start_workers(cheif_tiles *tiles, int wanted) {
  static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGSYS, SIGTRAP};
  pthread_attr_t attributes;
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
  if (pthread_attr_init(&attributes) != 0) return;
  (void)pthread_attr_setstacksize(&attributes, worker_stack_bytes);
  if (pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0) {
    pthread_mutex_lock(&tiles->lock);
    while (tiles->started < wanted && cheif_has_room(tiles->space * ((uint64_t)tiles->started + 2) + 1)) {
      if (pthread_create(&tiles->workers[tiles->started], &attributes, work_ahead, tiles) != 0) break;
      tiles->started++;
      tiles->working++;
    }
    if (tiles->started == 0) tiles->reader->band_count = 1;
    pthread_mutex_unlock(&tiles->lock);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  pthread_attr_destroy(&attributes);
}

static cheif_status begin_tiles(cheif_reader *reader, int threads, cheif_error *error) {
  const cheif_header *header = &reader->header;
  cheif_status status = make_band(reader, error);
  if (status != CHEIF_OK) return status;
  cheif_tiles *tiles = calloc(1, sizeof *tiles);
  bool has_lock = tiles != NULL && pthread_mutex_init(&tiles->lock, NULL) == 0;
  if (!has_lock) {
    free(tiles);
    return cheif_fail(error, CHEIF_NO_MEMORY, "no memory for a lock");
  }
  // glibc's conditions need nothing that could be missing.
  pthread_cond_init(&tiles->may_work, NULL);
  pthread_cond_init(&tiles->has_worked, NULL);
  bool has_alpha = reader->alpha_way == CHEIF_ALPHA_TILES;
  uint64_t alpha_space = has_alpha ? cheif_space_of(&reader->alpha_coding) : 0;
  tiles->reader = reader;
  tiles->tasks_in_row = header->tile_columns + (has_alpha ? reader->alpha_columns : 0);
  tiles->task_count = (uint64_t)header->tile_rows * tiles->tasks_in_row;
  tiles->space = cheif_space_of(&reader->color);
  if (tiles->space < alpha_space) tiles->space = alpha_space;
  tiles->processors = cheif_find_processors(reader);
  tiles->failed_task = UINT64_MAX;
  reader->band_count = 1;
  for (int i = 0; i < CHEIF_MAX_BANDS; i++) tiles->bands[i].left = tiles->tasks_in_row;
  for (int i = 0; i < CHEIF_MAX_THREADS; i++) reader->stores[i].keeps_decoder = true;
  reader->tiles = tiles;
  if (threads < 2) return CHEIF_OK;
  if (header->tile_rows > 1 && add_band(reader)) reader->band_count = 2;
  uint64_t most = tiles->tasks_in_row - 1;
  int wanted = (uint64_t)threads - 1 < most ? threads - 1 : (int)most;
  if (header->tile_rows == 1 || reader->band_count > 1) start_workers(tiles, wanted);
  return CHEIF_OK;
}

void cheif_end_tiles(cheif_reader *reader) {
  cheif_tiles *tiles = reader->tiles;
  if (tiles != NULL) {
    pthread_mutex_lock(&tiles->lock);
    tiles->stops = true;
    pthread_cond_broadcast(&tiles->may_work);
    pthread_mutex_unlock(&tiles->lock);
    for (int i = 0; i < tiles->started; i++) pthread_join(tiles->workers[i], NULL);
    pthread_cond_destroy(&tiles->may_work);
    pthread_cond_destroy(&tiles->has_worked);
    pthread_mutex_destroy(&tiles->lock);
    free(tiles);
    reader->tiles = NULL;
  }
  for (int i = 0; i < CHEIF_MAX_THREADS; i++) {
    cheif_close_avcodec(&reader->avcodecs[i]);
    cheif_free_store(&reader->stores[i]);
  }
}

/// The rows before `row` were consumed: their band is that of another one.
static void free_bands(cheif_tiles *tiles, uint32_t row) {
  while (tiles->first_row < row) {
    tiles->bands[tiles->first_row % tiles->reader->band_count] = (tile_band){.left = tiles->tasks_in_row};
    tiles->first_row++;
  }
  pthread_cond_broadcast(&tiles->may_work);
}

/// Decodes on this thread too until the row is there or a tile of it has failed.
static cheif_status finish_row(cheif_tiles *tiles, uint32_t row, cheif_error *error) {
  cheif_reader *reader = tiles->reader;
  uint64_t end = ((uint64_t)row + 1) * tiles->tasks_in_row;
  tile_band *band = &tiles->bands[row % tiles->reader->band_count];
  while (tiles->failed_task < end ? tiles->at_work > 0 : band->left > 0) {
    // A tile of the next row only when the workers are left enough: they should not wait while this row is consumed.
    bool helps = tiles->next_task < end || window_end(tiles) - tiles->next_task > (uint64_t)tiles->working;
    if (helps && has_task(tiles) && (tiles->at_work == 0 || has_room_for_all(tiles))) {
      pthread_mutex_unlock(&tiles->lock);
      cheif_status status = cheif_ask(reader, error);
      pthread_mutex_lock(&tiles->lock);
      if (status != CHEIF_OK) return status;
      // It may have been the last.
      if (has_task(tiles)) work(tiles, &reader->stores[0]);
    } else {
      pthread_cond_wait(&tiles->has_worked, &tiles->lock);
    }
  }
  return CHEIF_OK;
}

/// What is said of the first tile that failed.
static cheif_status fail_with_tile(const cheif_tiles *tiles, cheif_error *error) {
  const cheif_reader *reader = tiles->reader;
  if (tiles->error.status != CHEIF_DAMAGED) {
    *error = tiles->error;
    return error->status;
  }
  uint32_t columns = reader->header.tile_columns;
  uint32_t row = (uint32_t)(tiles->failed_task / tiles->tasks_in_row);
  uint32_t column = (uint32_t)(tiles->failed_task % tiles->tasks_in_row);
  bool is_alpha = column >= columns;
  if (is_alpha) column -= columns, columns = reader->alpha_columns;
  return cheif_fail(error, tiles->error.status, "%stile %u of %u: %.200s", is_alpha ? "alpha's " : "",
                    row * columns + column + 1, columns * reader->header.tile_rows, tiles->error.message);
}

static cheif_status decode_row(cheif_tiles *tiles, uint32_t row, cheif_error *error) {
  cheif_reader *reader = tiles->reader;
  cheif_narrow(&tiles->processors, 0, 1);
  pthread_mutex_lock(&tiles->lock);
  free_bands(tiles, row);
  cheif_status status = finish_row(tiles, row, error);
  tile_band band = tiles->bands[row % tiles->reader->band_count];
  bool has_failed = tiles->failed_task < ((uint64_t)row + 1) * tiles->tasks_in_row;
  if (status == CHEIF_OK && has_failed) status = fail_with_tile(tiles, error);
  pthread_mutex_unlock(&tiles->lock);
  cheif_widen(&tiles->processors);

  reader->losses.tiles += reader->header.tile_columns;
  reader->losses.lost_tiles += band.lost;
  if (reader->alpha_way == CHEIF_ALPHA_TILES) reader->losses.alpha_tiles += reader->alpha_columns;
  reader->losses.lost_alpha_tiles += band.lost_alpha;
  return status;
}

cheif_status cheif_next_tiles(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error) {
  if (reader->next_tile_row >= reader->header.tile_rows) {
    cheif_end_tiles(reader);
    if (reader->losses.tiles > 0 && reader->losses.lost_tiles == reader->losses.tiles) {
      return cheif_fail(error, CHEIF_DAMAGED, "none of its %u tiles can be decoded", reader->losses.tiles);
    }
    return CHEIF_OK;
  }
  if (reader->tiles == NULL) {
    cheif_status status = CHEIF_OK;
    if (reader->alpha_way == CHEIF_ALPHA_WHOLE) status = cheif_decode_undivided(reader, true, threads, error);
    if (status == CHEIF_OK) status = begin_tiles(reader, threads, error);
    if (status != CHEIF_OK) return status;
  }
  uint32_t row = reader->next_tile_row;
  cheif_status status = decode_row(reader->tiles, row, error);
  if (status != CHEIF_OK) {
    cheif_end_tiles(reader);
    return status;
  }
  uint32_t band = row % reader->band_count;
  rows->plane_count = reader->plane_count;
  for (int i = 0; i < reader->plane_count; i++) {
    const cheif_band_plane *plane = &reader->planes[i];
    uint32_t first = row * plane->tile_height;
    rows->planes[i].samples = plane->samples[band];
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

#else

void cheif_end_tiles(cheif_reader *reader) { (void)reader; }

#endif
