/// A thin wrapper of libheif's encoding side: HEIC and AVIF, tile by tile as rows come. Only the needed encoder plugin is
/// loaded. No function here is to be called from two threads on one writer at once.
#ifndef CHEIF_WRITER_H
#define CHEIF_WRITER_H

#include "CHEIF.h"

typedef enum { CHEIF_HEVC = 0, CHEIF_AV1 } cheif_coding;

/// What the rows given hold.
typedef enum {
  CHEIF_ROWS_GRAY = 0,  // one plane: gray, or gray and alpha interleaved
  CHEIF_ROWS_RGB,       // one plane: R, G, B, or R, G, B and alpha interleaved
  CHEIF_ROWS_YCBCR,     // three planes as they will be coded, BT.601, full range, chroma subsampled as `layout` says; no alpha
} cheif_row_kind;

/// Takes all of the bytes and gives 0, or -1 on failure.
typedef struct {
  void *context;
  int (*write)(void *context, const void *bytes, size_t count);
} cheif_sink;

typedef struct {
  uint32_t width, height;  // 1 to 65,535
  cheif_row_kind rows;
  bool has_alpha;       // the last of the interleaved samples, not premultiplied
  cheif_layout layout;  // of the coded picture: 420, 422, 444, or MONOCHROME for gray rows
  cheif_coding coding;
  int quality;  // 0 to 100, the encoder's own scale
  int effort;   // 1 to 9: more takes longer
  uint32_t tile;  // longest side of a tile, a multiple of 16
  const uint8_t *icc;  // copied, like the metadata
  size_t icc_bytes;
  const uint8_t *exif;  // a TIFF structure
  size_t exif_bytes;
  const uint8_t *xmp;  // an XMP packet
  size_t xmp_bytes;
} cheif_writer_settings;

typedef struct {
  uint32_t width, height, columns, rows;
  bool single;  // no grid: the picture is one item of its own size
} cheif_tiling;

/// The tiles of a picture: of one size, a multiple of 16 on each side, the last ones padded.
cheif_tiling cheif_tiling_for(uint32_t width, uint32_t height, uint32_t most, cheif_coding coding);

/// Whether libheif, its grids and the encoder are there, without loading the encoder. Opens libheif.
bool cheif_has_encoder(cheif_coding coding);

typedef struct cheif_writer cheif_writer;

/// NULL with `error` set on failure: CHEIF_UNSUPPORTED where libheif, its grids or the encoder is missing.
cheif_writer *cheif_writer_create(cheif_sink sink, const cheif_writer_settings *settings, cheif_error *error);

/// Takes the next row of a plane, 8 bits a sample. A row of tiles is encoded when its last row has come. Planes may run
/// ahead of one another: each row of tiles that is begun is held.
cheif_status cheif_write_row(cheif_writer *writer, int plane, const uint8_t *row, cheif_error *error);

/// Writes the file. CHEIF_FAULT when rows are missing.
cheif_status cheif_writer_finish(cheif_writer *writer, cheif_error *error);
void cheif_writer_discard(cheif_writer *writer);

#endif
