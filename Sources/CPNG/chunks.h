#ifndef CPNG_CHUNKS_H
#define CPNG_CHUNKS_H

#include "metadata.h"

/// A PNG file with the chunks taken out that libpng need not see. libpng reads whole chunks into memory before it throws them
/// away, and EXIF twice.
typedef struct {
  cpng_source source;
  uint64_t position;    // in the source
  bool keeps_metadata;  // whole; else the beginning of EXIF alone
  uint8_t head[8];      // the signature, or the length and type of a chunk that passes
  size_t head_left;
  uint64_t body_left;  // bytes of that chunk's data and CRC
  bool has_begun;
  bool has_data;  // picture data have come
  bool has_icc;
  bool lacks_memory;  // why reading failed

  uint32_t part_left;  // of the data of a chunk that is taken out
  uint32_t part_crc;

  cpng_metadata metadata;
  bool has_exif, has_late_exif, has_late_metadata;
  int texts;               // of metadata that were inflated
  bool has_tail_metadata;  // some were found in the file's last bytes
  bool is_animated;
  cpng_color color;
  cpng_damaged damaged;  // those taken out that were left out
} cpng_chunks;

/// Reads up to `count` bytes of what passes: as a source's read function.
ptrdiff_t cpng_chunks_read(cpng_chunks *chunks, uint8_t *buffer, size_t count);

/// Takes metadata from the last bytes of the file, as far as whole chunks are in them.
void cpng_chunks_take_tail(cpng_chunks *chunks, const uint8_t *bytes, size_t count);

#endif
