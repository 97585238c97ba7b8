#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_message[512];

const char *cpic_message(void) { return last_message; }

int cpic_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_message, sizeof last_message, format, arguments);
  va_end(arguments);
  return 1;
}

void cpic_bytes_free(cpic_bytes *bytes) {
  if (!bytes) return;
  free(bytes->data);
  bytes->data = NULL;
  bytes->length = 0;
}

int cpic_append(cpic_buffer *buffer, const void *data, size_t length) {
  if (length == 0) return 0;
  if (length > SIZE_MAX / 2 - buffer->bytes.length) return cpic_fail("too many bytes");
  size_t needed = buffer->bytes.length + length;
  if (needed > buffer->capacity) {
    size_t capacity = buffer->capacity + buffer->capacity / 2 + 65536;
    if (capacity < needed) capacity = needed;
    uint8_t *grown = realloc(buffer->bytes.data, capacity);
    if (!grown) return cpic_fail("no memory for %zu bytes", capacity);
    buffer->bytes.data = grown;
    buffer->capacity = capacity;
  }
  memcpy(buffer->bytes.data + buffer->bytes.length, data, length);
  buffer->bytes.length = needed;
  return 0;
}

void cpic_put16(cpic_buffer *buffer, unsigned value, bool big_endian, bool *failed) {
  uint8_t high = (uint8_t)(value >> 8), low = (uint8_t)value;
  uint8_t bytes[2] = {big_endian ? high : low, big_endian ? low : high};
  if (cpic_append(buffer, bytes, 2)) *failed = true;
}

void cpic_put32(cpic_buffer *buffer, uint32_t value, bool big_endian, bool *failed) {
  cpic_put16(buffer, big_endian ? value >> 16 : value & 0xffff, big_endian, failed);
  cpic_put16(buffer, big_endian ? value & 0xffff : value >> 16, big_endian, failed);
}

int cpic_load_file(const char *path, cpic_bytes *out) {
  *out = (cpic_bytes){0};
  FILE *file = fopen(path, "rb");
  if (!file) return cpic_fail("cannot open %s: %s", path, strerror(errno));
  cpic_buffer buffer = {0};
  int status = 0;
  uint8_t *block = malloc(65536);
  if (!block) status = cpic_fail("no memory");
  while (status == 0) {
    size_t count = fread(block, 1, 65536, file);
    if (count == 0) {
      if (ferror(file)) status = cpic_fail("cannot read %s: %s", path, strerror(errno));
      break;
    }
    status = cpic_append(&buffer, block, count);
  }
  free(block);
  if (fclose(file) != 0 && status == 0) status = cpic_fail("cannot read %s: %s", path, strerror(errno));
  if (status != 0) {
    cpic_bytes_free(&buffer.bytes);
    return status;
  }
  *out = buffer.bytes;
  return 0;
}

int cpic_save_file(const char *path, const void *data, size_t length) {
  FILE *file = fopen(path, "wb");
  if (!file) return cpic_fail("cannot make %s: %s", path, strerror(errno));
  int status = 0;
  if (length > 0 && fwrite(data, 1, length, file) != length) {
    status = cpic_fail("cannot write %s: %s", path, strerror(errno));
  }
  if (fclose(file) != 0 && status == 0) status = cpic_fail("cannot write %s: %s", path, strerror(errno));
  return status;
}

void cpic_info_free(cpic_info *info) {
  if (!info) return;
  cpic_bytes_free(&info->icc);
  cpic_bytes_free(&info->exif);
}

int cpic_decode(const void *data, size_t length, cpic_picture **picture, cpic_info *info) {
  cpic_info ignored;
  cpic_info *found = info ? info : &ignored;
  memset(found, 0, sizeof *found);
  found->adobe_transform = -1;
  found->srgb_intent = -1;
  if (picture) *picture = NULL;
  const uint8_t *bytes = data;
  int status;
  if (length >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff) {
    found->kind = CPIC_FILE_JPEG;
    status = cpic_decode_jpeg(data, length, picture, found);
  } else if (length >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0) {
    found->kind = CPIC_FILE_PNG;
    status = cpic_decode_png(data, length, picture, found);
  } else if (length >= 12 && memcmp(bytes + 4, "ftyp", 4) == 0) {
    found->kind = CPIC_FILE_HEIF;
    status = cpic_decode_heif(data, length, picture, found);
  } else {
    return cpic_fail("neither JPEG, PNG nor HEIF");
  }
  if (status != 0 && picture) {
    cpic_free(*picture);
    *picture = NULL;
  }
  if (status != 0 || !info) cpic_info_free(found);
  return status;
}

int cpic_read(const char *path, cpic_picture **picture, cpic_info *info) {
  if (picture) *picture = NULL;
  if (info) memset(info, 0, sizeof *info);
  cpic_bytes bytes;
  if (cpic_load_file(path, &bytes)) return 1;
  int status = cpic_decode(bytes.data, bytes.length, picture, info);
  cpic_bytes_free(&bytes);
  return status;
}

int cpic_save_and_free(const char *path, cpic_bytes *bytes) {
  int status = cpic_save_file(path, bytes->data, bytes->length);
  cpic_bytes_free(bytes);
  return status;
}
