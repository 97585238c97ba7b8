#define _GNU_SOURCE  // for decode.h

#include "tiles.h"

#include "coded.h"

#if CHEIF_BUILT_WITH_TILES

#include <string.h>

static cheif_status copy_tile(const cheif_reader *reader, int index, const cheif_plane *tile, uint32_t row,
                              uint32_t column, cheif_error *error) {
  const cheif_band_plane *band = &reader->planes[index];
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
  uint8_t *samples = band->samples[row % reader->band_count];
  for (uint32_t y = 0; y < height; y++) {
    memcpy(samples + y * band->stride + left * bytes, tile->samples + y * tile->stride, width * bytes);
  }
  return CHEIF_OK;
}

/// The limits are those of the first tile's coding.
static bool tile_is_coded_alike(const cheif_reader *reader, heif_item_id id, const cheif_way *way) {
  uint32_t type = reader->library->heif_item_get_item_type(reader->context, id);
  return type == (way->decoder == CHEIF_DECODER_HEVC ? heif_fourcc('h', 'v', 'c', '1') : heif_fourcc('a', 'v', '0', '1'));
}

/// What a tile of the colour or of alpha is decoded from.
typedef struct {
  const cheif_way *way;
  uint32_t row, column;
  bool is_alpha;
} tile_place;

/// The tile's own item. heif_image_handle_decode_image_tile would find it too for a sound file, but 1.19 reads address 0
/// when the tile's item is missing, and decodes the alpha of the whole grid along: wrongly where alpha is no grid, and not
/// at all where its samples are deeper than 8 bits and its tiles of another size.
static cheif_status find_tile(cheif_reader *reader, tile_place place, struct heif_image_handle **tile,
                              cheif_error *error) {
  const cheif_library *library = reader->library;
  const struct heif_image_handle *grid = place.is_alpha ? reader->alpha : reader->primary;
  heif_item_id id = 0;
  *tile = NULL;
  struct heif_error result = library->heif_image_handle_get_grid_image_tile_id(grid, 0, place.column, place.row, &id);
  if (result.code != heif_error_Ok) return cheif_reader_fail(reader, result, error);
  result = library->heif_context_get_image_handle(reader->context, id, tile);
  if (result.code != heif_error_Ok || *tile == NULL) {
    return cheif_fail(error, CHEIF_DAMAGED, "the file has no picture with its number, %u", id);
  }
  int width = library->heif_image_handle_get_ispe_width(*tile);
  int height = library->heif_image_handle_get_ispe_height(*tile);
  uint32_t most_width = place.is_alpha ? reader->alpha_tile_width : reader->header.tile_width;
  if (width > 0 && height > 0 && ((uint32_t)width > most_width || (uint32_t)height > reader->header.tile_height)) {
    // Its memory was not planned for.
    return cheif_fail(error, CHEIF_DAMAGED, "it has %dx%d pixels where the grid's tiles have %ux%u", width, height,
                      most_width, reader->header.tile_height);
  }
  if (place.way->decoder != CHEIF_DECODER_NONE && !tile_is_coded_alike(reader, id, place.way)) {
    return cheif_fail(error, CHEIF_UNSUPPORTED, "it is coded in another way than the first tile");
  }
  return CHEIF_OK;
}

/// The caller holds the lock of the context: alone where our decoders decode, since that takes but a moment then.
static cheif_status read_tile(cheif_reader *reader, tile_place place, cheif_coded *coded, cheif_picture *picture,
                              cheif_error *error) {
  bool is_ours = place.way->decoder != CHEIF_DECODER_NONE;
  struct heif_image_handle *tile;
  cheif_status status = find_tile(reader, place, &tile, error);
  cheif_make_up_with(0);
  if (status == CHEIF_OK) {
    status = is_ours ? cheif_catch(reader, tile, coded, error)
                     : cheif_decode_item(reader, tile, place.is_alpha ? NULL : &reader->header.layout, picture, error);
  }
  if (status == CHEIF_OK && cheif_made_up() > 0) {
    cheif_free_coded(coded);
    cheif_free_picture(reader, picture);
    status = cheif_fail(error, CHEIF_DAMAGED, "the file ends inside it");
  }
  if (tile != NULL) reader->library->heif_image_handle_release(tile);
  return status;
}

static cheif_status decode_tile(cheif_reader *reader, bool is_alpha, uint32_t row, uint32_t column, cheif_store *store,
                                cheif_picture *picture, cheif_error *error) {
  enum { most_kept_bytes = 1 << 20 };  // of coded data, by libheif
  tile_place place = {is_alpha ? &reader->alpha_coding : &reader->color, row, column, is_alpha};
  cheif_coded coded = {0};
  pthread_rwlock_wrlock(&reader->context_lock);
  cheif_status status = cheif_refresh(reader, most_kept_bytes, error);
  if (place.way->decoder == CHEIF_DECODER_NONE) {
    // libheif decodes: others may, at the same time.
    pthread_rwlock_unlock(&reader->context_lock);
    pthread_rwlock_rdlock(&reader->context_lock);
  }
  if (status == CHEIF_OK) status = read_tile(reader, place, &coded, picture, error);
  pthread_rwlock_unlock(&reader->context_lock);
  if (status != CHEIF_OK || place.way->decoder == CHEIF_DECODER_NONE) return status;
  // Rows from the third on begin when the first one is finished, whatever the threads: they know the same.
  bool tries = place.way->tries_avcodec && !(row >= CHEIF_MAX_BANDS && reader->avcodec_is_wrong);
  cheif_avcodec **decoder = &reader->avcodecs[store - reader->stores];
  if (tries && cheif_decode_by_avcodec(&coded, &place.way->limit, decoder, store, &picture->frame)) {
    picture->is_frame = true;
    cheif_free_coded(&coded);
    atomic_fetch_add(&reader->by_avcodec, 1);
    return CHEIF_OK;
  }
  status = cheif_decode_coded(place.way, &coded, store, picture, error);
  if (tries && status == CHEIF_OK && row == 0 && column == 0) reader->avcodec_is_wrong = true;
  return status;
}

void cheif_use_avcodec(cheif_reader *reader) {
  const cheif_stream *limit = &reader->color.limit;
  bool suits = reader->color.decoder == CHEIF_DECODER_HEVC && reader->header.tiled &&
               limit->layout == CHEIF_LAYOUT_420 && limit->luma_bits == 8 && limit->chroma_bits == 8;
  // Some of the libraries that it is linked to do not survive a lack of address space.
  const uint64_t space = (uint64_t)256 << 20;
  reader->color.tries_avcodec = suits && !reader->source.salvages && cheif_has_room(space) && cheif_open_avcodec();
}

static cheif_status decode_color_tile(cheif_reader *reader, uint32_t row, uint32_t column, cheif_store *store,
                                      cheif_error *error) {
  cheif_layout layout = reader->header.layout;
  cheif_picture picture = {0};
  cheif_status status = decode_tile(reader, false, row, column, store, &picture, error);
  if (status == CHEIF_OK && picture.is_frame && picture.frame.layout != layout) {
    status = cheif_fail(error, CHEIF_DAMAGED, "it has another subsampling than the first tile");
  }
  for (int i = 0; i < cheif_color_planes(layout) && status == CHEIF_OK; i++) {
    cheif_plane plane;
    if (!cheif_get_plane(reader, &picture, layout, i, &plane)) {
      status = cheif_fail(error, CHEIF_DAMAGED, "it lacks a plane");
    } else {
      status = copy_tile(reader, i, &plane, row, column, error);
    }
  }
  if (status == CHEIF_OK && row == 0 && column == 0) cheif_take_stream_color(reader, &picture);
  cheif_free_picture(reader, &picture);
  return status;
}

static cheif_status decode_alpha_tile(cheif_reader *reader, uint32_t row, uint32_t column, cheif_store *store,
                                      cheif_error *error) {
  cheif_picture picture = {0};
  cheif_status status = decode_tile(reader, true, row, column, store, &picture, error);
  if (status != CHEIF_OK) return status;
  cheif_plane plane;
  if (!cheif_get_alpha(reader, &picture, &plane)) {
    status = cheif_fail(error, CHEIF_DAMAGED, "it lacks a plane");
  } else {
    status = copy_tile(reader, cheif_color_planes(reader->header.layout), &plane, row, column, error);
  }
  cheif_free_picture(reader, &picture);
  return status;
}

cheif_status cheif_decode_tile(cheif_reader *reader, bool is_alpha, uint32_t row, uint32_t column, cheif_store *store,
                               cheif_error *error) {
  return is_alpha ? decode_alpha_tile(reader, row, column, store, error)
                  : decode_color_tile(reader, row, column, store, error);
}

void cheif_fill_tile(cheif_reader *reader, bool is_alpha, uint32_t row, uint32_t column) {
  int colors = cheif_color_planes(reader->header.layout);
  for (int i = is_alpha ? colors : 0; i < (is_alpha ? colors + 1 : colors); i++) {
    const cheif_band_plane *band = &reader->planes[i];
    uint32_t left = column * band->tile_width, top = row * band->tile_height;
    cheif_fill(band->samples[row % reader->band_count] + left * (size_t)band->bytes_per_sample, band->stride,
               cheif_least(band->tile_width, band->width - left), cheif_least(band->tile_height, band->height - top),
               band->bits, is_alpha ? CHEIF_FILL_OPAQUE : CHEIF_FILL_GRAY);
  }
}

#else

void cheif_use_avcodec(cheif_reader *reader) { (void)reader; }

#endif

uint32_t cheif_count_by_avcodec(const cheif_reader *reader) { return atomic_load(&reader->by_avcodec); }
