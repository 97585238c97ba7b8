#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// No chunk that is kept is ever larger in practice; a profile of more is not worth its memory.
enum { CHUNK_LIMIT = 8 << 20 };

struct cpng_reader {
  cpng_errors errors;
  png_structp png;
  png_infop info;
  cpng_source source;
  cpng_header header;
  size_t row_bytes;
  uint32_t next_row;
  uint8_t *rows;        // one row, or the whole picture when it is interlaced
  png_bytep *row_list;  // only when interlaced
};

static void read_bytes(png_structp png, png_bytep buffer, size_t count) {
  cpng_reader *reader = png_get_io_ptr(png);
  while (count > 0) {
    const ptrdiff_t got = reader->source.read(reader->source.context, buffer, count);
    if (got < 0) {
      reader->errors.pending = CPNG_READ_FAILED;
      png_error(png, "reading failed");
    }
    if (got == 0) png_error(png, "the file ends too early");
    buffer += got;
    count -= (size_t)got;
  }
}

// libpng 1.6 before 1.6.45 does not know cICP.
static int read_chunk(png_structp png, png_unknown_chunkp chunk) {
  cpng_reader *reader = png_get_user_chunk_ptr(png);
  if (memcmp(chunk->name, "cICP", 4) == 0 && chunk->size == 4) {
    reader->header.has_cicp = true;
    reader->header.primaries = chunk->data[0];
    reader->header.transfer = chunk->data[1];
  }
  return 1;
}

void cpng_close(cpng_reader *reader) {
  if (!reader) return;
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader->rows);
  free(reader->row_list);
  free(reader);
}

// Text and the like would be kept by libpng only to be thrown away.
static void discard_unneeded_chunks(png_structp png) {
  static const png_byte names[] = "tEXt\0zTXt\0iTXt\0hIST\0sPLT\0pCAL\0sCAL\0tIME\0oFFs\0pHYs\0bKGD";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
  static const png_byte wanted[] = "cICP";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_IF_SAFE, wanted, 1);
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
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 exif_bytes = 0;
  png_bytep exif = NULL;
  if (png_get_eXIf_1(png, info, &exif_bytes, &exif) != 0) header->exif_bytes = exif_bytes;
#endif
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
  png_set_read_user_chunk_fn(reader->png, reader, read_chunk);
  png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(reader->png, CHUNK_LIMIT);
  discard_unneeded_chunks(reader->png);
#ifdef PNG_IGNORE_ADLER32
  // The chunks' own checksums cover the same bytes; this one is 4% of a large picture's time.
  png_set_option(reader->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
  png_read_info(reader->png, reader->info);
  fill_header(reader);
  return check_size(&reader->header, error);
}

cpng_reader *cpng_open(cpng_source source, cpng_error *error) {
  cpng_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    cpng_fail(error, CPNG_NO_MEMORY, "no memory for a PNG decoder");
    return NULL;
  }
  reader->source = source;
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader->errors, cpng_on_error, cpng_on_warning);
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

cpng_status cpng_start(cpng_reader *reader, cpng_layout *layout, cpng_error *error) {
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  png_set_expand(reader->png);
  const uint16_t one = 1;
  if (*(const uint8_t *)&one == 1) png_set_swap(reader->png);
  if (reader->header.interlaced) png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  reader->row_bytes = png_get_rowbytes(reader->png, reader->info);
  *layout = (cpng_layout){
      .channels = png_get_channels(reader->png, reader->info),
      .bytes_per_sample = png_get_bit_depth(reader->png, reader->info) == 16 ? 2 : 1,
      .row_bytes = reader->row_bytes,
  };
  return CPNG_OK;
}

cpng_header cpng_get_header(const cpng_reader *reader) { return reader->header; }

const uint8_t *cpng_exif(const cpng_reader *reader) {
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 bytes = 0;
  png_bytep exif = NULL;
  if (png_get_eXIf_1(reader->png, reader->info, &bytes, &exif) != 0) return exif;
#endif
  return NULL;
}

const uint8_t *cpng_icc(const cpng_reader *reader) {
  png_charp name = NULL;
  png_bytep icc = NULL;
  png_uint_32 bytes = 0;
  int method = 0;
  return png_get_iCCP(reader->png, reader->info, &name, &method, &icc, &bytes) != 0 ? icc : NULL;
}

static cpng_status allocate_rows(cpng_reader *reader, cpng_error *error) {
  const size_t rows = reader->header.interlaced ? reader->header.height : 1;
  if (reader->row_bytes != 0 && rows > SIZE_MAX / reader->row_bytes)
    return cpng_fail(error, CPNG_NO_MEMORY, "an interlaced PNG larger than any memory");
  reader->rows = malloc(rows * reader->row_bytes);
  if (reader->rows && reader->header.interlaced) {
    reader->row_list = malloc(rows * sizeof *reader->row_list);
    for (size_t y = 0; reader->row_list && y < rows; y++) reader->row_list[y] = reader->rows + y * reader->row_bytes;
  }
  if (!reader->rows || (reader->header.interlaced && !reader->row_list))
    return cpng_fail(error, CPNG_NO_MEMORY, "no memory for the rows of a PNG");
  return CPNG_OK;
}

cpng_status cpng_next_band(cpng_reader *reader, cpng_band *band, cpng_error *error) {
  *band = (cpng_band){0};
  if (reader->next_row >= reader->header.height) return CPNG_OK;
  if (!reader->rows && allocate_rows(reader, error) != CPNG_OK) return error->status;
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  if (reader->header.interlaced) {
    png_read_image(reader->png, reader->row_list);
    band->row_count = reader->header.height;
  } else {
    png_read_row(reader->png, reader->rows, NULL);
    band->row_count = 1;
  }
  band->samples = reader->rows;
  band->stride = reader->row_bytes;
  reader->next_row += band->row_count;
  return CPNG_OK;
}
