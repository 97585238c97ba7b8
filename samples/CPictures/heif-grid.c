#include "internal.h"

#include <stdlib.h>
#include <string.h>

// A grid of some hundred tiles takes a minute to encode. Here a few are encoded, as pictures of their own, and the file
// is put together from their data: ISO/IEC 14496-12 (boxes), 23008-12 (items, grids, auxiliary pictures).

/// A coded picture: where its data lie in `file`, and its decoder configuration, a whole box.
typedef struct {
  cpic_bytes file;
  const uint8_t *data, *configuration;
  size_t length, configuration_length;
} coded;

typedef struct {
  const cpic_scene *scene;
  const cpic_heif_options *options;
  uint32_t tile_width, tile_height, columns, rows;
  unsigned distinct;
  bool mono, alpha;
  coded *tiles;  // `distinct` of colour, then as many of alpha
  bool failed;   // no memory
} grid;

enum { main_item = 1, alpha_item = 2, first_tile = 3 };

static uint32_t get32(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/// The first box of that type in a run of boxes; NULL: none.
static const uint8_t *find_box(const uint8_t *at, const uint8_t *end, const char *type, size_t *length) {
  while (at && end - at >= 8) {
    size_t size = get32(at);
    if (size < 8 || size > (size_t)(end - at)) return NULL;
    if (memcmp(at + 4, type, 4) == 0) {
      *length = size;
      return at;
    }
    at += size;
  }
  return NULL;
}

static int find_parts(coded *tile, bool is_hevc) {
  const uint8_t *file = tile->file.data, *end = file + tile->file.length;
  size_t length = 0;
  const uint8_t *data = find_box(file, end, "mdat", &length);
  if (!data) return cpic_fail("the library wrote no data box");
  tile->data = data + 8;
  tile->length = length - 8;
  const uint8_t *box = find_box(file, end, "meta", &length);
  if (box) box = find_box(box + 12, box + length, "iprp", &length);
  if (box) box = find_box(box + 8, box + length, "ipco", &length);
  if (box) box = find_box(box + 8, box + length, is_hevc ? "hvcC" : "av1C", &length);
  if (!box) return cpic_fail("the library wrote no decoder configuration");
  tile->configuration = box;
  tile->configuration_length = length;
  return 0;
}

/// The channel of alpha as a gray picture.
static cpic_picture *only_alpha(const cpic_picture *picture) {
  cpic_picture *out = cpic_create(picture->width, picture->height, 1, picture->bits);
  if (!out) return NULL;
  for (int y = 0; y < out->height; y++) {
    for (int x = 0; x < out->width; x++) {
      cpic_set_sample(out, x, y, 0, cpic_sample(picture, x, y, picture->channels - 1));
    }
  }
  return out;
}

/// Encodes the tile that is the `index`th of the grid.
static int encode_tile(const grid *g, uint32_t index, bool alpha, coded *out) {
  cpic_scene scene = *g->scene;
  if (g->mono && !alpha) scene.channels = 1;
  int left = (int)(index % g->columns * g->tile_width), top = (int)(index / g->columns * g->tile_height);
  cpic_picture *picture = cpic_scene_picture(&scene, left, top, (int)g->tile_width, (int)g->tile_height);
  if (picture && alpha) {
    cpic_picture *gray = only_alpha(picture);
    cpic_free(picture);
    picture = gray;
  }
  if (!picture) return 1;
  cpic_heif_options options = *g->options;
  options.alpha = false;
  options.tile_width = options.tile_height = 0;
  options.orientation = 1;
  if (alpha) options.full_range = true;
  int status = cpic_encode_heif(picture, &options, &out->file);
  cpic_free(picture);
  return status || find_parts(out, options.codec == CPIC_HEVC);
}

static int encode_tiles(grid *g) {
  unsigned kinds = g->alpha ? 2 : 1;
  for (unsigned i = 0; i < g->distinct * kinds; i++) {
    coded *tile = &g->tiles[i], *first = &g->tiles[i / g->distinct * g->distinct];
    // Of the whole picture, not of one corner.
    uint32_t index = (uint32_t)((uint64_t)(i % g->distinct) * g->columns * g->rows / g->distinct);
    if (encode_tile(g, index, i >= g->distinct, tile)) return 1;
    if (tile->configuration_length != first->configuration_length ||
        memcmp(tile->configuration, first->configuration, tile->configuration_length) != 0) {
      return cpic_fail("tiles of different decoder configurations");
    }
  }
  return 0;
}

// MARK: Boxes

static void put_bytes(grid *g, cpic_buffer *out, const void *data, size_t length) {
  if (cpic_append(out, data, length)) g->failed = true;
}

static void put8(grid *g, cpic_buffer *out, unsigned value) {
  uint8_t byte = (uint8_t)value;
  put_bytes(g, out, &byte, 1);
}

static void put16(grid *g, cpic_buffer *out, unsigned value) { cpic_put16(out, value, true, &g->failed); }
static void put32(grid *g, cpic_buffer *out, uint32_t value) { cpic_put32(out, value, true, &g->failed); }

/// Begins a box and says where, for end_box.
static size_t begin_box(grid *g, cpic_buffer *out, const char *type) {
  size_t start = out->bytes.length;
  put32(g, out, 0);
  put_bytes(g, out, type, 4);
  return start;
}

static size_t begin_full_box(grid *g, cpic_buffer *out, const char *type, unsigned version, uint32_t flags) {
  size_t start = begin_box(g, out, type);
  put32(g, out, (uint32_t)version << 24 | flags);
  return start;
}

static void end_box(grid *g, cpic_buffer *out, size_t start) {
  if (g->failed) return;
  size_t length = out->bytes.length - start;
  for (int i = 0; i < 4; i++) out->bytes.data[start + (size_t)i] = (uint8_t)(length >> (24 - 8 * i));
}

static uint32_t tiles_of(const grid *g) { return g->columns * g->rows; }
static uint32_t kinds_of(const grid *g) { return g->alpha ? 2 : 1; }

static void put_file_type(grid *g, cpic_buffer *out) {
  bool is_hevc = g->options->codec == CPIC_HEVC;
  bool is_main = g->options->bits == 8 && g->options->chroma == CPIC_CHROMA_420;
  const char *brand = !is_hevc ? "avif" : is_main ? "heic" : "heix";
  size_t box = begin_box(g, out, "ftyp");
  put_bytes(g, out, brand, 4);
  put32(g, out, 0);
  put_bytes(g, out, "mif1", 4);
  put_bytes(g, out, brand, 4);
  end_box(g, out, box);
}

/// Where each item's data lie: those of the grids in `idat`, those of the tiles from `start` on in the file.
static void put_locations(grid *g, cpic_buffer *out, uint32_t start) {
  size_t grid_length = 12;
  size_t box = begin_full_box(g, out, "iloc", 1, 0);
  put16(g, out, 0x4400);  // offsets and lengths of 4 bytes, no base
  put16(g, out, kinds_of(g) * (tiles_of(g) + 1));
  for (uint32_t kind = 0; kind < kinds_of(g); kind++) {
    put16(g, out, kind == 0 ? main_item : alpha_item);
    put16(g, out, 1);  // in idat
    put16(g, out, 0);
    put16(g, out, 1);
    put32(g, out, 0);
    put32(g, out, (uint32_t)grid_length);
  }
  for (uint32_t i = 0; i < kinds_of(g) * tiles_of(g); i++) {
    uint32_t tile = i / tiles_of(g) * g->distinct + i % tiles_of(g) % g->distinct, offset = start;
    for (uint32_t before = 0; before < tile; before++) offset += (uint32_t)g->tiles[before].length;
    put16(g, out, first_tile + i);
    put16(g, out, 0);
    put16(g, out, 0);
    put16(g, out, 1);
    put32(g, out, offset);
    put32(g, out, (uint32_t)g->tiles[tile].length);
  }
  end_box(g, out, box);
}

static void put_item(grid *g, cpic_buffer *out, uint32_t item, const char *type, bool hidden) {
  size_t box = begin_full_box(g, out, "infe", 2, hidden ? 1 : 0);
  put16(g, out, item);
  put16(g, out, 0);
  put_bytes(g, out, type, 4);
  put8(g, out, 0);
  end_box(g, out, box);
}

static void put_items(grid *g, cpic_buffer *out) {
  const char *type = g->options->codec == CPIC_HEVC ? "hvc1" : "av01";
  size_t box = begin_full_box(g, out, "iinf", 0, 0);
  put16(g, out, kinds_of(g) * (tiles_of(g) + 1));
  put_item(g, out, main_item, "grid", false);
  if (g->alpha) put_item(g, out, alpha_item, "grid", true);
  for (uint32_t i = 0; i < kinds_of(g) * tiles_of(g); i++) put_item(g, out, first_tile + i, type, true);
  end_box(g, out, box);
}

static void put_references(grid *g, cpic_buffer *out) {
  size_t box = begin_full_box(g, out, "iref", 0, 0);
  for (uint32_t kind = 0; kind < kinds_of(g); kind++) {
    size_t reference = begin_box(g, out, "dimg");
    put16(g, out, kind == 0 ? main_item : alpha_item);
    put16(g, out, tiles_of(g));
    for (uint32_t i = 0; i < tiles_of(g); i++) put16(g, out, first_tile + kind * tiles_of(g) + i);
    end_box(g, out, reference);
  }
  if (g->alpha) {
    size_t reference = begin_box(g, out, "auxl");
    put16(g, out, alpha_item);
    put16(g, out, 1);
    put16(g, out, main_item);
    end_box(g, out, reference);
  }
  end_box(g, out, box);
}

static void put_size(grid *g, cpic_buffer *out, uint32_t width, uint32_t height) {
  size_t box = begin_full_box(g, out, "ispe", 0, 0);
  put32(g, out, width);
  put32(g, out, height);
  end_box(g, out, box);
}

static void put_depth(grid *g, cpic_buffer *out, unsigned channels) {
  size_t box = begin_full_box(g, out, "pixi", 0, 0);
  put8(g, out, channels);
  for (unsigned i = 0; i < channels; i++) put8(g, out, (unsigned)g->options->bits);
  end_box(g, out, box);
}

static void put_colour(grid *g, cpic_buffer *out) {
  const cpic_heif_options *o = g->options;
  size_t box = begin_box(g, out, "colr");
  put_bytes(g, out, "nclx", 4);
  put16(g, out, (unsigned)o->primaries);
  put16(g, out, (unsigned)o->transfer);
  put16(g, out, (unsigned)o->matrix);
  put8(g, out, o->full_range ? 0x80 : 0);
  end_box(g, out, box);
}

/// The numbers of the properties in `ipco`, from 1.
enum {
  tile_size = 1,
  whole_size,
  depth,
  colour,
  configuration,
  turn,
  flip,
  alpha_depth,
  alpha_configuration,
  alpha_type
};

enum { essential = 0x80 };

static void put_properties(grid *g, cpic_buffer *out) {
  static const uint8_t quarter_turns[9] = {0, 0, 0, 2, 0, 3, 3, 3, 1};  // counter-clockwise
  static const int8_t axes[9] = {-1, -1, 1, -1, 0, 1, -1, 0, -1};       // 0 top and bottom swap, 1 left and right
  static const char hevc_alpha[] = "urn:mpeg:hevc:2015:auxid:1";
  static const char av1_alpha[] = "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha";
  int orientation = g->options->orientation;
  size_t box = begin_box(g, out, "ipco");
  put_size(g, out, g->tile_width, g->tile_height);
  put_size(g, out, (uint32_t)g->scene->width, (uint32_t)g->scene->height);
  put_depth(g, out, g->mono ? 1 : 3);
  put_colour(g, out);
  put_bytes(g, out, g->tiles[0].configuration, g->tiles[0].configuration_length);
  size_t inner = begin_box(g, out, "irot");
  put8(g, out, quarter_turns[orientation]);
  end_box(g, out, inner);
  inner = begin_box(g, out, "imir");
  put8(g, out, axes[orientation] == 1 ? 1 : 0);
  end_box(g, out, inner);
  if (g->alpha) {
    put_depth(g, out, 1);
    put_bytes(g, out, g->tiles[g->distinct].configuration, g->tiles[g->distinct].configuration_length);
    inner = begin_full_box(g, out, "auxC", 0, 0);
    if (g->options->codec == CPIC_HEVC) {
      put_bytes(g, out, hevc_alpha, sizeof hevc_alpha);
    } else {
      put_bytes(g, out, av1_alpha, sizeof av1_alpha);
    }
    end_box(g, out, inner);
  }
  end_box(g, out, box);

  box = begin_full_box(g, out, "ipma", 0, 0);
  put32(g, out, kinds_of(g) * (tiles_of(g) + 1));
  for (uint32_t kind = 0; kind < kinds_of(g); kind++) {
    uint8_t list[8];
    unsigned count = 0;
    list[count++] = whole_size;
    list[count++] = kind == 0 ? depth : alpha_depth;
    list[count++] = kind == 0 ? colour : alpha_type | essential;
    if (quarter_turns[orientation] != 0) list[count++] = turn | essential;
    if (axes[orientation] >= 0) list[count++] = flip | essential;
    put16(g, out, kind == 0 ? main_item : alpha_item);
    put8(g, out, count);
    put_bytes(g, out, list, count);
  }
  for (uint32_t i = 0; i < kinds_of(g) * tiles_of(g); i++) {
    bool is_alpha = i >= tiles_of(g);
    put16(g, out, first_tile + i);
    put8(g, out, is_alpha ? 3 : 4);
    put8(g, out, (is_alpha ? alpha_configuration : configuration) | essential);
    put8(g, out, tile_size);
    put8(g, out, is_alpha ? alpha_depth : depth);
    if (!is_alpha) put8(g, out, colour);
  }
  end_box(g, out, box);
}

static void put_meta(grid *g, cpic_buffer *out, uint32_t data_start) {
  size_t box = begin_full_box(g, out, "meta", 0, 0);
  size_t inner = begin_full_box(g, out, "hdlr", 0, 0);
  put32(g, out, 0);
  put_bytes(g, out, "pict", 4);
  put_bytes(g, out, "\0\0\0\0\0\0\0\0\0\0\0\0", 13);
  end_box(g, out, inner);
  inner = begin_full_box(g, out, "pitm", 0, 0);
  put16(g, out, main_item);
  end_box(g, out, inner);
  put_locations(g, out, data_start);
  put_items(g, out);
  put_references(g, out);
  inner = begin_box(g, out, "iprp");
  put_properties(g, out);
  end_box(g, out, inner);
  inner = begin_box(g, out, "idat");
  put8(g, out, 0);
  put8(g, out, 1);  // the size in 32 bits
  put8(g, out, g->rows - 1);
  put8(g, out, g->columns - 1);
  put32(g, out, (uint32_t)g->scene->width);
  put32(g, out, (uint32_t)g->scene->height);
  end_box(g, out, inner);
  end_box(g, out, box);
}

static int put_file(grid *g, cpic_buffer *out) {
  put_file_type(g, out);
  size_t meta = out->bytes.length;
  put_meta(g, out, 0);
  // The same again, now that it is known where the data begin.
  uint32_t data_start = (uint32_t)out->bytes.length + 8;
  out->bytes.length = meta;
  put_meta(g, out, data_start);
  size_t box = begin_box(g, out, "mdat");
  for (unsigned i = 0; i < g->distinct * kinds_of(g); i++) put_bytes(g, out, g->tiles[i].data, g->tiles[i].length);
  end_box(g, out, box);
  return g->failed ? 1 : 0;
}

int cpic_stream_heif_grid(const cpic_scene *scene, const cpic_heif_options *options, int distinct, const char *path) {
  int height = options->tile_height > 0 ? options->tile_height : options->tile_width;
  if (options->tile_width < 64 || height < 64 || options->tile_width % 2 != 0 || height % 2 != 0) {
    return cpic_fail("tiles of %d x %d", options->tile_width, height);
  }
  if (options->orientation < 1 || options->orientation > 8) return cpic_fail("no orientation %d", options->orientation);
  grid g = {.scene = scene, .options = options, .tile_width = (uint32_t)options->tile_width,
            .tile_height = (uint32_t)height};
  g.columns = ((uint32_t)scene->width + g.tile_width - 1) / g.tile_width;
  g.rows = ((uint32_t)scene->height + g.tile_height - 1) / g.tile_height;
  if (scene->width > 65535 || scene->height > 65535 || g.columns > 256 || g.rows > 256) {
    return cpic_fail("a grid of %u x %u tiles", g.columns, g.rows);
  }
  g.mono = options->chroma == CPIC_CHROMA_MONO || scene->channels <= 2;
  g.alpha = options->alpha && (scene->channels == 2 || scene->channels == 4);
  // Items are numbered in 16 bits.
  if (tiles_of(&g) > 65535 / kinds_of(&g) - first_tile) return cpic_fail("a grid of %u tiles", tiles_of(&g));
  if (distinct < 1) return cpic_fail("%d distinct tiles", distinct);
  g.distinct = (uint32_t)distinct < tiles_of(&g) ? (unsigned)distinct : tiles_of(&g);
  g.tiles = calloc((size_t)g.distinct * 2, sizeof *g.tiles);
  if (!g.tiles) return cpic_fail("no memory");
  cpic_buffer file = {0};
  int status = encode_tiles(&g) || put_file(&g, &file) || cpic_save_file(path, file.bytes.data, file.bytes.length);
  cpic_bytes_free(&file.bytes);
  for (unsigned i = 0; i < g.distinct * 2; i++) cpic_bytes_free(&g.tiles[i].file);
  free(g.tiles);
  return status;
}
