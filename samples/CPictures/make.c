#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t mix(uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352du;
  value ^= value >> 15;
  value *= 0x846ca68bu;
  return value ^ value >> 16;
}

static uint32_t hash2(uint32_t x, uint32_t y, uint32_t seed) { return mix(x * 0x9e3779b1u ^ mix(y ^ seed)); }

/// 0 to 1.
static float unit(uint32_t hash) { return (float)(hash >> 8) * (1.0f / 16777216.0f); }

static float clamp01(float value) { return value < 0 ? 0 : value > 1 ? 1 : value; }

static float ease(float low, float high, float value) {
  float t = clamp01((value - low) / (high - low));
  return t * t * (3 - 2 * t);
}

// MARK: Noise

/// One octave of value noise: a lattice of random values, interpolated. Its row is made once for a picture row.
typedef struct {
  float spacing;    // pixels between lattice points
  float amplitude;
  uint32_t seed;
  int columns;      // lattice points a row
  float *row;       // the lattice row at the picture row at hand
  int *cell;        // for each x the lattice point to its left
  float *fraction;  // and the eased way to the next
} octave;

typedef struct {
  octave octaves[12];
  int count;
} noise;

static void free_noise(noise *field) {
  for (int i = 0; i < field->count; i++) {
    free(field->octaves[i].row);
    free(field->octaves[i].cell);
    free(field->octaves[i].fraction);
  }
  field->count = 0;
}

/// Octaves of halving spacing from `largest` pixels down to `smallest`, each `gain` as strong as the one before; the sum
/// is scaled to about -1 to 1.
static int make_noise(noise *field, int width, float largest, float smallest, float gain, uint32_t seed) {
  field->count = 0;
  float amplitude = 1, squares = 0;
  for (float spacing = largest; spacing >= smallest && field->count < 12; spacing *= 0.5f) {
    octave *o = &field->octaves[field->count++];
    o->spacing = spacing;
    o->amplitude = amplitude;
    o->seed = mix(seed + (uint32_t)field->count * 7919u);
    o->columns = (int)((float)width / spacing) + 3;
    o->row = calloc((size_t)o->columns, sizeof *o->row);
    o->cell = calloc((size_t)width, sizeof *o->cell);
    o->fraction = calloc((size_t)width, sizeof *o->fraction);
    if (!o->row || !o->cell || !o->fraction) {
      free_noise(field);
      return cpic_fail("no memory");
    }
    for (int x = 0; x < width; x++) {
      float position = (float)x / spacing;
      int cell = (int)position;
      float t = position - (float)cell;
      o->cell[x] = cell;
      o->fraction[x] = t * t * (3 - 2 * t);
    }
    squares += amplitude * amplitude;
    amplitude *= gain;
  }
  float scale = field->count > 0 ? 1.6f / sqrtf(squares) : 0;
  for (int i = 0; i < field->count; i++) field->octaves[i].amplitude *= scale;
  return 0;
}

static void noise_row(noise *field, int y, int width, float *out) {
  memset(out, 0, (size_t)width * sizeof *out);
  for (int i = 0; i < field->count; i++) {
    octave *o = &field->octaves[i];
    float position = (float)y / o->spacing;
    uint32_t cell = (uint32_t)position;
    float t = position - (float)cell;
    t = t * t * (3 - 2 * t);
    for (int c = 0; c < o->columns; c++) {
      float upper = unit(hash2((uint32_t)c, cell, o->seed)) - 0.5f;
      float lower = unit(hash2((uint32_t)c, cell + 1, o->seed)) - 0.5f;
      o->row[c] = (upper + (lower - upper) * t) * 2 * o->amplitude;
    }
    for (int x = 0; x < width; x++) {
      const float *at = o->row + o->cell[x];
      out[x] += at[0] + (at[1] - at[0]) * o->fraction[x];
    }
  }
}

// MARK: The photo

typedef struct {
  float r, g, b;
} colour;

static colour blend(colour a, colour b, float t) {
  return (colour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static colour lit(colour a, float light) { return (colour){a.r * light, a.g * light, a.b * light}; }

typedef enum { thing_ball, thing_face, thing_house, thing_sign, thing_cloth } thing_kind;

/// An object in front of the landscape, in pixels.
typedef struct {
  thing_kind kind;
  float x, y, size;  // middle and half side
  colour paint;
  uint32_t seed;
} thing;

/// How much of the pixel at `distance` pixels inside an edge is covered.
static float cover(float distance) { return clamp01(distance + 0.5f); }

static float inside_box(float x, float y, float half_width, float half_height) {
  return cover(half_width - fabsf(x)) * cover(half_height - fabsf(y));
}

static void paint_ball(const thing *t, float x, float y, float grain, colour *pixel) {
  float distance = sqrtf(x * x + y * y), edge = cover(t->size - distance);
  if (edge <= 0) return;
  float nx = x / t->size, ny = y / t->size, nz = sqrtf(fmaxf(0, 1 - nx * nx - ny * ny));
  float light = fmaxf(0, -0.5f * nx - 0.6f * ny + 0.62f * nz);
  float shine = ease(0.93f, 1.0f, light);
  colour body = lit(t->paint, 0.18f + 0.85f * light + 0.015f * grain);
  *pixel = blend(*pixel, blend(body, (colour){1, 1, 1}, 0.85f * shine), edge);
}

static void paint_face(const thing *t, float x, float y, float grain, colour *pixel) {
  float u = x / t->size, v = y / (t->size * 1.25f);
  float distance = sqrtf(u * u + v * v), edge = cover((1 - distance) * t->size);
  if (edge <= 0) return;
  float nz = sqrtf(fmaxf(0, 1 - u * u - v * v));
  float light = 0.45f + 0.55f * fmaxf(0, -0.45f * u - 0.35f * v + 0.8f * nz) + 0.012f * grain;
  colour skin = lit(t->paint, light);
  float cheek = 1 - ease(0.0f, 0.32f, sqrtf((fabsf(u) - 0.45f) * (fabsf(u) - 0.45f) + (v - 0.15f) * (v - 0.15f)));
  skin = blend(skin, (colour){0.85f * light, 0.42f * light, 0.36f * light}, 0.35f * cheek);
  float eye_u = (fabsf(u) - 0.36f) / 0.15f, eye_v = (v + 0.12f) / 0.08f;
  float eye = sqrtf(eye_u * eye_u + eye_v * eye_v);
  float iris = sqrtf(eye_u * eye_u * 4.5f + eye_v * eye_v * 1.3f);
  float sharp = t->size * 0.08f;
  skin = blend(skin, (colour){0.93f, 0.92f, 0.9f}, cover((1 - eye) * sharp));
  skin = blend(skin, (colour){0.13f, 0.2f, 0.3f}, cover((1 - iris) * sharp) * cover((1 - eye) * sharp));
  skin = blend(skin, (colour){0.02f, 0.02f, 0.02f}, cover((0.5f - iris) * sharp));
  float mouth = (v - 0.5f + 0.28f * u * u) / 0.055f, lips = sqrtf(mouth * mouth + u * u * 9);
  skin = blend(skin, (colour){0.62f, 0.18f, 0.2f}, cover((1 - lips) * t->size * 0.05f));
  float brow = fabsf(v + 0.3f - 0.25f * (fabsf(u) - 0.36f) * (fabsf(u) - 0.36f)) / 0.03f;
  float brow_end = fabsf(fabsf(u) - 0.36f) / 0.2f;
  skin = blend(skin, (colour){0.16f, 0.1f, 0.07f},
               cover((1 - brow) * t->size * 0.04f) * cover((1 - brow_end) * t->size * 0.2f));
  float hairline = -0.52f + 0.16f * sinf(u * 5) + 0.03f * sinf(u * 61) + 0.02f * grain;
  float strand = 0.6f + 0.4f * sinf(u * 140 + 3 * grain);
  skin = blend(skin, (colour){0.2f * strand, 0.12f * strand, 0.07f * strand}, cover((hairline - v) * t->size * 0.6f));
  *pixel = blend(*pixel, skin, edge);
}

static void paint_house(const thing *t, float x, float y, float grain, float coarse, colour *pixel) {
  float u = x / t->size, v = y / t->size;
  float roof = cover((v + 1 - 0.9f * fabsf(u)) * t->size * 0.7f) * cover((-0.2f - v) * t->size);
  float walls = inside_box(x, y - 0.4f * t->size, 0.85f * t->size, 0.6f * t->size);
  if (roof <= 0 && walls <= 0) return;
  float course = v * 40, row = floorf(course), brick = u * 18 + (fmodf(fabsf(row), 2) < 1 ? 0.5f : 0.0f);
  float mortar = fmaxf(1 - ease(0.04f, 0.14f, fminf(course - row, 1 - course + row)),
                       1 - ease(0.02f, 0.07f, fminf(brick - floorf(brick), 1 - brick + floorf(brick))));
  float shade = 0.75f + 0.35f * unit(hash2((uint32_t)(int)floorf(brick), (uint32_t)(int)row, t->seed)) + 0.1f * grain;
  colour wall = blend(lit(t->paint, shade), (colour){0.66f, 0.63f, 0.58f}, mortar * 0.8f);
  for (int i = 0; i < 3; i++) {
    float wx = x - (float)(i - 1) * 0.52f * t->size, wy = y - 0.3f * t->size;
    float frame = inside_box(wx, wy, 0.17f * t->size, 0.22f * t->size);
    float glass = inside_box(fabsf(wx) - 0.077f * t->size, wy, 0.065f * t->size, 0.2f * t->size);
    wall = blend(wall, (colour){0.92f, 0.91f, 0.87f}, frame);
    float gleam = 0.05f * clamp01(coarse) + 0.012f * fabsf(grain) + 0.1f * ease(0.05f, 0.0f, fabsf(u - v * 0.5f));
    wall = blend(wall, (colour){0.02f + gleam, 0.025f + gleam, 0.04f + gleam}, glass);
  }
  *pixel = blend(*pixel, wall, walls);
  float tile = (v + 1) * 34, tile_row = floorf(tile);
  float tone = 0.5f + 0.4f * (tile - tile_row) + 0.12f * grain;
  *pixel = blend(*pixel, (colour){0.5f * tone, 0.19f * tone, 0.13f * tone}, roof);
}

/// Lines of made-up letters, each a few strokes on a 5 x 7 raster, smaller from line to line.
static void paint_sign(const thing *t, float x, float y, float grain, colour *pixel) {
  float board = inside_box(x, y, t->size * 1.3f, t->size);
  if (board <= 0) return;
  float rim = 1 - inside_box(x, y, t->size * 1.25f, t->size * 0.95f);
  colour paper = blend((colour){0.94f, 0.93f, 0.88f}, t->paint, rim);
  paper = lit(paper, 1 + 0.012f * grain);
  float top = -0.85f * t->size;
  for (int line = 0; line < 9; line++) {
    float height = t->size * (line == 0 ? 0.3f : 0.2f - 0.015f * (float)line);
    if (y >= top && y < top + height) {
      float cell = height * 0.62f, along = (x + 1.15f * t->size) / cell;
      int letter = (int)floorf(along);
      uint32_t glyph = hash2((uint32_t)letter, (uint32_t)line, t->seed);
      int last = (int)(2.2f * t->size / cell) - (int)(mix(t->seed + (uint32_t)line) % 6u);
      if (letter >= 0 && letter < last && glyph % 6u != 0) {
        float gx = (along - (float)letter) * 6 - 3, gy = (y - top) / height * 8 - 3.6f;
        float ink = 0;
        if (glyph & 64) ink = fmaxf(ink, 0.55f - fmaxf(fabsf(gx + 1.6f), fabsf(gy) - 2.6f));
        if (glyph & 128) ink = fmaxf(ink, 0.55f - fmaxf(fabsf(gx - 1.6f), fabsf(gy) - 2.6f));
        if (glyph & 256) ink = fmaxf(ink, 0.5f - fmaxf(fabsf(gy + 2.6f), fabsf(gx) - 1.6f));
        if (glyph & 512) ink = fmaxf(ink, 0.5f - fmaxf(fabsf(gy), fabsf(gx) - 1.6f));
        if (glyph & 1024) ink = fmaxf(ink, 0.5f - fmaxf(fabsf(gy - 2.6f), fabsf(gx) - 1.6f));
        if (glyph & 2048) ink = fmaxf(ink, 0.5f - fmaxf(fabsf(gx - gy * 0.6f) * 0.85f, fabsf(gy) - 2.6f));
        if (glyph & 4096) ink = fmaxf(ink, 0.5f - fabsf(sqrtf(gx * gx + gy * gy) - 1.9f));
        paper = blend(paper, (colour){0.08f, 0.08f, 0.1f}, clamp01(ink * height / 8 + 0.2f * (ink > 0 ? 1.0f : 0.0f)));
      }
    }
    top += height * 1.15f;
  }
  *pixel = blend(*pixel, paper, board);
}

/// A striped cloth in folds: fine saturated lines whose spacing comes near the pixel's.
static void paint_cloth(const thing *t, float x, float y, float grain, colour *pixel) {
  float wave = 0.06f * sinf(y / t->size * 7);
  float sheet = inside_box(x + wave * t->size, y, t->size, t->size * 0.75f);
  if (sheet <= 0) return;
  float u = x / t->size + wave, v = y / t->size;
  float fold = 0.78f + 0.22f * sinf(u * 11 + 1.5f * sinf(v * 3));
  float stripe = sinf((u + 1.2f) * (u + 1.2f) * 60), weave = 0.06f * sinf(x * 2.1f) * sinf(y * 2.1f);
  colour dye = blend(t->paint, (colour){0.95f, 0.9f, 0.2f}, ease(-0.15f, 0.15f, stripe));
  *pixel = blend(*pixel, lit(dye, fold + weave + 0.03f * grain), sheet);
}

static void paint_thing(const thing *t, float x, float y, float grain, float coarse, colour *pixel) {
  switch (t->kind) {
    case thing_ball: paint_ball(t, x, y, grain, pixel); break;
    case thing_face: paint_face(t, x, y, grain, pixel); break;
    case thing_house: paint_house(t, x, y, grain, coarse, pixel); break;
    case thing_sign: paint_sign(t, x, y, grain, pixel); break;
    case thing_cloth: paint_cloth(t, x, y, grain, pixel); break;
  }
}

enum { thing_count = 11 };

static void place_things(thing things[thing_count], float width, float height, uint32_t seed) {
  float scale = fminf(width, height);
  static const struct {
    thing_kind kind;
    float x, y, size;
    colour paint;
  } plan[thing_count] = {
      {thing_house, 0.20f, 0.60f, 0.17f, {0.58f, 0.3f, 0.22f}},
      {thing_ball, 0.72f, 0.16f, 0.075f, {0.95f, 0.05f, 0.04f}},
      {thing_ball, 0.86f, 0.26f, 0.05f, {0.98f, 0.75f, 0.02f}},
      {thing_ball, 0.58f, 0.24f, 0.035f, {0.02f, 0.25f, 0.95f}},
      {thing_cloth, 0.83f, 0.60f, 0.16f, {0.75f, 0.02f, 0.3f}},
      {thing_sign, 0.50f, 0.86f, 0.115f, {0.1f, 0.25f, 0.5f}},
      {thing_face, 0.47f, 0.55f, 0.125f, {0.93f, 0.71f, 0.58f}},
      {thing_face, 0.66f, 0.63f, 0.105f, {0.55f, 0.36f, 0.25f}},
      {thing_ball, 0.10f, 0.90f, 0.06f, {0.9f, 0.4f, 0.02f}},
      {thing_ball, 0.22f, 0.93f, 0.05f, {0.03f, 0.6f, 0.2f}},
      {thing_ball, 0.90f, 0.91f, 0.065f, {0.5f, 0.05f, 0.75f}},
  };
  for (int i = 0; i < thing_count; i++) {
    uint32_t own = mix(seed + (uint32_t)i * 101u);
    things[i] = (thing){
        .kind = plan[i].kind,
        .x = (plan[i].x + 0.04f * (unit(own) - 0.5f)) * width,
        .y = (plan[i].y + 0.03f * (unit(mix(own)) - 0.5f)) * height,
        .size = plan[i].size * scale * (0.92f + 0.16f * unit(mix(own + 1))),
        .paint = plan[i].paint,
        .seed = own,
    };
  }
}

/// What one photo is drawn with.
typedef struct {
  noise broad;    // clouds, lighting of the land
  noise fine;     // texture down to two pixels
  noise ridges;   // read at three rows only, as curves of x
  float *broad_row, *fine_row, *far_ridge, *near_ridge, *field_edge;
  float *grain[2];  // sensor noise of the row at hand and the one before
  colour *row;
} photo;

static void free_photo(photo *p) {
  free_noise(&p->broad);
  free_noise(&p->fine);
  free_noise(&p->ridges);
  free(p->broad_row);
  free(p->fine_row);
  free(p->far_ridge);
  free(p->near_ridge);
  free(p->field_edge);
  free(p->grain[0]);
  free(p->grain[1]);
  free(p->row);
}

static int begin_photo(photo *p, int width, int height, uint32_t seed) {
  float side = (float)(width > height ? width : height);
  size_t floats = (size_t)width * sizeof(float);
  memset(p, 0, sizeof *p);
  p->broad_row = malloc(floats);
  p->fine_row = malloc(floats);
  p->far_ridge = malloc(floats);
  p->near_ridge = malloc(floats);
  p->field_edge = malloc(floats);
  p->grain[0] = calloc((size_t)width + 1, sizeof(float));
  p->grain[1] = calloc((size_t)width + 1, sizeof(float));
  p->row = malloc((size_t)width * sizeof *p->row);
  if (!p->broad_row || !p->fine_row || !p->far_ridge || !p->near_ridge || !p->field_edge || !p->grain[0] ||
      !p->grain[1] || !p->row) {
    return cpic_fail("no memory for a row of %d pixels", width);
  }
  if (make_noise(&p->broad, width, side / 4, side / 90, 0.55f, mix(seed + 1)) ||
      make_noise(&p->fine, width, side / 100, 1.4f, 0.86f, mix(seed + 2)) ||
      make_noise(&p->ridges, width, side / 5, 2, 0.5f, mix(seed + 3))) {
    return 1;
  }
  noise_row(&p->ridges, 0, width, p->far_ridge);
  noise_row(&p->ridges, (int)(side * 2), width, p->near_ridge);
  noise_row(&p->ridges, (int)(side * 4), width, p->field_edge);
  for (int x = 0; x < width; x++) {
    p->far_ridge[x] = (float)height * (0.36f + 0.07f * p->far_ridge[x]);
    p->near_ridge[x] = (float)height * (0.47f + 0.03f * p->near_ridge[x]);
    p->field_edge[x] = (float)height * (0.58f + 0.015f * p->field_edge[x]);
  }
  return 0;
}

static void paint_land(photo *p, int y, int width, int height, uint32_t seed) {
  noise_row(&p->broad, y, width, p->broad_row);
  noise_row(&p->fine, y, width, p->fine_row);
  float down = (float)y / (float)height;
  colour sky = blend((colour){0.13f, 0.33f, 0.7f}, (colour){0.72f, 0.82f, 0.92f}, ease(0, 0.48f, down));
  float flower = fmaxf(3, (float)(width > height ? width : height) / 320);
  for (int x = 0; x < width; x++) {
    float broad = p->broad_row[x], fine = p->fine_row[x];
    float cloud = ease(0.05f, 0.75f, broad + 0.1f * fine + 0.25f - down * 0.5f);
    colour pixel = blend(sky, (colour){0.97f, 0.96f, 0.95f}, cloud * (0.82f + 0.1f * broad));
    float far = cover((float)y - p->far_ridge[x]);
    if (far > 0) {
      float light = 0.75f + 0.3f * broad + 0.2f * fine;
      float snow = ease(0.1f, 0.0f, ((float)y - p->far_ridge[x]) / (float)height - 0.04f * (1 + fine));
      colour rock = lit(blend((colour){0.36f, 0.42f, 0.52f}, (colour){0.86f, 0.88f, 0.93f}, snow), light);
      pixel = blend(pixel, rock, far);
    }
    float near = cover((float)y - p->near_ridge[x]);
    if (near > 0) {
      float light = 0.55f + 0.3f * broad + 0.6f * fine;
      colour wood = {0.13f * light, 0.27f * light, 0.1f * light};
      pixel = blend(pixel, wood, near);
    }
    float field = cover((float)y - p->field_edge[x]);
    if (field > 0) {
      float light = 0.8f + 0.25f * broad + (0.25f + 0.5f * down) * fine;
      colour grass = blend((colour){0.5f, 0.52f, 0.18f}, (colour){0.24f, 0.42f, 0.1f}, clamp01(0.5f + broad));
      grass = lit(grass, fmaxf(0.05f, light));
      int cell_x = (int)((float)x / flower), cell_y = (int)((float)y / flower);
      uint32_t bloom = hash2((uint32_t)cell_x, (uint32_t)cell_y, seed);
      if (bloom % 23u == 0) {
        float fx = (float)x / flower - (float)cell_x - 0.5f, fy = (float)y / flower - (float)cell_y - 0.5f;
        float petal = cover((0.4f - sqrtf(fx * fx + fy * fy)) * flower);
        static const colour petals[4] = {{0.95f, 0.1f, 0.15f}, {0.98f, 0.9f, 0.1f}, {0.9f, 0.9f, 0.95f},
                                         {0.5f, 0.2f, 0.9f}};
        grass = blend(grass, lit(petals[bloom >> 8 & 3], 0.8f + 0.3f * fine), petal);
      }
      pixel = blend(pixel, grass, field);
    }
    p->row[x] = pixel;
  }
}

/// Sensor noise, softened as a camera's processing leaves it, stronger in the dark.
static void add_grain(photo *p, int y, int width, uint32_t seed) {
  float *now = p->grain[y & 1], *before = p->grain[1 - (y & 1)];
  for (int x = 0; x <= width; x++) now[x] = unit(hash2((uint32_t)x, (uint32_t)y, seed)) - 0.5f;
  for (int x = 0; x < width; x++) {
    colour *pixel = &p->row[x];
    float light = now[x] + now[x + 1] + before[x] + before[x + 1];
    float tint = now[x] - before[x + 1];
    float strength = 0.012f + 0.008f * (1 - clamp01(pixel->g));
    pixel->r += strength * (light + 0.4f * tint);
    pixel->g += strength * light;
    pixel->b += strength * (light - 0.4f * tint);
  }
}

// MARK: All kinds

static void store(cpic_picture *picture, int x, int y, const float rgb[3]) {
  bool colour_picture = picture->channels >= 3;
  float top = picture->bits == 8 ? 255.0f : 65535.0f;
  size_t at = ((size_t)y * (size_t)picture->width + (size_t)x) * (size_t)picture->channels;
  float gray = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
  for (int c = 0; c < (colour_picture ? 3 : 1); c++) {
    float value = clamp01(colour_picture ? rgb[c] : gray) * top + 0.5f;
    if (picture->bits == 8) {
      ((uint8_t *)picture->samples)[at + (size_t)c] = (uint8_t)value;
    } else {
      ((uint16_t *)picture->samples)[at + (size_t)c] = (uint16_t)value;
    }
  }
}

static int draw_photo(cpic_picture *picture, uint32_t seed) {
  int width = picture->width, height = picture->height;
  photo p;
  if (begin_photo(&p, width, height, seed)) {
    free_photo(&p);
    return 1;
  }
  thing things[thing_count];
  place_things(things, (float)width, (float)height, seed);
  for (int y = 0; y < height; y++) {
    paint_land(&p, y, width, height, mix(seed + 4));
    for (int i = 0; i < thing_count; i++) {
      const thing *t = &things[i];
      float reach = t->size * 1.4f + 1, ty = (float)y - t->y;
      if (fabsf(ty) > reach) continue;
      int left = (int)fmaxf(0, t->x - reach), right = (int)fminf((float)(width - 1), t->x + reach);
      for (int x = left; x <= right; x++) {
        paint_thing(t, (float)x - t->x, ty, p.fine_row[x], p.broad_row[x], &p.row[x]);
      }
    }
    add_grain(&p, y, width, mix(seed + 5));
    for (int x = 0; x < width; x++) store(picture, x, y, (const float[3]){p.row[x].r, p.row[x].g, p.row[x].b});
  }
  free_photo(&p);
  return 0;
}

int cpic_corner_colour(int quadrant, int channels, int channel) {
  static const uint8_t rgb[4][3] = {{224, 32, 32}, {32, 192, 48}, {32, 48, 224}, {240, 240, 232}};
  static const uint8_t gray[4] = {32, 96, 160, 240};
  if (quadrant < 0 || quadrant > 3 || channel < 0 || channel > 2) return 0;
  return channels >= 3 ? rgb[quadrant][channel] : gray[quadrant];
}

static void draw_corners(cpic_picture *picture) {
  int colours = picture->channels >= 3 ? 3 : 1;
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++) {
      int quadrant = (2 * x >= picture->width ? 1 : 0) + (2 * y >= picture->height ? 2 : 0);
      for (int c = 0; c < colours; c++) {
        int value = cpic_corner_colour(quadrant, picture->channels, c);
        cpic_set_sample(picture, x, y, c, picture->bits == 8 ? value : value * 257);
      }
    }
  }
}

static void draw_gradient(cpic_picture *picture) {
  float across = picture->width > 1 ? (float)(picture->width - 1) : 1;
  float along = picture->height > 1 ? (float)(picture->height - 1) : 1;
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++) {
      float u = (float)x / across, v = (float)y / along;
      float rgb[3] = {u, v, (u + v) / 2};
      if (picture->channels < 3) rgb[1] = rgb[2] = u;
      store(picture, x, y, rgb);
    }
  }
}

static void draw_zone_plate(cpic_picture *picture) {
  const double pi = 3.14159265358979323846;
  int near = picture->width < picture->height ? picture->width : picture->height;
  double cx = (picture->width - 1) / 2.0, cy = (picture->height - 1) / 2.0;
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++) {
      // The phase's derivative is pi a pixel, the Nyquist limit, at the radius near / 2.
      double square = (x - cx) * (x - cx) + (y - cy) * (y - cy);
      float value = (float)(0.5 + 0.5 * cos(pi * square / near));
      store(picture, x, y, (const float[3]){value, value, value});
    }
  }
}

static void draw_noise(cpic_picture *picture, uint32_t seed) {
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++) {
      for (int c = 0; c < (picture->channels >= 3 ? 3 : 1); c++) {
        uint32_t hash = hash2((uint32_t)x, (uint32_t)y, mix(seed + (uint32_t)c));
        cpic_set_sample(picture, x, y, c, (int)(hash >> (32 - picture->bits)));
      }
    }
  }
}

static void draw_alpha_disc(cpic_picture *picture) {
  float cx = (float)(picture->width - 1) / 2, cy = (float)(picture->height - 1) / 2;
  float radius = fminf((float)picture->width, (float)picture->height) * 0.45f, top = picture->bits == 8 ? 255 : 65535;
  for (int y = 0; y < picture->height; y++) {
    for (int x = 0; x < picture->width; x++) {
      float distance = sqrtf(((float)x - cx) * ((float)x - cx) + ((float)y - cy) * ((float)y - cy));
      float alpha = 1 - ease(radius * 0.7f, radius, distance);
      cpic_set_sample(picture, x, y, picture->channels - 1, (int)(alpha * top + 0.5f));
    }
  }
}

cpic_picture *cpic_make(cpic_kind kind, int width, int height, int channels, int bits, uint64_t seed) {
  cpic_picture *picture = cpic_create(width, height, channels, bits);
  if (!picture) return NULL;
  uint32_t own = mix((uint32_t)seed ^ mix((uint32_t)(seed >> 32) + 0x5bd1e995u));
  int status = 0;
  switch (kind) {
    case CPIC_PHOTO: status = draw_photo(picture, own); break;
    case CPIC_CORNERS: draw_corners(picture); break;
    case CPIC_GRADIENT: draw_gradient(picture); break;
    case CPIC_ZONE_PLATE: draw_zone_plate(picture); break;
    case CPIC_NOISE: draw_noise(picture, own); break;
    default: status = cpic_fail("no kind %d of picture", (int)kind);
  }
  if (status != 0) {
    cpic_free(picture);
    return NULL;
  }
  if (channels == 2 || channels == 4) draw_alpha_disc(picture);
  return picture;
}

cpic_picture *cpic_make_flat(int width, int height, int channels, int bits, const uint16_t *colour) {
  cpic_picture *picture = cpic_create(width, height, channels, bits);
  if (!picture) return NULL;
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      for (int c = 0; c < channels; c++) cpic_set_sample(picture, x, y, c, colour[c]);
    }
  }
  return picture;
}
