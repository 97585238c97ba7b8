#ifndef CJPEG_COMMON_H
#define CJPEG_COMMON_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include "CJPEG.h"

/// libjpeg's error manager, with where to return to and what else its functions need to find. It lies first in readers and
/// writers.
typedef struct {
  struct jpeg_error_mgr base;
  jmp_buf escape;
  cjpeg_error error;    // the failure that led to the jump
  struct cjpeg_memory *memory;  // of a reader
  bool data_is_damaged; // a warning that means that picture data is missing or wrong
} cjpeg_errors;

/// Fills in the error manager: failures jump to `escape`, warnings are counted and never printed.
void cjpeg_errors_init(cjpeg_errors *errors);

/// Sets `error` and gives its status.
__attribute__((format(printf, 3, 4))) cjpeg_status cjpeg_fail(cjpeg_error *error, cjpeg_status status,
                                                              const char *format, ...);

/// Leaves libjpeg with this failure. To be called only below a setjmp on `escape`.
__attribute__((noreturn, format(printf, 3, 4))) void cjpeg_escape(j_common_ptr info, cjpeg_status status,
                                                                  const char *format, ...);

#endif
