#include "metadata.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

static const char xmp_keyword[] = "XML:com.adobe.xmp";
// How ImageMagick and those after it keep what PNG had no chunk for: as hexadecimal digits.
static const char raw_keyword[] = "Raw profile type ";
static const char *const raw_names[] = {"exif", "APP1", "iptc", "8bim", "xmp"};

enum { RAW_EXIF, RAW_APP1, RAW_IPTC, RAW_8BIM, RAW_XMP, RAW_COUNT };

void cpng_free_metadata(cpng_metadata *metadata) {
  free(metadata->exif);
  free(metadata->xmp);
  free(metadata->iptc);
  metadata->exif = metadata->xmp = metadata->iptc = NULL;
  metadata->exif_bytes = metadata->xmp_bytes = metadata->iptc_bytes = 0;
}

static bool begins(const uint8_t *data, size_t count, const void *with, size_t length) {
  return count >= length && memcmp(data, with, length) == 0;
}

// Which of the names follows raw_keyword and ends the keyword; -1: none.
static int raw_kind(const uint8_t *data, size_t count) {
  const size_t length = sizeof raw_keyword - 1;
  if (!begins(data, count, raw_keyword, length)) return -1;
  for (int i = 0; i < RAW_COUNT; i++)
    if (begins(data + length, count - length, raw_names[i], strlen(raw_names[i]) + 1)) return i;
  return -1;
}

bool cpng_is_metadata(const uint8_t *type, const uint8_t *data, size_t count) {
  if (memcmp(type, "iTXt", 4) == 0) return begins(data, count, xmp_keyword, sizeof xmp_keyword);
  return (memcmp(type, "tEXt", 4) == 0 || memcmp(type, "zTXt", 4) == 0) && raw_kind(data, count) >= 0;
}

// MARK: Text

typedef struct {
  uint8_t *bytes;  // malloc'd
  size_t count;
} block;

static bool copy(const uint8_t *bytes, size_t count, block *out) {
  *out = (block){malloc(count ? count : 1), count};
  if (!out->bytes) return false;
  memcpy(out->bytes, bytes, count);
  return true;
}

static bool inflate_into(z_stream *stream, size_t most, block *out) {
  size_t room = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    if (out->count == room) {
      if (room == most) return false;
      room = room == 0 ? (size_t)1 << 14 : room * 2;
      if (room > most) room = most;
      uint8_t *const larger = realloc(out->bytes, room);
      if (!larger) return false;
      out->bytes = larger;
    }
    stream->next_out = out->bytes + out->count;
    stream->avail_out = (uInt)(room - out->count);
    status = inflate(stream, Z_NO_FLUSH);
    out->count = room - stream->avail_out;
  }
  return status == Z_STREAM_END;
}

// Up to `most` bytes of a zlib stream; what is longer, broken or cut is none.
static bool inflated(const uint8_t *bytes, size_t count, size_t most, block *out) {
  *out = (block){0};
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)count};
  if (inflateInit(&stream) != Z_OK) return false;
  const bool is_whole = inflate_into(&stream, most, out);
  inflateEnd(&stream);
  if (!is_whole) {
    free(out->bytes);
    *out = (block){0};
  }
  return is_whole;
}

// Past the next NUL, or NULL.
static const uint8_t *after_nul(const uint8_t *at, const uint8_t *end) {
  const uint8_t *const nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
  return nul ? nul + 1 : NULL;
}

// The text of a chunk (PNG specification, 11.3.3).
static bool text_of(const uint8_t *type, const uint8_t *data, size_t count, size_t most, block *out) {
  const uint8_t *const end = data + count;
  const uint8_t *at = after_nul(data, end);
  bool is_compressed = memcmp(type, "zTXt", 4) == 0;
  if (!at) return false;
  if (memcmp(type, "iTXt", 4) == 0) {
    if (end - at < 2) return false;
    is_compressed = at[0] != 0;
    if (is_compressed && at[1] != 0) return false;
    at = after_nul(at + 2, end);
    if (at) at = after_nul(at, end);
    if (!at) return false;
  } else if (is_compressed && (at == end || *at++ != 0)) {
    return false;
  }
  const size_t length = (size_t)(end - at);
  return is_compressed ? inflated(at, length, most, out) : length <= most && copy(at, length, out);
}

// MARK: Profiles of ImageMagick's

static int digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Turns "\nexif\n    1234\n4578..." into the bytes of the digits, in place.
static bool unhex(block *text, size_t most) {
  const uint8_t *at = text->bytes, *const end = text->bytes + text->count;
  while (at < end && *at == '\n') at++;
  while (at < end && *at != '\n') at++;
  while (at < end && (*at == '\n' || *at == ' ')) at++;
  size_t length = 0;
  for (; at < end && *at >= '0' && *at <= '9'; at++) {
    length = length * 10 + (size_t)(*at - '0');
    if (length > most) return false;
  }
  if (at == end || *at != '\n') return false;
  size_t done = 0;
  int high = -1;
  for (; at < end && done < length; at++) {
    const int value = digit(*at);
    if (value < 0) {
      if (*at == '\n' || *at == '\r' || *at == ' ') continue;
      return false;
    }
    if (high < 0) {
      high = value;
    } else {
      text->bytes[done++] = (uint8_t)(high << 4 | value);
      high = -1;
    }
  }
  text->count = done;
  return done == length && length > 0;
}

// Of Photoshop's image resources that of IPTC, number 0x0404; or all where IPTC is what begins.
static bool find_iptc(const uint8_t *data, size_t count, const uint8_t **iptc, size_t *iptc_bytes) {
  *iptc = data;
  *iptc_bytes = count;
  if (count > 0 && data[0] == 0x1C) return true;
  for (size_t at = 0; count - at >= 12 && memcmp(data + at, "8BIM", 4) == 0;) {
    const unsigned number = (unsigned)data[at + 4] << 8 | data[at + 5];
    at += 6 + (((size_t)data[at + 6] + 2) & ~(size_t)1);
    if (at > count || count - at < 4) return false;
    const uint32_t size =
        (uint32_t)data[at] << 24 | (uint32_t)data[at + 1] << 16 | (uint32_t)data[at + 2] << 8 | data[at + 3];
    at += 4;
    if (size > count - at) return false;
    if (number == 0x0404) {
      *iptc = data + at;
      *iptc_bytes = size;
      return size > 0;
    }
    at += size + (size & 1);
    if (at > count) return false;
  }
  return false;
}

// MARK: Taking

static bool set(uint8_t **bytes, size_t *count, const uint8_t *from, size_t length) {
  block copied;
  if (length == 0 || !copy(from, length, &copied)) return false;
  free(*bytes);
  *bytes = copied.bytes;
  *count = copied.count;
  return true;
}

static const char exif_start[] = "Exif\0";
static const char xmp_start[] = "http://ns.adobe.com/xap/1.0/";

static bool take_raw(cpng_metadata *metadata, int kind, const uint8_t *data, size_t count) {
  if (kind == RAW_IPTC || kind == RAW_8BIM) {
    const uint8_t *iptc = NULL;
    size_t iptc_bytes = 0;
    if (!find_iptc(data, count, &iptc, &iptc_bytes)) return kind == RAW_8BIM;
    return metadata->iptc || set(&metadata->iptc, &metadata->iptc_bytes, iptc, iptc_bytes);
  }
  const bool is_marked = begins(data, count, xmp_start, sizeof xmp_start);
  if (kind == RAW_XMP || (kind == RAW_APP1 && is_marked)) {
    const size_t start = is_marked ? sizeof xmp_start : 0;
    return metadata->xmp || set(&metadata->xmp, &metadata->xmp_bytes, data + start, count - start);
  }
  if (metadata->exif) return true;
  const size_t start = begins(data, count, exif_start, sizeof exif_start) ? sizeof exif_start : 0;
  metadata->is_exif_raw = true;
  return set(&metadata->exif, &metadata->exif_bytes, data + start, count - start);
}

size_t cpng_most_text(const cpng_metadata *metadata) { return 2 * metadata->most + metadata->most / 16 + 1024; }

void cpng_take_text(cpng_metadata *metadata, const uint8_t *type, const uint8_t *data, size_t count) {
  const bool is_xmp = memcmp(type, "iTXt", 4) == 0;
  const int kind = is_xmp ? -1 : raw_kind(data, count);
  if (is_xmp && metadata->xmp) return;
  block text = {0};
  bool is_taken = text_of(type, data, count, is_xmp ? metadata->most : cpng_most_text(metadata), &text);
  if (is_taken && is_xmp) {
    is_taken = set(&metadata->xmp, &metadata->xmp_bytes, text.bytes, text.count);
  } else if (is_taken) {
    is_taken = unhex(&text, metadata->most) && take_raw(metadata, kind, text.bytes, text.count);
  }
  free(text.bytes);
  metadata->left_out |= !is_taken;
}

void cpng_take_exif(cpng_metadata *metadata, uint8_t *data, size_t count) {
  if (begins(data, count, exif_start, sizeof exif_start)) {
    count -= sizeof exif_start;
    memmove(data, data + sizeof exif_start, count);
  }
  free(metadata->exif);
  metadata->exif = data;
  metadata->exif_bytes = count;
  metadata->is_exif_raw = false;
}
