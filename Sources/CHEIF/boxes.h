/// What the boxes say of the coded data, without reading these.
#ifndef CHEIF_BOXES_H
#define CHEIF_BOXES_H

#include "reader.h"

#pragma GCC visibility push(hidden)

/// Coded data, in bytes.
typedef struct {
  uint64_t largest;  // of one item, with its parameter sets
  uint64_t total;    // of all
} cheif_coded_bytes;

/// Sums the extents that the iloc boxes give the items: an extent may be in several, so a sum can be more than the file has.
/// Sorts `ids`. Items that are not found count for nothing.
cheif_coded_bytes cheif_find_coded_bytes(cheif_reader *reader, heif_item_id *ids, size_t count);

#pragma GCC visibility pop
#endif
