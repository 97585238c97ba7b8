#include "internal.h"

static inline uint32_t mix(uint32_t a, uint32_t b, uint32_t seed) {
  uint32_t hash = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ seed;
  hash ^= hash >> 15;
  hash *= 0x2c1b3c6du;
  hash ^= hash >> 12;
  hash *= 0x297a2d39u;
  return hash ^ hash >> 15;
}

/// What a square of the picture looks like. Colours are 8.8 fixed point.
typedef struct {
  int32_t colour[3], disc_colour[3];
  int32_t slope_x[3], slope_y[3];  // over the whole square, 8.8
  int32_t disc_x, disc_y, disc_radius;
  int32_t texture;                 // amplitude, 0 to 63 code values
  int grain;                       // the texture's squares are 1 << grain pixels wide
} patch;

static patch make_patch(uint32_t column, uint32_t row, int side, uint32_t seed) {
  patch p;
  uint32_t hash = mix(column, row, seed), more = 0;
  for (int c = 0; c < 3; c++) {
    more = mix(hash, (uint32_t)c, seed);
    p.colour[c] = (int32_t)(more & 0xffff);
    p.disc_colour[c] = (int32_t)(more >> 16);
    more = mix(more, 1, seed);
    p.slope_x[c] = (int32_t)(more & 0x7fff) - 0x4000;
    p.slope_y[c] = (int32_t)(more >> 17) - 0x4000;
  }
  uint32_t shape = mix(hash, 3, seed);
  p.disc_x = (int32_t)(shape & 0xff) * side / 256;
  p.disc_y = (int32_t)(shape >> 8 & 0xff) * side / 256;
  p.disc_radius = (int32_t)(shape >> 16 & 0xff) * side / 512;
  // A sixth of the patches are smooth, most have some texture, others up to twice as much; half of it is as fine as the
  // pixels.
  uint32_t kind = shape >> 24, grain = more & 3;
  p.texture = kind < 40 ? 0 : kind < 210 ? 4 + (int32_t)(kind & 31) : (int32_t)(kind & 63);
  p.grain = grain < 2 ? 0 : (int)grain - 1;
  return p;
}

/// Pictures of all sizes show some twenty patches along the longer side, as photos do. Squares of 2048 pixels keep the
/// arithmetic within 32 bits.
static int patch_bits(const cpic_scene *scene) {
  int longer = scene->width > scene->height ? scene->width : scene->height;
  int bits = 3;
  while (bits < 11 && longer >> bits > 24) bits++;
  return bits;
}

static inline int32_t clamp16(int32_t value) { return value < 0 ? 0 : value > 65535 ? 65535 : value; }

static int32_t alpha_at(const cpic_scene *scene, int x, int y) {
  float dx = (float)x / (float)scene->width * 2 - 1, dy = (float)y / (float)scene->height * 2 - 1;
  float value = (1.5f - (dx * dx + dy * dy)) * 2;
  return value >= 1 ? 65535 : value <= 0 ? 0 : (int32_t)(value * 65535);
}

static inline void put(void *samples, bool wide, size_t at, int32_t value) {
  if (wide) {
    ((uint16_t *)samples)[at] = (uint16_t)value;
  } else {
    ((uint8_t *)samples)[at] = (uint8_t)(value >> 8);
  }
}

void cpic_scene_row(const cpic_scene *scene, int left, int y, int width, void *samples) {
  uint32_t seed = (uint32_t)(scene->seed ^ scene->seed >> 32) * 0x9e3779b1u + 1;
  bool wide = scene->bits == 16;
  int bits = patch_bits(scene), side = 1 << bits, channels = scene->channels;
  int32_t in_y = y & (side - 1);
  size_t at = 0;
  for (int x = left; x < left + width;) {
    patch p = make_patch((uint32_t)x >> bits, (uint32_t)y >> bits, side, seed);
    int end = (x | (side - 1)) + 1;
    if (end > left + width) end = left + width;
    int32_t from_y = in_y - p.disc_y, reach = p.disc_radius * p.disc_radius - from_y * from_y;
    int32_t start_of_row[3];
    for (int c = 0; c < 3; c++) start_of_row[c] = (p.slope_y[c] * in_y) >> bits;
    for (; x < end; x++) {
      int32_t in_x = x & (side - 1), from_x = in_x - p.disc_x;
      const int32_t *colour = from_x * from_x < reach ? p.disc_colour : p.colour;
      uint32_t noise = mix((uint32_t)x >> p.grain, (uint32_t)y >> p.grain, seed);
      // Two of 256 code values of a sensor's noise everywhere, beside the texture.
      int32_t light = ((int32_t)(noise & 0x1ff) - 256) * (p.texture + 2), rgb[3];
      for (int c = 0; c < 3; c++) {
        int32_t tint = (int32_t)(noise >> (9 + 7 * c) & 0x7f) * 4 - 256;
        rgb[c] = clamp16(colour[c] + start_of_row[c] + ((p.slope_x[c] * in_x) >> bits) + light + tint);
      }
      if (channels >= 3) {
        for (int c = 0; c < 3; c++) put(samples, wide, at++, rgb[c]);
      } else {
        put(samples, wide, at++, (77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2]) >> 8);
      }
      if (channels == 2 || channels == 4) put(samples, wide, at++, alpha_at(scene, x, y));
    }
  }
}

cpic_picture *cpic_scene_picture(const cpic_scene *scene, int left, int top, int width, int height) {
  cpic_picture *picture = cpic_create(width, height, scene->channels, scene->bits);
  if (!picture) return NULL;
  size_t stride = cpic_byte_count(picture) / (size_t)height;
  for (int y = 0; y < height; y++) {
    cpic_scene_row(scene, left, top + y, width, (uint8_t *)picture->samples + (size_t)y * stride);
  }
  return picture;
}

void cpic_row_to_cmyk(uint8_t *row, int width) {
  // From the right, so that nothing is overwritten before it was read.
  for (int x = width - 1; x >= 0; x--) {
    const uint8_t *rgb = row + 3 * (size_t)x;
    uint8_t red = rgb[0], green = rgb[1], blue = rgb[2];
    uint8_t light = red > green ? red : green;
    if (blue > light) light = blue;
    uint8_t *ink = row + 4 * (size_t)x;
    ink[0] = light == 0 ? 0 : (uint8_t)(((light - red) * 255 + light / 2) / light);
    ink[1] = light == 0 ? 0 : (uint8_t)(((light - green) * 255 + light / 2) / light);
    ink[2] = light == 0 ? 0 : (uint8_t)(((light - blue) * 255 + light / 2) / light);
    ink[3] = (uint8_t)(255 - light);
  }
}
