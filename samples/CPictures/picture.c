#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t sample_count(const cpic_picture *picture) {
  return (size_t)picture->width * (size_t)picture->height * (size_t)picture->channels;
}

cpic_picture *cpic_create(int width, int height, int channels, int bits) {
  if (width < 1 || height < 1 || channels < 1 || channels > 4 || (bits != 8 && bits != 16)) {
    cpic_fail("no picture of %d x %d, %d channels of %d bits", width, height, channels, bits);
    return NULL;
  }
  size_t bytes;
  if (__builtin_mul_overflow((size_t)width, (size_t)height, &bytes) ||
      __builtin_mul_overflow(bytes, (size_t)(channels * bits / 8), &bytes)) {
    cpic_fail("%d x %d is too large", width, height);
    return NULL;
  }
  cpic_picture *picture = malloc(sizeof *picture);
  void *samples = calloc(1, bytes);
  if (!picture || !samples) {
    free(picture);
    free(samples);
    cpic_fail("no memory for a picture of %zu bytes", bytes);
    return NULL;
  }
  *picture = (cpic_picture){
      .width = width, .height = height, .channels = channels, .bits = bits, .cmyk = false, .samples = samples};
  return picture;
}

void cpic_free(cpic_picture *picture) {
  if (!picture) return;
  free(picture->samples);
  free(picture);
}

size_t cpic_byte_count(const cpic_picture *picture) { return sample_count(picture) * (size_t)(picture->bits / 8); }

static bool is_inside(const cpic_picture *picture, int x, int y, int channel) {
  return x >= 0 && y >= 0 && channel >= 0 && x < picture->width && y < picture->height && channel < picture->channels;
}

static size_t sample_index(const cpic_picture *picture, int x, int y, int channel) {
  return ((size_t)y * (size_t)picture->width + (size_t)x) * (size_t)picture->channels + (size_t)channel;
}

int cpic_sample(const cpic_picture *picture, int x, int y, int channel) {
  if (!is_inside(picture, x, y, channel)) return 0;
  size_t index = sample_index(picture, x, y, channel);
  return picture->bits == 8 ? ((const uint8_t *)picture->samples)[index] : ((const uint16_t *)picture->samples)[index];
}

void cpic_set_sample(cpic_picture *picture, int x, int y, int channel, int value) {
  if (!is_inside(picture, x, y, channel)) return;
  size_t index = sample_index(picture, x, y, channel);
  if (picture->bits == 8) {
    ((uint8_t *)picture->samples)[index] = (uint8_t)value;
  } else {
    ((uint16_t *)picture->samples)[index] = (uint16_t)value;
  }
}

static int to_depth(int value, int from, int to) {
  if (from == to) return value;
  return to == 16 ? value * 257 : (value + 128) / 257;
}

cpic_picture *cpic_convert(const cpic_picture *picture, int channels, int bits) {
  if (picture->cmyk) {
    if (channels == 4 && bits == picture->bits) {
      cpic_picture *copy = cpic_create(picture->width, picture->height, 4, bits);
      if (!copy) return NULL;
      copy->cmyk = true;
      memcpy(copy->samples, picture->samples, cpic_byte_count(picture));
      return copy;
    }
    cpic_picture *rgb = cpic_from_cmyk(picture);
    if (!rgb) return NULL;
    cpic_picture *converted = cpic_convert(rgb, channels, bits);
    cpic_free(rgb);
    return converted;
  }
  cpic_picture *out = cpic_create(picture->width, picture->height, channels, bits);
  if (!out) return NULL;
  if (channels == picture->channels && bits == picture->bits) {
    memcpy(out->samples, picture->samples, cpic_byte_count(picture));
    return out;
  }
  const uint8_t *in8 = picture->samples;
  const uint16_t *in16 = picture->samples;
  uint8_t *out8 = out->samples;
  uint16_t *out16 = out->samples;
  size_t pixels = (size_t)picture->width * (size_t)picture->height;
  int from = picture->channels;
  bool from_colour = from >= 3, to_colour = channels >= 3;
  bool from_alpha = from == 2 || from == 4, to_alpha = channels == 2 || channels == 4;
  for (size_t i = 0; i < pixels; i++) {
    int value[4] = {0};
    for (int c = 0; c < from; c++) {
      value[c] = picture->bits == 8 ? in8[i * (size_t)from + (size_t)c] : in16[i * (size_t)from + (size_t)c];
    }
    int alpha = from_alpha ? value[from - 1] : (picture->bits == 8 ? 255 : 65535);
    if (from_colour && !to_colour) {
      value[0] = (int)((value[0] * 19595u + value[1] * 38470u + value[2] * 7471u + 32768u) >> 16);
    } else if (!from_colour && to_colour) {
      value[1] = value[2] = value[0];
    }
    if (to_alpha) value[channels - 1] = alpha;
    for (int c = 0; c < channels; c++) {
      int result = to_depth(value[c], picture->bits, bits);
      if (bits == 8) {
        out8[i * (size_t)channels + (size_t)c] = (uint8_t)result;
      } else {
        out16[i * (size_t)channels + (size_t)c] = (uint16_t)result;
      }
    }
  }
  return out;
}

cpic_picture *cpic_to_cmyk(const cpic_picture *picture) {
  if (picture->cmyk) return cpic_convert(picture, 4, picture->bits);
  cpic_picture *out = cpic_create(picture->width, picture->height, 4, picture->bits);
  if (!out) return NULL;
  out->cmyk = true;
  bool colour = picture->channels >= 3;
  int top = picture->bits == 8 ? 255 : 65535;
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++) {
      int rgb[3], most = 0;
      for (int c = 0; c < 3; c++) {
        rgb[c] = cpic_sample(picture, x, y, colour ? c : 0);
        if (rgb[c] > most) most = rgb[c];
      }
      for (int c = 0; c < 3; c++) {
        int64_t ink = most == 0 ? 0 : ((int64_t)(most - rgb[c]) * top + most / 2) / most;
        cpic_set_sample(out, x, y, c, (int)ink);
      }
      cpic_set_sample(out, x, y, 3, top - most);
    }
  }
  return out;
}

cpic_picture *cpic_from_cmyk(const cpic_picture *picture) {
  if (!picture->cmyk) {
    cpic_fail("the picture is not CMYK");
    return NULL;
  }
  cpic_picture *out = cpic_create(picture->width, picture->height, 3, picture->bits);
  if (!out) return NULL;
  int top = picture->bits == 8 ? 255 : 65535;
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++) {
      int64_t light = top - cpic_sample(picture, x, y, 3);
      for (int c = 0; c < 3; c++) {
        int64_t value = ((top - cpic_sample(picture, x, y, c)) * light + top / 2) / top;
        cpic_set_sample(out, x, y, c, (int)value);
      }
    }
  }
  return out;
}

cpic_picture *cpic_orient(const cpic_picture *picture, int orientation) {
  if (orientation < 1 || orientation > 8) {
    cpic_fail("no orientation %d", orientation);
    return NULL;
  }
  int width = picture->width, height = picture->height;
  bool turned = orientation >= 5;
  cpic_picture *out =
      cpic_create(turned ? height : width, turned ? width : height, picture->channels, picture->bits);
  if (!out) return NULL;
  out->cmyk = picture->cmyk;
  size_t pixel = (size_t)(picture->channels * picture->bits / 8);
  for (int y = 0; y < out->height; y++) {
    for (int x = 0; x < out->width; x++) {
      int from_x, from_y;
      switch (orientation) {
        case 1: from_x = x, from_y = y; break;
        case 2: from_x = width - 1 - x, from_y = y; break;
        case 3: from_x = width - 1 - x, from_y = height - 1 - y; break;
        case 4: from_x = x, from_y = height - 1 - y; break;
        case 5: from_x = y, from_y = x; break;
        case 6: from_x = y, from_y = height - 1 - x; break;
        case 7: from_x = width - 1 - y, from_y = height - 1 - x; break;
        default: from_x = width - 1 - y, from_y = x; break;
      }
      memcpy((uint8_t *)out->samples + ((size_t)y * (size_t)out->width + (size_t)x) * pixel,
             (const uint8_t *)picture->samples + ((size_t)from_y * (size_t)width + (size_t)from_x) * pixel, pixel);
    }
  }
  return out;
}

cpic_picture *cpic_crop(const cpic_picture *picture, int left, int top, int width, int height) {
  if (left < 0 || top < 0 || width < 1 || height < 1 || left > picture->width - width ||
      top > picture->height - height) {
    cpic_fail("the part %d x %d at %d, %d is not inside %d x %d", width, height, left, top, picture->width,
              picture->height);
    return NULL;
  }
  cpic_picture *out = cpic_create(width, height, picture->channels, picture->bits);
  if (!out) return NULL;
  out->cmyk = picture->cmyk;
  size_t pixel = (size_t)(picture->channels * picture->bits / 8);
  for (int y = 0; y < height; y++) {
    memcpy((uint8_t *)out->samples + (size_t)y * (size_t)width * pixel,
           (const uint8_t *)picture->samples +
               ((size_t)(y + top) * (size_t)picture->width + (size_t)left) * pixel,
           (size_t)width * pixel);
  }
  return out;
}

int cpic_compare(const cpic_picture *a, const cpic_picture *b, int *largest, double *mean, double *mean_square) {
  if (a->width != b->width || a->height != b->height || a->channels != b->channels || a->bits != b->bits ||
      a->cmyk != b->cmyk) {
    return cpic_fail("%d x %d, %d channels of %d bits, against %d x %d, %d channels of %d bits", a->width, a->height,
                     a->channels, a->bits, b->width, b->height, b->channels, b->bits);
  }
  size_t count = sample_count(a);
  int most = 0;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) {
    int first = a->bits == 8 ? ((const uint8_t *)a->samples)[i] : ((const uint16_t *)a->samples)[i];
    int second = b->bits == 8 ? ((const uint8_t *)b->samples)[i] : ((const uint16_t *)b->samples)[i];
    int difference = abs(first - second);
    if (difference > most) most = difference;
    sum += difference;
    squares += (double)difference * difference;
  }
  if (largest) *largest = most;
  if (mean) *mean = sum / (double)count;
  if (mean_square) *mean_square = squares / (double)count;
  return 0;
}
