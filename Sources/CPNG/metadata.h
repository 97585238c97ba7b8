#ifndef CPNG_METADATA_H
#define CPNG_METADATA_H

#include "CPNG.h"

/// Metadata as they are kept: malloc'd, NULL where there are none.
typedef struct {
  uint8_t *exif, *xmp, *iptc;
  size_t exif_bytes, xmp_bytes, iptc_bytes;
  bool is_exif_raw;  // from a text chunk: an eXIf chunk replaces it
  bool left_out;     // some were too large, or could not be read
  size_t most;       // bytes of each of them
} cpng_metadata;

void cpng_free_metadata(cpng_metadata *metadata);

/// Counts a chunk whose checksum is wrong. `type` has four letters.
void cpng_count_damaged(cpng_damaged *damaged, const char *type);

/// The most of a text chunk that is read, in bytes: hexadecimal digits of the most metadata, and their line ends.
size_t cpng_most_text(const cpng_metadata *metadata);

/// What tells whether a text chunk holds metadata: so many bytes of its data.
enum { CPNG_TEXT_BEGINNING = 24 };

/// Whether a chunk of this type, beginning with these bytes, is XMP or a profile of ImageMagick's.
bool cpng_is_metadata(const uint8_t *type, const uint8_t *data, size_t count);

/// Takes what such a chunk holds, where there is none yet.
void cpng_take_text(cpng_metadata *metadata, const uint8_t *type, const uint8_t *data, size_t count);

/// Takes the data of an eXIf chunk; the bytes become the metadata's. Some writers put JPEG's "Exif\0\0" before it.
void cpng_take_exif(cpng_metadata *metadata, uint8_t *data, size_t count);

#endif
