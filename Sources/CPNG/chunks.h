#ifndef CPNG_CHUNKS_H
#define CPNG_CHUNKS_H

#include "metadata.h"

struct cpng_inflater;

/// A PNG file with the chunks taken out that libpng need not see. libpng reads whole chunks into memory before it throws them
/// away, and EXIF twice.
typedef struct {
  cpng_source source;
  uint64_t position;    // in the source
  bool keeps_metadata;  // whole; else the beginning of EXIF alone
  uint8_t head[8];      // the signature, or the length and type of a chunk that passes
  bool is_held_back;    // that chunk waits until the next is asked for
  const uint8_t *ready;  // what is handed out before the chunk's body: its head, or what was made of the picture data
  size_t ready_left;
  uint64_t body_left;  // bytes of that chunk's data and CRC
  bool has_begun;
  bool has_data;  // picture data have come
  struct cpng_inflater *inflater;  // of the picture data, until they are over; NULL: libpng inflates
  const char *fault;               // what it found wrong with them
  bool has_wrong_data;             // reading failed for the checksum of a chunk of them
  uint32_t damaged_data;           // of these that were used nevertheless
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

/// Reads up to `count` bytes of what passes: as a source's read function. Before the first picture data comes an empty chunk of
/// them, after which libpng returns to its caller: who may set `inflater` then.
ptrdiff_t cpng_chunks_read(cpng_chunks *chunks, uint8_t *buffer, size_t count);

/// For the inflater. Fills the buffer: 1 when that was possible, 0 when the file ends before, -1 on failure.
int cpng_chunks_fill(cpng_chunks *chunks, uint8_t *buffer, size_t count);

/// For the inflater. Reads on to the head of the next chunk that passes: likewise.
int cpng_chunks_read_head(cpng_chunks *chunks);

/// Makes that chunk ready.
void cpng_chunks_hand_out(cpng_chunks *chunks);

bool cpng_chunks_is_data(const cpng_chunks *chunks);
uint32_t cpng_big_endian(const uint8_t *bytes);

/// Takes metadata from the last bytes of the file, as far as whole chunks are in them.
void cpng_chunks_take_tail(cpng_chunks *chunks, const uint8_t *bytes, size_t count);

#endif
