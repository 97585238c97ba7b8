#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: EXIF

enum { type_byte = 1, type_ascii = 2, type_short = 3, type_long = 4, type_rational = 5 };

static void put_entry(cpic_buffer *out, bool big, unsigned tag, unsigned type, uint32_t count, uint32_t value,
                      bool *failed) {
  cpic_put16(out, tag, big, failed);
  cpic_put16(out, type, big, failed);
  cpic_put32(out, count, big, failed);
  if (type == type_short && count == 1) {  // left-justified in the value field
    cpic_put16(out, value, big, failed);
    cpic_put16(out, 0, big, failed);
  } else {
    cpic_put32(out, value, big, failed);
  }
}

static void put_text(cpic_buffer *out, const char *text, bool *failed) {
  size_t length = strlen(text) + 1;
  if (cpic_append(out, text, length)) *failed = true;
  if (length % 2 != 0 && cpic_append(out, "", 1)) *failed = true;
}

static uint32_t text_space(const char *text) { return (uint32_t)((strlen(text) + 2) & ~(size_t)1); }

int cpic_make_exif(const cpic_exif *exif, cpic_bytes *out) {
  *out = (cpic_bytes){0};
  if (exif->orientation < 0 || exif->orientation > 8) return cpic_fail("no orientation %d", exif->orientation);
  bool thumbnail = exif->thumbnail.length > 0;
  if (exif->orientation == 0 && !exif->gps && !exif->maker && !thumbnail) return 0;
  if (exif->thumbnail.length > 1 << 24) return cpic_fail("a thumbnail of %zu bytes", exif->thumbnail.length);

  static const char make[] = "Downsample", model[] = "Made picture", copyright[] = "Made by a program, free to use";
  bool big = exif->big_endian, failed = false;
  unsigned entries = (exif->maker ? 3u : 0u) + (exif->orientation ? 1u : 0u) + (exif->gps ? 1u : 0u);
  uint32_t make_at = 8 + 2 + entries * 12 + 4;
  uint32_t model_at = make_at + (exif->maker ? text_space(make) : 0);
  uint32_t copyright_at = model_at + (exif->maker ? text_space(model) : 0);
  uint32_t gps_at = copyright_at + (exif->maker ? text_space(copyright) : 0);
  uint32_t degrees_at = gps_at + 2 + 5 * 12 + 4;
  uint32_t second_at = gps_at + (exif->gps ? 2 + 5 * 12 + 4 + 48 : 0);
  uint32_t thumbnail_at = second_at + 2 + 3 * 12 + 4;

  cpic_buffer buffer = {0};
  failed = cpic_append(&buffer, big ? "MM" : "II", 2) != 0;
  cpic_put16(&buffer, 42, big, &failed);
  cpic_put32(&buffer, 8, big, &failed);
  cpic_put16(&buffer, entries, big, &failed);
  if (exif->maker) {
    put_entry(&buffer, big, 0x010f, type_ascii, sizeof make, make_at, &failed);
    put_entry(&buffer, big, 0x0110, type_ascii, sizeof model, model_at, &failed);
  }
  if (exif->orientation) {
    put_entry(&buffer, big, 0x0112, type_short, 1, (uint32_t)exif->orientation, &failed);
  }
  if (exif->maker) put_entry(&buffer, big, 0x8298, type_ascii, sizeof copyright, copyright_at, &failed);
  if (exif->gps) put_entry(&buffer, big, 0x8825, type_long, 1, gps_at, &failed);
  cpic_put32(&buffer, thumbnail ? second_at : 0, big, &failed);
  if (exif->maker) {
    put_text(&buffer, make, &failed);
    put_text(&buffer, model, &failed);
    put_text(&buffer, copyright, &failed);
  }
  if (exif->gps) {
    static const uint8_t version[4] = {2, 3, 0, 0};
    cpic_put16(&buffer, 5, big, &failed);
    cpic_put16(&buffer, 0, big, &failed);
    cpic_put16(&buffer, type_byte, big, &failed);
    cpic_put32(&buffer, 4, big, &failed);
    if (cpic_append(&buffer, version, 4)) failed = true;
    for (unsigned axis = 0; axis < 2; axis++) {
      cpic_put16(&buffer, 1 + 2 * axis, big, &failed);
      cpic_put16(&buffer, type_ascii, big, &failed);
      cpic_put32(&buffer, 2, big, &failed);
      if (cpic_append(&buffer, axis == 0 ? "N\0\0" : "E\0\0", 4)) failed = true;
      put_entry(&buffer, big, 2 + 2 * axis, type_rational, 3, degrees_at + 24 * axis, &failed);
    }
    cpic_put32(&buffer, 0, big, &failed);
    static const uint32_t degrees[12] = {12, 1, 34, 1, 5678, 100, 98, 1, 7, 1, 654, 100};
    for (int i = 0; i < 12; i++) cpic_put32(&buffer, degrees[i], big, &failed);
  }
  if (thumbnail) {
    cpic_put16(&buffer, 3, big, &failed);
    put_entry(&buffer, big, 0x0103, type_short, 1, 6, &failed);
    put_entry(&buffer, big, 0x0201, type_long, 1, thumbnail_at, &failed);
    put_entry(&buffer, big, 0x0202, type_long, 1, (uint32_t)exif->thumbnail.length, &failed);
    cpic_put32(&buffer, 0, big, &failed);
    if (cpic_append(&buffer, exif->thumbnail.data, exif->thumbnail.length)) failed = true;
  }
  if (failed) {
    cpic_bytes_free(&buffer.bytes);
    return 1;
  }
  *out = buffer.bytes;
  return 0;
}

int cpic_choose_exif(const cpic_exif *exif, cpic_bytes raw, cpic_bytes *chosen, cpic_bytes *owned) {
  *owned = (cpic_bytes){0};
  if (raw.length == 0 && cpic_make_exif(exif, owned)) return 1;
  *chosen = raw.length > 0 ? raw : *owned;
  return 0;
}

static uint32_t get(const uint8_t *data, int bytes, bool big) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | data[big ? i : bytes - 1 - i];
  return value;
}

int cpic_exif_orientation(const uint8_t *data, size_t length) {
  if (length < 14 || (memcmp(data, "II*\0", 4) != 0 && memcmp(data, "MM\0*", 4) != 0)) return 0;
  bool big = data[0] == 'M';
  size_t at = get(data + 4, 4, big);
  if (at > length - 2) return 0;
  size_t entries = get(data + at, 2, big);
  at += 2;
  for (size_t i = 0; i < entries && length - at >= 12; i++, at += 12) {
    if (get(data + at, 2, big) == 0x0112) return (int)get(data + at + 8, 2, big);
  }
  return 0;
}

// MARK: XMP

int cpic_make_xmp(bool gps, cpic_bytes *out) {
  static const char start[] =
      "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
      "<rdf:Description rdf:about=\"\" xmlns:exif=\"http://ns.adobe.com/exif/1.0/\" "
      "xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" tiff:Make=\"Downsample\"";
  static const char position[] = " exif:GPSLatitude=\"12,34.95N\" exif:GPSLongitude=\"98,7.11E\"";
  static const char end[] = "/>\n</rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>";
  cpic_buffer buffer = {0};
  *out = (cpic_bytes){0};
  if (cpic_append(&buffer, start, sizeof start - 1) || (gps && cpic_append(&buffer, position, sizeof position - 1)) ||
      cpic_append(&buffer, end, sizeof end - 1)) {
    cpic_bytes_free(&buffer.bytes);
    return 1;
  }
  *out = buffer.bytes;
  return 0;
}

// MARK: ICC

static const double d50[3] = {0.9642, 1.0, 0.8249};  // the connection space's white, ICC.1:2010 7.2.16
static const double bradford[3][3] = {
    {0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}};

static void multiply(const double a[3][3], const double b[3][3], double out[3][3]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
  }
}

static void apply(const double a[3][3], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = a[i][0] * v[0] + a[i][1] * v[1] + a[i][2] * v[2];
}

static void invert(const double m[3][3], double out[3][3]) {
  double determinant = 0;
  for (int i = 0; i < 3; i++) {
    determinant += m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
      out[i][j] = (m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0]) / determinant;
    }
  }
}

static void from_xy(double x, double y, double out[3]) {
  out[0] = x / y;
  out[1] = 1;
  out[2] = (1 - x - y) / y;
}

/// The colorants adapted to D50 as columns, and the adaptation itself, from the xy of red, green, blue; white is D65.
static void make_colorants(const double xy[6], double colorants[3][3], double adaptation[3][3]) {
  double white[3], primaries[3][3], inverse[3][3], scale[3];
  from_xy(0.3127, 0.3290, white);
  for (int c = 0; c < 3; c++) {
    double column[3];
    from_xy(xy[2 * c], xy[2 * c + 1], column);
    for (int i = 0; i < 3; i++) primaries[i][c] = column[i];
  }
  invert(primaries, inverse);
  apply(inverse, white, scale);
  for (int i = 0; i < 3; i++) {
    for (int c = 0; c < 3; c++) primaries[i][c] *= scale[c];
  }
  double cone_white[3], cone_d50[3], ratio[3][3] = {{0}}, back[3][3], half[3][3];
  apply(bradford, white, cone_white);
  apply(bradford, d50, cone_d50);
  for (int i = 0; i < 3; i++) ratio[i][i] = cone_d50[i] / cone_white[i];
  invert(bradford, back);
  multiply(ratio, bradford, half);
  multiply(back, half, adaptation);
  multiply(adaptation, primaries, colorants);
}

static void put_fixed(cpic_buffer *out, double value, bool *failed) {
  cpic_put32(out, (uint32_t)(int32_t)lround(value * 65536), true, failed);
}

static void put_signature(cpic_buffer *out, const char *signature, bool *failed) {
  if (cpic_append(out, signature, 4)) *failed = true;
}

static void put_zeros(cpic_buffer *out, size_t count, bool *failed) {
  static const uint8_t zeros[64];
  while (count > 0) {
    size_t part = count < sizeof zeros ? count : sizeof zeros;
    if (cpic_append(out, zeros, part)) *failed = true;
    count -= part;
  }
}

static void put_xyz(cpic_buffer *out, double x, double y, double z, bool *failed) {
  put_signature(out, "XYZ ", failed);
  put_zeros(out, 4, failed);
  put_fixed(out, x, failed);
  put_fixed(out, y, failed);
  put_fixed(out, z, failed);
}

static double srgb_to_linear(double value) {
  return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static void put_curve(cpic_buffer *out, cpic_icc_kind kind, bool *failed) {
  if (kind == CPIC_ICC_DISPLAY_P3) {
    put_signature(out, "para", failed);
    put_zeros(out, 4, failed);
    cpic_put16(out, 3, true, failed);
    cpic_put16(out, 0, true, failed);
    const double parameters[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    for (int i = 0; i < 5; i++) put_fixed(out, parameters[i], failed);
    return;
  }
  put_signature(out, "curv", failed);
  put_zeros(out, 4, failed);
  if (kind == CPIC_ICC_SRGB) {
    cpic_put32(out, 256, true, failed);
    for (int i = 0; i < 256; i++) {
      cpic_put16(out, (unsigned)lround(srgb_to_linear(i / 255.0) * 65535), true, failed);
    }
  } else {
    cpic_put32(out, 1, true, failed);
    cpic_put16(out, 563, true, failed);  // u8Fixed8 of 2.2
  }
}

static void put_name(cpic_buffer *out, bool v4, const char *text, bool *failed) {
  uint32_t length = (uint32_t)strlen(text);
  put_signature(out, v4 ? "mluc" : "desc", failed);
  put_zeros(out, 4, failed);
  if (v4) {
    cpic_put32(out, 1, true, failed);
    cpic_put32(out, 12, true, failed);
    put_signature(out, "enUS", failed);
    cpic_put32(out, length * 2, true, failed);
    cpic_put32(out, 28, true, failed);
    for (uint32_t i = 0; i < length; i++) cpic_put16(out, (unsigned char)text[i], true, failed);
    return;
  }
  cpic_put32(out, length + 1, true, failed);
  if (cpic_append(out, text, length + 1)) *failed = true;
  put_zeros(out, 4 + 4 + 2 + 1 + 67, failed);  // no Unicode and no ScriptCode name
}

static void put_notice(cpic_buffer *out, bool v4, const char *text, bool *failed) {
  if (v4) {
    put_name(out, true, text, failed);
    return;
  }
  put_signature(out, "text", failed);
  put_zeros(out, 4, failed);
  if (cpic_append(out, text, strlen(text) + 1)) *failed = true;
}

typedef struct {
  const char *signature;
  uint32_t offset, length;
} icc_tag;

typedef struct {
  cpic_buffer data;  // what follows the tag table
  icc_tag tags[12];
  uint32_t count;
  bool failed;
} icc_builder;

static void begin_tag(icc_builder *builder, const char *signature) {
  while (builder->data.bytes.length % 4 != 0 && !builder->failed) put_zeros(&builder->data, 1, &builder->failed);
  builder->tags[builder->count] = (icc_tag){signature, (uint32_t)builder->data.bytes.length, 0};
}

static void end_tag(icc_builder *builder) {
  icc_tag *tag = &builder->tags[builder->count++];
  tag->length = (uint32_t)builder->data.bytes.length - tag->offset;
}

static void repeat_tag(icc_builder *builder, const char *signature) {
  builder->tags[builder->count] = builder->tags[builder->count - 1];
  builder->tags[builder->count++].signature = signature;
}

int cpic_make_icc(cpic_icc_kind kind, size_t minimum_bytes, cpic_bytes *out) {
  static const double primaries[3][6] = {
      {0.640, 0.330, 0.300, 0.600, 0.150, 0.060},
      {0.680, 0.320, 0.265, 0.690, 0.150, 0.060},
      {0.640, 0.330, 0.210, 0.710, 0.150, 0.060},
  };
  static const char *const names[4] = {"Made sRGB", "Made Display P3", "Made wide RGB", "Made gray 2.2"};
  *out = (cpic_bytes){0};
  if ((int)kind < 0 || kind > CPIC_ICC_GRAY) return cpic_fail("no ICC profile kind %d", (int)kind);
  if (minimum_bytes > 1 << 26) return cpic_fail("an ICC profile of %zu bytes", minimum_bytes);
  bool v4 = kind == CPIC_ICC_DISPLAY_P3, gray = kind == CPIC_ICC_GRAY;
  icc_builder builder = {0};
  bool *failed = &builder.failed;
  cpic_buffer *data = &builder.data;

  begin_tag(&builder, "desc");
  put_name(data, v4, names[kind], failed);
  end_tag(&builder);
  begin_tag(&builder, "cprt");
  put_notice(data, v4, "Free to use", failed);
  end_tag(&builder);
  begin_tag(&builder, "wtpt");
  put_xyz(data, d50[0], d50[1], d50[2], failed);
  end_tag(&builder);
  if (gray) {
    begin_tag(&builder, "kTRC");
    put_curve(data, kind, failed);
    end_tag(&builder);
  } else {
    static const char *const colorant_names[3] = {"rXYZ", "gXYZ", "bXYZ"};
    double colorants[3][3], adaptation[3][3];
    make_colorants(primaries[kind], colorants, adaptation);
    for (int c = 0; c < 3; c++) {
      begin_tag(&builder, colorant_names[c]);
      put_xyz(data, colorants[0][c], colorants[1][c], colorants[2][c], failed);
      end_tag(&builder);
    }
    begin_tag(&builder, "rTRC");
    put_curve(data, kind, failed);
    end_tag(&builder);
    repeat_tag(&builder, "gTRC");
    repeat_tag(&builder, "bTRC");
    if (v4) {
      begin_tag(&builder, "chad");
      put_signature(data, "sf32", failed);
      put_zeros(data, 4, failed);
      for (int i = 0; i < 9; i++) put_fixed(data, adaptation[i / 3][i % 3], failed);
      end_tag(&builder);
    }
  }
  size_t size = 128 + 4 + 12 * (size_t)builder.count + data->bytes.length;
  if (size < minimum_bytes) {
    begin_tag(&builder, "cpad");
    put_signature(data, "data", failed);
    put_zeros(data, 4, failed);
    cpic_put32(data, 1, true, failed);  // binary
    uint32_t state = 1;
    for (size_t i = size + 12; i < minimum_bytes && !*failed; i++) {  // incompressible, as a profile's tables are
      state = state * 1664525u + 1013904223u;
      uint8_t byte = (uint8_t)(state >> 24);
      if (cpic_append(data, &byte, 1)) *failed = true;
    }
    end_tag(&builder);
  }
  while (data->bytes.length % 4 != 0 && !*failed) put_zeros(data, 1, failed);

  uint32_t table = 128 + 4 + 12 * builder.count;
  cpic_buffer whole = {0};
  cpic_put32(&whole, table + (uint32_t)data->bytes.length, true, failed);
  put_zeros(&whole, 4, failed);
  cpic_put32(&whole, v4 ? 0x04300000 : 0x02100000, true, failed);
  put_signature(&whole, "mntr", failed);
  put_signature(&whole, gray ? "GRAY" : "RGB ", failed);
  put_signature(&whole, "XYZ ", failed);
  static const unsigned date[6] = {2024, 1, 1, 0, 0, 0};
  for (int i = 0; i < 6; i++) cpic_put16(&whole, date[i], true, failed);
  put_signature(&whole, "acsp", failed);
  put_zeros(&whole, 4 + 4 + 4 + 4 + 8 + 4, failed);
  put_fixed(&whole, d50[0], failed);
  put_fixed(&whole, d50[1], failed);
  put_fixed(&whole, d50[2], failed);
  put_zeros(&whole, 48, failed);
  cpic_put32(&whole, builder.count, true, failed);
  for (uint32_t i = 0; i < builder.count; i++) {
    put_signature(&whole, builder.tags[i].signature, failed);
    cpic_put32(&whole, table + builder.tags[i].offset, true, failed);
    cpic_put32(&whole, builder.tags[i].length, true, failed);
  }
  if (cpic_append(&whole, data->bytes.data, data->bytes.length)) *failed = true;
  cpic_bytes_free(&data->bytes);
  if (*failed) {
    cpic_bytes_free(&whole.bytes);
    return 1;
  }
  *out = whole.bytes;
  return 0;
}
