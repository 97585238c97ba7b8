#include "memory.h"

#include <stdlib.h>

// Rows are padded for SIMD, and every allocation has a header: at most this much, in each version of libjpeg-turbo.
enum { ROW_PADDING = 64, OVERHEAD = 64 };

static cjpeg_memory *memory_of(j_common_ptr info) { return ((cjpeg_errors *)info->err)->memory; }

static void count(j_common_ptr info, size_t bytes) {
  cjpeg_memory *memory = memory_of(info);
  if (memory->allocated > memory->most_allocated || bytes > memory->most_allocated - memory->allocated)
    cjpeg_escape(info, CJPEG_NO_MEMORY, "libjpeg wants %zu bytes beside %zu, %zu are allowed", bytes, memory->allocated,
                 memory->most_allocated);
  memory->allocated += bytes;
}

static void *alloc_small(j_common_ptr info, int pool, size_t bytes) {
  count(info, bytes + OVERHEAD);
  return memory_of(info)->library.alloc_small(info, pool, bytes);
}

static void *alloc_large(j_common_ptr info, int pool, size_t bytes) {
  count(info, bytes + OVERHEAD);
  return memory_of(info)->library.alloc_large(info, pool, bytes);
}

static JSAMPARRAY alloc_sarray(j_common_ptr info, int pool, JDIMENSION samples_per_row, JDIMENSION rows) {
  count(info, ((size_t)samples_per_row + ROW_PADDING + sizeof(JSAMPROW)) * rows + OVERHEAD);
  return memory_of(info)->library.alloc_sarray(info, pool, samples_per_row, rows);
}

static JBLOCKARRAY alloc_barray(j_common_ptr info, int pool, JDIMENSION blocks_per_row, JDIMENSION rows) {
  count(info, (blocks_per_row * sizeof(JBLOCK) + sizeof(JBLOCKROW)) * rows + OVERHEAD);
  return memory_of(info)->library.alloc_barray(info, pool, blocks_per_row, rows);
}

static void realize(j_common_ptr info) {
  memory_of(info)->library.realize_virt_arrays(info);  // arrays of samples
  cjpeg_store_realize(info);
}

void cjpeg_memory_attach(cjpeg_memory *memory, j_decompress_ptr info) {
  struct jpeg_memory_mgr *table = info->mem;
  memory->library = *table;
  table->alloc_small = alloc_small;
  table->alloc_large = alloc_large;
  table->alloc_sarray = alloc_sarray;
  table->alloc_barray = alloc_barray;
  table->request_virt_barray = cjpeg_store_request;
  table->realize_virt_arrays = realize;
  table->access_virt_barray = cjpeg_store_access;
}

void cjpeg_memory_free(cjpeg_memory *memory) {
  cjpeg_store_free(memory->store);
  memory->store = NULL;
}
