#include "frame.h"

#include <stdlib.h>
#include <string.h>

enum {
  ROOM_ALIGNMENT = 64,
  ROOM_PADDING = 64,  // dav1d reads and writes beyond a plane's end
};

void cheif_free_coded(cheif_coded *coded) {
  free(coded->bytes);
  *coded = (cheif_coded){0};
}

void cheif_close_decoder(cheif_store *store) {
  if (store->decoder != NULL) store->close(store->decoder);
  store->decoder = NULL;
}

void cheif_free_store(cheif_store *store) {
  cheif_close_decoder(store);
  free(store->memory);
  *store = (cheif_store){.filling = store->filling};
}

void cheif_fill(uint8_t *samples, size_t stride, uint32_t width, uint32_t rows, int bits, cheif_filling filling) {
  uint32_t value = filling == CHEIF_FILL_OPAQUE ? (1u << bits) - 1 : 1u << (bits - 1);
  for (uint32_t y = 0; y < rows; y++) {
    uint8_t *row = samples + y * stride;
    if (bits <= 8) {
      memset(row, (int)value, width);
    } else {
      for (uint32_t x = 0; x < width; x++) ((uint16_t *)(void *)row)[x] = (uint16_t)value;
    }
  }
}

/// Bytes that two pixels take.
static int bytes_of_two(cheif_layout layout, int bits) {
  int samples = layout == CHEIF_LAYOUT_MONOCHROME ? 2 : layout == CHEIF_LAYOUT_420 ? 3 : layout == CHEIF_LAYOUT_422 ? 4 : 6;
  return samples * (bits > 8 ? 2 : 1);
}

bool cheif_fits(const cheif_stream *limit, int width, int height, cheif_layout layout, int bits) {
  int most_bits = limit->luma_bits > limit->chroma_bits ? limit->luma_bits : limit->chroma_bits;
  return width > 0 && height > 0 && (uint32_t)width <= limit->width && (uint32_t)height <= limit->height &&
         bytes_of_two(layout, bits) <= bytes_of_two(limit->layout, most_bits);
}

uint8_t *cheif_take_room(cheif_room *room, const size_t strides[3], const uint32_t heights[3], int bits,
                         uint8_t *planes[3]) {
  if (room->memory != NULL) {
    room->too_many = true;
    return NULL;
  }
  size_t offsets[3], total = 0;
  for (int i = 0; i < 3; i++) {
    size_t bytes;
    offsets[i] = total;
    if (__builtin_mul_overflow(strides[i], heights[i], &bytes) || bytes > PTRDIFF_MAX / 8) return NULL;
    total += (bytes + ROOM_PADDING + ROOM_ALIGNMENT - 1) / ROOM_ALIGNMENT * ROOM_ALIGNMENT;
  }
  if (room->store->bytes < total) {
    free(room->store->memory);
    room->store->bytes = 0;
    room->store->memory = aligned_alloc(ROOM_ALIGNMENT, total);
    if (room->store->memory == NULL) return NULL;
    room->store->bytes = total;
  }
  room->memory = room->store->memory;
  room->bytes = total;
  for (int i = 0; i < 3; i++) planes[i] = strides[i] > 0 ? room->memory + offsets[i] : NULL;
  uint32_t sample_bytes = bits > 8 ? 2 : 1;
  cheif_filling filling = room->store->filling;
  // What libde265 leaves out unnoticed must not show another tile, which one depending on the threads.
  if (filling == CHEIF_FILL_NONE && room->store->keeps_decoder) filling = CHEIF_FILL_GRAY;
  for (int i = 0; i < 3 && filling != CHEIF_FILL_NONE; i++) {
    cheif_fill(planes[i], strides[i], (uint32_t)strides[i] / sample_bytes, heights[i], bits, filling);
  }
  return room->memory;
}

void cheif_leave_room(cheif_room *room) {
  // The memory stays in the store.
  room->memory = NULL;
  room->bytes = 0;
}

bool cheif_is_inside(const cheif_room *room, const cheif_plane *plane) {
  if (room->memory == NULL || plane->width == 0 || plane->height == 0) return false;
  uintptr_t first = (uintptr_t)room->memory, begin = (uintptr_t)plane->samples;
  if (begin < first || begin - first > room->bytes) return false;
  uint64_t row = (uint64_t)plane->width * (uint64_t)plane->bytes_per_sample;
  if (row > plane->stride || plane->stride > room->bytes) return false;
  // At most 2^31 rows of what is in memory.
  uint64_t end = (uint64_t)(plane->height - 1) * plane->stride + row;
  return end <= room->bytes - (begin - first);
}

int cheif_known_primaries(int number) {
  return (number >= 1 && number <= 12 && number != 3) || number == 22 ? number : 2;
}

int cheif_known_transfer(int number) { return number >= 1 && number <= 18 && number != 3 ? number : 2; }

int cheif_known_matrix(int number) { return number >= 0 && number <= 14 && number != 3 ? number : 2; }
