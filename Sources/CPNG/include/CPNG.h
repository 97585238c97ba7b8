/// A thin wrapper of libpng. No function jumps past its caller: every failure is a status and a message.
#ifndef CPNG_H
#define CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CPNG_OK = 0,
  CPNG_DAMAGED,      // the data is broken or cut short
  CPNG_UNSUPPORTED,  // a side of over CPNG_LONGEST_SIDE pixels
  CPNG_READ_FAILED,  // the source's read function failed
  CPNG_WRITE_FAILED, // the sink's write function failed
  CPNG_NO_MEMORY,
} cpng_status;

/// The longest side that is decoded, in pixels: libpng's own default limit. Rows are allocated by what a file claims.
enum { CPNG_LONGEST_SIDE = 1000000 };

typedef struct {
  cpng_status status;
  char message[256];  // one sentence, no final full stop, no file name
} cpng_error;

/// Reads up to `count` bytes in order and gives their number: 0 at the end, -1 on failure.
typedef struct {
  void *context;
  ptrdiff_t (*read)(void *context, void *buffer, size_t count);
} cpng_source;

/// Takes all of the bytes and gives 0, or -1 on failure.
typedef struct {
  void *context;
  int (*write)(void *context, const void *bytes, size_t count);
} cpng_sink;

typedef struct {
  uint32_t width, height;
  int bits;        // of a sample as stored: 1 to 16
  int color_type;  // of the PNG specification: 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGB with alpha
  bool interlaced;
  bool has_alpha;  // by its colour type or a tRNS chunk
  size_t exif_bytes, icc_bytes;
  bool has_cicp;  // colour given as numbers of ITU-T H.273
  int primaries, transfer;
} cpng_header;

typedef struct cpng_reader cpng_reader;

/// What is kept of metadata, in bytes: a profile that is larger is left out, of EXIF there is the beginning.
enum { CPNG_MOST_ICC = 8 << 20, CPNG_MOST_EXIF = 1 << 16 };

/// Reads up to the first picture data. NULL with `error` set on failure. Chunks of no use here are passed over in small
/// blocks, however long or many they are.
cpng_reader *cpng_open(cpng_source source, cpng_error *error);
void cpng_close(cpng_reader *reader);
cpng_header cpng_get_header(const cpng_reader *reader);

/// The body of the eXIf chunk and of the profile in iCCP, or NULL. Valid until they are dropped.
const uint8_t *cpng_exif(const cpng_reader *reader);
const uint8_t *cpng_icc(const cpng_reader *reader);

/// Frees what cpng_exif and cpng_icc gave.
void cpng_drop_metadata(cpng_reader *reader);

/// What will be delivered.
typedef struct {
  int channels;          // 1 to 4, alpha last
  int bytes_per_sample;  // 1, or 2 in native order
  size_t row_bytes;
} cpng_layout;

/// Makes ready to decode; nothing of the size of a row is allocated before. From here on the reader, libpng and zlib may hold
/// `limit` bytes: more is CPNG_NO_MEMORY.
cpng_status cpng_start(cpng_reader *reader, size_t limit, cpng_layout *layout, cpng_error *error);

/// The bytes that the reader, libpng and zlib have held at most since cpng_start.
size_t cpng_most_held(const cpng_reader *reader);

/// A run of whole rows. The pointer holds until the next call on the reader.
typedef struct {
  const void *samples;
  size_t stride;       // bytes from row to row
  uint32_t row_count;  // 0 at the end
} cpng_band;

/// Decodes the next row. Of an interlaced picture that is one of a pass, packed at the beginning of a row that has room for all
/// columns: the passes in order, those without pixels left out. Only after cpng_start.
cpng_status cpng_next_band(cpng_reader *reader, cpng_band *band, cpng_error *error);

typedef struct {
  uint32_t width, height;
  int channels;          // 1 gray, 2 gray with alpha, 3 RGB, 4 RGB with alpha
  int bytes_per_sample;  // 1, or 2 in native order
  int compression;       // zlib's level, 0 to 9
  const uint8_t *icc;
  size_t icc_bytes;
  size_t limit;          // of the bytes that the writer may hold
} cpng_settings;

typedef struct cpng_writer cpng_writer;

/// `icc_taken` says whether libpng found the profile fit for this kind of picture; it goes without it otherwise.
cpng_writer *cpng_create(cpng_sink sink, const cpng_settings *settings, bool *icc_taken, cpng_error *error);
cpng_status cpng_write_row(cpng_writer *writer, const void *row, cpng_error *error);
cpng_status cpng_finish(cpng_writer *writer, cpng_error *error);
void cpng_discard(cpng_writer *writer);

/// The bytes that libpng and zlib have held at most.
size_t cpng_writer_most_held(const cpng_writer *writer);

/// The version of the library in use, "1.6.39".
const char *cpng_library_version(void);

#endif
