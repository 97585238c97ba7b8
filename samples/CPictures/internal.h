#ifndef CPIC_INTERNAL_H
#define CPIC_INTERNAL_H

#include "CPictures.h"

/// Keeps the message for cpic_message and gives 1, so that a failure is `return cpic_fail(...)`.
int cpic_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// A growing buffer for the encoders.
typedef struct {
  cpic_bytes bytes;
  size_t capacity;
} cpic_buffer;

/// Nonzero when there is no memory; the buffer is then as before.
int cpic_append(cpic_buffer *buffer, const void *data, size_t length);
void cpic_put16(cpic_buffer *buffer, unsigned value, bool big_endian, bool *failed);
void cpic_put32(cpic_buffer *buffer, uint32_t value, bool big_endian, bool *failed);

/// Writes encoded bytes to a file, then frees them.
int cpic_save_and_free(const char *path, cpic_bytes *bytes);

/// `exif_raw` when there is one, else made from `exif`; `owned` is to be freed.
int cpic_choose_exif(const cpic_exif *exif, cpic_bytes raw, cpic_bytes *chosen, cpic_bytes *owned);
/// The orientation tag of a TIFF structure; 0: none.
int cpic_exif_orientation(const uint8_t *data, size_t length);

/// A row of `width` RGB pixels of 8 bits becomes one of CMYK (ink) in the same place.
void cpic_row_to_cmyk(uint8_t *row, int width);

int cpic_decode_jpeg(const void *data, size_t length, cpic_picture **picture, cpic_info *info);
int cpic_decode_png(const void *data, size_t length, cpic_picture **picture, cpic_info *info);
int cpic_decode_heif(const void *data, size_t length, cpic_picture **picture, cpic_info *info);

#define CPIC_XMP_NAMESPACE "http://ns.adobe.com/xap/1.0/"

#endif
