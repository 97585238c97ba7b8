#include "inflater.h"

#include <stdlib.h>
#include <string.h>

// A profile of the largest size that does not compress at all, and its name.
enum { MOST_ICC_CHUNK = CPNG_MOST_ICC + (64 << 10) };

uint32_t cpng_big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

int cpng_chunks_fill(cpng_chunks *chunks, uint8_t *buffer, size_t count) {
  while (count > 0) {
    const ptrdiff_t got = chunks->source.read(chunks->source.context, buffer, count);
    if (got <= 0) return (int)got;
    chunks->position += (uint64_t)got;
    buffer += got;
    count -= (size_t)got;
  }
  return 1;
}

// The CRC of PNG (ISO 3309), four bits at a time.
static uint32_t checksum(uint32_t crc, const uint8_t *bytes, size_t count) {
  static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                     0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                     0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
  for (size_t i = 0; i < count; i++) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return crc;
}

// The data of the chunk that has begun, in parts: read_part as often as wanted, then end_chunk. All give 1 when done, else as
// `fill`; end_chunk 2 where the CRC is wrong.
static void begin_chunk(cpng_chunks *chunks) {
  chunks->part_left = cpng_big_endian(chunks->head);
  chunks->part_crc = checksum(~(uint32_t)0, chunks->head + 4, 4);
}

static int read_part(cpng_chunks *chunks, uint8_t *buffer, size_t count) {
  const int status = cpng_chunks_fill(chunks, buffer, count);
  if (status <= 0) return status;
  chunks->part_crc = checksum(chunks->part_crc, buffer, count);
  chunks->part_left -= (uint32_t)count;
  return 1;
}

static int end_chunk(cpng_chunks *chunks) {
  uint8_t block[4096];
  int status = 1;
  while (chunks->part_left > 0 && status > 0) {
    status = read_part(chunks, block, chunks->part_left < sizeof block ? chunks->part_left : sizeof block);
  }
  if (status > 0) status = cpng_chunks_fill(chunks, block, 4);
  if (status <= 0) return status;
  if (cpng_big_endian(block) == ~chunks->part_crc) return 1;
  cpng_count_damaged(&chunks->damaged, (const char *)chunks->head + 4);
  return 2;
}

static int skip_rest(cpng_chunks *chunks) {
  uint8_t block[4096];
  for (uint64_t left = (uint64_t)chunks->part_left + 4; left > 0;) {
    const size_t part = left < sizeof block ? (size_t)left : sizeof block;
    const int status = cpng_chunks_fill(chunks, block, part);
    if (status <= 0) return status;
    left -= part;
  }
  return 1;
}

static uint8_t *allocate(cpng_chunks *chunks, size_t bytes) {
  uint8_t *const pointer = malloc(bytes ? bytes : 1);
  chunks->lacks_memory |= !pointer;
  return pointer;
}

// Whether EXIF of so many bytes is kept, and how much of it: all that is wanted for the orientation is at the beginning.
static bool is_exif_kept(const cpng_chunks *chunks, uint32_t length, size_t *bytes) {
  *bytes = length < CPNG_MOST_EXIF ? length : CPNG_MOST_EXIF;
  if (chunks->keeps_metadata && length <= chunks->metadata.most) *bytes = length;
  return !chunks->has_exif;
}

static int read_exif(cpng_chunks *chunks, size_t bytes) {
  uint8_t *const exif = allocate(chunks, bytes);
  if (!exif) return -1;
  int status = read_part(chunks, exif, bytes);
  chunks->metadata.left_out |= chunks->keeps_metadata && chunks->part_left > 0;
  if (status > 0) status = end_chunk(chunks);
  if (status != 1) {
    free(exif);
    return status;
  }
  cpng_take_exif(&chunks->metadata, exif, bytes);
  chunks->has_exif = true;
  return 1;
}

static int read_text(cpng_chunks *chunks) {
  const uint32_t length = chunks->part_left;
  uint8_t beginning[CPNG_TEXT_BEGINNING];
  const size_t known = length < sizeof beginning ? length : sizeof beginning;
  const int begun = read_part(chunks, beginning, known);
  if (begun <= 0) return begun;
  if (!cpng_is_metadata(chunks->head + 4, beginning, known)) return skip_rest(chunks);
  // A file has one of each kind; each of many could inflate to megabytes.
  enum { MOST_TEXTS = 32 };
  if (chunks->has_data || length > cpng_most_text(&chunks->metadata) || chunks->texts++ >= MOST_TEXTS) {
    chunks->has_late_metadata |= chunks->has_data && !chunks->has_tail_metadata;
    chunks->metadata.left_out |= !chunks->has_data;
    return skip_rest(chunks);
  }
  uint8_t *const text = allocate(chunks, length);
  if (!text) return -1;
  memcpy(text, beginning, known);
  int status = read_part(chunks, text + known, length - known);
  if (status > 0) status = end_chunk(chunks);
  if (status == 1) cpng_take_text(&chunks->metadata, chunks->head + 4, text, length);
  free(text);
  return status;
}

// Colour is given by chunks of fixed lengths. The first of each that is sound counts.
static int read_color(cpng_chunks *chunks, bool *has, size_t length, uint8_t *body) {
  if (*has || chunks->part_left != length) return skip_rest(chunks);
  int status = read_part(chunks, body, length);
  if (status > 0) status = end_chunk(chunks);
  *has = status == 1;
  return status;
}

static int take_color(cpng_chunks *chunks, const uint8_t *type, bool *is_color) {
  cpng_color *const color = &chunks->color;
  uint8_t body[32] = {0};
  int status;
  *is_color = true;
  if (memcmp(type, "cICP", 4) == 0) return read_color(chunks, &color->has_cicp, 4, color->cicp);
  if (memcmp(type, "sRGB", 4) == 0) return read_color(chunks, &color->has_srgb, 1, body);
  if (memcmp(type, "gAMA", 4) == 0) {
    status = read_color(chunks, &color->has_gamma, 4, body);
    if (status == 1 && color->gamma == 0) color->gamma = cpng_big_endian(body);
    return status;
  }
  if (memcmp(type, "cHRM", 4) == 0) {
    const bool is_first = !color->has_chromaticities;
    status = read_color(chunks, &color->has_chromaticities, 32, body);
    for (size_t i = 0; is_first && status == 1 && i < 8; i++) color->chromaticities[i] = cpng_big_endian(body + 4 * i);
    return status;
  }
  // Both were spelled otherwise until the third edition.
  if (memcmp(type, "mDC", 3) == 0) {
    status = read_color(chunks, &color->has_mastering, 24, body);
    if (status == 1 && color->mastering_maximum == 0) color->mastering_maximum = cpng_big_endian(body + 16);
    return status;
  }
  if (memcmp(type, "cLLI", 4) == 0 || memcmp(type, "cLLi", 4) == 0) {
    status = read_color(chunks, &color->has_content_light, 8, body);
    if (status == 1 && color->content_maximum == 0) color->content_maximum = cpng_big_endian(body);
    return status;
  }
  *is_color = false;
  return 1;
}

static bool is_text(const uint8_t *type) {
  return memcmp(type, "tEXt", 4) == 0 || memcmp(type, "zTXt", 4) == 0 || memcmp(type, "iTXt", 4) == 0;
}

// Takes the chunk that has begun out of the file, or says that it passes.
static int take_out(cpng_chunks *chunks, bool *passes) {
  const uint32_t length = cpng_big_endian(chunks->head);
  const uint8_t *const type = chunks->head + 4;
  const bool is_ancillary = (type[0] & 0x20) != 0;
  const bool is_icc = memcmp(type, "iCCP", 4) == 0 && !chunks->has_icc && !chunks->has_data && length <= MOST_ICC_CHUNK;
  chunks->has_data |= memcmp(type, "IDAT", 4) == 0;
  // What is wrong with a length, libpng says.
  *passes = !is_ancillary || length > INT32_MAX || is_icc || memcmp(type, "tRNS", 4) == 0;
  if (*passes) {
    chunks->has_icc |= is_icc;
    return 1;
  }
  begin_chunk(chunks);
  size_t bytes = 0;
  if (memcmp(type, "eXIf", 4) == 0 && is_exif_kept(chunks, length, &bytes)) {
    if (!chunks->has_data) return read_exif(chunks, bytes);
    chunks->has_late_exif = true;
  } else if (is_text(type) && chunks->keeps_metadata) {
    return read_text(chunks);
  } else if (!chunks->has_data) {
    bool is_color = false;
    const int status = take_color(chunks, type, &is_color);
    if (is_color) return status;
    chunks->is_animated |= memcmp(type, "acTL", 4) == 0;
  }
  return skip_rest(chunks);
}

// libpng reads picture data by 8 KB, and uses none of them where they are not whole: a chunk that the file's end cuts short is
// announced as long as it is.
static void shorten_cut_chunk(cpng_chunks *chunks) {
  const uint64_t end = chunks->source.byte_count;
  const uint64_t left = end > chunks->position ? end - chunks->position : 0;
  if (memcmp(chunks->head + 4, "IDAT", 4) != 0 || left >= cpng_big_endian(chunks->head)) return;
  for (int i = 0; i < 4; i++) chunks->head[i] = (uint8_t)(left >> (24 - 8 * i));
}

bool cpng_chunks_is_data(const cpng_chunks *chunks) { return memcmp(chunks->head + 4, "IDAT", 4) == 0; }

int cpng_chunks_read_head(cpng_chunks *chunks) {
  bool passes = false;
  do {
    int status = cpng_chunks_fill(chunks, chunks->head, sizeof chunks->head);
    if (status > 0) status = take_out(chunks, &passes);
    if (status <= 0) return status;
  } while (!passes);
  shorten_cut_chunk(chunks);
  return 1;
}

void cpng_chunks_hand_out(cpng_chunks *chunks) {
  chunks->is_held_back = false;
  chunks->ready = chunks->head;
  chunks->ready_left = sizeof chunks->head;
  chunks->body_left = (uint64_t)cpng_big_endian(chunks->head) + 4;
}

// Reads on to the next bytes that pass.
static int next_chunk(cpng_chunks *chunks) {
  static const uint8_t empty_data[12] = {0, 0, 0, 0, 'I', 'D', 'A', 'T', 0x35, 0xAF, 0x06, 0x1E};
  const bool had_data = chunks->has_data;
  const int status = cpng_chunks_read_head(chunks);
  if (status <= 0) return status;
  cpng_chunks_hand_out(chunks);
  if (!had_data && chunks->has_data) {
    chunks->is_held_back = true;
    chunks->ready = empty_data;
    chunks->ready_left = sizeof empty_data;
    chunks->body_left = 0;
  }
  return 1;
}

static int next_bytes(cpng_chunks *chunks) {
  if (!chunks->has_begun) {
    const int status = cpng_chunks_fill(chunks, chunks->head, sizeof chunks->head);
    chunks->has_begun = true;
    chunks->ready = chunks->head;
    chunks->ready_left = status > 0 ? sizeof chunks->head : 0;
    return status;
  }
  if (chunks->inflater) return cpng_inflater_next(chunks->inflater, chunks);
  if (!chunks->is_held_back) return next_chunk(chunks);
  cpng_chunks_hand_out(chunks);
  return 1;
}

ptrdiff_t cpng_chunks_read(cpng_chunks *chunks, uint8_t *buffer, size_t count) {
  if (chunks->ready_left == 0 && chunks->body_left == 0) {
    const int status = next_bytes(chunks);
    if (status <= 0) return status;
  }
  if (chunks->ready_left > 0) {
    const size_t part = count < chunks->ready_left ? count : chunks->ready_left;
    memcpy(buffer, chunks->ready, part);
    chunks->ready += part;
    chunks->ready_left -= part;
    return (ptrdiff_t)part;
  }
  const ptrdiff_t got = chunks->source.read(chunks->source.context, buffer,
                                            count < chunks->body_left ? count : (size_t)chunks->body_left);
  if (got > 0) {
    chunks->body_left -= (uint64_t)got;
    chunks->position += (uint64_t)got;
  }
  return got;
}

// MARK: The end of the file

static bool is_letter(uint8_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// Whether whole chunks follow one another from here to the end, the last of them IEND.
static bool is_chain(const uint8_t *bytes, size_t count) {
  while (count >= 12) {
    for (size_t i = 4; i < 8; i++)
      if (!is_letter(bytes[i])) return false;
    const uint32_t length = cpng_big_endian(bytes);
    if (length > count - 12) return false;
    if (memcmp(bytes + 4, "IEND", 4) == 0) return count == 12;
    bytes += 12 + (size_t)length;
    count -= 12 + (size_t)length;
  }
  return false;
}

static void take_late(cpng_chunks *chunks, const uint8_t *type, const uint8_t *data, uint32_t length) {
  size_t bytes = 0;
  if (memcmp(type, "eXIf", 4) == 0 && is_exif_kept(chunks, length, &bytes)) {
    uint8_t *const exif = malloc(bytes ? bytes : 1);
    if (!exif) return;
    memcpy(exif, data, bytes);
    cpng_take_exif(&chunks->metadata, exif, bytes);
    chunks->has_exif = true;
  } else if (chunks->keeps_metadata && cpng_is_metadata(type, data, length)) {
    cpng_take_text(&chunks->metadata, type, data, length);
    chunks->has_tail_metadata = true;
  }
}

void cpng_chunks_take_tail(cpng_chunks *chunks, const uint8_t *bytes, size_t count) {
  while (count >= 12 && !is_chain(bytes, count)) {
    bytes++;
    count--;
  }
  while (count > 12) {
    const uint32_t length = cpng_big_endian(bytes);
    const bool is_sound = cpng_big_endian(bytes + 8 + length) == ~checksum(~(uint32_t)0, bytes + 4, 4 + (size_t)length);
    if (is_sound && (bytes[4] & 0x20) != 0) take_late(chunks, bytes + 4, bytes + 8, length);
    bytes += 12 + (size_t)length;
    count -= 12 + (size_t)length;
  }
}
