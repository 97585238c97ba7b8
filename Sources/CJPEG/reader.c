#include "memory.h"

#include <stdlib.h>
#include <string.h>

// A profile may span 255 segments; real ones hold at most a few megabytes.
enum { BLOCK = 32768, ICC_SEGMENTS = 255, ICC_LIMIT = 8 << 20, ICC_OVERHEAD = 14, EXIF_OVERHEAD = 6 };

// Before the first scan: no header is so long, and libjpeg needs so little memory for one.
enum { MOST_HEADER_BYTES = 256 << 20, MOST_HEADER_MEMORY = 256 << 10 };

typedef struct {
  uint8_t *bytes;
  size_t count;
} segment;

struct cjpeg_reader {
  cjpeg_errors errors;
  struct jpeg_decompress_struct info;
  struct jpeg_source_mgr manager;
  cjpeg_source source;
  cjpeg_memory memory;
  struct jpeg_progress_mgr progress;
  size_t header_bytes;  // read so far
  bool is_started;
  bool ended;  // the source has no more bytes: an end-of-image marker was made up
  bool raw;
  segment exif;
  segment icc[ICC_SEGMENTS + 1];  // by their number, from 1
  size_t icc_total;
  int icc_announced;
  JSAMPARRAY rows[3];  // in raw mode, the rows of one row of MCUs for each plane
  JSAMPROW one_row;
  uint32_t next_row;  // of the output, or of luma in raw mode
  uint8_t block[BLOCK];
};

static void init_source(j_decompress_ptr info) { (void)info; }

static void ask_to_go_on(cjpeg_reader *reader) {
  const cjpeg_source *source = &reader->source;
  if (source->may_go_on && source->may_go_on(source->context) != 0)
    cjpeg_escape((j_common_ptr)&reader->info, CJPEG_STOPPED, "decoding was ended");
}

// The arithmetic decoder takes a marker for endless zeros, without a warning: of its data any part may be missing when the
// end marker was made up.
static void check_end(cjpeg_reader *reader) {
  if (reader->ended && reader->info.arith_code)
    cjpeg_escape((j_common_ptr)&reader->info, CJPEG_DAMAGED, "the file ends too early");
}

// Called by libjpeg for each row of MCUs and each scan. What is refused in the end is refused at once: libjpeg would go on to
// the last row, of a size that the file may have made up.
static void monitor_progress(j_common_ptr info) {
  const struct jpeg_decompress_struct *decoder = (j_decompress_ptr)info;
  if (decoder->input_scan_number > CJPEG_MOST_SCANS)
    cjpeg_escape(info, CJPEG_DAMAGED, "there are more than %d scans", CJPEG_MOST_SCANS);
  cjpeg_reader *reader = info->client_data;
  if (reader->errors.data_is_damaged) longjmp(reader->errors.escape, 1);
  check_end(reader);
  ask_to_go_on(reader);
}

static boolean fill_input_buffer(j_decompress_ptr info) {
  cjpeg_reader *reader = info->client_data;
  ask_to_go_on(reader);
  if (!reader->is_started && reader->header_bytes > MOST_HEADER_BYTES)
    cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "there is no scan in the first %d bytes", MOST_HEADER_BYTES);
  const ptrdiff_t count = reader->source.read(reader->source.context, reader->block, BLOCK);
  if (count < 0) cjpeg_escape((j_common_ptr)info, CJPEG_READ_FAILED, "reading failed");
  reader->manager.next_input_byte = reader->block;
  reader->manager.bytes_in_buffer = (size_t)count;
  if (!reader->is_started) reader->header_bytes += (size_t)count;
  if (count == 0) {
    // Whether anything is missing is found when the decoder wants more than there is.
    reader->ended = true;
    reader->block[0] = 0xFF;
    reader->block[1] = JPEG_EOI;
    reader->manager.bytes_in_buffer = 2;
  }
  return TRUE;
}

static void skip_input_data(j_decompress_ptr info, long count) {
  cjpeg_reader *reader = info->client_data;
  while (count > 0 && !reader->ended) {
    if (reader->manager.bytes_in_buffer == 0) fill_input_buffer(info);
    const size_t step = reader->manager.bytes_in_buffer < (size_t)count ? reader->manager.bytes_in_buffer : (size_t)count;
    if (reader->ended) return;
    reader->manager.next_input_byte += step;
    reader->manager.bytes_in_buffer -= step;
    count -= (long)step;
  }
}

static void term_source(j_decompress_ptr info) { (void)info; }

static int next_byte(j_decompress_ptr info) {
  cjpeg_reader *reader = info->client_data;
  if (reader->manager.bytes_in_buffer == 0) fill_input_buffer(info);
  if (reader->ended) cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "the file ends inside a marker segment");
  reader->manager.bytes_in_buffer--;
  return *reader->manager.next_input_byte++;
}

static size_t segment_length(j_decompress_ptr info) {
  const int high = next_byte(info), length = high << 8 | next_byte(info);
  if (length < 2) cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "a marker segment has a length of %d", length);
  return (size_t)length - 2;
}

static void read_bytes(j_decompress_ptr info, uint8_t *out, size_t count) {
  for (size_t i = 0; i < count; i++) out[i] = (uint8_t)next_byte(info);
}

static void read_segment(j_decompress_ptr info, segment *segment, size_t count) {
  segment->bytes = malloc(count ? count : 1);
  if (!segment->bytes) cjpeg_escape((j_common_ptr)info, CJPEG_NO_MEMORY, "no memory for %zu bytes of metadata", count);
  segment->count = count;
  read_bytes(info, segment->bytes, count);
}

// Markers are read here, not saved by libjpeg: of a file with thousands of segments only the needed ones are kept.
static boolean read_app1(j_decompress_ptr info) {
  cjpeg_reader *reader = info->client_data;
  size_t rest = segment_length(info);
  uint8_t start[EXIF_OVERHEAD];
  if (rest >= sizeof start && !reader->exif.bytes) {
    read_bytes(info, start, sizeof start);
    rest -= sizeof start;
    if (memcmp(start, "Exif\0", 5) == 0) {
      read_segment(info, &reader->exif, rest);
      return TRUE;
    }
  }
  skip_input_data(info, (long)rest);
  return TRUE;
}

static boolean read_app2(j_decompress_ptr info) {
  cjpeg_reader *reader = info->client_data;
  size_t rest = segment_length(info);
  uint8_t start[ICC_OVERHEAD];
  if (rest > sizeof start) {
    read_bytes(info, start, sizeof start);
    rest -= sizeof start;
    const int number = start[12];
    if (memcmp(start, "ICC_PROFILE", 12) == 0 && number > 0 && !reader->icc[number].bytes &&
        reader->icc_total + rest <= ICC_LIMIT) {
      read_segment(info, &reader->icc[number], rest);
      reader->icc_total += rest;
      reader->icc_announced = start[13];
      return TRUE;
    }
  }
  skip_input_data(info, (long)rest);
  return TRUE;
}

// Whether every announced segment of the profile came, one after the other.
static bool icc_is_whole(const cjpeg_reader *reader) {
  if (reader->icc_announced == 0) return false;
  size_t total = 0;
  for (int i = 1; i <= reader->icc_announced; i++) {
    if (!reader->icc[i].bytes) return false;
    total += reader->icc[i].count;
  }
  return total == reader->icc_total;
}

static void free_exif(cjpeg_reader *reader) {
  free(reader->exif.bytes);
  reader->exif = (segment){0};
}

static void free_icc(cjpeg_reader *reader) {
  for (int i = 1; i <= ICC_SEGMENTS; i++) {
    free(reader->icc[i].bytes);
    reader->icc[i] = (segment){0};
  }
}

void cjpeg_close(cjpeg_reader *reader) {
  if (!reader) return;
  jpeg_destroy_decompress(&reader->info);
  cjpeg_memory_free(&reader->memory);
  free_exif(reader);
  free_icc(reader);
  free(reader);
}

static cjpeg_status check_header(cjpeg_reader *reader, cjpeg_error *error) {
  switch (reader->info.jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_YCbCr:
    case JCS_RGB:
    case JCS_CMYK:
    case JCS_YCCK: return CJPEG_OK;
    default:
      return cjpeg_fail(error, CJPEG_UNSUPPORTED, "a JPEG of %d components in an unknown colour space",
                        reader->info.num_components);
  }
}

// The part of cjpeg_open that libjpeg may leave by a jump, on its own so that no local of the caller is lost by it.
static cjpeg_status read_header(cjpeg_reader *reader, cjpeg_error *error) {
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  jpeg_create_decompress(&reader->info);
  cjpeg_memory_attach(&reader->memory, &reader->info);
  reader->info.client_data = reader;
  reader->info.progress = &reader->progress;
  reader->info.src = &reader->manager;
  jpeg_set_marker_processor(&reader->info, JPEG_APP0 + 1, read_app1);
  jpeg_set_marker_processor(&reader->info, JPEG_APP0 + 2, read_app2);
  jpeg_read_header(&reader->info, TRUE);
  return check_header(reader, error);
}

cjpeg_reader *cjpeg_open(cjpeg_source source, cjpeg_error *error) {
  cjpeg_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    cjpeg_fail(error, CJPEG_NO_MEMORY, "no memory for a JPEG decoder");
    return NULL;
  }
  reader->source = source;
  cjpeg_errors_init(&reader->errors);
  reader->errors.memory = &reader->memory;
  reader->memory.most_allocated = MOST_HEADER_MEMORY;
  reader->info.err = &reader->errors.base;
  reader->progress.progress_monitor = monitor_progress;
  reader->manager.init_source = init_source;
  reader->manager.fill_input_buffer = fill_input_buffer;
  reader->manager.skip_input_data = skip_input_data;
  reader->manager.resync_to_restart = jpeg_resync_to_restart;
  reader->manager.term_source = term_source;
  if (read_header(reader, error) != CJPEG_OK) {
    cjpeg_close(reader);
    return NULL;
  }
  return reader;
}

static cjpeg_color color_of(J_COLOR_SPACE space) {
  switch (space) {
    case JCS_GRAYSCALE: return CJPEG_GRAY;
    case JCS_RGB: return CJPEG_RGB;
    case JCS_CMYK: return CJPEG_CMYK;
    case JCS_YCCK: return CJPEG_YCCK;
    default: return CJPEG_YCBCR;
  }
}

cjpeg_header cjpeg_get_header(const cjpeg_reader *reader) {
  const struct jpeg_decompress_struct *info = &reader->info;
  cjpeg_header header = {
      .width = info->image_width,
      .height = info->image_height,
      .bits = info->data_precision,
      .components = info->num_components,
      .color = color_of(info->jpeg_color_space),
      .progressive = info->progressive_mode,
      .arithmetic = info->arith_code,
      .multi_scan = info->progressive_mode || info->comps_in_scan < info->num_components,
      .adobe_marker = info->saw_Adobe_marker,
      .exif_bytes = reader->exif.count,
      .icc_bytes = icc_is_whole(reader) ? reader->icc_total : 0,
  };
  for (int i = 0; i < info->num_components && i < 4; i++) {
    header.h_samp[i] = info->comp_info[i].h_samp_factor;
    header.v_samp[i] = info->comp_info[i].v_samp_factor;
  }
  return header;
}

const uint8_t *cjpeg_exif(const cjpeg_reader *reader) { return reader->exif.bytes; }

void cjpeg_take_icc(cjpeg_reader *reader, uint8_t *out) {
  if (!icc_is_whole(reader)) return;
  for (int i = 1; i <= reader->icc_announced; i++) {
    memcpy(out, reader->icc[i].bytes, reader->icc[i].count);
    out += reader->icc[i].count;
  }
  free_icc(reader);
}

cjpeg_usage cjpeg_get_usage(const cjpeg_reader *reader) {
  cjpeg_usage usage = cjpeg_store_usage(reader->memory.store);
  usage.library_bytes = reader->memory.allocated;
  return usage;
}

size_t cjpeg_reader_bytes(void) { return sizeof(cjpeg_reader); }

int cjpeg_scaled_size(const jpeg_component_info *component) {
#if JPEG_LIB_VERSION >= 70
  return component->DCT_h_scaled_size;
#else
  return component->DCT_scaled_size;
#endif
}

static int smallest_scaled_size(const struct jpeg_decompress_struct *info) {
#if JPEG_LIB_VERSION >= 70
  return info->min_DCT_h_scaled_size;
#else
  return info->min_DCT_scaled_size;
#endif
}

// A raw row spans whole blocks, also those beyond the picture's edge.
static void allocate_rows(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->info;
  for (int c = 0; c < info->num_components; c++) {
    const jpeg_component_info *component = &info->comp_info[c];
    const JDIMENSION width = component->width_in_blocks * (JDIMENSION)cjpeg_scaled_size(component);
    const JDIMENSION blocks = (JDIMENSION)component->v_samp_factor;
    // Gray with factors above 1 is delivered for the whole MCU as well.
    const JDIMENSION most = (JDIMENSION)(info->max_v_samp_factor * smallest_scaled_size(info));
    const JDIMENSION rows = blocks * (JDIMENSION)cjpeg_scaled_size(component);
    reader->rows[c] = info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, width, rows > most ? rows : most);
  }
}

// libjpeg shows a picture with scans missing as if it were whole.
static void check_scans(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->info;
  for (int c = 0; c < info->num_components; c++) {
    // The quantisation table is noted at a component's first scan.
    if (!info->comp_info[c].quant_table)
      cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "component %d has no scan", c + 1);
    if (!reader->ended || !info->coef_bits) continue;
    for (int i = 0; i < DCTSIZE2; i++)
      if (info->coef_bits[c][i] != 0)
        cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "the file ends before its last scan");
  }
}

cjpeg_status cjpeg_start(cjpeg_reader *reader, int eighths, const cjpeg_limits *limits, cjpeg_error *error) {
  struct jpeg_decompress_struct *info = &reader->info;
  if (reader->is_started || eighths < 1 || eighths > 8)
    return cjpeg_fail(error, CJPEG_FAULT, "decoding cannot start at %d/8", eighths);
  reader->is_started = true;
  free_exif(reader);
  free_icc(reader);
  reader->memory.most_allocated = limits->library_bytes;
  reader->memory.store = cjpeg_store_create(limits, cjpeg_blocks_best());
  if (!reader->memory.store) return cjpeg_fail(error, CJPEG_NO_MEMORY, "no memory for a JPEG decoder");
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  info->scale_num = (unsigned)eighths;
  info->scale_denom = 8;
  reader->raw = info->jpeg_color_space == JCS_GRAYSCALE || info->jpeg_color_space == JCS_YCbCr;
  if (reader->raw) {
    info->raw_data_out = TRUE;
    info->out_color_space = info->jpeg_color_space;
  } else {
    info->out_color_space = info->jpeg_color_space == JCS_RGB ? JCS_RGB : JCS_CMYK;
  }
  jpeg_start_decompress(info);
  if (jpeg_has_multiple_scans(info)) check_scans(reader);
  check_end(reader);
  if (reader->errors.data_is_damaged) {
    cjpeg_fail(error, CJPEG_DAMAGED, "%s", reader->errors.error.message);
    return CJPEG_DAMAGED;
  }
  if (reader->raw) {
    allocate_rows(reader);
  } else {
    reader->one_row = info->mem->alloc_large((j_common_ptr)info, JPOOL_IMAGE,
                                             (size_t)info->output_width * (size_t)info->output_components);
  }
  return CJPEG_OK;
}

cjpeg_plane cjpeg_get_plane(const cjpeg_reader *reader, int plane) {
  const struct jpeg_decompress_struct *info = &reader->info;
  if (!reader->raw) return (cjpeg_plane){info->output_width, info->output_height, smallest_scaled_size(info)};
  const jpeg_component_info *component = &info->comp_info[plane];
  return (cjpeg_plane){component->downsampled_width, component->downsampled_height, cjpeg_scaled_size(component)};
}

static void read_raw_band(cjpeg_reader *reader, cjpeg_band *band) {
  struct jpeg_decompress_struct *info = &reader->info;
  const JDIMENSION lines = (JDIMENSION)(info->max_v_samp_factor * smallest_scaled_size(info));
  if (reader->next_row >= info->output_height) return;
  jpeg_read_raw_data(info, reader->rows, lines);
  const uint32_t mcu_row = reader->next_row / lines;
  for (int c = 0; c < info->num_components; c++) {
    const jpeg_component_info *component = &info->comp_info[c];
    const uint32_t rows = (uint32_t)(component->v_samp_factor * cjpeg_scaled_size(component));
    const uint32_t first = mcu_row * rows, height = component->downsampled_height;
    band->planes[c].samples = reader->rows[c][0];
    band->planes[c].stride = (size_t)(reader->rows[c][1] - reader->rows[c][0]);
    if (rows == 1) band->planes[c].stride = 0;
    band->planes[c].row_count = first >= height ? 0 : height - first < rows ? height - first : rows;
  }
  band->plane_count = info->num_components;
  reader->next_row += lines;
}

static void read_row(cjpeg_reader *reader, cjpeg_band *band) {
  struct jpeg_decompress_struct *info = &reader->info;
  if (reader->next_row >= info->output_height) return;
  reader->next_row += jpeg_read_scanlines(info, &reader->one_row, 1);
  band->planes[0].samples = reader->one_row;
  band->planes[0].stride = (size_t)info->output_width * (size_t)info->output_components;
  band->planes[0].row_count = 1;
  band->plane_count = 1;
}

cjpeg_status cjpeg_next_band(cjpeg_reader *reader, cjpeg_band *band, cjpeg_error *error) {
  *band = (cjpeg_band){0};
  if (setjmp(reader->errors.escape)) {
    *error = reader->errors.error;
    return error->status;
  }
  if (reader->raw) {
    read_raw_band(reader, band);
  } else {
    read_row(reader, band);
  }
  check_end(reader);
  if (reader->errors.data_is_damaged)
    return cjpeg_fail(error, CJPEG_DAMAGED, "%s", reader->errors.error.message);
  return CJPEG_OK;
}
