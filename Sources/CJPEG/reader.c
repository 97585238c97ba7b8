#include "memory.h"
#include "segments.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32768, GRAY = 128 };

// Before the first scan: no header is so long, and libjpeg needs so little memory for one.
enum { MOST_HEADER_BYTES = 256 << 20, MOST_HEADER_MEMORY = 256 << 10 };

// Salvaging: a file with more damaged scans than this has nothing to win by more of them. After the last row, so many bytes
// are looked through for the end marker.
enum { MOST_DAMAGED_SCANS = 8, END_WINDOW = 65536 };

struct cjpeg_reader {
  cjpeg_errors errors;
  struct jpeg_decompress_struct info;
  struct jpeg_source_mgr manager;
  cjpeg_source source;
  cjpeg_memory memory;
  cjpeg_segments segments;
  struct jpeg_progress_mgr progress;
  bool salvages;
  bool is_started;
  bool reads_scans;      // of several: they are all read before the first row
  bool has_begun;        // to read what follows the header
  bool input_is_over;    // salvaging: nothing more is read
  bool rest_is_made_up;  // salvaging: rows are not asked of libjpeg any more
  bool looks_for_end;    // there are no more rows
  bool saw_end, missed_end, zeros_follow;
  size_t end;
  bool raw;
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

// Rows of the picture before a row of MCUs.
static uint32_t rows_before(const struct jpeg_decompress_struct *info, JDIMENSION mcu_row) {
  const uint64_t rows = (uint64_t)mcu_row * (uint64_t)info->max_v_samp_factor * DCTSIZE;
  return rows < info->image_height ? (uint32_t)rows : info->image_height;
}

// What is missing or wrong, in words.
static void describe_damage(const cjpeg_reader *reader, char *text, size_t size) {
  const struct jpeg_decompress_struct *info = &reader->info;
  const cjpeg_damage *damage = &reader->errors.damage;
  const uint32_t rows = rows_before(info, damage->mcu_row), height = info->image_height;
  const int percent = (int)((uint64_t)rows * 100 / height);
  char scan[32] = "";
  if (reader->reads_scans) snprintf(scan, sizeof scan, " in scan %d,", damage->scan);
  switch (damage->kind) {
    case CJPEG_NO_DAMAGE: text[0] = 0; break;
    case CJPEG_FILE_ENDED:
      if (*scan && rows == height) {
        snprintf(text, size, "the file ends after scan %d", damage->scan);
        break;
      }
      snprintf(text, size, "the file ends%s after %d%% of %s rows", scan, percent, *scan ? "its" : "the");
      break;
    case CJPEG_DATA_ENDED:
      snprintf(text, size, "the data end%s after %d%% of %s rows", scan, percent, *scan ? "its" : "the");
      break;
    case CJPEG_DATA_WRONG:
      snprintf(text, size, "the data are damaged%s at row %u of %u", scan, rows < height ? rows + 1 : height, height);
      break;
    case CJPEG_SCANS_MISSING: snprintf(text, size, "the file ends after scan %d, more are missing", damage->scan); break;
    case CJPEG_NO_SCAN: snprintf(text, size, "component %d has no scan", damage->component); break;
  }
}

static void refuse_damage(cjpeg_reader *reader) {
  char text[sizeof reader->errors.error.message];
  describe_damage(reader, text, sizeof text);
  cjpeg_escape((j_common_ptr)&reader->info, CJPEG_CUT, "%s", text);
}

// What is refused in the end is refused at once: libjpeg would go on to the last row, of a size that the file may have made
// up. Salvaging goes on where there is something to show.
static void check_damage(cjpeg_reader *reader) {
  const cjpeg_damage *damage = &reader->errors.damage;
  if (damage->kind == CJPEG_NO_DAMAGE) return;
  if (!reader->salvages) refuse_damage(reader);
  const bool has_nothing = damage->mcu_row == 0 && damage->scan <= 1;
  if (has_nothing && (damage->kind == CJPEG_FILE_ENDED || damage->kind == CJPEG_DATA_ENDED)) refuse_damage(reader);
}

// Called by libjpeg for each row of MCUs and each scan.
static void monitor_progress(j_common_ptr info) {
  const struct jpeg_decompress_struct *decoder = (j_decompress_ptr)info;
  cjpeg_reader *reader = info->client_data;
  reader->has_begun = true;
  check_damage(reader);
  ask_to_go_on(reader);
  if (reader->input_is_over) return;
  if (decoder->input_scan_number > CJPEG_MOST_SCANS)
    cjpeg_escape(info, CJPEG_DAMAGED, "there are more than %d scans", CJPEG_MOST_SCANS);
  if (reader->errors.damaged_scans > MOST_DAMAGED_SCANS)
    cjpeg_escape(info, CJPEG_DAMAGED, "there are more than %d damaged scans", MOST_DAMAGED_SCANS);
}

static void make_up_end(cjpeg_reader *reader) {
  reader->block[0] = 0xFF;
  reader->block[1] = JPEG_EOI;
  reader->manager.next_input_byte = reader->block;
  reader->manager.bytes_in_buffer = 2;
}

static boolean fill_input_buffer(j_decompress_ptr info) {
  cjpeg_reader *reader = info->client_data;
  if (reader->input_is_over) {
    make_up_end(reader);
    return TRUE;
  }
  ask_to_go_on(reader);
  if (!reader->is_started && reader->errors.bytes_read > MOST_HEADER_BYTES)
    cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "there is no scan in the first %d bytes", MOST_HEADER_BYTES);
  const ptrdiff_t count = reader->source.read(reader->source.context, reader->block, BLOCK);
  if (count < 0) cjpeg_escape((j_common_ptr)info, CJPEG_READ_FAILED, "reading failed");
  reader->manager.next_input_byte = reader->block;
  reader->manager.bytes_in_buffer = (size_t)count;
  reader->errors.bytes_read += (size_t)count;
  if (count == 0) {
    // Whether anything is missing is found when the decoder wants more than there is. But the arithmetic decoder takes a
    // marker for endless zeros, without a warning: of its data any part may be missing when the end marker was made up.
    reader->errors.source_ended = true;
    make_up_end(reader);
    if (reader->is_started && info->arith_code && reader->next_row < info->output_height) {
      reader->errors.has_run_out = true;
      cjpeg_note_damage(info, CJPEG_FILE_ENDED);
    }
  }
  return TRUE;
}

static void skip_input_data(j_decompress_ptr info, long count) {
  cjpeg_reader *reader = info->client_data;
  while (count > 0 && !reader->errors.source_ended && !reader->input_is_over) {
    if (reader->manager.bytes_in_buffer == 0) fill_input_buffer(info);
    const size_t step = reader->manager.bytes_in_buffer < (size_t)count ? reader->manager.bytes_in_buffer : (size_t)count;
    if (reader->errors.source_ended) return;
    reader->manager.next_input_byte += step;
    reader->manager.bytes_in_buffer -= step;
    count -= (long)step;
  }
}

static void term_source(j_decompress_ptr info) { (void)info; }

void cjpeg_close(cjpeg_reader *reader) {
  if (!reader) return;
  jpeg_destroy_decompress(&reader->info);
  cjpeg_memory_free(&reader->memory);
  cjpeg_segments_free_metadata(&reader->segments);
  cjpeg_segments_free_icc(&reader->segments);
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
      return cjpeg_fail(error, CJPEG_UNSUPPORTED, "it has %d components; 1, 3 and 4 are known",
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
  cjpeg_segments_attach(&reader->info);
  jpeg_read_header(&reader->info, TRUE);
  cjpeg_segments_close(&reader->segments);
  return check_header(reader, error);
}

cjpeg_reader *cjpeg_open(cjpeg_source source, cjpeg_reading reading, cjpeg_error *error) {
  cjpeg_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    cjpeg_fail(error, CJPEG_NO_MEMORY, "no memory for a JPEG decoder");
    return NULL;
  }
  reader->source = source;
  cjpeg_errors_init(&reader->errors);
  reader->errors.memory = &reader->memory;
  reader->errors.segments = &reader->segments;
  reader->segments.keeps_metadata = reading.keeps_metadata;
  reader->salvages = reading.salvages;
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
      .odd_transform = reader->errors.odd_transform,
      .exif_bytes = reader->segments.exif.count,
      .icc_bytes = reader->segments.icc_total,
      .icc_fault = reader->segments.icc_fault,
      .icc_segment = reader->segments.icc_segment,
      .icc_announced = reader->segments.icc_announced,
      .extended_xmp = reader->segments.extended_xmp,
      .too_much_photoshop = reader->segments.too_much_photoshop,
      .ultra_hdr = reader->segments.ultra_hdr,
      .iso_gain_map = reader->segments.iso_gain_map,
      .trailer_announced = reader->segments.trailer_announced,
      .second_picture = reader->segments.second_picture,
      .second_picture_offset = reader->segments.second_picture_offset,
  };
  for (int i = 0; i < info->num_components && i < 4; i++) {
    header.h_samp[i] = info->comp_info[i].h_samp_factor;
    header.v_samp[i] = info->comp_info[i].v_samp_factor;
  }
  return header;
}

static cjpeg_bytes bytes_of(const cjpeg_segment *segment) { return (cjpeg_bytes){segment->bytes, segment->count}; }

cjpeg_metadata cjpeg_get_metadata(const cjpeg_reader *reader) {
  const cjpeg_segments *segments = &reader->segments;
  return (cjpeg_metadata){
      .exif = bytes_of(&segments->exif), .xmp = bytes_of(&segments->xmp), .photoshop = bytes_of(&segments->photoshop)};
}

void cjpeg_drop_metadata(cjpeg_reader *reader) { cjpeg_segments_free_metadata(&reader->segments); }

void cjpeg_take_icc(cjpeg_reader *reader, uint8_t *out) {
  cjpeg_segments *segments = &reader->segments;
  for (int i = 1; i <= segments->icc_announced; i++) {
    if (segments->icc[i].count > 0) memcpy(out, segments->icc[i].bytes, segments->icc[i].count);
    out += segments->icc[i].count;
  }
  cjpeg_segments_free_icc(segments);
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
    if (!info->comp_info[c].quant_table) {
      cjpeg_note_damage(info, CJPEG_NO_SCAN);
      if (reader->errors.damage.kind == CJPEG_NO_SCAN) reader->errors.damage.component = c + 1;
      break;
    }
    if (!reader->errors.source_ended || !info->coef_bits) continue;
    for (int i = 0; i < DCTSIZE2; i++)
      if (info->coef_bits[c][i] != 0) {
        cjpeg_note_damage(info, CJPEG_SCANS_MISSING);
        return;
      }
  }
}

// Salvaging: what libjpeg cannot go on with in the middle of the scans ends them there, as an end marker would.
static void end_input(cjpeg_reader *reader) {
  if (reader->errors.damage.kind == CJPEG_NO_DAMAGE) cjpeg_note_damage(&reader->info, CJPEG_DATA_WRONG);
  reader->input_is_over = true;
  reader->info.unread_marker = JPEG_EOI;
  reader->manager.bytes_in_buffer = 0;
}

// On its own so that no local of the caller is lost by a jump.
static cjpeg_status start_decompress(cjpeg_reader *reader) {
  struct jpeg_decompress_struct *info = &reader->info;
  if (setjmp(reader->errors.escape)) return reader->errors.error.status;
  reader->reads_scans = jpeg_has_multiple_scans(info);
  jpeg_start_decompress(info);
  if (reader->reads_scans) {
    check_scans(reader);
    reader->missed_end = reader->errors.source_ended;
    reader->saw_end = !reader->errors.source_ended && !reader->input_is_over;
  }
  check_damage(reader);
  if (reader->raw) {
    allocate_rows(reader);
  } else {
    reader->one_row = info->mem->alloc_large((j_common_ptr)info, JPOOL_IMAGE,
                                             (size_t)info->output_width * (size_t)info->output_components);
  }
  return CJPEG_OK;
}

cjpeg_status cjpeg_start(cjpeg_reader *reader, int eighths, const cjpeg_limits *limits, cjpeg_error *error) {
  struct jpeg_decompress_struct *info = &reader->info;
  if (reader->is_started || eighths < 1 || eighths > 8)
    return cjpeg_fail(error, CJPEG_FAULT, "decoding cannot start at %d/8", eighths);
  reader->is_started = true;
  cjpeg_segments_free_metadata(&reader->segments);
  cjpeg_segments_free_icc(&reader->segments);
  reader->memory.most_allocated = limits->library_bytes;
  reader->memory.store = cjpeg_store_create(limits, cjpeg_blocks_best());
  if (!reader->memory.store) return cjpeg_fail(error, CJPEG_NO_MEMORY, "no memory for a JPEG decoder");
  info->scale_num = (unsigned)eighths;
  info->scale_denom = 8;
  reader->raw = info->jpeg_color_space == JCS_GRAYSCALE || info->jpeg_color_space == JCS_YCbCr;
  if (reader->raw) {
    info->raw_data_out = TRUE;
    info->out_color_space = info->jpeg_color_space;
  } else {
    info->out_color_space = info->jpeg_color_space == JCS_RGB ? JCS_RGB : JCS_CMYK;
  }
  cjpeg_status status = start_decompress(reader);
  if (status == CJPEG_DAMAGED && reader->salvages && reader->reads_scans && reader->has_begun) {
    end_input(reader);
    status = start_decompress(reader);
  }
  if (status != CJPEG_OK) *error = reader->errors.error;
  return status;
}

cjpeg_plane cjpeg_get_plane(const cjpeg_reader *reader, int plane) {
  const struct jpeg_decompress_struct *info = &reader->info;
  if (!reader->raw) return (cjpeg_plane){info->output_width, info->output_height, smallest_scaled_size(info)};
  const jpeg_component_info *component = &info->comp_info[plane];
  return (cjpeg_plane){component->downsampled_width, component->downsampled_height, cjpeg_scaled_size(component)};
}

// Gray, where libjpeg has nothing to decode any more.
static void fill_raw_rows(cjpeg_reader *reader) {
  const struct jpeg_decompress_struct *info = &reader->info;
  for (int c = 0; c < info->num_components; c++) {
    const jpeg_component_info *component = &info->comp_info[c];
    const size_t width = component->width_in_blocks * (size_t)cjpeg_scaled_size(component);
    for (int y = 0; y < component->v_samp_factor * cjpeg_scaled_size(component); y++)
      memset(reader->rows[c][y], GRAY, width);
  }
}

static void read_raw_band(cjpeg_reader *reader, cjpeg_band *band) {
  struct jpeg_decompress_struct *info = &reader->info;
  const JDIMENSION lines = (JDIMENSION)(info->max_v_samp_factor * smallest_scaled_size(info));
  if (reader->next_row >= info->output_height) return;
  if (reader->rest_is_made_up) {
    fill_raw_rows(reader);
  } else {
    jpeg_read_raw_data(info, reader->rows, lines);
  }
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
  const size_t bytes = (size_t)info->output_width * (size_t)info->output_components;
  if (reader->next_row >= info->output_height) return;
  if (reader->rest_is_made_up) {
    memset(reader->one_row, GRAY, bytes);
    reader->next_row++;
  } else {
    reader->next_row += jpeg_read_scanlines(info, &reader->one_row, 1);
  }
  band->planes[0].samples = reader->one_row;
  band->planes[0].stride = bytes;
  band->planes[0].row_count = 1;
  band->plane_count = 1;
}

static void read_band(cjpeg_reader *reader, cjpeg_band *band) {
  if (reader->raw) {
    read_raw_band(reader, band);
  } else {
    read_row(reader, band);
  }
}

// The next byte of a file of one scan after its last row; -1 at the end.
static int byte_after_rows(cjpeg_reader *reader) {
  if (reader->manager.bytes_in_buffer == 0) fill_input_buffer(&reader->info);
  if (reader->errors.source_ended) return -1;
  reader->manager.bytes_in_buffer--;
  return *reader->manager.next_input_byte++;
}

// Whether the end marker follows the last row. What else may follow it is nobody's concern: a number of lines (DNL), comments.
static void look_for_end(cjpeg_reader *reader) {
  if (reader->reads_scans || reader->missed_end || reader->saw_end || reader->errors.damage.kind != CJPEG_NO_DAMAGE) return;
  int marker = reader->info.unread_marker;
  bool after_ff = false;
  for (int i = 0; marker == 0 && i < END_WINDOW && !reader->errors.source_ended; i++) {
    const int byte = byte_after_rows(reader);
    if (after_ff && byte == JPEG_EOI) marker = byte;
    after_ff = byte == 0xFF;
  }
  reader->missed_end = reader->errors.source_ended;
  reader->saw_end = marker == JPEG_EOI && !reader->missed_end;
}

static void note_end(cjpeg_reader *reader) {
  if (!reader->saw_end || reader->end > 0) return;
  const struct jpeg_source_mgr *manager = &reader->manager;
  reader->end = reader->errors.bytes_read - manager->bytes_in_buffer;
  reader->zeros_follow = manager->bytes_in_buffer > 0;
  for (size_t i = 0; i < manager->bytes_in_buffer; i++)
    if (manager->next_input_byte[i] != 0) reader->zeros_follow = false;
}

cjpeg_status cjpeg_next_band(cjpeg_reader *reader, cjpeg_band *band, cjpeg_error *error) {
  *band = (cjpeg_band){0};
  if (setjmp(reader->errors.escape)) {
    // The picture is whole, whatever follows it.
    if (reader->looks_for_end) return CJPEG_OK;
    const bool is_over = reader->errors.error.status != CJPEG_DAMAGED || !reader->salvages || reader->rest_is_made_up;
    if (is_over) {
      *error = reader->errors.error;
      return error->status;
    }
    cjpeg_note_damage(&reader->info, CJPEG_DATA_WRONG);
    reader->rest_is_made_up = true;
  }
  read_band(reader, band);
  // Of one scan nothing more can come: the rest is not worth libjpeg's time.
  if (!reader->reads_scans && reader->errors.has_run_out) reader->rest_is_made_up = true;
  check_damage(reader);
  if (band->plane_count == 0) {
    reader->looks_for_end = true;
    look_for_end(reader);
    note_end(reader);
  }
  return CJPEG_OK;
}

// What the damage did to the picture.
static const char *consequence(const cjpeg_reader *reader) {
  switch (reader->errors.damage.kind) {
    case CJPEG_NO_DAMAGE: return "";
    case CJPEG_FILE_ENDED:
    case CJPEG_DATA_ENDED: return reader->reads_scans ? ": the picture is coarse where more is missing" : ": the rest is gray";
    case CJPEG_DATA_WRONG: return ": what follows may be wrong";
    case CJPEG_SCANS_MISSING: return ": the picture is coarse";
    case CJPEG_NO_SCAN: return ": what it would show is missing";
  }
  return "";
}

cjpeg_findings cjpeg_get_findings(const cjpeg_reader *reader) {
  cjpeg_findings findings = {
      .end_is_missing = reader->missed_end && reader->errors.damage.kind == CJPEG_NO_DAMAGE,
      .stray_bytes = reader->errors.has_stray_bytes && reader->errors.damage.kind == CJPEG_NO_DAMAGE,
      .end = reader->end,
      .zeros_follow = reader->zeros_follow,
  };
  describe_damage(reader, findings.damage, sizeof findings.damage);
  const size_t length = strlen(findings.damage);
  snprintf(findings.damage + length, sizeof findings.damage - length, "%s", consequence(reader));
  return findings;
}
