#include "chunks.h"
#include "common.h"
#include "inflater.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Until the picture's size is known: the largest profile, and what libpng and zlib need themselves.
enum { HEADER_LIMIT = CPNG_MOST_ICC + (256 << 10) };

struct cpng_reader {
  cpng_errors errors;
  png_structp png;
  png_infop info;
  cpng_chunks chunks;
  cpng_header header;
  bool salvages;
  bool has_ended;   // the source gave less than was asked for
  bool is_over;     // libpng has failed, and is not asked again
  bool lacks_end;
  bool is_narrow;   // samples have the range of video
  cpng_layout layout;
  uint32_t rows_left;  // of the picture or, when it comes pass by pass, of all passes
  cpng_inflating inflating;
  cpng_inflater *inflater;
  uint8_t *row;
  uint8_t *picture;    // all rows, of an interlaced one that is held
  bool is_filled;
  char loss[160];
};

// As libpng says it.
static const char wrong_data[] = "IDAT: CRC error";

static void read_bytes(png_structp png, png_bytep buffer, size_t count) {
  cpng_reader *reader = png_get_io_ptr(png);
  while (count > 0) {
    const ptrdiff_t got = cpng_chunks_read(&reader->chunks, buffer, count);
    if (got < 0) {
      if (reader->chunks.has_wrong_data) png_error(png, wrong_data);
      reader->errors.pending = reader->chunks.lacks_memory ? CPNG_NO_MEMORY : CPNG_READ_FAILED;
      png_error(png, reader->chunks.lacks_memory ? "no memory for EXIF" : "reading failed");
    }
    if (got == 0) {
      reader->has_ended = true;
      png_error(png, "the file ends before the picture begins");
    }
    buffer += got;
    count -= (size_t)got;
  }
}

void cpng_close(cpng_reader *reader) {
  if (!reader) return;
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  cpng_release(&reader->errors.memory, reader->inflater);
  cpng_release(&reader->errors.memory, reader->row);
  cpng_release(&reader->errors.memory, reader->picture);
  cpng_free_metadata(&reader->chunks.metadata);
  free(reader);
}

static void fill_header(cpng_reader *reader) {
  png_structp png = reader->png;
  png_infop info = reader->info;
  cpng_header *header = &reader->header;
  header->width = png_get_image_width(png, info);
  header->height = png_get_image_height(png, info);
  header->bits = png_get_bit_depth(png, info);
  header->color_type = png_get_color_type(png, info);
  header->interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
  header->has_alpha = (header->color_type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  header->is_animated = reader->chunks.is_animated;
  header->has_exif = reader->chunks.has_exif;
  header->color = reader->chunks.color;
  // libpng uses a profile whatever its chunk's checksum says.
  if (memcmp(reader->errors.damaged.type, "iCCP", 4) == 0) png_free_data(png, info, PNG_FREE_ICCP, -1);
  header->lost_icc = reader->chunks.has_icc && !cpng_icc(reader).bytes;
}

static cpng_status check_size(const cpng_header *header, cpng_error *error) {
  if (header->width <= CPNG_LONGEST_SIDE && header->height <= CPNG_LONGEST_SIDE) return CPNG_OK;
  char text[100];
  snprintf(text, sizeof text, "a PNG of %ux%u: sides above %d are not supported", header->width, header->height,
           CPNG_LONGEST_SIDE);
  return cpng_fail(error, CPNG_UNSUPPORTED, text);
}

// The part of cpng_open that libpng may leave by a jump, on its own so that no local of the caller is lost by it.
static cpng_status read_header(cpng_reader *reader, cpng_error *error) {
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  png_set_read_fn(reader->png, reader, read_bytes);
  png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(reader->png, CPNG_MOST_ICC);
#ifdef PNG_IGNORE_ADLER32
  // The chunks' own checksums cover the same bytes; this one is 4% of a large picture's time.
  png_set_option(reader->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
  png_read_info(reader->png, reader->info);
  // libpng goes on without what it had no memory for.
  if (reader->errors.memory.refused) return cpng_fail_for_memory(error, &reader->errors.memory);
  fill_header(reader);
  return check_size(&reader->header, error);
}

cpng_reader *cpng_open(cpng_source source, cpng_options options, cpng_error *error) {
  cpng_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    cpng_fail(error, CPNG_NO_MEMORY, "no memory for a PNG decoder");
    return NULL;
  }
  reader->chunks.source = source;
  reader->chunks.keeps_metadata = options.keeps_metadata;
  reader->chunks.metadata.most = options.most_metadata;
  reader->salvages = options.salvages;
  reader->inflating = options.inflating;
  reader->errors.memory.limit = HEADER_LIMIT;
  reader->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader->errors, cpng_on_error, cpng_on_warning,
                                         &reader->errors.memory, cpng_png_malloc, cpng_png_free);
  reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
  if (!reader->info) {
    cpng_fail(error, CPNG_NO_MEMORY, "no memory for a PNG decoder");
    cpng_close(reader);
    return NULL;
  }
  if (read_header(reader, error) != CPNG_OK) {
    cpng_close(reader);
    return NULL;
  }
  return reader;
}

// MARK: How much there is

typedef struct {
  uint32_t first_column, first_row, column_step, row_step;
} pass_grid;

// Adam7 (PNG specification, 8.2).
enum { PASSES = 7 };
static const pass_grid passes[PASSES] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                         {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

static uint32_t steps(uint32_t size, uint32_t first, uint32_t step) {
  return size > first ? (size - first + step - 1) / step : 0;
}

// Rows of all passes; of those without columns there are none.
static uint32_t interlaced_rows(uint32_t width, uint32_t height) {
  uint32_t rows = 0;
  for (size_t i = 0; i < PASSES; i++)
    if (width > passes[i].first_column) rows += steps(height, passes[i].first_row, passes[i].row_step);
  return rows;
}

// Pixels that libpng has given.
static uint64_t pixels_done(const cpng_reader *reader) {
  const cpng_header *header = &reader->header;
  const uint32_t row = png_get_current_row_number(reader->png);
  if (!header->interlaced) return (uint64_t)row * header->width;
  uint64_t pixels = 0;
  const uint8_t current = png_get_current_pass_number(reader->png);
  for (uint8_t i = 0; i <= current && i < PASSES; i++) {
    const pass_grid *pass = &passes[i];
    uint32_t rows = steps(header->height, pass->first_row, pass->row_step);
    // With the picture held, libpng counts the picture's rows, else those of the pass.
    if (i == current) rows = reader->picture ? steps(row, pass->first_row, pass->row_step) : row;
    pixels += (uint64_t)rows * steps(header->width, pass->first_column, pass->column_step);
  }
  return pixels;
}

static uint64_t pixels_in_all(const cpng_reader *reader) {
  return (uint64_t)reader->header.width * reader->header.height;
}

// Says in `text` what is wrong and where: libpng's error is that of the reader.
static void describe_loss(const cpng_reader *reader, char *text, size_t size) {
  char place[80];
  const uint64_t done = pixels_done(reader);
  const unsigned percent = (unsigned)(done * 100 / pixels_in_all(reader));
  if (done == 0) {
    snprintf(place, sizeof place, " before the first row");
  } else if (done == pixels_in_all(reader)) {
    place[0] = 0;
  } else if (reader->header.interlaced) {
    const int pass = png_get_current_pass_number(reader->png) + 1;
    snprintf(place, sizeof place, " after %u%% of the pixels, in pass %d of 7", percent, pass < PASSES ? pass : PASSES);
  } else {
    snprintf(place, sizeof place, " after %u%% of the rows", percent);
  }
  const char *const cause = reader->chunks.fault ? reader->chunks.fault : reader->errors.error.message;
  if (reader->has_ended) {
    snprintf(text, size, "the file ends%s", place);
  } else if (strstr(reader->errors.error.message, ": CRC error")) {
    snprintf(text, size, "the data are damaged%s: the checksum of a chunk %.4s is wrong", place,
             reader->errors.error.message);
  } else {
    snprintf(text, size, "the data are damaged%s (%.60s)", place, cause);
  }
}

// MARK: Decoding

// Of a row of so many pixels with the filter's byte.
static uint64_t bytes_to_inflate(const cpng_header *header, uint32_t pixels) {
  static const int channels[] = {1, 1, 3, 1, 2, 1, 4};
  return ((uint64_t)pixels * (unsigned)(channels[header->color_type] * header->bits) + 7) / 8 + 1;
}

// Of the whole picture.
static uint64_t size_to_inflate(const cpng_header *header) {
  if (!header->interlaced) return bytes_to_inflate(header, header->width) * header->height;
  uint64_t size = 0;
  for (size_t i = 0; i < PASSES; i++) {
    const uint32_t columns = steps(header->width, passes[i].first_column, passes[i].column_step);
    if (columns == 0) continue;
    size += bytes_to_inflate(header, columns) * steps(header->height, passes[i].first_row, passes[i].row_step);
  }
  return size;
}

size_t cpng_inflater_memory(const cpng_header *header, cpng_inflating inflating) {
  const uint64_t size = size_to_inflate(header);
  // Opening the library takes 0.2 ms and 0.4 MB; with so much 2 ms are gained.
  enum { LEAST_SIZE = 512 << 10 };
  if (inflating == CPNG_INFLATE_BY_ZLIB || (inflating == CPNG_INFLATE_BY_SIZE && size < LEAST_SIZE)) return 0;
  return cpng_inflater_bytes();
}

// The checksums of what the inflater hands out are none: it checks those of the file. libpng does of what follows.
static void set_crc_action(const cpng_reader *reader) {
  const int action = reader->chunks.inflater ? PNG_CRC_QUIET_USE : reader->salvages ? PNG_CRC_WARN_USE : PNG_CRC_DEFAULT;
  png_set_crc_action(reader->png, action, PNG_CRC_NO_CHANGE);
}

static void make_inflater(cpng_reader *reader) {
  if (cpng_inflater_memory(&reader->header, reader->inflating) == 0) return;
  reader->inflater =
      cpng_inflater_create(&reader->errors.memory, size_to_inflate(&reader->header), reader->salvages);
  if (!reader->inflater) return;
  reader->chunks.inflater = reader->inflater;
  png_set_compression_buffer_size(reader->png, cpng_inflater_chunk_bytes());
}

cpng_status cpng_start(cpng_reader *reader, size_t limit, bool whole, cpng_layout *layout, cpng_error *error) {
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  cpng_memory *const memory = &reader->errors.memory;
  const cpng_header *header = &reader->header;
  // libpng keeps the buffer of a profile that it dropped, which is as long as that claimed to be. It is there already.
  memory->limit = limit + (header->lost_icc ? memory->held : 0);
  memory->most = memory->held;
  png_set_expand(reader->png);
  const uint16_t one = 1;
  if (*(const uint8_t *)&one == 1) png_set_swap(reader->png);
  make_inflater(reader);
  set_crc_action(reader);
  // Without png_set_interlace_handling, libpng gives the rows of the passes as they are.
  const bool is_held = whole && header->interlaced;
  if (is_held) png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  reader->layout = (cpng_layout){
      .channels = png_get_channels(reader->png, reader->info),
      .bytes_per_sample = png_get_bit_depth(reader->png, reader->info) == 16 ? 2 : 1,
      .row_bytes = png_get_rowbytes(reader->png, reader->info),
  };
  *layout = reader->layout;
  const bool is_by_pass = header->interlaced && !is_held;
  reader->rows_left = is_by_pass ? interlaced_rows(header->width, header->height) : header->height;
  reader->is_narrow = header->color.has_cicp && header->color.cicp[3] == 0 && header->bits >= 8;
  size_t bytes = layout->row_bytes;
  if (is_held && __builtin_mul_overflow(bytes, (size_t)header->height, &bytes)) {
    return cpng_fail(error, CPNG_NO_MEMORY, "a PNG whose size is beyond the machine's");
  }
  uint8_t *const memory_of_rows = cpng_allocate(memory, bytes);
  if (!memory_of_rows) {
    if (memory->refused) return cpng_fail_for_memory(error, memory);
    return cpng_fail(error, CPNG_NO_MEMORY, "no memory for the rows of a PNG");
  }
  if (is_held) {
    reader->picture = memory_of_rows;
  } else {
    reader->row = memory_of_rows;
    // Of the rows of passes, libpng fills the beginning.
    memset(reader->row, 0, bytes);
  }
  return CPNG_OK;
}

size_t cpng_most_held(const cpng_reader *reader) { return reader->errors.memory.most; }

cpng_header cpng_get_header(const cpng_reader *reader) { return reader->header; }

void cpng_take_tail(cpng_reader *reader, const uint8_t *bytes, size_t count) {
  cpng_chunks_take_tail(&reader->chunks, bytes, count);
}

cpng_bytes cpng_exif(const cpng_reader *reader) {
  return (cpng_bytes){reader->chunks.metadata.exif, reader->chunks.metadata.exif_bytes};
}

cpng_bytes cpng_xmp(const cpng_reader *reader) {
  return (cpng_bytes){reader->chunks.metadata.xmp, reader->chunks.metadata.xmp_bytes};
}

cpng_bytes cpng_iptc(const cpng_reader *reader) {
  return (cpng_bytes){reader->chunks.metadata.iptc, reader->chunks.metadata.iptc_bytes};
}

bool cpng_has_exif_chunk(const cpng_reader *reader) {
  return reader->chunks.metadata.exif && !reader->chunks.metadata.is_exif_raw;
}

cpng_bytes cpng_icc(const cpng_reader *reader) {
  png_charp name = NULL;
  png_bytep icc = NULL;
  png_uint_32 bytes = 0;
  int method = 0;
  if (png_get_iCCP(reader->png, reader->info, &name, &method, &icc, &bytes) == 0) return (cpng_bytes){NULL, 0};
  return (cpng_bytes){icc, bytes};
}

void cpng_drop_metadata(cpng_reader *reader) {
  png_free_data(reader->png, reader->info, PNG_FREE_ICCP, -1);
  cpng_free_metadata(&reader->chunks.metadata);
}

cpng_findings cpng_get_findings(const cpng_reader *reader) {
  const cpng_errors *errors = &reader->errors;
  const cpng_chunks *chunks = &reader->chunks;
  cpng_findings findings = {
      .damaged = chunks->damaged.count ? chunks->damaged : errors->damaged,
      .damaged_data = errors->damaged_data + chunks->damaged_data,
      .has_extra_data = errors->has_extra_data,
      .lacks_end = reader->lacks_end,
      .has_late_exif = chunks->has_late_exif,
      .has_late_metadata = chunks->has_late_metadata,
      .lost_metadata = chunks->metadata.left_out,
  };
  findings.damaged.count = chunks->damaged.count + errors->damaged.count;
  memcpy(findings.loss, reader->loss, sizeof findings.loss);
  return findings;
}

// What libpng may leave by a jump, on its own so that no local of the callers is lost by it.
static cpng_status decode_row(cpng_reader *reader, png_bytep row, png_bytep display) {
  if (setjmp(reader->errors.escape)) return reader->errors.error.status;
  png_read_row(reader->png, row, display);
  return CPNG_OK;
}

static cpng_status decode_end(cpng_reader *reader) {
  if (setjmp(reader->errors.escape)) return reader->errors.error.status;
  set_crc_action(reader);
  png_read_end(reader->png, NULL);
  return CPNG_OK;
}

// The next row. What goes wrong when all pixels are in is not worth the picture: all but a wrong checksum of theirs.
static cpng_status take_row(cpng_reader *reader, png_bytep row, png_bytep display, cpng_error *error) {
  const cpng_status status = decode_row(reader, row, display);
  if (status == CPNG_OK) return CPNG_OK;
  reader->is_over = true;
  const bool is_checksum = !reader->has_ended && strstr(reader->errors.error.message, ": CRC error");
  if (status == CPNG_DAMAGED && !is_checksum && pixels_done(reader) == pixels_in_all(reader)) {
    reader->lacks_end = true;
    return CPNG_OK;
  }
  *error = reader->errors.error;
  if (status == CPNG_DAMAGED) describe_loss(reader, error->message, sizeof error->message);
  return status;
}

// The end of the chunk in which the inflater is, as libpng would read it.
static cpng_status end_inflating(cpng_reader *reader) {
  cpng_chunks *const chunks = &reader->chunks;
  const int status = chunks->inflater ? cpng_inflater_end(reader->inflater, chunks) : 1;
  if (status < 0 && chunks->has_wrong_data) return cpng_fail(&reader->errors.error, CPNG_DAMAGED, wrong_data);
  if (status < 0) return cpng_fail(&reader->errors.error, CPNG_READ_FAILED, "reading failed");
  reader->lacks_end |= status == 0;
  return CPNG_OK;
}

// What follows the rows.
static cpng_status take_end(cpng_reader *reader, cpng_error *error) {
  if (reader->is_over) return CPNG_OK;
  reader->is_over = true;
  cpng_status status = end_inflating(reader);
  if (status == CPNG_OK && !reader->lacks_end) status = decode_end(reader);
  if (status == CPNG_OK) return CPNG_OK;
  if (reader->chunks.has_wrong_data) {
    *error = reader->errors.error;
    describe_loss(reader, error->message, sizeof error->message);
    return status;
  }
  if (status == CPNG_DAMAGED) {
    reader->lacks_end = true;
    return CPNG_OK;
  }
  *error = reader->errors.error;
  return status;
}

// Whether the picture goes on without what is missing from here.
static bool goes_on(cpng_reader *reader, cpng_error *error) {
  if (error->status != CPNG_DAMAGED || !reader->salvages) return false;
  const uint64_t done = pixels_done(reader);
  const uint64_t all = pixels_in_all(reader);
  if (done == 0 || (!reader->picture && all - done > CPNG_MOST_MISSING && done < all / 16)) {
    const size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, ", which is too little to salvage");
    return false;
  }
  memcpy(reader->loss, error->message, sizeof reader->loss);
  reader->loss[sizeof reader->loss - 1] = 0;
  return true;
}

// The pixels of what is missing.
static void fill_rows(const cpng_reader *reader, uint8_t *rows, size_t bytes) {
  const bool has_alpha = reader->layout.channels % 2 == 0;
  memset(rows, has_alpha ? 0 : 0x80, bytes);
}

static cpng_status hold_picture(cpng_reader *reader, cpng_error *error) {
  const size_t row_bytes = reader->layout.row_bytes;
  const uint32_t height = reader->header.height;
  fill_rows(reader, reader->picture, row_bytes * height);
  for (int pass = 0; pass < PASSES; pass++) {
    for (uint32_t y = 0; y < height; y++) {
      const cpng_status status = take_row(reader, NULL, reader->picture + row_bytes * y, error);
      if (status == CPNG_OK) continue;
      return goes_on(reader, error) ? CPNG_OK : status;
    }
  }
  return CPNG_OK;
}

static uint32_t full_range(uint32_t value, int bits) {
  const uint32_t black = (uint32_t)16 << (bits - 8), white = (uint32_t)235 << (bits - 8);
  const uint32_t most = ((uint32_t)1 << bits) - 1;
  if (value <= black) return 0;
  if (value >= white) return most;
  return ((value - black) * most + (white - black) / 2) / (white - black);
}

// Colour in the range of video (ITU-T H.273, 8.3) becomes colour of the full one. Alpha always has that.
static void widen(const cpng_reader *reader, uint8_t *row) {
  const size_t channels = (size_t)reader->layout.channels;
  const size_t colors = channels >= 3 ? 3 : 1;
  const size_t count = reader->layout.row_bytes / (size_t)reader->layout.bytes_per_sample;
  uint16_t *const words = (uint16_t *)(void *)row;
  for (size_t i = 0; i < count; i++) {
    if (i % channels >= colors) continue;
    if (reader->layout.bytes_per_sample == 2) {
      words[i] = (uint16_t)full_range(words[i], 16);
    } else {
      row[i] = (uint8_t)full_range(row[i], 8);
    }
  }
}

static cpng_status next_row(cpng_reader *reader, cpng_error *error) {
  if (reader->is_filled) return CPNG_OK;
  const cpng_status status = take_row(reader, reader->row, NULL, error);
  if (status != CPNG_OK) {
    if (!goes_on(reader, error)) return status;
    fill_rows(reader, reader->row, reader->layout.row_bytes);
    reader->is_filled = true;
  } else if (reader->is_narrow) {
    widen(reader, reader->row);
  }
  return CPNG_OK;
}

static cpng_status next_held_row(cpng_reader *reader, uint8_t **row, cpng_error *error) {
  const uint32_t height = reader->header.height;
  if (reader->rows_left == height) {
    const cpng_status status = hold_picture(reader, error);
    if (status != CPNG_OK) return status;
  }
  *row = reader->picture + (height - reader->rows_left) * reader->layout.row_bytes;
  if (reader->is_narrow) widen(reader, *row);
  return CPNG_OK;
}

cpng_status cpng_next_band(cpng_reader *reader, cpng_band *band, cpng_error *error) {
  *band = (cpng_band){0};
  if (reader->rows_left == 0) return CPNG_OK;
  uint8_t *row = reader->row;
  cpng_status status = reader->picture ? next_held_row(reader, &row, error) : next_row(reader, error);
  if (status == CPNG_OK && reader->rows_left == 1) status = take_end(reader, error);
  if (status != CPNG_OK) return status;
  reader->rows_left--;
  *band = (cpng_band){.samples = row, .stride = reader->layout.row_bytes, .row_count = 1};
  return CPNG_OK;
}
