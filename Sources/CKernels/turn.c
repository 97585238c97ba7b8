#include "CKernels.h"

#include <stdbool.h>
#include <string.h>

#include "variants.h"

CK_INLINE void turn(const uint8_t *rows, size_t stride, size_t count, size_t pixels, size_t bytes, uint8_t *out,
                    ptrdiff_t along, ptrdiff_t across) {
  // Column by column, in blocks whose rows stay in the cache: what is written is then whole cache lines.
  const size_t block = 64;
  for (size_t first = 0; first < pixels; first += block) {
    const size_t end = pixels - first < block ? pixels : first + block;
    for (size_t x = first; x < end; x++)
      for (size_t r = 0; r < count; r++)
        memcpy(out + (ptrdiff_t)x * along + (ptrdiff_t)r * across, rows + r * stride + x * bytes, bytes);
  }
}

// Two words of a square of bytes: what lies above its diagonal in one changes places with what lies below it in the other.
CK_INLINE void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t mask) {
  const uint64_t changed = (*a >> shift ^ *b) & mask;
  *a ^= changed << shift;
  *b ^= changed;
}

enum { SIDE = 8 };

// A square of 8 x 8 bytes: its quarters change places, then the quarters of these, then single bytes. To be right, a word's
// first byte must be its least significant one.
CK_INLINE void turn_square(const uint8_t *rows, ptrdiff_t stride, uint8_t *out, ptrdiff_t along) {
  uint64_t words[SIDE];
  for (int i = 0; i < SIDE; i++) memcpy(&words[i], rows + i * stride, SIDE);
  for (int i = 0; i < 4; i++) exchange(&words[i], &words[i + 4], 32, 0x00000000FFFFFFFF);
  for (int i = 0; i < SIDE; i += 4) {
    exchange(&words[i], &words[i + 2], 16, 0x0000FFFF0000FFFF);
    exchange(&words[i + 1], &words[i + 3], 16, 0x0000FFFF0000FFFF);
  }
  for (int i = 0; i < SIDE; i += 2) exchange(&words[i], &words[i + 1], 8, 0x00FF00FF00FF00FF);
  for (int i = 0; i < SIDE; i++) memcpy(out + i * along, &words[i], SIDE);
}

// Samples of planes, which are most of what is turned: in squares, the rest one by one.
static void turn_bytes(const uint8_t *rows, size_t stride, size_t count, size_t pixels, uint8_t *out, ptrdiff_t along,
                       ptrdiff_t across) {
  const size_t whole_rows = count - count % SIDE, whole_pixels = pixels - pixels % SIDE;
  for (size_t x = 0; x < whole_pixels; x += SIDE)
    for (size_t r = 0; r < whole_rows; r += SIDE) {
      uint8_t *const to = out + (ptrdiff_t)x * along + (ptrdiff_t)r * across;
      const uint8_t *const from = rows + r * stride + x;
      if (across > 0) {
        turn_square(from, (ptrdiff_t)stride, to, along);
      } else {
        turn_square(from + (SIDE - 1) * stride, -(ptrdiff_t)stride, to - (SIDE - 1), along);
      }
    }
  turn(rows + whole_rows * stride, stride, count - whole_rows, whole_pixels, 1,
       out + (ptrdiff_t)whole_rows * across, along, across);
  turn(rows + whole_pixels, stride, count, pixels - whole_pixels, 1, out + (ptrdiff_t)whole_pixels * along, along, across);
}

void ck_turn(const void *rows, size_t stride, size_t count, size_t pixels, size_t bytes, void *out, ptrdiff_t along,
             ptrdiff_t across) {
  const bool has_squares = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && bytes == 1 && (across == 1 || across == -1);
  if (has_squares) {
    turn_bytes(rows, stride, count, pixels, out, along, across);
    return;
  }
  // A copy of a size known to the compiler is one move.
  switch (bytes) {
    case 1: turn(rows, stride, count, pixels, 1, out, along, across); break;
    case 2: turn(rows, stride, count, pixels, 2, out, along, across); break;
    case 3: turn(rows, stride, count, pixels, 3, out, along, across); break;
    case 4: turn(rows, stride, count, pixels, 4, out, along, across); break;
    case 6: turn(rows, stride, count, pixels, 6, out, along, across); break;
    case 8: turn(rows, stride, count, pixels, 8, out, along, across); break;
    default: turn(rows, stride, count, pixels, bytes, out, along, across); break;
  }
}
