#ifndef CJPEG_MEMORY_H
#define CJPEG_MEMORY_H

#include "blocks.h"
#include "common.h"

/// What libjpeg allocates, counted and limited, and its arrays of coefficients in a packed store. It hangs on the error
/// manager, which every function of libjpeg's memory manager can reach.
typedef struct cjpeg_memory cjpeg_memory;

typedef struct cjpeg_store cjpeg_store;

struct cjpeg_memory {
  struct jpeg_memory_mgr library;  // libjpeg's own functions
  size_t allocated, most_allocated;
  cjpeg_store *store;
};

/// Puts our functions into libjpeg's table, after jpeg_create_decompress. The error manager is a cjpeg_errors whose `memory`
/// is this one.
void cjpeg_memory_attach(cjpeg_memory *memory, j_decompress_ptr info);

/// Frees what is not libjpeg's.
void cjpeg_memory_free(cjpeg_memory *memory);

/// A store with these limits; NULL without memory.
cjpeg_store *cjpeg_store_create(const cjpeg_limits *limits, cjpeg_blocks_variant variant);
void cjpeg_store_free(cjpeg_store *store);
cjpeg_usage cjpeg_store_usage(const cjpeg_store *store);

/// libjpeg's three functions for arrays of blocks, by the store of the error manager's memory.
jvirt_barray_ptr cjpeg_store_request(j_common_ptr info, int pool, boolean zeroed, JDIMENSION blocks_per_row,
                                     JDIMENSION row_count, JDIMENSION most_accessed);
void cjpeg_store_realize(j_common_ptr info);
JBLOCKARRAY cjpeg_store_access(j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
                               boolean writable);

/// The side that a block of the component is decoded to.
int cjpeg_scaled_size(const jpeg_component_info *component);

#endif
