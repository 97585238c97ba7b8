/// A thin wrapper of Little CMS, which is opened with dlopen at the first use.
#ifndef CCOLOR_H
#define CCOLOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ccolor_transform ccolor_transform;

/// From 8-bit CMYK by an ICC profile to 8-bit sRGB: relative colorimetric with black point compensation. `inverted` says that
/// 255 means no ink, as Adobe writes it. NULL when the profile is not one of CMYK, is broken, or Little CMS is missing.
ccolor_transform *ccolor_cmyk_to_srgb(const uint8_t *icc, size_t icc_bytes, bool inverted);

/// Converts interleaved pixels.
void ccolor_apply(const ccolor_transform *transform, const uint8_t *in, uint8_t *out, size_t pixels);
void ccolor_free(ccolor_transform *transform);

/// The kind of data that a profile describes, as its header says: "RGB ", "GRAY", "CMYK", ...; false when the bytes are not an
/// ICC profile of at least that length. Needs no library.
bool ccolor_profile_space(const uint8_t *icc, size_t icc_bytes, char space[5]);

/// The version of the library, "2.14", or NULL when it cannot be opened.
const char *ccolor_library_version(void);

#endif
