#ifndef CJPEG_COMMON_H
#define CJPEG_COMMON_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include "CJPEG.h"

/// Where picture data first turned out to be missing or wrong.
typedef struct {
  enum {
    CJPEG_NO_DAMAGE,
    CJPEG_FILE_ENDED,
    CJPEG_DATA_ENDED,     // a marker ends the picture's data too early
    CJPEG_DATA_WRONG,
    CJPEG_SCANS_MISSING,  // between two scans the file ended
    CJPEG_NO_SCAN,        // of the component
  } kind;
  int scan, component;
  JDIMENSION mcu_row;
} cjpeg_damage;

/// libjpeg's error manager, with where to return to and what else its functions need to find. It lies first in readers and
/// writers.
typedef struct {
  struct jpeg_error_mgr base;
  jmp_buf escape;
  cjpeg_error error;    // the failure that led to the jump
  // Of a reader:
  struct cjpeg_memory *memory;
  struct cjpeg_segments *segments;
  size_t bytes_read;    // from the source
  bool source_ended;    // it has no more bytes: an end-of-image marker was made up
  bool has_stray_bytes;
  int odd_transform;    // -1: none
  cjpeg_damage damage;  // the first
  bool has_run_out;     // the decoder wanted more data than there are before the end
  int damaged_scans, last_damaged_scan;
} cjpeg_errors;

/// Notes damage at the place where decoding is; only the first is kept.
void cjpeg_note_damage(j_decompress_ptr info, int kind);

/// Fills in the error manager: failures jump to `escape`, warnings are counted and never printed.
void cjpeg_errors_init(cjpeg_errors *errors);

/// Sets `error` and gives its status.
__attribute__((format(printf, 3, 4))) cjpeg_status cjpeg_fail(cjpeg_error *error, cjpeg_status status,
                                                              const char *format, ...);

/// Leaves libjpeg with this failure. To be called only below a setjmp on `escape`.
__attribute__((noreturn, format(printf, 3, 4))) void cjpeg_escape(j_common_ptr info, cjpeg_status status,
                                                                  const char *format, ...);

#endif
