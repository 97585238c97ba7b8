/// The reader's insides, shared by opening (reader.c) and decoding (decode.c).
#ifndef CHEIF_READER_H
#define CHEIF_READER_H

#include "avcodec.h"
#include "frame.h"
#include "library.h"

#include <pthread.h>
#include <stdatomic.h>

#pragma GCC visibility push(hidden)

enum { CHEIF_CACHE_BYTES = 8192, CHEIF_MAX_PLANES = 4, CHEIF_MAX_THREADS = 64, CHEIF_MAX_BANDS = 2 };

typedef enum {
  CHEIF_ALPHA_NONE = 0,
  CHEIF_ALPHA_WITH_COLOR,  // libheif adds it to the whole picture that it decodes
  CHEIF_ALPHA_TILES,       // an own item, a grid whose rows of tiles are those of the colour's
  CHEIF_ALPHA_WHOLE,       // an own item, decoded whole
} cheif_alpha_way;

/// A plane of the bands that rows of tiles are decoded into, in turns.
typedef struct {
  uint32_t width, height;              // of the whole plane
  uint32_t tile_width, tile_height;    // in the plane's own samples
  int bits, bytes_per_sample;
  size_t stride;
  uint8_t *samples[CHEIF_MAX_BANDS];
} cheif_band_plane;

/// A decoded picture: libheif's or our own decoders'. Neither where it is not decoded yet.
typedef struct {
  struct heif_image *image;
  bool is_frame;
  cheif_frame frame;
} cheif_picture;

/// What the file ends too early for.
typedef struct {
  uint32_t count, first, items;  // tiles, or a single picture
  uint64_t bytes, there;
} cheif_cut;

/// How the coded pictures of one kind, the colour's or alpha's, are decoded.
typedef struct {
  cheif_decoder decoder;  // none: libheif decodes
  cheif_stream limit;     // what a picture may take
  bool tries_avcodec;     // before that decoder, with tiles
} cheif_way;

/// The decoding of a grid's tiles, begun (tiles.c).
typedef struct cheif_tiles cheif_tiles;

struct cheif_reader {
  const cheif_library *library;
  cheif_source source;
  struct heif_reader callbacks;
  struct heif_context *context;
  struct heif_image_handle *primary;
  struct heif_image_handle *profile_owner;  // the first tile, where the grid itself states no colour; else NULL
  struct heif_image_handle *alpha;          // NULL: none, or not an item of its own
  heif_item_id primary_id, profile_owner_id, alpha_id;
  heif_item_id exif_id, xmp_id;  // where the header has bytes of them
  struct heif_decoding_options *options;
  struct heif_decoding_options *catching;  // NULL where coded data cannot be caught
  struct heif_color_profile_nclx *kept_nclx;  // what the options point to
  cheif_header header;
  bool library_transforms;  // libheif turns and crops: the header reports none
  cheif_way color, alpha_coding;
  bool is_finding;           // the header is being read: coded data only for their parameter sets
  cheif_error refusal;       // what reading the header found to be too much
  cheif_alpha_way alpha_way;
  uint32_t alpha_columns, alpha_tile_width;  // CHEIF_ALPHA_TILES

  // Over the context, while tiles are decoded: held alone to read coded data and to make libheif forget them, by several
  // where libheif decodes. Taken before source_lock.
  pthread_rwlock_t context_lock;
  pthread_mutex_t source_lock;  // over the cache and the source, which are asked by one thread at a time
  bool read_failed;
  bool is_opening;          // libheif reads the boxes, not pictures
  bool too_much_to_open;
  int64_t full_size;        // of the file, where it ends before its items do: what it would have
  cheif_cut cut, alpha_cut;  // what of the primary picture is missing
  bool is_spent;            // the context has coded data that are not whole, or that it does not give again
  int64_t bytes_read;       // since the context was made
  int64_t cache_offset;
  int64_t cache_count;
  uint8_t cache[CHEIF_CACHE_BYTES];

  // Decoding.
  cheif_error failure;      // sticks: what failed once fails again
  int usable_threads;       // 0: not yet known
  uint32_t next_tile_row;     // to deliver
  cheif_tiles *tiles;         // NULL: not begun, or at its end
  cheif_losses losses;
  cheif_picture whole;        // the decoded whole picture
  cheif_picture whole_alpha;  // CHEIF_ALPHA_WHOLE
  cheif_store whole_store, whole_alpha_store;
  cheif_store stores[CHEIF_MAX_THREADS];  // of the tiles, one for each thread
  cheif_avcodec *avcodecs[CHEIF_MAX_THREADS];  // likewise
  bool avcodec_is_wrong;     // it refused the first tile, which libde265 decoded
  atomic_uint by_avcodec;    // tiles that it decoded
  uint32_t next_row;          // of the whole picture, to deliver
  uint32_t band_count;        // rows of tiles that are held
  int plane_count;
  cheif_band_plane planes[CHEIF_MAX_PLANES];  // the last is alpha's where there is one
  bool has_stream_nclx;
  int stream_primaries, stream_transfer, stream_matrix;
  bool stream_full_range;
};

/// CHEIF_READ_FAILED once the source has failed: what libheif was given since then is zeros, and so worth nothing.
cheif_status cheif_check_source(cheif_reader *reader, cheif_error *error);

/// The status and message of what libheif reports, or of the source when it was the source that failed.
cheif_status cheif_reader_fail(cheif_reader *reader, struct heif_error from, cheif_error *error);

/// Reads exactly `count` bytes of the file, or gives false.
bool cheif_read_exactly(cheif_reader *reader, int64_t offset, void *buffer, int64_t count);

/// Ends the decoding of tiles, also in the middle: its threads finish the tile at hand.
void cheif_end_tiles(cheif_reader *reader);

/// Makes libheif forget the coded data that it read, where that has become more than `most` bytes. The handles change.
cheif_status cheif_refresh(cheif_reader *reader, int64_t most, cheif_error *error);

/// How many bytes this thread reads for libheif from now on: what comes after them is given as zeros. INT64_MAX: all.
void cheif_limit_reading(int64_t most);

/// What a file that ends too early is filled up with, for this thread, where the reader fills it up. Begins to count anew.
void cheif_make_up_with(uint8_t byte);

/// How many bytes were filled up since then.
int64_t cheif_made_up(void);

#pragma GCC visibility pop
#endif
