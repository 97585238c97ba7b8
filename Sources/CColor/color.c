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
      {(void **)&lcms.open_profile, "cmsOpenProfileFromMem"},  {(void **)&lcms.close_profile, "cmsCloseProfile"},
      {(void **)&lcms.color_space, "cmsGetColorSpace"},
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
  cmsHTRANSFORM handle;  // NULL where there is a table
  size_t in_bytes, out_bytes;  // of a pixel
  // Gray: what each value becomes, since Little CMS would take 33 points of that curve.
  uint16_t *table;
  bool has_alpha;
  uint8_t in_sample, out_sample;  // bytes of a sample
};

// Values that go through Little CMS at a time.
enum { TABLE_STEP = 256 };

static bool fill_table(ccolor_transform *transform, cmsHPROFILE from, cmsHPROFILE to, cmsUInt32Number intent,
                       cmsUInt32Number flags) {
  cmsHTRANSFORM handle = lcms.create_transform(from, TYPE_GRAY_DBL, to, TYPE_GRAY_DBL, intent, flags | cmsFLAGS_NOOPTIMIZE);
  if (!handle) return false;
  const size_t count = transform->in_sample == 1 ? 256 : 65536;
  const double maximum = transform->out_sample == 1 ? 255 : 65535;
  transform->table = malloc(count * sizeof *transform->table);
  for (size_t first = 0; transform->table && first < count; first += TABLE_STEP) {
    double values[TABLE_STEP];
    for (size_t i = 0; i < TABLE_STEP; i++) values[i] = (double)(first + i) / (double)(count - 1);
    lcms.do_transform(handle, values, values, TABLE_STEP);
    for (size_t i = 0; i < TABLE_STEP; i++) {
      // What is no number is black too.
      const double value = values[i] > 0 ? values[i] : 0;
      transform->table[first + i] = (uint16_t)((value < 1 ? value : 1) * maximum + 0.5);
    }
  }
  lcms.delete_transform(handle);
  return transform->table != NULL;
}

static cmsUInt32Number format(const ccolor_conversion *conversion, bool is_output) {
  const cmsUInt32Number bytes = is_output ? conversion->out_sample : conversion->in_sample;
  const cmsUInt32Number sample = BYTES_SH(bytes) | EXTRA_SH(conversion->has_alpha ? 1u : 0u);
  if (is_output || conversion->pixels == CCOLOR_RGB) return COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | sample;
  return COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | sample | FLAVOR_SH(conversion->pixels == CCOLOR_CMYK_INVERTED ? 1u : 0u);
}

static bool make(ccolor_transform *transform, const ccolor_conversion *conversion, cmsHPROFILE from, cmsHPROFILE to) {
  const cmsColorSpaceSignature source = conversion->pixels == CCOLOR_GRAY  ? cmsSigGrayData
                                        : conversion->pixels == CCOLOR_RGB ? cmsSigRgbData
                                                                           : cmsSigCmykData;
  const bool is_gray = conversion->pixels == CCOLOR_GRAY;
  if (lcms.color_space(from) != source || lcms.color_space(to) != (is_gray ? cmsSigGrayData : cmsSigRgbData)) return false;
  const cmsUInt32Number intent = (cmsUInt32Number)conversion->intent;
  cmsUInt32Number flags = intent == INTENT_RELATIVE_COLORIMETRIC ? cmsFLAGS_BLACKPOINTCOMPENSATION : 0;
  const size_t alpha = conversion->has_alpha ? 1 : 0;
  const size_t in_channels = (is_gray ? 1 : conversion->pixels == CCOLOR_RGB ? 3 : 4) + alpha;
  transform->has_alpha = conversion->has_alpha;
  transform->in_sample = conversion->in_sample;
  transform->out_sample = conversion->out_sample;
  transform->in_bytes = in_channels * conversion->in_sample;
  transform->out_bytes = ((is_gray ? 1 : 3) + alpha) * conversion->out_sample;
  if (is_gray) return fill_table(transform, from, to, intent, flags);

  if (conversion->has_alpha) flags |= cmsFLAGS_COPY_ALPHA;
  // 8-bit matrix profiles have a way of their own in Little CMS. Of deeper samples and of ink it makes a table of several
  // dimensions, which with many points is as good as 8 bits need but not as 16 do.
  if (conversion->out_sample > 1) {
    flags |= cmsFLAGS_NOOPTIMIZE;
  } else if (conversion->in_sample > 1 || conversion->pixels != CCOLOR_RGB) {
    flags |= cmsFLAGS_HIGHRESPRECALC;
  }
  transform->handle =
      lcms.create_transform(from, format(conversion, false), to, format(conversion, true), intent, flags);
  return transform->handle != NULL;
}

ccolor_transform *ccolor_create(const ccolor_conversion *conversion) {
  if (conversion->from_bytes > UINT32_MAX || conversion->to_bytes > UINT32_MAX || !opened()) return NULL;
  ccolor_transform *transform = calloc(1, sizeof *transform);
  cmsHPROFILE from = transform ? lcms.open_profile(conversion->from, (cmsUInt32Number)conversion->from_bytes) : NULL;
  cmsHPROFILE to = from ? lcms.open_profile(conversion->to, (cmsUInt32Number)conversion->to_bytes) : NULL;
  if (!to || !make(transform, conversion, from, to)) {
    ccolor_free(transform);
    transform = NULL;
  }
  if (to) lcms.close_profile(to);
  if (from) lcms.close_profile(from);
  return transform;
}

static unsigned sample_at(const uint8_t *bytes, size_t index, unsigned sample) {
  if (sample == 1) return bytes[index];
  uint16_t value;
  memcpy(&value, bytes + 2 * index, 2);
  return value;
}

static void set_sample(uint8_t *bytes, size_t index, unsigned sample, unsigned value) {
  if (sample == 1) {
    bytes[index] = (uint8_t)value;
  } else {
    const uint16_t word = (uint16_t)value;
    memcpy(bytes + 2 * index, &word, 2);
  }
}

// From one depth to the other, by rounding.
static unsigned scaled(unsigned value, unsigned from, unsigned to) {
  if (from == to) return value;
  return to == 1 ? (value + 128) / 257 : value * 257;
}

static void apply_table(const ccolor_transform *transform, const uint8_t *in, uint8_t *out, size_t pixels) {
  const unsigned from = transform->in_sample, to = transform->out_sample;
  const size_t channels = transform->has_alpha ? 2 : 1;
  for (size_t i = 0; i < pixels; i++) {
    set_sample(out, i * channels, to, transform->table[sample_at(in, i * channels, from)]);
    if (transform->has_alpha) {
      set_sample(out, i * 2 + 1, to, scaled(sample_at(in, i * 2 + 1, from), from, to));
    }
  }
}

void ccolor_apply(const ccolor_transform *transform, const void *in, void *out, size_t pixels) {
  const uint8_t *from = in;
  uint8_t *to = out;
  if (transform->table) {
    apply_table(transform, from, to, pixels);
    return;
  }
  while (pixels > 0) {
    const cmsUInt32Number count = pixels > 1 << 20 ? 1 << 20 : (cmsUInt32Number)pixels;
    lcms.do_transform(transform->handle, from, to, count);
    from += (size_t)count * transform->in_bytes;
    to += (size_t)count * transform->out_bytes;
    pixels -= count;
  }
}

void ccolor_free(ccolor_transform *transform) {
  if (!transform) return;
  if (transform->handle) lcms.delete_transform(transform->handle);
  free(transform->table);
  free(transform);
}

const char *ccolor_library_version(void) {
  static char text[16];
  if (!opened()) return NULL;
  const int version = lcms.version();  // 2140 is 2.14
  snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
  return text;
}
