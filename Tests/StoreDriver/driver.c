#define _GNU_SOURCE  // mkostemp
#include "../../Sources/CJPEG/memory.h"
#include "StoreDriver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  cjpeg_errors errors;
  struct jpeg_decompress_struct info;
  struct jpeg_source_mgr source;
  cjpeg_memory memory;
  driver_result *result;
  size_t capacity;
  JSAMPARRAY rows[MAX_COMPONENTS];
  int file;  // a second descriptor of the temporary file
  bool has_header;
} driver;

bool driver_has_variant(int variant) { return variant <= (int)cjpeg_blocks_best(); }

static int open_file(void *context) {
  driver *d = context;
  char name[] = "/var/tmp/store-test.XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return -1;
  unlink(name);
  d->file = dup(file);
  return file;
}

static void append(driver *d, const uint8_t *bytes, size_t count) {
  driver_result *result = d->result;
  if (result->count + count > d->capacity) {
    d->capacity = 2 * (result->count + count);
    uint8_t *larger = realloc(result->samples, d->capacity);
    if (!larger) abort();
    result->samples = larger;
  }
  memcpy(result->samples + result->count, bytes, count);
  result->count += count;
}

static void read_planes(driver *d) {
  j_decompress_ptr info = &d->info;
  size_t width[MAX_COMPONENTS], height[MAX_COMPONENTS];
  JDIMENSION lines = 0;
  for (int c = 0; c < info->num_components; c++) {
    const jpeg_component_info *component = &info->comp_info[c];
    const JDIMENSION rows = (JDIMENSION)(component->v_samp_factor * cjpeg_scaled_size(component));
    if (rows > lines) lines = rows;
  }
  if (lines < (JDIMENSION)info->max_v_samp_factor * 16) lines = (JDIMENSION)info->max_v_samp_factor * 16;
  for (int c = 0; c < info->num_components; c++) {
    const jpeg_component_info *component = &info->comp_info[c];
    width[c] = (size_t)component->width_in_blocks * (size_t)cjpeg_scaled_size(component);
    height[c] = (size_t)component->v_samp_factor * (size_t)cjpeg_scaled_size(component);
    d->rows[c] = info->mem->alloc_sarray((j_common_ptr)info, JPOOL_IMAGE, (JDIMENSION)width[c], lines);
    for (JDIMENSION y = 0; y < lines; y++) memset(d->rows[c][y], 0, width[c]);
  }
  while (info->output_scanline < info->output_height) {
    jpeg_read_raw_data(info, d->rows, lines);
    for (int c = 0; c < info->num_components; c++)
      for (size_t y = 0; y < height[c]; y++) append(d, d->rows[c][y], width[c]);
  }
}

static void decode(driver *d, const uint8_t *data, size_t length, int eighths, const driver_options *options) {
  j_decompress_ptr info = &d->info;
  if (setjmp(d->errors.escape)) {
    const cjpeg_status status = d->errors.error.status;
    d->result->error = status == CJPEG_DAMAGED || status == CJPEG_UNSUPPORTED ? d->errors.base.msg_code : -1;
    memcpy(d->result->message, d->errors.error.message, sizeof d->result->message);
    return;
  }
  jpeg_create_decompress(info);
  if (options->uses_store) {
    d->memory.most_allocated = (size_t)1 << 30;
    cjpeg_memory_attach(&d->memory, info);
  }
  jpeg_mem_src(info, data, (unsigned long)length);
  jpeg_read_header(info, TRUE);
  d->has_header = true;
  info->scale_num = (unsigned)eighths;
  info->scale_denom = 8;
  info->raw_data_out = TRUE;
  info->out_color_space = info->jpeg_color_space;
  jpeg_start_decompress(info);
  read_planes(d);
}

bool driver_decode(const uint8_t *data, size_t length, int eighths, const driver_options *options, driver_result *result) {
  *result = (driver_result){0};
  driver *d = calloc(1, sizeof *d);
  if (!d) return false;
  d->result = result;
  d->file = -1;
  cjpeg_errors_init(&d->errors);
  d->errors.memory = &d->memory;
  d->info.err = &d->errors.base;
  const cjpeg_limits limits = {
      .store_bytes = options->store_bytes, .file_bytes = options->file_bytes, .context = d, .open_file = open_file};
  if (options->uses_store) d->memory.store = cjpeg_store_create(&limits, (cjpeg_blocks_variant)options->variant);
  decode(d, data, length, eighths, options);
  const cjpeg_usage usage = cjpeg_store_usage(d->memory.store);
  result->scans = d->info.input_scan_number;
  result->library_bytes = d->memory.allocated;
  result->store_bytes = usage.store_bytes;
  result->store_fixed_bytes = usage.store_fixed_bytes;
  result->file_bytes = usage.file_bytes;
  result->written_bytes = usage.written_bytes;
  struct stat status;
  if (d->file >= 0 && fstat(d->file, &status) == 0) result->disk_bytes = (size_t)status.st_blocks * 512;
  if (d->file >= 0) close(d->file);
  jpeg_destroy_decompress(&d->info);
  cjpeg_memory_free(&d->memory);
  const bool has_header = d->has_header;
  free(d);
  return has_header;
}

void driver_free(driver_result *result) {
  free(result->samples);
  *result = (driver_result){0};
}

size_t driver_pack(int variant, const int16_t *blocks, size_t count, uint64_t kept, uint8_t *packed, int16_t *unpacked) {
  const cjpeg_block *in = (const cjpeg_block *)blocks;
  const uint8_t *end = cjpeg_pack_ac((cjpeg_blocks_variant)variant, packed, in, count, kept);
  if (end == packed) {
    memset(unpacked, 0, count * sizeof(cjpeg_block));
  } else {
    cjpeg_unpack_ac((cjpeg_blocks_variant)variant, packed, (cjpeg_block *)unpacked, count, kept);
  }
  return (size_t)(end - packed);
}
