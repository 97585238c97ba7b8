#include "chunks.h"

#include <stdlib.h>
#include <string.h>

// A profile of the largest size that does not compress at all, and its name.
enum { MOST_ICC_CHUNK = CPNG_MOST_ICC + (64 << 10) };

static uint32_t big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Fills the buffer: 1 when that was possible, 0 when the file ends before, -1 on failure.
static int fill(cpng_chunks *chunks, uint8_t *buffer, size_t count) {
  while (count > 0) {
    const ptrdiff_t got = chunks->source.read(chunks->source.context, buffer, count);
    if (got <= 0) return (int)got;
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

// Reads a chunk's data and CRC, of which the first `kept_bytes` are kept: 1 when it is whole and sound, 2 when damaged, else as
// `fill`.
static int read_chunk(cpng_chunks *chunks, uint32_t length, uint8_t *kept, size_t kept_bytes) {
  uint8_t block[4096];
  uint32_t crc = checksum(~(uint32_t)0, chunks->head + 4, 4);
  for (uint32_t done = 0; done < length;) {
    const size_t part = length - done < sizeof block ? length - done : sizeof block;
    const int status = fill(chunks, block, part);
    if (status <= 0) return status;
    crc = checksum(crc, block, part);
    if (done < kept_bytes) memcpy(kept + done, block, kept_bytes - done < part ? kept_bytes - done : part);
    done += (uint32_t)part;
  }
  const int status = fill(chunks, block, 4);
  if (status <= 0) return status;
  return big_endian(block) == ~crc ? 1 : 2;
}

static int skip_chunk(cpng_chunks *chunks, uint32_t length) {
  uint8_t block[4096];
  for (uint64_t left = (uint64_t)length + 4; left > 0;) {
    const size_t part = left < sizeof block ? (size_t)left : sizeof block;
    const int status = fill(chunks, block, part);
    if (status <= 0) return status;
    left -= part;
  }
  return 1;
}

static int read_exif(cpng_chunks *chunks, uint32_t length) {
  const size_t bytes = length < CPNG_MOST_EXIF ? length : CPNG_MOST_EXIF;
  uint8_t *exif = malloc(bytes ? bytes : 1);
  if (!exif) {
    chunks->lacks_memory = true;
    return -1;
  }
  const int status = read_chunk(chunks, length, exif, bytes);
  if (status != 1) {
    free(exif);
    return status;
  }
  chunks->exif = exif;
  chunks->exif_bytes = bytes;
  return 1;
}

static int read_cicp(cpng_chunks *chunks) {
  const int status = read_chunk(chunks, 4, chunks->cicp, 4);
  chunks->has_cicp = status == 1;
  return status;
}

// Takes the chunk that has begun out of the file, or says that it passes.
static int take_out(cpng_chunks *chunks, bool *passes) {
  const uint32_t length = big_endian(chunks->head);
  const uint8_t *type = chunks->head + 4;
  const bool is_ancillary = (type[0] & 0x20) != 0;
  const bool is_icc = memcmp(type, "iCCP", 4) == 0 && !chunks->has_icc && length <= MOST_ICC_CHUNK;
  // What is wrong with a length, libpng says.
  *passes = !is_ancillary || length > INT32_MAX || is_icc || memcmp(type, "tRNS", 4) == 0;
  if (*passes) {
    chunks->has_icc |= is_icc;
    return 1;
  }
  if (memcmp(type, "eXIf", 4) == 0 && !chunks->exif) return read_exif(chunks, length);
  if (memcmp(type, "cICP", 4) == 0 && !chunks->has_cicp && length == 4) return read_cicp(chunks);
  return skip_chunk(chunks, length);
}

// Reads on to the next bytes that pass.
static int next_head(cpng_chunks *chunks) {
  bool passes = !chunks->has_begun;
  do {
    int status = fill(chunks, chunks->head, sizeof chunks->head);
    if (status > 0 && chunks->has_begun) status = take_out(chunks, &passes);
    if (status <= 0) return status;
  } while (!passes);
  chunks->head_left = sizeof chunks->head;
  chunks->body_left = chunks->has_begun ? (uint64_t)big_endian(chunks->head) + 4 : 0;
  chunks->has_begun = true;
  return 1;
}

ptrdiff_t cpng_chunks_read(cpng_chunks *chunks, uint8_t *buffer, size_t count) {
  if (chunks->head_left == 0 && chunks->body_left == 0) {
    const int status = next_head(chunks);
    if (status <= 0) return status;
  }
  if (chunks->head_left > 0) {
    const size_t part = count < chunks->head_left ? count : chunks->head_left;
    memcpy(buffer, chunks->head + sizeof chunks->head - chunks->head_left, part);
    chunks->head_left -= part;
    return (ptrdiff_t)part;
  }
  const ptrdiff_t got = chunks->source.read(chunks->source.context, buffer,
                                            count < chunks->body_left ? count : (size_t)chunks->body_left);
  if (got > 0) chunks->body_left -= (uint64_t)got;
  return got;
}
