#include "common.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32768, MARKER_BYTES = 65533, MOST_SEGMENTS = 255 };

// What lies before the data in their segments, the final 0 of each text included. A resource of Photoshop is "8BIM", its
// number, an empty name and its length; the data are filled up to an even number of bytes.
static const char exif_name[] = "Exif\0", xmp_name[] = "http://ns.adobe.com/xap/1.0/", icc_name[] = "ICC_PROFILE",
                  photoshop_name[] = "Photoshop 3.0";
enum { ICC_OVERHEAD = sizeof icc_name + 2, RESOURCE_OVERHEAD = 12, IPTC_RESOURCE = 0x0404 };


/// Rows of one plane that wait until a row of MCUs is complete, each padded to whole blocks.
typedef struct {
  uint8_t *rows;
  size_t width, stride;  // samples given, samples kept
  size_t capacity, count;
  size_t mcu_rows;  // rows of this plane in a row of MCUs
  size_t height, taken;
} queue;

struct cjpeg_writer {
  cjpeg_errors errors;
  struct jpeg_compress_struct info;
  struct jpeg_destination_mgr manager;
  cjpeg_sink sink;
  bool raw;
  int planes;
  queue queues[3];
  uint8_t block[BLOCK];
};

static void init_destination(j_compress_ptr info) {
  cjpeg_writer *writer = info->client_data;
  writer->manager.next_output_byte = writer->block;
  writer->manager.free_in_buffer = BLOCK;
}

static void deliver(j_compress_ptr info, size_t count) {
  cjpeg_writer *writer = info->client_data;
  if (count && writer->sink.write(writer->sink.context, writer->block, count) != 0)
    cjpeg_escape((j_common_ptr)info, CJPEG_WRITE_FAILED, "writing failed");
  init_destination(info);
}

static boolean empty_output_buffer(j_compress_ptr info) {
  deliver(info, BLOCK);
  return TRUE;
}

static void term_destination(j_compress_ptr info) {
  cjpeg_writer *writer = info->client_data;
  deliver(info, BLOCK - writer->manager.free_in_buffer);
}

void cjpeg_discard(cjpeg_writer *writer) {
  if (!writer) return;
  jpeg_destroy_compress(&writer->info);
  for (int i = 0; i < 3; i++) free(writer->queues[i].rows);
  free(writer);
}

size_t cjpeg_most_bytes(cjpeg_kind kind) {
  switch (kind) {
    case CJPEG_EXIF: return MARKER_BYTES - sizeof exif_name;
    case CJPEG_XMP: return 65502;  // XMP specification, part 3, 1.1.3
    case CJPEG_IPTC: return (MARKER_BYTES - sizeof photoshop_name - RESOURCE_OVERHEAD) & ~(size_t)1;
    case CJPEG_ICC: return (size_t)MOST_SEGMENTS * (MARKER_BYTES - ICC_OVERHEAD);
  }
  return 0;
}

static void put(j_compress_ptr info, const void *bytes, size_t count) {
  const uint8_t *from = bytes;
  for (size_t i = 0; i < count; i++) jpeg_write_m_byte(info, from[i]);
}

static void write_segment(j_compress_ptr info, int app, const char *name, size_t name_bytes, cjpeg_bytes data) {
  if (data.count == 0) return;
  jpeg_write_m_header(info, JPEG_APP0 + app, (unsigned)(name_bytes + data.count));
  put(info, name, name_bytes);
  put(info, data.bytes, data.count);
}

static void write_iptc(j_compress_ptr info, cjpeg_bytes iptc) {
  if (iptc.count == 0) return;
  const size_t padding = iptc.count % 2;
  const uint8_t resource[RESOURCE_OVERHEAD] = {
      '8', 'B', 'I', 'M', IPTC_RESOURCE >> 8, IPTC_RESOURCE & 0xFF, 0, 0, 0, 0, (uint8_t)(iptc.count >> 8), (uint8_t)iptc.count};
  jpeg_write_m_header(info, JPEG_APP0 + 13, (unsigned)(sizeof photoshop_name + sizeof resource + iptc.count + padding));
  put(info, photoshop_name, sizeof photoshop_name);
  put(info, resource, sizeof resource);
  put(info, iptc.bytes, iptc.count);
  put(info, "", padding);
}

static void write_icc(j_compress_ptr info, cjpeg_bytes icc) {
  const size_t most = MARKER_BYTES - ICC_OVERHEAD;
  const size_t segments = (icc.count + most - 1) / most;
  for (size_t i = 0; i < segments; i++) {
    const size_t count = icc.count - i * most < most ? icc.count - i * most : most;
    jpeg_write_m_header(info, JPEG_APP0 + 2, (unsigned)(count + ICC_OVERHEAD));
    put(info, icc_name, sizeof icc_name);
    jpeg_write_m_byte(info, (int)i + 1);
    jpeg_write_m_byte(info, (int)segments);
    put(info, icc.bytes + i * most, count);
  }
}

static void set_queues(cjpeg_writer *writer) {
  struct jpeg_compress_struct *info = &writer->info;
  for (int c = 0; c < writer->planes; c++) {
    const jpeg_component_info *component = &info->comp_info[c];
    queue *queue = &writer->queues[c];
    const size_t h = (size_t)component->h_samp_factor, v = (size_t)component->v_samp_factor;
    const size_t h_max = (size_t)info->max_h_samp_factor, v_max = (size_t)info->max_v_samp_factor;
    queue->width = (info->image_width * h + h_max - 1) / h_max;
    queue->height = (info->image_height * v + v_max - 1) / v_max;
    queue->stride = (size_t)component->width_in_blocks * DCTSIZE;
    queue->mcu_rows = v * DCTSIZE;
  }
}

static bool fits(const cjpeg_settings *settings) {
  return settings->exif.count <= cjpeg_most_bytes(CJPEG_EXIF) && settings->xmp.count <= cjpeg_most_bytes(CJPEG_XMP) &&
         settings->iptc.count <= cjpeg_most_bytes(CJPEG_IPTC) && settings->icc.count <= cjpeg_most_bytes(CJPEG_ICC);
}

static cjpeg_status start(cjpeg_writer *writer, const cjpeg_settings *settings, cjpeg_error *error) {
  struct jpeg_compress_struct *info = &writer->info;
  if (setjmp(writer->errors.escape)) {
    *error = writer->errors.error;
    return error->status;
  }
  jpeg_create_compress(info);
  info->client_data = writer;
  info->dest = &writer->manager;
  info->image_width = settings->width;
  info->image_height = settings->height;
  info->in_color_space = settings->color == CJPEG_GRAY    ? JCS_GRAYSCALE
                         : settings->color == CJPEG_YCBCR ? JCS_YCbCr
                                                          : JCS_RGB;
  info->input_components = settings->color == CJPEG_GRAY ? 1 : 3;
  jpeg_set_defaults(info);
  jpeg_set_quality(info, settings->quality, TRUE);
  if (settings->color != CJPEG_GRAY) {
    info->comp_info[0].h_samp_factor = settings->h_samp;
    info->comp_info[0].v_samp_factor = settings->v_samp;
  }
  writer->raw = settings->color == CJPEG_YCBCR;
  writer->planes = writer->raw ? 3 : 1;
  info->raw_data_in = writer->raw;
  info->optimize_coding = settings->optimize;
  if (settings->progressive) jpeg_simple_progression(info);
  jpeg_start_compress(info, TRUE);
  write_segment(info, 1, exif_name, sizeof exif_name, settings->exif);
  write_segment(info, 1, xmp_name, sizeof xmp_name, settings->xmp);
  write_iptc(info, settings->iptc);
  write_icc(info, settings->icc);
  if (writer->raw) set_queues(writer);
  return CJPEG_OK;
}

cjpeg_writer *cjpeg_create(cjpeg_sink sink, const cjpeg_settings *settings, cjpeg_error *error) {
  if (!fits(settings)) {
    cjpeg_fail(error, CJPEG_FAULT, "metadata or a profile longer than a JPEG holds");
    return NULL;
  }
  cjpeg_writer *writer = calloc(1, sizeof *writer);
  if (!writer) {
    cjpeg_fail(error, CJPEG_NO_MEMORY, "no memory for a JPEG encoder");
    return NULL;
  }
  writer->sink = sink;
  cjpeg_errors_init(&writer->errors);
  writer->info.err = &writer->errors.base;
  writer->manager.init_destination = init_destination;
  writer->manager.empty_output_buffer = empty_output_buffer;
  writer->manager.term_destination = term_destination;
  if (start(writer, settings, error) != CJPEG_OK) {
    cjpeg_discard(writer);
    return NULL;
  }
  return writer;
}

// Room for one row more, zeroed or not; rows are few, so the queue grows by a row of MCUs at a time.
static bool make_room(queue *queue) {
  if (queue->count < queue->capacity) return true;
  const size_t capacity = queue->capacity + queue->mcu_rows;
  uint8_t *rows = realloc(queue->rows, capacity * queue->stride);
  if (!rows) return false;
  queue->rows = rows;
  queue->capacity = capacity;
  return true;
}

static void append(queue *queue, const uint8_t *row) {
  uint8_t *to = queue->rows + queue->count * queue->stride;
  memcpy(to, row, queue->width);
  memset(to + queue->width, row[queue->width - 1], queue->stride - queue->width);
  queue->count++;
}

// The picture's last row is repeated until it fills a row of MCUs.
static bool complete(queue *queue) {
  while (queue->taken == queue->height && queue->count % queue->mcu_rows != 0) {
    if (!make_room(queue)) return false;
    uint8_t *to = queue->rows + queue->count * queue->stride;
    memcpy(to, to - queue->stride, queue->stride);
    queue->count++;
  }
  return true;
}

static void encode_ready(cjpeg_writer *writer) {
  struct jpeg_compress_struct *info = &writer->info;
  JSAMPROW rows[3][4 * DCTSIZE];
  JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
  for (;;) {
    for (int c = 0; c < 3; c++)
      if (writer->queues[c].count < writer->queues[c].mcu_rows) return;
    for (int c = 0; c < 3; c++)
      for (size_t i = 0; i < writer->queues[c].mcu_rows; i++)
        rows[c][i] = writer->queues[c].rows + i * writer->queues[c].stride;
    jpeg_write_raw_data(info, planes, (JDIMENSION)(info->max_v_samp_factor * DCTSIZE));
    for (int c = 0; c < 3; c++) {
      queue *queue = &writer->queues[c];
      queue->count -= queue->mcu_rows;
      memmove(queue->rows, queue->rows + queue->mcu_rows * queue->stride, queue->count * queue->stride);
    }
  }
}

cjpeg_status cjpeg_write_row(cjpeg_writer *writer, int plane, const uint8_t *row, cjpeg_error *error) {
  if (setjmp(writer->errors.escape)) {
    *error = writer->errors.error;
    return error->status;
  }
  if (!writer->raw) {
    JSAMPROW rows[1] = {(JSAMPROW)(uintptr_t)row};
    jpeg_write_scanlines(&writer->info, rows, 1);
    return CJPEG_OK;
  }
  queue *queue = &writer->queues[plane];
  if (queue->taken == queue->height) return cjpeg_fail(error, CJPEG_FAULT, "too many rows for plane %d", plane);
  if (!make_room(queue)) return cjpeg_fail(error, CJPEG_NO_MEMORY, "no memory for rows to encode");
  append(queue, row);
  queue->taken++;
  if (!complete(queue)) return cjpeg_fail(error, CJPEG_NO_MEMORY, "no memory for rows to encode");
  encode_ready(writer);
  return CJPEG_OK;
}

cjpeg_status cjpeg_finish(cjpeg_writer *writer, cjpeg_error *error) {
  if (setjmp(writer->errors.escape)) {
    *error = writer->errors.error;
    return error->status;
  }
  jpeg_finish_compress(&writer->info);
  return CJPEG_OK;
}
