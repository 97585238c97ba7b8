#ifndef CPNG_COMMON_H
#define CPNG_COMMON_H

#include <setjmp.h>

#include <png.h>

#include "CPNG.h"

/// What has been allocated for libpng and zlib, in bytes.
typedef struct {
  size_t held, most;
  size_t limit;
  size_t refused;  // the allocation that would have gone beyond the limit; 0: none
} cpng_memory;

/// Memory that counts, NULL where the limit or the machine does not allow it. Freed by cpng_release alone.
void *cpng_allocate(cpng_memory *memory, size_t bytes);
void cpng_release(cpng_memory *memory, void *pointer);

/// Sets `error` to what was refused.
cpng_status cpng_fail_for_memory(cpng_error *error, const cpng_memory *memory);

/// libpng's own functions for it: its memory pointer is a cpng_memory.
png_voidp cpng_png_malloc(png_structp png, png_alloc_size_t bytes);
void cpng_png_free(png_structp png, png_voidp pointer);

/// Where libpng's errors go: libpng's error pointer of readers and writers.
typedef struct {
  jmp_buf escape;
  cpng_error error;
  cpng_status pending;  // set by a callback before it leaves by png_error
  cpng_memory memory;
  cpng_damaged damaged;    // what libpng warned of
  uint32_t damaged_data;
  bool has_extra_data;
} cpng_errors;

/// libpng's error and warning functions. The error pointer is a cpng_errors; warnings are not printed, but counted.
__attribute__((noreturn)) void cpng_on_error(png_structp png, png_const_charp text);
void cpng_on_warning(png_structp png, png_const_charp text);

/// Sets `error` and gives its status.
cpng_status cpng_fail(cpng_error *error, cpng_status status, const char *text);

#endif
