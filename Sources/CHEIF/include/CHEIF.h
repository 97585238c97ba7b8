/// A thin wrapper of libheif, and of libde265 and dav1d, which it decodes HEVC and AV1 with. The libraries are opened with
/// dlopen at the first cheif_open, those decoders and plugins only that the picture needs. No function here is to be called
/// from two threads on one reader at once.
#ifndef CHEIF_H
#define CHEIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CHEIF_OK = 0,
  CHEIF_DAMAGED,      // the data is broken or cut short
  CHEIF_UNSUPPORTED,  // a feature or codec that this build or this libheif cannot decode, or libheif is missing
  CHEIF_READ_FAILED,  // the source's read function failed
  CHEIF_NO_MEMORY,
  CHEIF_FAULT,        // a misuse or a fault of ours
  CHEIF_STOPPED,      // the source's may_go_on said so
} cheif_status;

typedef struct {
  cheif_status status;
  char message[256];  // one sentence, no final full stop, no file name
} cheif_error;

/// The file, read by position. `read` gives the number of bytes read (fewer than asked only at the end), or -1. It is
/// called during every function that takes the reader, on any of the decoding threads, but by one at a time.
typedef struct {
  void *context;
  int64_t (*read)(void *context, int64_t offset, void *buffer, int64_t count);
  int64_t size;  // bytes in all
  /// Asked before each tile and each whole picture, on the thread that called; false ends the decoding. NULL: never asked.
  bool (*may_go_on)(void *context);
  /// What opening may hold: boxes, metadata and, since libheif reads pictures whole, three times the coded data of one
  /// picture. A file that needs more is CHEIF_NO_MEMORY. 0: no limit but those of the wrapper.
  int64_t most_bytes;
  /// What is missing or damaged is made up for: mid-gray, and opaque alpha. See cheif_get_losses.
  bool salvages;
} cheif_source;

typedef struct cheif_reader cheif_reader;

typedef enum {
  CHEIF_LAYOUT_MONOCHROME = 0,
  CHEIF_LAYOUT_420,
  CHEIF_LAYOUT_422,
  CHEIF_LAYOUT_444,
  CHEIF_LAYOUT_RGB,  // three full-size planes R, G, B
} cheif_layout;

typedef enum { CHEIF_CROP = 0, CHEIF_ROTATE, CHEIF_MIRROR } cheif_transform_kind;

/// One transformative property of the item, in the order in which they apply.
typedef struct {
  cheif_transform_kind kind;
  int32_t left, top, right, bottom;  // CROP: pixels removed at each side of the picture as it stands at this point
  int32_t degrees_ccw;               // ROTATE: 90, 180 or 270, counter-clockwise
  bool left_right;                   // MIRROR: true swaps left and right, false swaps top and bottom
} cheif_transform;

/// A picture that says how to make one of another dynamic range of the primary one.
typedef enum { CHEIF_GAIN_MAP_NONE = 0, CHEIF_GAIN_MAP_APPLE, CHEIF_GAIN_MAP_ISO, CHEIF_GAIN_MAP_OTHER } cheif_gain_map;

/// How libde265 or dav1d, called without libheif's plugins, finds a picture or a tile: what their memory follows from.
typedef struct {
  bool known;              // false: libheif decodes
  uint32_t width, height;  // as coded, before it is cropped: at least the size of the picture or tile
  cheif_layout layout;
  int bits;
  int pictures;       // held at once while it decodes: 2 with AV1's film grain, more with layers
  bool copies_plane;  // HEVC's sample adaptive offset holds a copy of the largest plane
  uint64_t bytes;      // coded data of the picture, or of the tile that has most
  uint64_t all_bytes;  // of all tiles; both can be more than the file has, as items may share data
} cheif_coded_form;

typedef struct {
  uint32_t width, height;  // coded size of the primary picture, before any transformation
  int luma_bits;           // bits of a sample, 8 to 16; of all planes where the layout is RGB
  int chroma_bits;
  cheif_layout layout;
  bool layout_known;         // false: only decoding tells, call cheif_settle. Layout and bits are then the most costly
  bool has_alpha;            // an alpha plane will be delivered, as the last plane
  bool alpha_premultiplied;  // colour is already multiplied by it
  int alpha_bits;
  uint32_t alpha_width, alpha_height;  // of the alpha plane as delivered: it can differ from the picture's size
  bool alpha_whole;          // alpha is decoded in one piece and held, though the colour comes tile by tile
  cheif_coded_form form;        // of the picture, or of each tile
  cheif_coded_form alpha_form;  // of the alpha picture, or of each of its tiles
  uint32_t alpha_tile_width;    // where alpha comes tile by tile, else 0
  uint64_t file_bytes;
  char codec[5];     // the coding of the primary picture or of its tiles: "hvc1", "av01", ...
  char item_type[5]; // of the primary item: "hvc1", "av01", "grid", "iovl", "iden", "tmap", ...
  bool tiled;        // decoded tile by tile, else whole
  uint32_t tile_width, tile_height, tile_columns, tile_rows;  // 1 x 1 tile of the picture's size when not tiled
  bool has_nclx;     // colour given as numbers of ITU-T H.273: by the item's colr box, else by the parameter sets
  int primaries, transfer, matrix;
  bool full_range;
  size_t icc_bytes;  // 0: no embedded ICC profile
  // How bright it is, in cd/m2; 0 where the file does not say. ISO/IEC 23008-12's clli and mdcv properties.
  double content_luminance, mastering_luminance;
  cheif_gain_map gain_map;  // not delivered, like depth maps and mattes
  bool metadata_cut;  // the file ends before its metadata do
  size_t exif_bytes, xmp_bytes;  // of the picture's metadata; 0 where it has none
  bool is_sequence_file;  // also holds an image sequence (only the primary picture is read)
  int transform_count;
  cheif_transform transforms[16];
} cheif_header;

typedef struct {
  const void *samples;  // 8-bit samples are bytes, deeper ones native-endian uint16_t in the low bits
  size_t stride;        // bytes from row to row
  uint32_t width;       // samples a row
  uint32_t first_row, row_count;  // in the plane's own rows
  int bytes_per_sample;           // 1 or 2
  int bits;
} cheif_plane_rows;

/// A run of whole rows of every plane. Pointers hold until the next call on the reader.
typedef struct {
  int plane_count;  // 1 to 4: Y or R, Cb or G, Cr or B, then alpha
  cheif_plane_rows planes[4];
  bool has_nclx;  // colour that the bitstream itself states; used where the header has none
  int primaries, transfer, matrix;
  bool full_range;
} cheif_rows;

/// Reads the boxes and finds the primary picture. NULL with `error` set on failure.
cheif_reader *cheif_open(cheif_source source, cheif_error *error);
void cheif_close(cheif_reader *reader);

cheif_header cheif_get_header(const cheif_reader *reader);

/// Makes the header final where layout_known is false, by decoding the whole picture now (cheif_next_rows delivers it).
/// Size, layout, bits and alpha may then have changed. Does nothing where they are known.
cheif_status cheif_settle(cheif_reader *reader, int threads, cheif_error *error);

/// Whether libavcodec was known at build time and lies in libde265's folder. It is not opened.
bool cheif_finds_avcodec(void);

/// Lets libavcodec decode a grid's colour, of 8 bits and 4:2:0, and opens it, before the first rows. Tiles that it does not
/// decode without a complaint are libde265's, and all where it cannot be opened. It notices less of what is damaged.
void cheif_use_avcodec(cheif_reader *reader);

/// Tiles that were decoded by libavcodec.
uint32_t cheif_count_by_avcodec(const cheif_reader *reader);

/// Copies the embedded ICC profile, header.icc_bytes long.
cheif_status cheif_get_icc(cheif_reader *reader, void *buffer, cheif_error *error);

/// Copies the picture's EXIF, a TIFF structure of up to header.exif_bytes; 0 where the item does not hold what it says.
cheif_status cheif_get_exif(cheif_reader *reader, void *buffer, size_t *count, cheif_error *error);

/// Copies the picture's XMP packet, header.xmp_bytes long.
cheif_status cheif_get_xmp(cheif_reader *reader, void *buffer, cheif_error *error);

/// Decodes the next row of tiles, or the whole picture, which comes in bands of rows whose memory is given back as the next
/// is asked for. *rows has plane_count 0 at the end. Errors are those of the first tile, in reading order, that failed, and
/// stay: each further call fails with the same.
///
/// Tiles are decoded on up to `threads` threads, as the first call says, the caller's among them while it is here. The others
/// decode the next row meanwhile, until the last one, an error or cheif_close.
///
/// HEVC and AV1 are decoded by libde265 and dav1d on these threads alone. Where libheif's own plugin decodes AV1 (see
/// form.known), it takes as many threads as the calling thread's processor affinity allows, so that affinity is narrowed to
/// `threads` processors during the call.
cheif_status cheif_next_rows(cheif_reader *reader, int threads, cheif_rows *rows, cheif_error *error);

/// What was made up for, where the source says so. Whole when the last rows have come.
typedef struct {
  uint32_t tiles, lost_tiles;        // 0 tiles: the picture is not tiled
  uint32_t alpha_tiles, lost_alpha_tiles;
  uint32_t lost_rows;                // at the bottom of a picture that is not tiled
  bool is_damaged;                   // such a picture was decoded with errors
  bool lost_alpha;                   // alpha that is not tiled is gone, in part or as a whole
} cheif_losses;

cheif_losses cheif_get_losses(const cheif_reader *reader);

/// libheif's version, "1.19.7", or NULL when it cannot be opened.
const char *cheif_library_version(void);

/// Whether grids are decoded tile by tile: built against 1.19 or newer and running with it.
bool cheif_decodes_tiles(void);

/// True while the calling thread is inside libheif, for whichever reader: for a SIGABRT handler, which must tell an
/// assertion of libheif from our own faults. False on threads that the decoders started themselves. Async-signal-safe.
bool cheif_is_busy(void);

#include "CHEIFWriter.h"

#endif
