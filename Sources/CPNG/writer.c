#include "common.h"

#include <stdlib.h>

#include <zlib.h>

struct cpng_writer {
  cpng_errors errors;
  png_structp png;
  png_infop info;
  cpng_sink sink;
};

static void write_bytes(png_structp png, png_bytep bytes, size_t count) {
  cpng_writer *writer = png_get_io_ptr(png);
  if (writer->sink.write(writer->sink.context, bytes, count) != 0) {
    writer->errors.pending = CPNG_WRITE_FAILED;
    png_error(png, "writing failed");
  }
}

static void flush(png_structp png) { (void)png; }

void cpng_discard(cpng_writer *writer) {
  if (!writer) return;
  png_destroy_write_struct(&writer->png, &writer->info);
  free(writer);
}

// What every version of libpng asks of a profile (ICC.1:2022, 7.2.2); newer ones fail the whole picture over it, older ones
// leave it out.
static bool is_fit(const uint8_t *icc, size_t bytes) {
  if (bytes < 132 || bytes > PNG_UINT_31_MAX) return false;
  const bool is_padded = icc[8] <= 3 || bytes % 4 == 0;
  return is_padded && png_get_uint_32(icc) == bytes;
}

static void write_chunk(png_structp png, const char *type, cpng_bytes data) {
  if (data.count) png_write_chunk(png, (png_const_bytep)type, data.bytes, data.count);
}

// An iTXt chunk that is not compressed, as XMP is to be kept (XMP specification part 3, 1.1.5).
static void write_xmp(png_structp png, cpng_bytes xmp) {
  static const char keyword[22] = "XML:com.adobe.xmp";
  if (!xmp.count) return;
  png_write_chunk_start(png, (png_const_bytep)"iTXt", (png_uint_32)(sizeof keyword + xmp.count));
  png_write_chunk_data(png, (png_const_bytep)keyword, sizeof keyword);
  png_write_chunk_data(png, xmp.bytes, xmp.count);
  png_write_chunk_end(png);
}

static cpng_status start(cpng_writer *writer, const cpng_settings *settings, bool *icc_taken, cpng_error *error) {
  static const int color_types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                    PNG_COLOR_TYPE_RGB_ALPHA};
  if (setjmp(writer->errors.escape)) {
    *error = writer->errors.error;
    return error->status;
  }
  png_structp png = writer->png;
  png_set_write_fn(png, writer, write_bytes, flush);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_compression_level(png, settings->compression);
  if (settings->only_runs) png_set_compression_strategy(png, Z_RLE);
  if (settings->only_paeth) png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);
  png_set_IHDR(png, writer->info, settings->width, settings->height, settings->bytes_per_sample * 8,
               color_types[settings->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (settings->icc_bytes && is_fit(settings->icc, settings->icc_bytes)) {
    // What libpng finds wrong with a profile is a warning: the picture is written without it.
    png_set_benign_errors(png, 1);
    png_set_iCCP(png, writer->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, settings->icc,
                 (png_uint_32)settings->icc_bytes);
    *icc_taken = png_get_valid(png, writer->info, PNG_INFO_iCCP) != 0;
  }
  if (settings->is_srgb && !*icc_taken) {
    png_set_sRGB(png, writer->info, PNG_sRGB_INTENT_PERCEPTUAL);
    // As the specification recommends, for those that read no sRGB chunk.
    png_set_gAMA_fixed(png, writer->info, 45455);
  }
  png_write_info(png, writer->info);
  write_chunk(png, "eXIf", settings->exif);
  write_xmp(png, settings->xmp);
  write_chunk(png, "tEXt", settings->text);
  png_free_data(png, writer->info, PNG_FREE_ICCP, -1);
  const uint16_t one = 1;
  if (settings->bytes_per_sample == 2 && *(const uint8_t *)&one == 1) png_set_swap(png);
  return CPNG_OK;
}

cpng_writer *cpng_create(cpng_sink sink, const cpng_settings *settings, bool *icc_taken, cpng_error *error) {
  *icc_taken = false;
  cpng_writer *writer = calloc(1, sizeof *writer);
  if (writer) {
    writer->sink = sink;
    writer->errors.memory.limit = settings->limit;
    writer->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &writer->errors, cpng_on_error, cpng_on_warning,
                                            &writer->errors.memory, cpng_png_malloc, cpng_png_free);
    writer->info = writer->png ? png_create_info_struct(writer->png) : NULL;
  }
  if (!writer || !writer->info) {
    cpng_fail(error, CPNG_NO_MEMORY, "no memory for a PNG encoder");
    cpng_discard(writer);
    return NULL;
  }
  if (start(writer, settings, icc_taken, error) != CPNG_OK) {
    cpng_discard(writer);
    return NULL;
  }
  return writer;
}

cpng_status cpng_write_row(cpng_writer *writer, const void *row, cpng_error *error) {
  if (setjmp(writer->errors.escape)) {
    *error = writer->errors.error;
    return error->status;
  }
  png_write_row(writer->png, row);
  return CPNG_OK;
}

cpng_status cpng_finish(cpng_writer *writer, cpng_error *error) {
  if (setjmp(writer->errors.escape)) {
    *error = writer->errors.error;
    return error->status;
  }
  png_write_end(writer->png, NULL);
  return CPNG_OK;
}

size_t cpng_writer_most_held(const cpng_writer *writer) { return writer->errors.memory.most; }
