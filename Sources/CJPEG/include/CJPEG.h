/// A thin wrapper of libjpeg-turbo. No function jumps past its caller: every failure is a status and a message.
#ifndef CJPEG_H
#define CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CJPEG_OK = 0,
  CJPEG_DAMAGED,      // no picture can be made of it
  CJPEG_CUT,          // picture data is missing or wrong: with `salvages` there would be a picture
  CJPEG_UNSUPPORTED,  // a kind of JPEG that this libjpeg cannot decode
  CJPEG_READ_FAILED,  // the source's read function failed
  CJPEG_WRITE_FAILED, // the sink's write function failed
  CJPEG_NO_MEMORY,    // no memory, or more than was allowed
  CJPEG_STOPPED,      // may_go_on said no
  CJPEG_FAULT,        // a misuse or a fault of ours
} cjpeg_status;

typedef struct {
  cjpeg_status status;
  char message[256];  // one sentence, no final full stop, no file name
} cjpeg_error;

/// Where a JPEG comes from, and who may end its decoding.
typedef struct {
  void *context;
  /// Reads up to `count` bytes in order and gives their number: 0 at the end, -1 on failure.
  ptrdiff_t (*read)(void *context, void *buffer, size_t count);
  /// Asked often while a function here runs long, also when nothing is read: not 0 ends it with CJPEG_STOPPED. May be NULL.
  int (*may_go_on)(void *context);
} cjpeg_source;

/// Takes all of the bytes and gives 0, or -1 on failure.
typedef struct {
  void *context;
  int (*write)(void *context, const void *bytes, size_t count);
} cjpeg_sink;

typedef enum {
  CJPEG_GRAY = 1,
  CJPEG_YCBCR,
  CJPEG_RGB,
  CJPEG_CMYK,
  CJPEG_YCCK,
} cjpeg_color;

/// Why there is a profile that cannot be used.
typedef enum {
  CJPEG_ICC_GOOD = 0,  // or none
  CJPEG_ICC_MISSING,    // a segment is missing
  CJPEG_ICC_REPEATED,   // a segment came twice, with different contents
  CJPEG_ICC_NUMBERS,    // segments disagree on their number, or are numbered beyond it
  CJPEG_ICC_EMPTY,
  CJPEG_ICC_TOO_LARGE,  // more than 8 MB
} cjpeg_icc_fault;

typedef struct {
  uint32_t width, height;
  int bits;  // of a sample
  int components;
  int h_samp[4], v_samp[4];
  cjpeg_color color;
  bool progressive, arithmetic;
  bool multi_scan;  // libjpeg keeps every coefficient of such a file
  bool adobe_marker;
  int odd_transform;  // the Adobe marker's colour transform where it has no meaning; -1 else
  size_t exif_bytes;
  size_t icc_bytes;   // 0 where there is none or it cannot be used
  cjpeg_icc_fault icc_fault;
  int icc_segment, icc_announced;  // the segment at fault, of so many
  bool extended_xmp;               // XMP that did not fit one segment: its rest is not kept
  bool too_much_photoshop;         // Photoshop's resources are larger than what is kept
  bool ultra_hdr, iso_gain_map;    // what the primary picture says of a gain map
  bool trailer_announced;          // the file says what follows its end: more pictures, or a video
  bool second_picture;             // other than a preview of this one
  size_t second_picture_offset;    // from the file's beginning
} cjpeg_header;

typedef struct cjpeg_reader cjpeg_reader;

/// How a file is read.
typedef struct {
  bool keeps_metadata;  // XMP and Photoshop's resources too; EXIF is always there until it is dropped
  bool salvages;        // damage is no failure: see cjpeg_findings
} cjpeg_reading;

/// Reads up to the first scan. NULL with `error` set on failure.
cjpeg_reader *cjpeg_open(cjpeg_source source, cjpeg_reading reading, cjpeg_error *error);
void cjpeg_close(cjpeg_reader *reader);
cjpeg_header cjpeg_get_header(const cjpeg_reader *reader);

typedef struct {
  const uint8_t *bytes;
  size_t count;  // 0: none
} cjpeg_bytes;

typedef struct {
  cjpeg_bytes exif;       // the first EXIF segment after its "Exif\0\0"
  cjpeg_bytes xmp;        // the packet
  cjpeg_bytes photoshop;  // the resources of all APP13 segments, one after the other
} cjpeg_metadata;

/// Valid until it is dropped, or decoding starts.
cjpeg_metadata cjpeg_get_metadata(const cjpeg_reader *reader);
void cjpeg_drop_metadata(cjpeg_reader *reader);

/// Copies the ICC profile, header.icc_bytes long, and frees it: only once.
void cjpeg_take_icc(cjpeg_reader *reader, uint8_t *out);

/// What decoding may use.
typedef struct {
  /// What libjpeg may allocate, coefficients of several scans not counted.
  size_t library_bytes;
  /// What the coefficients of a file of several scans may hold in memory; past it they are written to a temporary file.
  size_t store_bytes;
  /// What may lie in that file. Its pages are whole: on the disk it takes up to 4 KB more for each row of blocks, twice.
  size_t file_bytes;
  void *context;
  /// Opens a temporary file, at most once, when it is needed. The descriptor is closed here; -1 on failure.
  int (*open_file)(void *context);
} cjpeg_limits;

/// What decoding has used so far, in bytes, at most at once.
typedef struct {
  size_t library_bytes;      // allocated by libjpeg
  size_t store_bytes;        // held for coefficients
  size_t store_fixed_bytes;  // of these, what can not be written out
  size_t file_bytes;         // in the temporary file
  size_t written_bytes;      // to it, in all
} cjpeg_usage;
cjpeg_usage cjpeg_get_usage(const cjpeg_reader *reader);

/// The bytes of a reader itself.
size_t cjpeg_reader_bytes(void);

/// A file with more scans than this is damaged, or made to take long.
enum { CJPEG_MOST_SCANS = 500 };

/// Starts decoding at `eighths`/8 of the size, 1 to 8; those with fast transforms are 8, 4, 2 and 1. Gray and YCbCr come as separate planes as they are coded, RGB and
/// CMYK (also made from YCCK) as one plane of interleaved pixels.
cjpeg_status cjpeg_start(cjpeg_reader *reader, int eighths, const cjpeg_limits *limits, cjpeg_error *error);

typedef struct {
  const uint8_t *samples;
  size_t stride;       // bytes from row to row
  uint32_t row_count;  // rows in this band; they follow those of the band before
} cjpeg_rows;

/// A run of whole rows of every plane. Pointers hold until the next call on the reader.
typedef struct {
  int plane_count;
  cjpeg_rows planes[3];
} cjpeg_band;

/// The size of each plane, after cjpeg_start: `scaled_size` is the side, in samples, that an 8 x 8 block of it decodes to.
typedef struct {
  uint32_t width, height;
  int scaled_size;
} cjpeg_plane;
cjpeg_plane cjpeg_get_plane(const cjpeg_reader *reader, int plane);

/// Decodes the next band; plane_count is 0 at the end.
cjpeg_status cjpeg_next_band(cjpeg_reader *reader, cjpeg_band *band, cjpeg_error *error);

/// What was found odd while decoding; whole after the last band.
typedef struct {
  bool end_is_missing;  // every row is there, the end marker is not
  bool stray_bytes;     // between segments
  size_t end;           // where the end marker ends, from the file's beginning; 0 where that was not seen
  bool zeros_follow;    // what was read of the bytes after the end marker is zeros
  char damage[256];     // what is missing or wrong of the picture data, and what that did; empty where nothing is
} cjpeg_findings;
cjpeg_findings cjpeg_get_findings(const cjpeg_reader *reader);

typedef struct {
  uint32_t width, height;
  int quality;  // 1 to 100, libjpeg's scale
  cjpeg_color color;  // GRAY, YCBCR: planes, chroma subsampled as given; RGB: interleaved, made YCbCr by libjpeg
  int h_samp, v_samp;  // of luma; chroma is 1 x 1
  bool progressive;    // libjpeg's usual script of scans, each with tables of its own
  bool optimize;       // Huffman tables made for the picture
  cjpeg_bytes exif, xmp, iptc, icc;  // none longer than cjpeg_most_bytes says
} cjpeg_settings;

/// What the segments of a JPEG hold of each kind at most, in bytes.
typedef enum { CJPEG_EXIF, CJPEG_XMP, CJPEG_IPTC, CJPEG_ICC } cjpeg_kind;
size_t cjpeg_most_bytes(cjpeg_kind kind);

typedef struct cjpeg_writer cjpeg_writer;

cjpeg_writer *cjpeg_create(cjpeg_sink sink, const cjpeg_settings *settings, cjpeg_error *error);

/// Takes the next row of a plane: ceil(width * its factor / the largest factor) samples, or an interleaved row. Planes may run
/// ahead of one another: what cannot be encoded yet is kept.
cjpeg_status cjpeg_write_row(cjpeg_writer *writer, int plane, const uint8_t *row, cjpeg_error *error);
cjpeg_status cjpeg_finish(cjpeg_writer *writer, cjpeg_error *error);
void cjpeg_discard(cjpeg_writer *writer);

/// "2.1.5", or "libjpeg" where the library does not say.
const char *cjpeg_library_version(void);

#endif
