#include "boxes.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char type[4];
  int64_t begin, end;  // of what is in it, by position in the file
} box;

typedef struct {
  const heif_item_id *ids;
  size_t count;
  uint64_t configuration;  // the largest box with parameter sets
  cheif_coded_bytes found;
} search;

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/// A big-endian number of up to 8 bytes at `*at`, which moves on; false where it does not lie before `end`.
static bool take(cheif_reader *reader, int64_t *at, int64_t end, int size, uint64_t *value) {
  uint8_t bytes[8];
  *value = 0;
  if (size > (int)sizeof bytes || size > end - *at || !cheif_read_exactly(reader, *at, bytes, size)) return false;
  for (int i = 0; i < size; i++) *value = *value << 8 | bytes[i];
  *at += size;
  return true;
}

/// The box that begins at `*at`, which moves on to the next.
static bool next_box(cheif_reader *reader, int64_t *at, int64_t end, box *found) {
  int64_t begin = *at, position = begin;
  uint64_t size, type;
  if (!take(reader, &position, end, 4, &size) || !take(reader, &position, end, 4, &type)) return false;
  if (size == 1 && !take(reader, &position, end, 8, &size)) return false;
  uint64_t room = (uint64_t)(end - begin);
  if (size == 0) size = room;
  if (size < (uint64_t)(position - begin)) return false;
  if (size > room) size = room;
  for (int i = 0; i < 4; i++) found->type[i] = (char)(type >> (24 - 8 * i) & 0xFF);
  found->begin = position;
  found->end = *at = begin + (int64_t)size;
  return true;
}

static bool is_a(const box *a, const char *type) { return memcmp(a->type, type, sizeof a->type) == 0; }

static int compare(const void *left, const void *right) {
  heif_item_id a = *(const heif_item_id *)left, b = *(const heif_item_id *)right;
  return (a > b) - (a < b);
}

/// ISO/IEC 14496-12, 8.11.3. Items without extents, or with such as have no bytes in this box, are passed over at once.
static void read_locations(cheif_reader *reader, const box *iloc, search *search) {
  int64_t at = iloc->begin;
  const int64_t end = iloc->end;
  uint64_t version, sizes, items;
  if (!take(reader, &at, end, 4, &version) || !take(reader, &at, end, 2, &sizes)) return;
  version >>= 24;
  const int wide = version < 2 ? 2 : 4;
  const int before = (int)(sizes >> 12 & 15) + (version > 0 ? (int)(sizes & 15) : 0);
  const int length_size = (int)(sizes >> 8 & 15), base_size = (int)(sizes >> 4 & 15);
  if (!take(reader, &at, end, wide, &items)) return;
  for (uint64_t i = 0; i < items; i++) {
    uint64_t id, extents, bytes = 0;
    if (!take(reader, &at, end, wide, &id)) return;
    // The construction method, from version 1 on, and the file's number.
    at += (version > 0 ? 4 : 2) + base_size;
    if (!take(reader, &at, end, 2, &extents)) return;
    if (before + length_size == 0) extents = 0;
    for (uint64_t k = 0; k < extents; k++) {
      uint64_t length;
      at += before;
      if (!take(reader, &at, end, length_size, &length)) return;
      bytes = sum(bytes, length);
    }
    const heif_item_id key = (heif_item_id)id;
    if (bsearch(&key, search->ids, search->count, sizeof key, compare) == NULL) continue;
    if (bytes > search->found.largest) search->found.largest = bytes;
    search->found.total = sum(search->found.total, bytes);
  }
}

/// libheif puts the parameter sets before the coded data.
static void read_properties(cheif_reader *reader, const box *iprp, search *search) {
  box ipco, property;
  for (int64_t at = iprp->begin; next_box(reader, &at, iprp->end, &ipco);) {
    if (!is_a(&ipco, "ipco")) continue;
    for (int64_t in = ipco.begin; next_box(reader, &in, ipco.end, &property);) {
      if (!is_a(&property, "hvcC") && !is_a(&property, "av1C")) continue;
      uint64_t bytes = (uint64_t)(property.end - property.begin);
      if (bytes > search->configuration) search->configuration = bytes;
    }
  }
}

cheif_coded_bytes cheif_find_coded_bytes(cheif_reader *reader, heif_item_id *ids, size_t count) {
  qsort(ids, count, sizeof *ids, compare);
  search search = {.ids = ids, .count = count};
  box top, child;
  for (int64_t at = 0; next_box(reader, &at, reader->source.size, &top);) {
    if (!is_a(&top, "meta")) continue;
    for (int64_t in = top.begin + 4; next_box(reader, &in, top.end, &child);) {
      if (is_a(&child, "iloc")) read_locations(reader, &child, &search);
      if (is_a(&child, "iprp")) read_properties(reader, &child, &search);
    }
  }
  search.found.largest = sum(search.found.largest, search.configuration);
  search.found.total = sum(search.found.total, search.configuration);
  return search.found;
}
