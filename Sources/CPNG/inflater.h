#ifndef CPNG_INFLATER_H
#define CPNG_INFLATER_H

#include "chunks.h"
#include "common.h"

/// Inflates the picture data by ISA-L and hands them to libpng, which has no hook for another inflater, as IDAT chunks of stored
/// blocks. libpng is not to check the checksums of these. The file's own are checked here. What was inflated before damage, a
/// wrong checksum or the file's end has been handed over when that is told.
typedef struct cpng_inflater cpng_inflater;

/// NULL where there is no ISA-L or where `memory` does not allow it. `size` is how many bytes there are to inflate: not much
/// more is inflated, whatever the file holds.
cpng_inflater *cpng_inflater_create(cpng_memory *memory, uint64_t size, bool salvages);

/// What it holds in all, libpng's buffer with it; 0 where it cannot be made.
size_t cpng_inflater_bytes(void);

/// libpng's buffer for what it reads of a chunk should be as large.
size_t cpng_inflater_chunk_bytes(void);

/// Makes the next bytes ready for libpng in chunks->ready: 1, 0 where the file ends, -1 on failure.
int cpng_inflater_next(cpng_inflater *inflater, cpng_chunks *chunks);

/// Reads the file to the end of the chunk in which the picture data end: from there on the file's chunks pass as they are. 1, 0
/// where the file ends or is damaged behind the data, -1 on failure.
int cpng_inflater_end(cpng_inflater *inflater, cpng_chunks *chunks);

#endif
