#ifndef CK_COLUMNS_H
#define CK_COLUMNS_H

#include <string.h>

#include "CKernels.h"
#include "variants.h"

// Rows into columns and back, by shuffles within 16 bytes, which all processors have: the compiler makes of wide vectors as
// many registers as they need.

typedef int16_t ck_words32 __attribute__((vector_size(32)));
typedef int32_t ck_ints16 __attribute__((vector_size(16)));
typedef int32_t ck_ints32 __attribute__((vector_size(32)));
typedef int32_t ck_ints64 __attribute__((vector_size(64)));
typedef int64_t ck_longs32 __attribute__((vector_size(32)));
typedef int64_t ck_longs64 __attribute__((vector_size(64)));
typedef uint8_t ck_bytes16 __attribute__((vector_size(16)));
typedef uint8_t ck_bytes32 __attribute__((vector_size(32)));

#define CK_LOW_WORDS(A, B) __builtin_shufflevector(A, B, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27)
#define CK_HIGH_WORDS(A, B) __builtin_shufflevector(A, B, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31)
#define CK_LOW_INTS32(A, B) \
  (ck_longs32)__builtin_shufflevector((ck_ints32)(A), (ck_ints32)(B), 0, 8, 1, 9, 4, 12, 5, 13)
#define CK_HIGH_INTS32(A, B) \
  (ck_longs32)__builtin_shufflevector((ck_ints32)(A), (ck_ints32)(B), 2, 10, 3, 11, 6, 14, 7, 15)
#define CK_LOW_LONGS32(A, B) (ck_words32)__builtin_shufflevector(A, B, 0, 4, 2, 6)
#define CK_HIGH_LONGS32(A, B) (ck_words32)__builtin_shufflevector(A, B, 1, 5, 3, 7)
#define CK_LOW_INTS64(A, B) \
  (ck_longs64)__builtin_shufflevector(A, B, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define CK_HIGH_INTS64(A, B) \
  (ck_longs64)__builtin_shufflevector(A, B, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define CK_LOW_LONGS64(A, B) __builtin_shufflevector(A, B, 0, 8, 2, 10, 4, 12, 6, 14)
#define CK_HIGH_LONGS64(A, B) __builtin_shufflevector(A, B, 1, 9, 3, 11, 5, 13, 7, 15)
#define CK_LOW_BYTES(A, B)                                                                                         \
  __builtin_shufflevector(A, B, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19, \
                          51, 20, 52, 21, 53, 22, 54, 23, 55)
#define CK_HIGH_BYTES(A, B)                                                                                          \
  __builtin_shufflevector(A, B, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26, 58, \
                          27, 59, 28, 60, 29, 61, 30, 62, 31, 63)

// Four elements of 4 bytes of each of 16 rows, `stride` bytes apart, into four columns.
CK_INLINE void ck_turn_ints(const uint8_t *rows, size_t stride, void *columns) {
  ck_ints64 quarter[4];
  for (size_t r = 0; r < 4; r++) {
    ck_ints16 row[4];
    for (size_t lane = 0; lane < 4; lane++) memcpy(&row[lane], rows + (4 * lane + r) * stride, 16);
    const ck_ints32 low = __builtin_shufflevector(row[0], row[1], 0, 1, 2, 3, 4, 5, 6, 7);
    const ck_ints32 high = __builtin_shufflevector(row[2], row[3], 0, 1, 2, 3, 4, 5, 6, 7);
    quarter[r] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  const ck_longs64 a = CK_LOW_INTS64(quarter[0], quarter[1]), b = CK_HIGH_INTS64(quarter[0], quarter[1]);
  const ck_longs64 c = CK_LOW_INTS64(quarter[2], quarter[3]), d = CK_HIGH_INTS64(quarter[2], quarter[3]);
  const ck_longs64 turned[4] = {CK_LOW_LONGS64(a, c), CK_HIGH_LONGS64(a, c), CK_LOW_LONGS64(b, d),
                                CK_HIGH_LONGS64(b, d)};
  memcpy(columns, turned, sizeof turned);
}

// Both halves, of eight times eight words, by themselves.
CK_INLINE void ck_turn_halves(const ck_words32 in[8], ck_words32 columns[8]) {
  ck_longs32 half[8];
  for (size_t k = 0; k < 8; k += 4) {
    const ck_words32 a = CK_LOW_WORDS(in[k], in[k + 1]), b = CK_HIGH_WORDS(in[k], in[k + 1]);
    const ck_words32 c = CK_LOW_WORDS(in[k + 2], in[k + 3]), d = CK_HIGH_WORDS(in[k + 2], in[k + 3]);
    half[k] = CK_LOW_INTS32(a, c);
    half[k + 1] = CK_HIGH_INTS32(a, c);
    half[k + 2] = CK_LOW_INTS32(b, d);
    half[k + 3] = CK_HIGH_INTS32(b, d);
  }
  for (size_t k = 0; k < 4; k++) {
    columns[2 * k] = CK_LOW_LONGS32(half[k], half[k + 4]);
    columns[2 * k + 1] = CK_HIGH_LONGS32(half[k], half[k + 4]);
  }
}

// Eight elements of 2 bytes of each of 16 rows, `stride` elements apart, into eight columns, whose rows are in the order
// 0 to 3, 8 to 11, 4 to 7, 12 to 15: two columns joined element by element are in order again.
CK_INLINE void ck_turn_words(const int16_t *rows, size_t stride, ck_words32 columns[8]) {
  ck_words32 in[8];
  for (size_t k = 0; k < 8; k++) {
    const size_t r = k < 4 ? k : k + 4;
    memcpy(&in[k], rows + r * stride, 16);
    memcpy((uint8_t *)&in[k] + 16, rows + (r + 4) * stride, 16);
  }
  ck_turn_halves(in, columns);
}

// Eight columns of 16 words into 16 rows, `stride` words apart.
CK_INLINE void ck_turn_word_columns(const uint16_t *columns, uint16_t *rows, size_t stride) {
  ck_words32 in[8], turned[8];
  memcpy(in, columns, sizeof in);
  ck_turn_halves(in, turned);
  for (size_t k = 0; k < 8; k++) {
    memcpy(rows + k * stride, &turned[k], 16);
    memcpy(rows + (k + 8) * stride, (const uint8_t *)&turned[k] + 16, 16);
  }
}

// 32 columns of 16 bytes into 16 rows, `stride` bytes apart.
CK_INLINE void ck_turn_bytes(const uint8_t *columns, uint8_t *rows, size_t stride) {
  ck_bytes32 in[16], out[16];
  for (size_t k = 0; k < 16; k++) {
    memcpy(&in[k], columns + 16 * k, 16);
    memcpy((uint8_t *)&in[k] + 16, columns + 16 * (k + 16), 16);
  }
  // Each of four rounds halves the distance of what belongs together.
#define CK_ROUND(FROM, TO)                              \
  for (size_t k = 0; k < 8; k++) {                      \
    TO[2 * k] = CK_LOW_BYTES(FROM[k], FROM[k + 8]);     \
    TO[2 * k + 1] = CK_HIGH_BYTES(FROM[k], FROM[k + 8]); \
  }
  CK_ROUND(in, out)
  CK_ROUND(out, in)
  CK_ROUND(in, out)
  CK_ROUND(out, in)
#undef CK_ROUND
  for (size_t k = 0; k < 16; k++) memcpy(rows + k * stride, &in[k], 32);
}

// The outputs from `x` on that read nothing beyond `capacity` pixels from the first one's start: at least one.
CK_INLINE int32_t ck_window_end(ck_axis axis, int32_t x, size_t capacity) {
  const int32_t first = axis.starts[x];
  int32_t end = x + 1;
  while (end < axis.count && (size_t)(axis.starts[end] - first + axis.taps) <= capacity) end++;
  return end;
}

#endif
