/// A thin wrapper of Little CMS, which is opened with dlopen at the first use.
#ifndef CCOLOR_H
#define CCOLOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ccolor_transform ccolor_transform;

typedef enum {
  CCOLOR_GRAY,
  CCOLOR_RGB,
  CCOLOR_CMYK,           // the maximum is full ink
  CCOLOR_CMYK_INVERTED,  // the maximum is no ink, as Adobe writes it
} ccolor_pixels;

/// From interleaved pixels by one ICC profile to pixels by another: gray to gray, all others to RGB.
typedef struct {
  const uint8_t *from;
  size_t from_bytes;
  const uint8_t *to;
  size_t to_bytes;
  ccolor_pixels pixels;           // of the input
  bool has_alpha;                 // as the last sample, of both; not of CMYK
  uint8_t in_sample, out_sample;  // bytes of a sample, 1 or 2 (in native byte order)
  int intent;                     // ICC.1:2022, 7.2.15: 0 perceptual, 1 relative colorimetric, 2 saturation, 3 absolute
} ccolor_conversion;

/// Relative colorimetric comes with black point compensation. The profiles' bytes are not needed any more afterwards. NULL when
/// a profile is not of such pixels or cannot be used, or Little CMS is missing.
ccolor_transform *ccolor_create(const ccolor_conversion *conversion);

/// Converts a run of pixels. Not in place where pixels differ in size. From one thread at a time.
void ccolor_apply(const ccolor_transform *transform, const void *in, void *out, size_t pixels);
void ccolor_free(ccolor_transform *transform);

/// The version of the library, "2.14", or NULL when it cannot be opened.
const char *ccolor_library_version(void);

#endif
