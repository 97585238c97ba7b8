#include "segments.h"

#include <stdlib.h>
#include <string.h>

static const char exif_name[] = "Exif\0", xmp_name[] = "http://ns.adobe.com/xap/1.0/",
                  extended_xmp_name[] = "http://ns.adobe.com/xmp/extension/", icc_name[] = "ICC_PROFILE",
                  mpf_name[] = "MPF", iso_name[] = "urn:iso:std:iso:ts:21496:-1", photoshop_name[] = "Photoshop 3.0";

enum {
  LONGEST_NAME = sizeof extended_xmp_name,
  ICC_OVERHEAD = sizeof icc_name + 2,
  WINDOW = 512,        // bytes looked through at once
  LONGEST_WORD = 32,   // of those looked for
  MPF_MOST = 4096,     // of an index of pictures; real ones are below 200
};

static cjpeg_segments *segments_of(j_decompress_ptr info) { return ((cjpeg_errors *)info->err)->segments; }

static void read_bytes(j_decompress_ptr info, uint8_t *out, size_t count) {
  struct jpeg_source_mgr *source = info->src;
  while (count > 0) {
    if (source->bytes_in_buffer == 0) source->fill_input_buffer(info);
    if (((cjpeg_errors *)info->err)->source_ended)
      cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "the file ends inside a marker segment");
    const size_t step = source->bytes_in_buffer < count ? source->bytes_in_buffer : count;
    memcpy(out, source->next_input_byte, step);
    source->next_input_byte += step;
    source->bytes_in_buffer -= step;
    out += step;
    count -= step;
  }
}

static size_t segment_length(j_decompress_ptr info) {
  uint8_t bytes[2];
  read_bytes(info, bytes, sizeof bytes);
  const int length = bytes[0] << 8 | bytes[1];
  if (length < 2) cjpeg_escape((j_common_ptr)info, CJPEG_DAMAGED, "a marker segment has a length of %d", length);
  return (size_t)length - 2;
}

/// A segment being read: what has come of its beginning, and how much there is to come.
typedef struct {
  uint8_t start[LONGEST_NAME];
  size_t count, rest;
} beginning;

// Between scans segments are passed over: nothing has a use for them any more.
static beginning begin(j_decompress_ptr info) {
  beginning segment = {.rest = segment_length(info)};
  if (segments_of(info)->is_closed) return segment;
  segment.count = segment.rest < sizeof segment.start ? segment.rest : sizeof segment.start;
  read_bytes(info, segment.start, segment.count);
  segment.rest -= segment.count;
  return segment;
}

static bool is_named(const beginning *segment, const char *name, size_t length) {
  return segment->count >= length && memcmp(segment->start, name, length) == 0;
}

#define IS_NAMED(segment, name) is_named(segment, name, sizeof(name))

static boolean skip(j_decompress_ptr info, const beginning *segment) {
  if (segment->rest > 0) info->src->skip_input_data(info, (long)segment->rest);
  return TRUE;
}

// Adds what follows the first `skipped` bytes of the segment.
static void keep(j_decompress_ptr info, const beginning *segment, size_t skipped, cjpeg_segment *to) {
  const size_t count = segment->count - skipped + segment->rest;
  uint8_t *bytes = realloc(to->bytes, to->count + count + 1);
  if (!bytes) cjpeg_escape((j_common_ptr)info, CJPEG_NO_MEMORY, "no memory for %zu bytes of metadata", count);
  to->bytes = bytes;
  bytes += to->count;
  memcpy(bytes, segment->start + skipped, segment->count - skipped);
  read_bytes(info, bytes + segment->count - skipped, segment->rest);
  to->count += count;
}

// MARK: XMP

static bool contains(const uint8_t *bytes, size_t count, const char *word) {
  const size_t length = strlen(word);
  for (size_t i = 0; i + length <= count; i++)
    if (bytes[i] == (uint8_t)word[0] && memcmp(bytes + i, word, length) == 0) return true;
  return false;
}

// What a picture's XMP says of what else is in the file: a gain map (Android's Ultra HDR), more items, a video. None of the
// words is longer than LONGEST_WORD.
static void look_through(cjpeg_segments *segments, const uint8_t *bytes, size_t count) {
  static const char *const gain_maps[] = {"hdrgm:Version", "Semantic=\"GainMap\"", "Semantic>GainMap"};
  static const char *const trailers[] = {"Container:Directory", "MicroVideo", "MotionPhoto"};
  for (size_t i = 0; i < sizeof gain_maps / sizeof *gain_maps; i++)
    if (contains(bytes, count, gain_maps[i])) segments->ultra_hdr = true;
  for (size_t i = 0; i < sizeof trailers / sizeof *trailers; i++)
    if (contains(bytes, count, trailers[i])) segments->trailer_announced = true;
}

static boolean look_through_rest(j_decompress_ptr info, const beginning *segment) {
  uint8_t window[LONGEST_WORD + WINDOW];
  size_t held = segment->count - sizeof xmp_name;
  memcpy(window, segment->start + sizeof xmp_name, held);
  for (size_t rest = segment->rest; rest > 0;) {
    const size_t step = rest < WINDOW ? rest : WINDOW;
    read_bytes(info, window + held, step);
    rest -= step;
    held += step;
    look_through(segments_of(info), window, held);
    const size_t kept = held < LONGEST_WORD ? held : LONGEST_WORD;
    memmove(window, window + held - kept, kept);
    held = kept;
  }
  return TRUE;
}

static boolean read_app1(j_decompress_ptr info) {
  cjpeg_segments *segments = segments_of(info);
  const beginning segment = begin(info);
  if (!segments->exif.bytes && is_named(&segment, exif_name, 5) && segment.count >= 6) {
    keep(info, &segment, 6, &segments->exif);
    return TRUE;
  }
  if (IS_NAMED(&segment, extended_xmp_name)) segments->extended_xmp = true;
  if (!IS_NAMED(&segment, xmp_name)) return skip(info, &segment);
  if (!segments->keeps_metadata || segments->xmp.bytes) return look_through_rest(info, &segment);
  keep(info, &segment, sizeof xmp_name, &segments->xmp);
  look_through(segments, segments->xmp.bytes, segments->xmp.count);
  return TRUE;
}

// MARK: ICC

static void fail_icc(cjpeg_segments *segments, cjpeg_icc_fault fault, int number) {
  if (segments->icc_fault != CJPEG_ICC_GOOD) return;
  segments->icc_fault = fault;
  segments->icc_segment = number;
}

// Whether the segment says once more what the one before it of the same number said.
static bool repeats(j_decompress_ptr info, const beginning *segment, const cjpeg_segment *known) {
  const size_t first = segment->count - ICC_OVERHEAD;
  bool is_same = known->count == first + segment->rest && memcmp(known->bytes, segment->start + ICC_OVERHEAD, first) == 0;
  uint8_t window[WINDOW];
  for (size_t done = 0; done < segment->rest;) {
    const size_t step = segment->rest - done < WINDOW ? segment->rest - done : WINDOW;
    read_bytes(info, window, step);
    is_same = is_same && memcmp(known->bytes + first + done, window, step) == 0;
    done += step;
  }
  return is_same;
}

static boolean read_icc(j_decompress_ptr info, const beginning *segment) {
  cjpeg_segments *segments = segments_of(info);
  const int number = segment->start[sizeof icc_name], announced = segment->start[sizeof icc_name + 1];
  const size_t count = segment->count - ICC_OVERHEAD + segment->rest;
  if (segments->icc_announced == 0) segments->icc_announced = announced;
  if (number == 0 || number > announced || announced != segments->icc_announced) {
    fail_icc(segments, CJPEG_ICC_NUMBERS, number);
  } else if (segments->icc[number].bytes) {
    if (!repeats(info, segment, &segments->icc[number])) fail_icc(segments, CJPEG_ICC_REPEATED, number);
    return TRUE;
  } else if (count > CJPEG_ICC_LIMIT - segments->icc_total) {
    fail_icc(segments, CJPEG_ICC_TOO_LARGE, number);
  }
  if (segments->icc_fault != CJPEG_ICC_GOOD) {
    cjpeg_segments_free_icc(segments);
    return skip(info, segment);
  }
  keep(info, segment, ICC_OVERHEAD, &segments->icc[number]);
  segments->icc_total += count;
  return TRUE;
}

void cjpeg_segments_close(cjpeg_segments *segments) {
  segments->is_closed = true;
  for (int i = 1; i <= segments->icc_announced; i++)
    if (!segments->icc[i].bytes) fail_icc(segments, CJPEG_ICC_MISSING, i);
  if (segments->icc_announced > 0 && segments->icc_total == 0) fail_icc(segments, CJPEG_ICC_EMPTY, 1);
  if (segments->icc_fault != CJPEG_ICC_GOOD) cjpeg_segments_free_icc(segments);
}

// MARK: More pictures

static uint32_t number_at(const uint8_t *bytes, size_t at, size_t length, bool big_endian) {
  uint32_t value = 0;
  for (size_t i = 0; i < length; i++) value = value << 8 | bytes[at + (big_endian ? i : length - 1 - i)];
  return value;
}

// The index of a multi-picture file (CIPA DC-007): a TIFF directory whose tag 0xB002 lists the pictures in 16 bytes each. The
// first is this one; previews of it are not worth a word.
static void read_pictures(cjpeg_segments *segments, const uint8_t *tiff, size_t count, size_t offset) {
  enum { HEADER = 8, ENTRY = 12, LIST_TAG = 0xB002, PICTURE = 16, PREVIEWS = 0x01 };
  if (count < HEADER || (memcmp(tiff, "II", 2) != 0 && memcmp(tiff, "MM", 2) != 0)) return;
  const bool big = tiff[0] == 'M';
  const size_t directory = number_at(tiff, 4, 4, big);
  if (directory > count - 2) return;
  const size_t entries = number_at(tiff, directory, 2, big);
  for (size_t i = 0; i < entries; i++) {
    const size_t entry = directory + 2 + i * ENTRY;
    if (entry > count || count - entry < ENTRY) return;
    if (number_at(tiff, entry, 2, big) != LIST_TAG) continue;
    const size_t bytes = number_at(tiff, entry + 4, 4, big), list = number_at(tiff, entry + 8, 4, big);
    for (size_t at = PICTURE; at + PICTURE <= bytes && list + at + PICTURE <= count; at += PICTURE) {
      segments->trailer_announced = true;
      const uint32_t type = number_at(tiff, list + at, 4, big) & 0xFFFFFF;
      if (type >> 16 == PREVIEWS || segments->second_picture) continue;
      segments->second_picture = true;
      segments->second_picture_offset = offset + number_at(tiff, list + at + 8, 4, big);
    }
    return;
  }
}

static boolean read_mpf(j_decompress_ptr info, beginning *segment) {
  // Offsets count from what follows the name.
  const size_t begun = segment->count - sizeof mpf_name;
  const size_t position = ((cjpeg_errors *)info->err)->bytes_read - info->src->bytes_in_buffer - begun;
  uint8_t bytes[MPF_MOST];
  memcpy(bytes, segment->start + sizeof mpf_name, begun);
  const size_t step = segment->rest < sizeof bytes - begun ? segment->rest : sizeof bytes - begun;
  read_bytes(info, bytes + begun, step);
  segment->rest -= step;
  read_pictures(segments_of(info), bytes, begun + step, position);
  return skip(info, segment);
}

static boolean read_app2(j_decompress_ptr info) {
  beginning segment = begin(info);
  if (IS_NAMED(&segment, icc_name) && segment.count >= ICC_OVERHEAD) return read_icc(info, &segment);
  if (IS_NAMED(&segment, mpf_name)) return read_mpf(info, &segment);
  if (IS_NAMED(&segment, iso_name)) segments_of(info)->iso_gain_map = true;
  return skip(info, &segment);
}

// MARK: Photoshop

static boolean read_app13(j_decompress_ptr info) {
  cjpeg_segments *segments = segments_of(info);
  const beginning segment = begin(info);
  if (!segments->keeps_metadata || !IS_NAMED(&segment, photoshop_name)) return skip(info, &segment);
  if (segments->photoshop.count + segment.count + segment.rest > CJPEG_PHOTOSHOP_LIMIT) {
    segments->too_much_photoshop = true;
    return skip(info, &segment);
  }
  keep(info, &segment, sizeof photoshop_name, &segments->photoshop);
  return TRUE;
}

// MARK: -

void cjpeg_segments_attach(j_decompress_ptr info) {
  jpeg_set_marker_processor(info, JPEG_APP0 + 1, read_app1);
  jpeg_set_marker_processor(info, JPEG_APP0 + 2, read_app2);
  if (segments_of(info)->keeps_metadata) jpeg_set_marker_processor(info, JPEG_APP0 + 13, read_app13);
}

static void empty(cjpeg_segment *segment) {
  free(segment->bytes);
  *segment = (cjpeg_segment){0};
}

void cjpeg_segments_free_icc(cjpeg_segments *segments) {
  for (int i = 1; i <= CJPEG_ICC_SEGMENTS; i++) empty(&segments->icc[i]);
  segments->icc_total = 0;
}

void cjpeg_segments_free_metadata(cjpeg_segments *segments) {
  empty(&segments->exif);
  empty(&segments->xmp);
  empty(&segments->photoshop);
}
