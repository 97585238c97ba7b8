#include "common.h"
#include "metadata.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Before each allocation, its size. As large as keeps what follows aligned.
enum { PREFIX = alignof(max_align_t) > sizeof(size_t) ? alignof(max_align_t) : sizeof(size_t) };

void *cpng_allocate(cpng_memory *memory, size_t bytes) {
  const size_t room = memory->limit > memory->held ? memory->limit - memory->held : 0;
  if (room < PREFIX || bytes > room - PREFIX) {
    memory->refused = bytes;
    return NULL;
  }
  uint8_t *const start = malloc(PREFIX + bytes);
  if (!start) return NULL;
  memcpy(start, &bytes, sizeof bytes);
  memory->held += PREFIX + bytes;
  if (memory->held > memory->most) memory->most = memory->held;
  return start + PREFIX;
}

void cpng_release(cpng_memory *memory, void *pointer) {
  if (!pointer) return;
  uint8_t *const start = (uint8_t *)pointer - PREFIX;
  size_t bytes = 0;
  memcpy(&bytes, start, sizeof bytes);
  memory->held -= PREFIX + bytes;
  free(start);
}

png_voidp cpng_png_malloc(png_structp png, png_alloc_size_t bytes) { return cpng_allocate(png_get_mem_ptr(png), bytes); }

void cpng_png_free(png_structp png, png_voidp pointer) { cpng_release(png_get_mem_ptr(png), pointer); }

cpng_status cpng_fail_for_memory(cpng_error *error, const cpng_memory *memory) {
  char text[160];
  snprintf(text, sizeof text, "libpng holds %zu bytes and asked for %zu more, %zu are allowed", memory->held,
           memory->refused, memory->limit);
  return cpng_fail(error, CPNG_NO_MEMORY, text);
}

cpng_status cpng_fail(cpng_error *error, cpng_status status, const char *text) {
  error->status = status;
  snprintf(error->message, sizeof error->message, "%s", text);
  return status;
}

void cpng_on_error(png_structp png, png_const_charp text) {
  cpng_errors *errors = png_get_error_ptr(png);
  if (errors->memory.refused) {
    cpng_fail_for_memory(&errors->error, &errors->memory);
    longjmp(errors->escape, 1);
  }
  cpng_status status = errors->pending != CPNG_OK         ? errors->pending
                       : strstr(text, "ut of memory") ? CPNG_NO_MEMORY
                                                          : CPNG_DAMAGED;
  cpng_fail(&errors->error, status, text);
  longjmp(errors->escape, 1);
}

void cpng_count_damaged(cpng_damaged *damaged, const char *type) {
  if (damaged->count++ == 0) memcpy(damaged->type, type, 4);
}

void cpng_on_warning(png_structp png, png_const_charp text) {
  cpng_errors *const errors = png_get_error_ptr(png);
  const bool is_of_data = strncmp(text, "IDAT", 4) == 0;
  if (strstr(text, "CRC error") && strlen(text) > 4) {
    if (is_of_data) {
      errors->damaged_data++;
    } else {
      cpng_count_damaged(&errors->damaged, text);
    }
  } else if (strstr(text, "Extra compressed data") || strstr(text, "Too much image data") || strstr(text, "Too many IDAT")) {
    errors->has_extra_data = true;
  }
}

const char *cpng_library_version(void) { return png_get_libpng_ver(NULL); }
