#ifndef CJPEG_SEGMENTS_H
#define CJPEG_SEGMENTS_H

#include "common.h"

// A profile may span 255 segments; real ones hold at most a few megabytes.
enum { CJPEG_ICC_SEGMENTS = 255, CJPEG_ICC_LIMIT = 8 << 20, CJPEG_PHOTOSHOP_LIMIT = 1 << 20 };

typedef struct {
  uint8_t *bytes;
  size_t count;
} cjpeg_segment;

/// What is kept of the segments before the first scan. Markers are read here, not saved by libjpeg: of a file with thousands
/// of segments only the needed ones are kept.
typedef struct cjpeg_segments {
  bool keeps_metadata, is_closed;
  cjpeg_segment exif, xmp, photoshop;
  bool extended_xmp, too_much_photoshop;
  cjpeg_segment icc[CJPEG_ICC_SEGMENTS + 1];  // by their number, from 1
  size_t icc_total;
  int icc_announced;  // by the first segment; 0: there was none
  cjpeg_icc_fault icc_fault;
  int icc_segment;
  bool ultra_hdr, iso_gain_map, trailer_announced, second_picture;
  size_t second_picture_offset;
} cjpeg_segments;

/// Sets libjpeg's marker processors. The error manager is a cjpeg_errors whose `segments` is this one.
void cjpeg_segments_attach(j_decompress_ptr info);

/// When the header was read: whether the profile is whole. Later segments are passed over.
void cjpeg_segments_close(cjpeg_segments *segments);

void cjpeg_segments_free_icc(cjpeg_segments *segments);
void cjpeg_segments_free_metadata(cjpeg_segments *segments);

#endif
