/// What the boxes say of the coded data, without reading these.
#ifndef CHEIF_BOXES_H
#define CHEIF_BOXES_H

#include "reader.h"

#pragma GCC visibility push(hidden)

/// Coded data, in bytes.
typedef struct {
  uint64_t largest;  // of one item, with its parameter sets
  uint64_t total;    // of all, with parameter sets once
  uint64_t wanted, there;  // without them: of all, and what lies before the file's end
  uint32_t cut_count, first_cut;  // items that the file does not hold whole; the first of them by its place in the list
} cheif_coded_bytes;

/// Sums the extents that the iloc boxes give the items: an extent may be in several, so a sum can be more than the file has.
/// Items that are not found count for nothing.
cheif_coded_bytes cheif_find_coded_bytes(cheif_reader *reader, const heif_item_id *ids, size_t count);

/// Where the last item's data end.
uint64_t cheif_find_end(cheif_reader *reader);

#pragma GCC visibility pop
#endif
