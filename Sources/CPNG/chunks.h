#ifndef CPNG_CHUNKS_H
#define CPNG_CHUNKS_H

#include "CPNG.h"

/// A PNG file with the chunks taken out that libpng need not see. libpng reads whole chunks into memory before it throws them
/// away, and EXIF twice.
typedef struct {
  cpng_source source;
  uint8_t head[8];  // the signature, or the length and type of a chunk that passes
  size_t head_left;
  uint64_t body_left;  // bytes of that chunk's data and CRC
  bool has_begun;
  bool has_icc;
  bool lacks_memory;  // why reading failed

  uint8_t *exif;  // the beginning of the eXIf chunk's data
  size_t exif_bytes;
  bool has_cicp;
  uint8_t cicp[4];
} cpng_chunks;

/// Reads up to `count` bytes of what passes: as a source's read function.
ptrdiff_t cpng_chunks_read(cpng_chunks *chunks, uint8_t *buffer, size_t count);

#endif
