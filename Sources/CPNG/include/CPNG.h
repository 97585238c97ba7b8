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
  uint64_t byte_count;  // in all, UINT64_MAX where that is not known: then a file's last 8 KB are lost where it is cut short
} cpng_source;

/// Takes all of the bytes and gives 0, or -1 on failure.
typedef struct {
  void *context;
  int (*write)(void *context, const void *bytes, size_t count);
} cpng_sink;

/// Colour as chunks beside iCCP give it, in their own units and without judgement.
typedef struct {
  bool has_cicp, has_srgb, has_gamma, has_chromaticities, has_mastering, has_content_light;
  uint8_t cicp[4];              // primaries, transfer, matrix (ITU-T H.273), full range flag
  uint32_t gamma;               // in 1/100000
  uint32_t chromaticities[8];   // x and y of white, red, green and blue, in 1/100000
  uint32_t mastering_maximum;   // in 0.0001 cd/m2
  uint32_t content_maximum;     // likewise
} cpng_color;

typedef struct {
  uint32_t width, height;
  int bits;        // of a sample as stored: 1 to 16
  int color_type;  // of the PNG specification: 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGB with alpha
  bool interlaced;
  bool has_alpha;    // by its colour type or a tRNS chunk
  bool is_animated;  // APNG: only the default picture is decoded
  bool has_exif;     // before the picture data
  bool lost_icc;     // there is a profile, and it is damaged or not one for this kind of picture
  cpng_color color;
} cpng_header;

typedef struct cpng_reader cpng_reader;

/// What is kept of metadata, in bytes. A profile that is larger is left out; of EXIF there is the beginning, where no metadata are
/// asked for; else EXIF, XMP and IPTC are whole or left out (of EXIF, the beginning).
enum { CPNG_MOST_ICC = 8 << 20, CPNG_MOST_EXIF = 1 << 16 };

/// What inflates the picture data: ISA-L, where it is there and the picture is large enough to gain, or always, or never.
typedef enum { CPNG_INFLATE_BY_SIZE = 0, CPNG_INFLATE_BY_ISAL, CPNG_INFLATE_BY_ZLIB } cpng_inflating;

typedef struct {
  bool keeps_metadata;  // EXIF, XMP and IPTC
  size_t most_metadata;  // bytes of each of them; what has more is left out
  bool salvages;        // what there is of a damaged picture is decoded
  cpng_inflating inflating;
} cpng_options;

/// Reads up to the first picture data. NULL with `error` set on failure. Chunks of no use here are passed over in small
/// blocks, however long or many they are.
cpng_reader *cpng_open(cpng_source source, cpng_options options, cpng_error *error);
void cpng_close(cpng_reader *reader);

/// Looks for metadata behind the picture data, in the last bytes of the file: `count` of them, as many as the caller likes.
void cpng_take_tail(cpng_reader *reader, const uint8_t *bytes, size_t count);

cpng_header cpng_get_header(const cpng_reader *reader);

/// A run of bytes of the reader's, NULL and 0 where there are none. Valid until metadata are dropped.
typedef struct {
  const uint8_t *bytes;
  size_t count;
} cpng_bytes;

/// The TIFF structure of EXIF, one XMP packet, IPTC's data sets, an ICC profile.
cpng_bytes cpng_exif(const cpng_reader *reader);
cpng_bytes cpng_xmp(const cpng_reader *reader);
cpng_bytes cpng_iptc(const cpng_reader *reader);
cpng_bytes cpng_icc(const cpng_reader *reader);

/// Whether the EXIF is that of an eXIf chunk, and not of a text chunk.
bool cpng_has_exif_chunk(const cpng_reader *reader);

/// Frees what these gave.
void cpng_drop_metadata(cpng_reader *reader);

/// Chunks whose checksum is wrong.
typedef struct {
  uint32_t count;
  char type[5];  // of the first
} cpng_damaged;

/// What was found odd so far; whole after the last row.
typedef struct {
  cpng_damaged damaged;       // other chunks than the picture's data, which were left out
  uint32_t damaged_data;      // IDAT chunks with a wrong checksum that were used nevertheless
  bool has_extra_data;        // IDAT holds more than the picture
  bool lacks_end;             // every row is there, and no IEND
  bool has_late_exif;         // EXIF behind the picture data, too late to be used
  bool has_late_metadata;     // XMP or IPTC likewise
  bool lost_metadata;         // some were damaged or too large
  char loss[160];             // where the picture breaks off, of a salvaged one: "the file ends after 63% of the rows"
} cpng_findings;

cpng_findings cpng_get_findings(const cpng_reader *reader);

/// What will be delivered.
typedef struct {
  int channels;          // 1 to 4, alpha last
  int bytes_per_sample;  // 1, or 2 in native order
  size_t row_bytes;
} cpng_layout;

/// What inflating by ISA-L would hold, in bytes: 0 where the picture is inflated by zlib. The library is not looked for: where it is
/// missing less is held.
size_t cpng_inflater_memory(const cpng_header *header, cpng_inflating inflating);

/// Whether ISA-L is there. Opens it.
bool cpng_has_isal(void);

/// Makes ready to decode; nothing of the size of a row is allocated before. From here on the reader, libpng and zlib may hold
/// `limit` bytes: more is CPNG_NO_MEMORY. With `whole`, an interlaced picture is held until all passes are in: what is missing then
/// is made of the coarser passes, and the rows come from the top.
cpng_status cpng_start(cpng_reader *reader, size_t limit, bool whole, cpng_layout *layout, cpng_error *error);

/// The bytes that the reader, libpng and zlib have held at most since cpng_start.
size_t cpng_most_held(const cpng_reader *reader);

/// A run of whole rows. The pointer holds until the next call on the reader.
typedef struct {
  const void *samples;
  size_t stride;       // bytes from row to row
  uint32_t row_count;  // 0 at the end
} cpng_band;

/// Decodes the next row. Of an interlaced picture that is one of a pass, packed at the beginning of a row that has room for all
/// columns: the passes in order, those without pixels left out. Only after cpng_start. Rows that are missing from a damaged
/// picture are, when it is salvaged, transparent where it has alpha and mid-gray elsewhere. That takes its time, so that of more
/// than CPNG_MOST_MISSING missing pixels there have to be 1/16 of the picture.
cpng_status cpng_next_band(cpng_reader *reader, cpng_band *band, cpng_error *error);

enum { CPNG_MOST_MISSING = 256 << 20 };

typedef struct {
  uint32_t width, height;
  int channels;          // 1 gray, 2 gray with alpha, 3 RGB, 4 RGB with alpha
  int bytes_per_sample;  // 1, or 2 in native order
  int compression;       // zlib's level, 0 to 9
  bool only_runs;        // of repetitions, zlib looks for those of a single byte alone (Z_RLE), whatever the level
  bool only_paeth;       // rows are filtered by Paeth; else by what libpng finds best for each
  const uint8_t *icc;
  size_t icc_bytes;
  bool is_srgb;          // says so where there is no profile
  cpng_bytes exif;       // a TIFF structure
  cpng_bytes xmp;        // a packet
  cpng_bytes text;       // the data of a tEXt chunk
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
