/// Made pictures for the tests and the demo: makers of deterministic pixels, writers that give files every odd property
/// a test needs, and reference readers that decode a whole picture. Linked to libjpeg, libpng and libheif directly;
/// nothing here ships.
///
/// Functions that return int give 0 for success; else cpic_message() says what went wrong, for the calling thread.
/// Every options struct is to be filled by its cpic_..._defaults() function first. The cpic_bytes in options are
/// borrowed: they stay the caller's and need to live until the call returns.
#ifndef CPICTURES_H
#define CPICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What the last failed call on this thread had to say: one sentence. Holds until the thread's next call.
const char *cpic_message(void);

/// A run of bytes. Where a function fills one, the memory is malloc'd and freed by cpic_bytes_free.
typedef struct {
  uint8_t *data;
  size_t length;  // 0: none
} cpic_bytes;

/// Frees the memory and sets both fields to none.
void cpic_bytes_free(cpic_bytes *bytes);

// MARK: Uncompressed pictures

/// An uncompressed picture, tightly packed rows from the top, channels interleaved.
typedef struct {
  int width, height;  // pixels, 1 or more
  int channels;       // 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA, or 4 CMYK when `cmyk`
  int bits;           // 8 (uint8_t) or 16 (native-endian uint16_t); the full range is used
  bool cmyk;          // samples are ink: 0 none, the largest value full ink
  void *samples;      // width * height * channels samples; alpha is not premultiplied
} cpic_picture;

/// A picture of zeros, or NULL (bad numbers or no memory).
cpic_picture *cpic_create(int width, int height, int channels, int bits);
/// Frees the picture and its samples; NULL is allowed.
void cpic_free(cpic_picture *picture);
/// Bytes of the samples.
size_t cpic_byte_count(const cpic_picture *picture);
/// One sample, 0 when outside.
int cpic_sample(const cpic_picture *picture, int x, int y, int channel);
/// Sets one sample; ignored when outside.
void cpic_set_sample(cpic_picture *picture, int x, int y, int channel, int value);

typedef enum {
  CPIC_PHOTO = 0,   // photo-like: detail at every scale, edges, smooth gradients, strokes, saturated and dark regions
  CPIC_CORNERS,     // quadrants top left, top right, bottom left, bottom right: red, green, blue, near white; the gray
                    // one: 32, 96, 160, 240 of 255. See cpic_corner_colour.
  CPIC_GRADIENT,    // red rises to the right, green downwards, blue along the diagonal; gray rises to the right
  CPIC_ZONE_PLATE,  // gray rings whose frequency rises from the middle to the Nyquist limit at the nearer edges
  CPIC_NOISE,       // independent uniform samples
} cpic_kind;

/// Makes a picture; the same arguments give the same samples. Channels 1 to 4 (RGB kinds become gray by the weights of
/// BT.601). With alpha (2 or 4 channels) alpha is a soft-edged disc in the middle, opaque inside and 0 outside.
/// `seed` changes PHOTO and NOISE. NULL on failure.
cpic_picture *cpic_make(cpic_kind kind, int width, int height, int channels, int bits, uint64_t seed);
/// One colour everywhere: `channels` values in the range of `bits`.
cpic_picture *cpic_make_flat(int width, int height, int channels, int bits, const uint16_t *colour);
/// The 8-bit value of CPIC_CORNERS: quadrant 0 top left, 1 top right, 2 bottom left, 3 bottom right; channel 0 to 2 of
/// RGB when channels >= 3, else the gray value.
int cpic_corner_colour(int quadrant, int channels, int channel);

/// Copies with other properties; NULL on failure. From 16 to 8 bits rounds; to gray by BT.601 weights; a new alpha is
/// opaque; dropping alpha keeps the colour as it is.
cpic_picture *cpic_convert(const cpic_picture *picture, int channels, int bits);
/// RGB or gray to CMYK by full black replacement (K = 1 - max), and back.
cpic_picture *cpic_to_cmyk(const cpic_picture *picture);
cpic_picture *cpic_from_cmyk(const cpic_picture *picture);
/// The picture as EXIF orientation 1 to 8 displays the stored pixels.
cpic_picture *cpic_orient(const cpic_picture *picture, int orientation);
/// A part of the picture; must lie inside.
cpic_picture *cpic_crop(const cpic_picture *picture, int left, int top, int width, int height);

/// Differences over all samples of two pictures of one shape: largest, mean absolute, and mean of squares. Nonzero when
/// the shapes differ. Outputs may be NULL.
int cpic_compare(const cpic_picture *a, const cpic_picture *b, int *largest, double *mean, double *mean_square);

// MARK: Metadata

/// An EXIF block to make. All zero: none.
typedef struct {
  int orientation;        // 1 to 8; 0: no orientation tag
  bool big_endian;        // "MM", else "II"
  bool gps;               // with a GPS directory (a made-up place)
  bool maker;             // with Make, Model and a copyright notice
  cpic_bytes thumbnail;   // a whole JPEG to embed in IFD1
} cpic_exif;

/// The TIFF structure (beginning with "II" or "MM", without "Exif\0\0"). Empty bytes when all is zero.
int cpic_make_exif(const cpic_exif *exif, cpic_bytes *out);

typedef enum {
  CPIC_ICC_SRGB = 0,    // v2 matrix profile, sRGB primaries and curve
  CPIC_ICC_DISPLAY_P3,  // v4 matrix profile, P3 primaries, D65, sRGB curve
  CPIC_ICC_ADOBE_LIKE,  // v2 matrix profile, wide green primary, gamma 2.2
  CPIC_ICC_GRAY,        // v2 gray profile, gamma 2.2
} cpic_icc_kind;

/// A small valid ICC profile made here, padded with a private tag to at least `minimum_bytes` (0: as small as it is).
int cpic_make_icc(cpic_icc_kind kind, size_t minimum_bytes, cpic_bytes *out);
/// A small valid XMP packet; with `gps`, holding a position.
int cpic_make_xmp(bool gps, cpic_bytes *out);

// MARK: JPEG

typedef enum {
  CPIC_JPEG_AUTO = 0,  // gray for gray, YCbCr for RGB, CMYK for CMYK
  CPIC_JPEG_GRAY,
  CPIC_JPEG_YCBCR,
  CPIC_JPEG_RGB,
  CPIC_JPEG_CMYK,
  CPIC_JPEG_YCCK,
} cpic_jpeg_space;

typedef struct {
  int quality;            // 1 to 100; 90
  cpic_jpeg_space space;  // AUTO
  int h[4], v[4];         // sampling factors 1 to 4; 0 (the default): 2x2 for Y and K of YCbCr and YCCK, else 1x1. See
                          // cpic_jpeg_set_sampling
  bool progressive;
  int progressive_scans;  // only the first so many scans of the script (a picture never completed); 0: all
  bool multi_scan;        // sequential, one scan for each component
  bool optimise;          // optimal Huffman tables
  bool arithmetic;
  int restart_interval;   // MCUs; 0: none
  int jfif;               // JFIF marker: 1 yes, 0 no, -1 as usual for the colour space (gray and YCbCr have it)
  int adobe;              // Adobe marker: 1 yes, 0 no, -1 as usual (RGB, CMYK and YCCK have it); the transform is right
  bool letter_ids;        // component identifiers 'R','G','B' for an RGB file (else 1, 2, 3)
  bool inverted;          // CMYK and YCCK: stored inverted as Adobe does; true
  cpic_exif exif;         // in an APP1
  cpic_bytes exif_raw;    // instead of `exif`: a TIFF structure, maybe a broken one
  cpic_bytes icc;         // an ICC profile, in as many APP2 as it takes
  cpic_bytes xmp;         // in an APP1
  bool iptc;              // an APP13 Photoshop block holding an IPTC caption
  int comment_bytes;      // a COM of so many bytes; 0: none
  int junk_segments;      // so many extra APP9 segments
  int junk_segment_bytes; // of so many bytes each, up to 65533
} cpic_jpeg_options;

cpic_jpeg_options cpic_jpeg_defaults(void);
/// 444, 422, 420, 440, 411 or 410: the sampling factors of luma (1x1, 2x1, 2x2, 1x2, 4x1, 4x2), 1x1 for chroma.
int cpic_jpeg_set_sampling(cpic_jpeg_options *options, int subsampling);
/// Encodes an 8- or 16-bit picture (16 is rounded to 8), gray, RGB or CMYK; alpha is dropped.
int cpic_encode_jpeg(const cpic_picture *picture, const cpic_jpeg_options *options, cpic_bytes *out);
int cpic_write_jpeg(const cpic_picture *picture, const cpic_jpeg_options *options, const char *path);

// MARK: PNG

typedef struct {
  int colour_type;          // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA; -1 (the default): as the picture's
  int bits;                 // of the file: 1, 2, 4, 8, 16 as the colour type allows; 0 (the default): as the picture's
  cpic_bytes palette;       // R, G, B bytes for colour type 3, at most 2^bits entries; none: a fixed one. Pixels take
                            // the nearest entry
  cpic_bytes palette_alpha; // tRNS of a palette
  bool has_key;             // tRNS colour key of colour types 0 and 2
  uint16_t key[3];          // in the file's depth; gray uses key[0]
  bool interlaced;          // Adam7
  cpic_exif exif;           // eXIf chunk
  cpic_bytes exif_raw;      // instead of `exif`
  cpic_bytes icc;           // iCCP
  cpic_bytes xmp;           // iTXt
  bool text;                // a tEXt comment
  double gamma;             // gAMA, the file's exponent such as 0.45455; 0: none
  bool has_chromaticities;
  double chromaticities[8]; // cHRM: white x, y, red x, y, green x, y, blue x, y
  int srgb_intent;          // sRGB 0 to 3; -1 (the default): none
  bool has_cicp;
  uint8_t cicp[4];          // primaries, transfer, matrix (0 for RGB), full range flag
  int compression;          // 0 to 9; 3
  int filter;               // 0 none, 1 sub, 2 up, 3 average, 4 Paeth, 5 (the default) libpng's choice by row
  int idat_bytes;           // size of the IDAT chunks; 0: libpng's
  int junk_chunks;          // so many extra ancillary private chunks before the IDAT
  int junk_chunk_bytes;
} cpic_png_options;

cpic_png_options cpic_png_defaults(void);
/// Sets `chromaticities` to those of sRGB (0), Display P3 (1) or Adobe RGB (2).
void cpic_png_set_chromaticities(cpic_png_options *options, int kind);
int cpic_encode_png(const cpic_picture *picture, const cpic_png_options *options, cpic_bytes *out);
int cpic_write_png(const cpic_picture *picture, const cpic_png_options *options, const char *path);

// MARK: HEIC and AVIF

typedef enum { CPIC_HEVC = 0, CPIC_AV1 } cpic_heif_codec;
typedef enum { CPIC_CHROMA_420 = 0, CPIC_CHROMA_422, CPIC_CHROMA_444, CPIC_CHROMA_MONO } cpic_chroma;

typedef enum {
  CPIC_GAIN_MAP_NONE = 0,
  CPIC_GAIN_MAP_APPLE,  // an auxiliary picture
  CPIC_GAIN_MAP_ISO,    // a derived item, tmap
} cpic_gain_map;

typedef struct {
  cpic_heif_codec codec;  // HEVC
  int quality;            // 0 to 100; 80
  bool lossless;          // of the YCbCr samples
  cpic_chroma chroma;     // 420; gray pictures are MONO whatever this says
  bool centered_chroma;   // false: halved chroma is sited on the left one of two columns, as HEVC and AV1 have it
  int bits;               // of the file: 8, 10 or 12; 8
  bool full_range;        // true
  int primaries, transfer, matrix;  // H.273 numbers; 1, 13, 6. These are written; the samples are converted by
                                    // `matrix` (supported: 0 with 444, 1, 5, 6, 9) and nothing else
  bool write_nclx;        // true: a colr box of those numbers, and the same in the bitstream
  bool stream_nclx_only;  // with write_nclx: they are in the bitstream alone
  int content_luminance;    // clli, in cd/m2; 0: none
  int mastering_luminance;  // mdcv, in cd/m2; 0: none
  cpic_gain_map gain_map;   // a made-up one, that only says what it is; single items only
  bool alpha;             // true: with 2 and 4 channels, an auxiliary alpha picture
  bool premultiplied;     // says that alpha is premultiplied, and premultiplies the samples; single items only
  int tile_width;         // 0: a single item. Else a grid of tiles (multiples of 2, 64 or more); the tiles at the
  int tile_height;        // right and bottom are padded by repeating. 0 height: as the width
  int orientation;        // EXIF orientation 1 to 8 as irot and imir; 1
  int crop[4];            // clap: pixels cut at left, top, right, bottom of the coded picture, before the orientation
  cpic_exif exif;         // an Exif item; its orientation is independent of the one above
  cpic_bytes exif_raw;    // instead of `exif`
  cpic_bytes xmp;         // an XMP item
  cpic_bytes icc;         // colr box of type prof
  int thumbnail;          // longest side of an embedded thumbnail picture; 0: none
  int threads;            // of the encoder; 1
} cpic_heif_options;

/// Whether HEIC and AVIF can be made and read back: built with libheif 1.19 or newer. Else the functions for them fail.
bool cpic_has_heif(void);
cpic_heif_options cpic_heif_defaults(void);
/// Encodes gray, gray and alpha, RGB or RGBA of 8 or 16 bits at the codec's fastest settings.
int cpic_encode_heif(const cpic_picture *picture, const cpic_heif_options *options, cpic_bytes *out);
int cpic_write_heif(const cpic_picture *picture, const cpic_heif_options *options, const char *path);
/// An overlay (iovl) of `canvas_width` x `canvas_height`, gray background, with the picture at (left, top), which may
/// be outside in part. Of the options, the grid, crop, alpha and thumbnail are not used.
int cpic_encode_heif_overlay(const cpic_picture *picture, int canvas_width, int canvas_height, int left, int top,
                             const cpic_heif_options *options, cpic_bytes *out);

// MARK: Reading back

typedef enum { CPIC_FILE_JPEG = 1, CPIC_FILE_PNG, CPIC_FILE_HEIF } cpic_file_kind;

/// What a file was found to hold. Freed by cpic_info_free.
typedef struct {
  cpic_file_kind kind;
  int width, height;    // stored size (JPEG, PNG) or displayed size (HEIF)
  int channels;         // components of the file: JPEG 1, 3, 4; PNG 1 to 4 (palette: 3, or 4 with tRNS); HEIF 1 to 4
  int bits;             // of a sample in the file
  int orientation;      // of the EXIF block; 0: none. Not applied by the readers
  int warnings;         // the library's complaints about damage
  cpic_bytes icc;       // whole profile
  cpic_bytes exif;      // TIFF structure
  bool has_xmp;
  int text_count;       // JPEG COM segments, PNG text chunks other than XMP
  int other_segments;   // JPEG APPn other than JFIF, Adobe, EXIF, XMP and ICC; PNG unknown chunks
  // JPEG
  int h[4], v[4];
  bool progressive, arithmetic;
  int scans;            // number of SOS markers met
  bool jfif, adobe;
  int adobe_transform;  // -1 without the marker
  int restart_interval;
  // PNG
  int colour_type;
  bool interlaced;
  double gamma;         // 0: no gAMA
  int srgb_intent;      // -1: none
  bool has_cicp;
  uint8_t cicp[4];
  // HEIF
  bool has_nclx;
  int primaries, transfer, matrix;
  bool full_range;
  bool has_alpha;
  int chroma;           // cpic_chroma of the coded picture
  int tile_columns, tile_rows;  // 1 x 1 for a single item
  int thumbnails;
  char item_type[5];    // "hvc1", "av01", "grid", ...
} cpic_info;

void cpic_info_free(cpic_info *info);

/// Decodes a whole picture, its kind known by its first bytes. `picture` (may be NULL: headers only) is as stored:
/// JPEG gray, RGB or CMYK of 8 bits (ink, with Adobe's inversion undone where there is an Adobe marker); PNG of 1 to 4
/// channels, 8 bits, or 16 where stored so, palette and tRNS expanded; HEIF RGB or RGBA of 8 bits, irot, imir and clap
/// applied. `info` may be NULL. Damage with a usable picture is a warning counted in `info`; both are to be freed.
int cpic_decode(const void *data, size_t length, cpic_picture **picture, cpic_info *info);
int cpic_read(const char *path, cpic_picture **picture, cpic_info *info);

/// A whole file in memory, and memory as a file.
int cpic_load_file(const char *path, cpic_bytes *out);
int cpic_save_file(const char *path, const void *data, size_t length);

#include "stream.h"

#endif
