#include "CColor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lcms2.h>

static struct {
  bool opened;
  cmsHPROFILE (*open_profile)(const void *, cmsUInt32Number);
  cmsHPROFILE (*create_srgb)(void);
  cmsBool (*close_profile)(cmsHPROFILE);
  cmsColorSpaceSignature (*color_space)(cmsHPROFILE);
  cmsHTRANSFORM (*create_transform)(cmsHPROFILE, cmsUInt32Number, cmsHPROFILE, cmsUInt32Number, cmsUInt32Number,
                                    cmsUInt32Number);
  void (*delete_transform)(cmsHTRANSFORM);
  void (*do_transform)(cmsHTRANSFORM, const void *, void *, cmsUInt32Number);
  void (*set_error_handler)(cmsLogErrorHandlerFunction);
  int (*version)(void);
} lcms;

// Little CMS has no standard output of its own unless asked; this keeps it so.
static void ignore_message(cmsContext context, cmsUInt32Number code, const char *text) {
  (void)context;
  (void)code;
  (void)text;
}

static void open_library(void) {
  void *library = dlopen("liblcms2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  const struct {
    void **to;
    const char *name;
  } functions[] = {
      {(void **)&lcms.open_profile, "cmsOpenProfileFromMem"},  {(void **)&lcms.create_srgb, "cmsCreate_sRGBProfile"},
      {(void **)&lcms.close_profile, "cmsCloseProfile"},       {(void **)&lcms.color_space, "cmsGetColorSpace"},
      {(void **)&lcms.create_transform, "cmsCreateTransform"}, {(void **)&lcms.delete_transform, "cmsDeleteTransform"},
      {(void **)&lcms.do_transform, "cmsDoTransform"},         {(void **)&lcms.set_error_handler, "cmsSetLogErrorHandler"},
      {(void **)&lcms.version, "cmsGetEncodedCMMversion"},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    *functions[i].to = dlsym(library, functions[i].name);
    if (!*functions[i].to) {
      dlclose(library);
      return;
    }
  }
  lcms.set_error_handler(ignore_message);
  lcms.opened = true;
}

static bool opened(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  return lcms.opened;
}

struct ccolor_transform {
  cmsHTRANSFORM handle;
  size_t bytes_per_pixel;
};

ccolor_transform *ccolor_to_srgb(const uint8_t *icc, size_t icc_bytes, ccolor_pixels pixels) {
  static const struct {
    cmsColorSpaceSignature space;
    cmsUInt32Number format;
    size_t bytes;
  } kinds[] = {
      [CCOLOR_RGB] = {cmsSigRgbData, TYPE_RGB_8, 3},
      [CCOLOR_CMYK] = {cmsSigCmykData, TYPE_CMYK_8, 4},
      [CCOLOR_CMYK_INVERTED] = {cmsSigCmykData, TYPE_CMYK_8_REV, 4},
  };

  if (icc_bytes > UINT32_MAX || !opened()) return NULL;
  cmsHPROFILE from = lcms.open_profile(icc, (cmsUInt32Number)icc_bytes);
  if (!from) return NULL;
  ccolor_transform *transform = NULL;
  cmsHPROFILE to = lcms.create_srgb();
  if (to && lcms.color_space(from) == kinds[pixels].space) {
    cmsHTRANSFORM handle = lcms.create_transform(from, kinds[pixels].format, to, TYPE_RGB_8,
                                                 INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_BLACKPOINTCOMPENSATION);
    transform = handle ? malloc(sizeof *transform) : NULL;
    if (transform) {
      *transform = (ccolor_transform){handle, kinds[pixels].bytes};
    } else if (handle) {
      lcms.delete_transform(handle);
    }
  }
  if (to) lcms.close_profile(to);
  lcms.close_profile(from);
  return transform;
}

void ccolor_apply(const ccolor_transform *transform, const uint8_t *in, uint8_t *out, size_t pixels) {
  while (pixels > 0) {
    const cmsUInt32Number count = pixels > 1 << 20 ? 1 << 20 : (cmsUInt32Number)pixels;
    lcms.do_transform(transform->handle, in, out, count);
    in += (size_t)count * transform->bytes_per_pixel;
    out += (size_t)count * 3;
    pixels -= count;
  }
}

void ccolor_free(ccolor_transform *transform) {
  if (!transform) return;
  lcms.delete_transform(transform->handle);
  free(transform);
}

// ICC.1:2022, 7.2: the profile's size at offset 0, the data colour space at 16, the signature "acsp" at 36.
bool ccolor_profile_space(const uint8_t *icc, size_t icc_bytes, char space[5]) {
  if (icc_bytes < 132 || memcmp(icc + 36, "acsp", 4) != 0) return false;
  const uint32_t size = (uint32_t)icc[0] << 24 | (uint32_t)icc[1] << 16 | (uint32_t)icc[2] << 8 | icc[3];
  if (size > icc_bytes || size < 132) return false;
  memcpy(space, icc + 16, 4);
  space[4] = 0;
  return true;
}

const char *ccolor_library_version(void) {
  static char text[16];
  if (!opened()) return NULL;
  const int version = lcms.version();  // 2140 is 2.14
  snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
  return text;
}
