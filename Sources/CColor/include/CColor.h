/// A thin wrapper of Little CMS, which is opened with dlopen at the first use.
#ifndef CCOLOR_H
#define CCOLOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ccolor_transform ccolor_transform;

typedef enum {
  CCOLOR_RGB,            // 3 bytes a pixel
  CCOLOR_CMYK,           // 4 bytes a pixel, 255 is full ink
  CCOLOR_CMYK_INVERTED,  // 255 is no ink, as Adobe writes it
} ccolor_pixels;

/// From 8-bit pixels by their ICC profile to 8-bit sRGB: relative colorimetric with black point compensation. NULL when the
/// profile is not one of such pixels, is broken, or Little CMS is missing.
ccolor_transform *ccolor_to_srgb(const uint8_t *icc, size_t icc_bytes, ccolor_pixels pixels);

/// Converts interleaved pixels to 3 bytes each. In place where they have 3 bytes themselves.
void ccolor_apply(const ccolor_transform *transform, const uint8_t *in, uint8_t *out, size_t pixels);
void ccolor_free(ccolor_transform *transform);

/// The kind of data that a profile describes, as its header says: "RGB ", "GRAY", "CMYK", ...; false when the bytes are not an
/// ICC profile of at least that length. Needs no library.
bool ccolor_profile_space(const uint8_t *icc, size_t icc_bytes, char space[5]);

/// The version of the library, "2.14", or NULL when it cannot be opened.
const char *ccolor_library_version(void);

#endif
