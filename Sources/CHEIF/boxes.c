#define _GNU_SOURCE  // for reader.h

#include "boxes.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char type[4];
  int64_t begin, end;  // of what is in it, by position in the file
} box;

/// An item that is looked for: the `index`th.
typedef struct {
  heif_item_id id;
  uint32_t index;
  bool is_cut;
} wanted;

typedef struct {
  wanted *items;  // sorted
  size_t count;
  uint64_t configuration;  // the largest box with parameter sets
  cheif_coded_bytes found;
} search;

/// Where an item's data lie.
typedef struct {
  uint64_t bytes, there, end;
} extents;

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
  heif_item_id a = ((const wanted *)left)->id, b = ((const wanted *)right)->id;
  return (a > b) - (a < b);
}

/// Sums up an item's bytes: what lies before the file's end is there. An item can be looked for several times.
static void count_item(search *search, heif_item_id id, uint64_t bytes, uint64_t there) {
  const wanted key = {.id = id};
  wanted *item = bsearch(&key, search->items, search->count, sizeof key, compare);
  if (item == NULL) return;
  if (bytes > search->found.largest) search->found.largest = bytes;
  search->found.wanted = sum(search->found.wanted, bytes);
  search->found.there = sum(search->found.there, there);
  if (bytes == there) return;
  while (item > search->items && item[-1].id == id) item--;
  for (; item < search->items + search->count && item->id == id; item++) item->is_cut = true;
}

/// ISO/IEC 14496-12, 8.11.3. Items without extents, or with such as have no bytes in this box, are passed over at once.
/// Calls `found` with each item's bytes, those of them that lie in the file, and the end of the last one.
static void read_locations(cheif_reader *reader, const box *iloc, void *context,
                           void (*found)(void *context, heif_item_id id, const extents *of)) {
  int64_t at = iloc->begin;
  const int64_t end = iloc->end;
  const uint64_t file_bytes = (uint64_t)reader->source.size;
  uint64_t version, sizes, items;
  if (!take(reader, &at, end, 4, &version) || !take(reader, &at, end, 2, &sizes)) return;
  version >>= 24;
  const int wide = version < 2 ? 2 : 4;
  const int index_size = version > 0 ? (int)(sizes & 15) : 0;
  const int offset_size = (int)(sizes >> 12 & 15), length_size = (int)(sizes >> 8 & 15);
  const int base_size = (int)(sizes >> 4 & 15);
  if (!take(reader, &at, end, wide, &items)) return;
  for (uint64_t i = 0; i < items; i++) {
    uint64_t id, method = 0, file, base, count;
    extents of = {0};
    if (!take(reader, &at, end, wide, &id) || (version > 0 && !take(reader, &at, end, 2, &method)) ||
        !take(reader, &at, end, 2, &file) || !take(reader, &at, end, base_size, &base) ||
        !take(reader, &at, end, 2, &count)) {
      return;
    }
    if (offset_size + index_size + length_size == 0) count = 0;
    for (uint64_t k = 0; k < count; k++) {
      uint64_t offset, length;
      at += index_size;
      if (!take(reader, &at, end, offset_size, &offset) || !take(reader, &at, end, length_size, &length)) return;
      uint64_t begin = sum(base, offset), extent_end = sum(begin, length);
      bool is_in_file = (method & 15) == 0;
      of.bytes = sum(of.bytes, length);
      of.there = sum(of.there, !is_in_file || extent_end <= file_bytes ? length
                               : begin < file_bytes                    ? file_bytes - begin
                                                                       : 0);
      if (is_in_file && extent_end > of.end) of.end = extent_end;
    }
    found(context, (heif_item_id)id, &of);
  }
}

static void count_extents(void *context, heif_item_id id, const extents *of) {
  count_item(context, id, of->bytes, of->there);
}

static void find_end(void *context, heif_item_id id, const extents *of) {
  (void)id;
  uint64_t *end = context;
  if (of->end > *end) *end = of->end;
}

/// libheif puts the parameter sets before the coded data.
static void read_properties(cheif_reader *reader, const box *iprp, void *context) {
  search *search = context;
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

/// The boxes of a type within the meta box.
static void for_each_box(cheif_reader *reader, const char *type, void *context,
                         void (*body)(cheif_reader *reader, const box *found, void *context)) {
  box top, child;
  for (int64_t at = 0; next_box(reader, &at, reader->source.size, &top);) {
    if (!is_a(&top, "meta")) continue;
    for (int64_t in = top.begin + 4; next_box(reader, &in, top.end, &child);) {
      if (is_a(&child, type)) body(reader, &child, context);
    }
  }
}

static void search_locations(cheif_reader *reader, const box *iloc, void *context) {
  read_locations(reader, iloc, context, count_extents);
}

static void search_end(cheif_reader *reader, const box *iloc, void *context) {
  read_locations(reader, iloc, context, find_end);
}

uint64_t cheif_find_end(cheif_reader *reader) {
  uint64_t end = 0;
  for_each_box(reader, "iloc", &end, search_end);
  return end;
}

cheif_coded_bytes cheif_find_coded_bytes(cheif_reader *reader, const heif_item_id *ids, size_t count) {
  search search = {.count = count};
  search.items = count <= UINT32_MAX ? calloc(count > 0 ? count : 1, sizeof *search.items) : NULL;
  // Too much for any plan.
  if (search.items == NULL) return (cheif_coded_bytes){.largest = UINT64_MAX, .total = UINT64_MAX};
  for (size_t i = 0; i < count; i++) search.items[i] = (wanted){.id = ids[i], .index = (uint32_t)i};
  qsort(search.items, count, sizeof *search.items, compare);
  for_each_box(reader, "iloc", &search, search_locations);
  for_each_box(reader, "iprp", &search, read_properties);
  search.found.first_cut = (uint32_t)count;
  for (size_t i = 0; i < count; i++) {
    if (!search.items[i].is_cut) continue;
    search.found.cut_count++;
    if (search.items[i].index < search.found.first_cut) search.found.first_cut = search.items[i].index;
  }
  free(search.items);
  search.found.largest = sum(search.found.largest, search.configuration);
  search.found.total = sum(search.found.wanted, search.configuration);
  return search.found;
}
