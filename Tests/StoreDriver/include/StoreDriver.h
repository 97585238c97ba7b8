/// Decodes a JPEG to raw planes, however damaged it is, by libjpeg alone or with the packed store of coefficients: what a
/// decoder that refuses damaged files cannot show.
#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  bool uses_store;
  int variant;         // of the packing code, from 0
  size_t store_bytes;  // limit; past it a temporary file is used
  size_t file_bytes;   // limit of that
} driver_options;

typedef struct {
  uint8_t *samples;  // of all planes as far as they came, band after band; to be freed by driver_free
  size_t count;
  int scans;         // begun
  int error;         // libjpeg's code, 0 at the end of the picture; -1: the store's own
  char message[256];
  size_t library_bytes, store_bytes, store_fixed_bytes, written_bytes;
  size_t file_bytes, disk_bytes;  // in the temporary file, and what it takes on the disk
} driver_result;

/// Whether this processor runs the variant.
bool driver_has_variant(int variant);

/// False without memory, or when the header cannot be read.
bool driver_decode(const uint8_t *data, size_t length, int eighths, const driver_options *options, driver_result *result);
void driver_free(driver_result *result);

/// Packs and unpacks blocks of `count` x 64 coefficients. Gives the packed bytes' number; `packed` has room for 200 a block.
size_t driver_pack(int variant, const int16_t *blocks, size_t count, uint64_t kept, uint8_t *packed, int16_t *unpacked);

#endif
