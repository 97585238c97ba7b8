#include "chunks.h"
#include "common.h"

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
  size_t row_bytes;
  uint32_t rows_left;  // of the picture or, when it is interlaced, of all passes
  uint8_t *row;
};

static void read_bytes(png_structp png, png_bytep buffer, size_t count) {
  cpng_reader *reader = png_get_io_ptr(png);
  while (count > 0) {
    const ptrdiff_t got = cpng_chunks_read(&reader->chunks, buffer, count);
    if (got < 0) {
      reader->errors.pending = reader->chunks.lacks_memory ? CPNG_NO_MEMORY : CPNG_READ_FAILED;
      png_error(png, reader->chunks.lacks_memory ? "no memory for EXIF" : "reading failed");
    }
    if (got == 0) png_error(png, "the file ends too early");
    buffer += got;
    count -= (size_t)got;
  }
}

void cpng_close(cpng_reader *reader) {
  if (!reader) return;
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  cpng_release(&reader->errors.memory, reader->row);
  free(reader->chunks.exif);
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
  header->exif_bytes = reader->chunks.exif_bytes;
  header->has_cicp = reader->chunks.has_cicp;
  header->primaries = reader->chunks.cicp[0];
  header->transfer = reader->chunks.cicp[1];
  png_charp name = NULL;
  png_bytep icc = NULL;
  png_uint_32 icc_bytes = 0;
  int method = 0;
  if (png_get_iCCP(png, info, &name, &method, &icc, &icc_bytes) != 0) header->icc_bytes = icc_bytes;
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

cpng_reader *cpng_open(cpng_source source, cpng_error *error) {
  cpng_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    cpng_fail(error, CPNG_NO_MEMORY, "no memory for a PNG decoder");
    return NULL;
  }
  reader->chunks.source = source;
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

// Rows of all passes of Adam7 (PNG specification, 8.2); of those without columns there are none.
static uint32_t interlaced_rows(uint32_t width, uint32_t height) {
  static const struct {
    uint32_t first_column, first_row, step;
  } passes[] = {{0, 0, 8}, {4, 0, 8}, {0, 4, 8}, {2, 0, 4}, {0, 2, 4}, {1, 0, 2}, {0, 1, 2}};
  uint32_t rows = 0;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    if (width > passes[i].first_column && height > passes[i].first_row)
      rows += (height - passes[i].first_row + passes[i].step - 1) / passes[i].step;
  return rows;
}

cpng_status cpng_start(cpng_reader *reader, size_t limit, cpng_layout *layout, cpng_error *error) {
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  cpng_memory *const memory = &reader->errors.memory;
  memory->limit = limit;
  memory->most = memory->held;
  png_set_expand(reader->png);
  const uint16_t one = 1;
  if (*(const uint8_t *)&one == 1) png_set_swap(reader->png);
  // Without png_set_interlace_handling, libpng gives the rows of the passes as they are.
  png_read_update_info(reader->png, reader->info);
  reader->row_bytes = png_get_rowbytes(reader->png, reader->info);
  const cpng_header *header = &reader->header;
  reader->rows_left = header->interlaced ? interlaced_rows(header->width, header->height) : header->height;
  reader->row = cpng_allocate(memory, reader->row_bytes);
  if (!reader->row) {
    if (memory->refused) return cpng_fail_for_memory(error, memory);
    return cpng_fail(error, CPNG_NO_MEMORY, "no memory for a row of a PNG");
  }
  // Of the rows of passes, libpng fills the beginning.
  memset(reader->row, 0, reader->row_bytes);
  *layout = (cpng_layout){
      .channels = png_get_channels(reader->png, reader->info),
      .bytes_per_sample = png_get_bit_depth(reader->png, reader->info) == 16 ? 2 : 1,
      .row_bytes = reader->row_bytes,
  };
  return CPNG_OK;
}

size_t cpng_most_held(const cpng_reader *reader) { return reader->errors.memory.most; }

cpng_header cpng_get_header(const cpng_reader *reader) { return reader->header; }

const uint8_t *cpng_exif(const cpng_reader *reader) { return reader->chunks.exif; }

const uint8_t *cpng_icc(const cpng_reader *reader) {
  png_charp name = NULL;
  png_bytep icc = NULL;
  png_uint_32 bytes = 0;
  int method = 0;
  return png_get_iCCP(reader->png, reader->info, &name, &method, &icc, &bytes) != 0 ? icc : NULL;
}

void cpng_drop_metadata(cpng_reader *reader) {
  png_free_data(reader->png, reader->info, PNG_FREE_ICCP, -1);
  free(reader->chunks.exif);
  reader->chunks.exif = NULL;
}

cpng_status cpng_next_band(cpng_reader *reader, cpng_band *band, cpng_error *error) {
  *band = (cpng_band){0};
  if (reader->rows_left == 0) return CPNG_OK;
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  png_read_row(reader->png, reader->row, NULL);
  reader->rows_left--;
  *band = (cpng_band){.samples = reader->row, .stride = reader->row_bytes, .row_count = 1};
  return CPNG_OK;
}
