#include "common.h"

#include <stdio.h>
#include <string.h>

cpng_status cpng_fail(cpng_error *error, cpng_status status, const char *text) {
  error->status = status;
  snprintf(error->message, sizeof error->message, "%s", text);
  return status;
}

void cpng_on_error(png_structp png, png_const_charp text) {
  cpng_errors *errors = png_get_error_ptr(png);
  cpng_status status = errors->pending != CPNG_OK         ? errors->pending
                       : strstr(text, "ut of memory") ? CPNG_NO_MEMORY
                                                          : CPNG_DAMAGED;
  cpng_fail(&errors->error, status, text);
  longjmp(errors->escape, 1);
}

void cpng_on_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

const char *cpng_library_version(void) { return png_get_libpng_ver(NULL); }
