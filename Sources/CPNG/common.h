#ifndef CPNG_COMMON_H
#define CPNG_COMMON_H

#include <setjmp.h>

#include <png.h>

#include "CPNG.h"

/// Where libpng's errors go: libpng's error pointer of readers and writers.
typedef struct {
  jmp_buf escape;
  cpng_error error;
  cpng_status pending;  // set by a callback before it leaves by png_error
} cpng_errors;

/// libpng's error and warning functions. The error pointer is a cpng_errors; warnings are not printed.
__attribute__((noreturn)) void cpng_on_error(png_structp png, png_const_charp text);
void cpng_on_warning(png_structp png, png_const_charp text);

/// Sets `error` and gives its status.
cpng_status cpng_fail(cpng_error *error, cpng_status status, const char *text);

#endif
