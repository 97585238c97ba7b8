// Included by fixed.c, once for each size of registers: no guard. FIXED makes the names, FIXED_TARGET says what the compiler may use.

#if CK_VECTOR == 64
#define VECTOR __m512i
#define LOAD(P) _mm512_loadu_si512(P)
#define ZERO _mm512_setzero_si512()
#define EACH_INT(V) _mm512_set1_epi32(V)
#define ADD(A, B) _mm512_add_epi32(A, B)
#define MULTIPLY_ADD(A, B) _mm512_madd_epi16(A, B)
#define SHIFTED(A, BITS) _mm512_srai_epi32(A, BITS)
#define LOW_BYTES(A, B) _mm512_unpacklo_epi8(A, B)
#define HIGH_BYTES(A, B) _mm512_unpackhi_epi8(A, B)
#define PACK_WORDS(A, B) _mm512_packs_epi32(A, B)
#elif CK_VECTOR == 32
#define VECTOR __m256i
#define LOAD(P) _mm256_loadu_si256((const __m256i *)(const void *)(P))
#define ZERO _mm256_setzero_si256()
#define EACH_INT(V) _mm256_set1_epi32(V)
#define ADD(A, B) _mm256_add_epi32(A, B)
#define MULTIPLY_ADD(A, B) _mm256_madd_epi16(A, B)
#define SHIFTED(A, BITS) _mm256_srai_epi32(A, BITS)
#define LOW_BYTES(A, B) _mm256_unpacklo_epi8(A, B)
#define HIGH_BYTES(A, B) _mm256_unpackhi_epi8(A, B)
#define PACK_WORDS(A, B) _mm256_packs_epi32(A, B)
#elif defined(__x86_64__)
#define VECTOR __m128i
#define LOAD(P) _mm_loadu_si128((const __m128i *)(const void *)(P))
#define ZERO _mm_setzero_si128()
#define EACH_INT(V) _mm_set1_epi32(V)
#define ADD(A, B) _mm_add_epi32(A, B)
#define MULTIPLY_ADD(A, B) _mm_madd_epi16(A, B)
#define SHIFTED(A, BITS) _mm_srai_epi32(A, BITS)
#define LOW_BYTES(A, B) _mm_unpacklo_epi8(A, B)
#define HIGH_BYTES(A, B) _mm_unpackhi_epi8(A, B)
#define PACK_WORDS(A, B) _mm_packs_epi32(A, B)
#else
typedef int16_t ck_words8 __attribute__((vector_size(8)));
typedef int16_t ck_words16 __attribute__((vector_size(16)));
#define VECTOR ck_ints16
CK_INLINE ck_ints16 ck_load(const void *from) {
  ck_ints16 result;
  memcpy(&result, from, sizeof result);
  return result;
}
#define LOAD(P) ck_load(P)
#define ZERO ((ck_ints16){0, 0, 0, 0})
#define EACH_INT(V) ((ck_ints16){V, V, V, V})
#define ADD(A, B) ((A) + (B))
CK_INLINE ck_ints16 ck_multiply_add(ck_ints16 pairs_a, ck_ints16 pairs_b) {
  const ck_words16 a = (ck_words16)pairs_a, b = (ck_words16)pairs_b;
#define EVEN(A) __builtin_convertvector(__builtin_shufflevector(A, A, 0, 2, 4, 6), ck_ints16)
#define ODD(A) __builtin_convertvector(__builtin_shufflevector(A, A, 1, 3, 5, 7), ck_ints16)
  return EVEN(a) * EVEN(b) + ODD(a) * ODD(b);
#undef EVEN
#undef ODD
}
#define MULTIPLY_ADD(A, B) ck_multiply_add(A, B)
#define SHIFTED(A, BITS) ((A) >> (BITS))
#define LOW_BYTES(A, B)                                                                                            \
  (ck_ints16) __builtin_shufflevector((ck_bytes16)(A), (ck_bytes16)(B), 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, \
                                      22, 7, 23)
#define HIGH_BYTES(A, B)                                                                                             \
  (ck_ints16) __builtin_shufflevector((ck_bytes16)(A), (ck_bytes16)(B), 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, \
                                      14, 30, 15, 31)
// Of numbers that fit: the upper halves say nothing.
#define PACK_WORDS(A, B) \
  (ck_ints16) __builtin_shufflevector((ck_words16)(A), (ck_words16)(B), 0, 2, 4, 6, 8, 10, 12, 14)
#endif

// Two weights as one number, the first in the lower half.
#define WEIGHTS(FIRST, SECOND) (int32_t)((uint32_t)(uint16_t)(FIRST) | (uint32_t)(uint16_t)(SECOND) << 16)

FIXED_TARGET FIXED_LINKAGE void FIXED(ck_vertical_u8)(const uint8_t *const *rows, const int16_t *weights, int taps,
                                                      int16_t *out, size_t count) {
  const int shift = CK_WEIGHT_BITS - CK_ROW_BITS;
  const VECTOR half = EACH_INT(1 << (shift - 1));
  for (size_t next = 0; next < count;) {
    size_t x = next;
    if (count - x < CK_VECTOR) {
      if (count < CK_VECTOR) {
        for (; x < count; x++) {
          int32_t sum = 1 << (shift - 1);
          for (int k = 0; k < taps; k++) sum += rows[k][x] * weights[k];
          out[x] = (int16_t)(sum >> shift);
        }
        return;
      }
      // The last ones, some of them for the second time.
      x = count - CK_VECTOR;
    }
    next = x + CK_VECTOR;
    VECTOR sums[4] = {half, half, half, half};
    for (int k = 0; k < taps; k += 2) {
      const int second = k + 1 < taps ? k + 1 : k;
      const VECTOR a = LOAD(rows[k] + x), b = LOAD(rows[second] + x);
      const VECTOR low = LOW_BYTES(a, b), high = HIGH_BYTES(a, b);
      const VECTOR pair = EACH_INT(WEIGHTS(weights[k], second > k ? weights[second] : 0));
      sums[0] = ADD(sums[0], MULTIPLY_ADD(LOW_BYTES(low, ZERO), pair));
      sums[1] = ADD(sums[1], MULTIPLY_ADD(HIGH_BYTES(low, ZERO), pair));
      sums[2] = ADD(sums[2], MULTIPLY_ADD(LOW_BYTES(high, ZERO), pair));
      sums[3] = ADD(sums[3], MULTIPLY_ADD(HIGH_BYTES(high, ZERO), pair));
    }
    const VECTOR first = PACK_WORDS(SHIFTED(sums[0], shift), SHIFTED(sums[1], shift));
    const VECTOR second = PACK_WORDS(SHIFTED(sums[2], shift), SHIFTED(sums[3], shift));
    // Of each 16 columns, 8 are in `first` and 8 in `second`.
#if CK_VECTOR == 64
    const VECTOR stored[2] = {
        (VECTOR)__builtin_shufflevector((ck_longs64)first, (ck_longs64)second, 0, 1, 8, 9, 2, 3, 10, 11),
        (VECTOR)__builtin_shufflevector((ck_longs64)first, (ck_longs64)second, 4, 5, 12, 13, 6, 7, 14, 15)};
#elif CK_VECTOR == 32
    const VECTOR stored[2] = {_mm256_permute2x128_si256(first, second, 0x20),
                              _mm256_permute2x128_si256(first, second, 0x31)};
#else
    const VECTOR stored[2] = {first, second};
#endif
    memcpy(out + x, stored, sizeof stored);
  }
}

// Pairs of pixels `first` to `end` of CK_BATCH rows as columns: of each pair and channel, the two samples of each row. What lies
// beyond `count` pixels is 0.
FIXED_TARGET CK_INLINE void FIXED(ck_pair_columns)(const int16_t *rows, size_t stride, size_t channels, size_t count,
                                                   size_t first, size_t end, int16_t *columns) {
  const size_t pair_words = channels * 2 * CK_BATCH;
  const size_t last = end < count ? end : count;
  size_t x = first;
  for (; x + 8 <= last; x += 8, columns += 4 * pair_words) {
    const int16_t *in = rows + x * channels;
    if (channels == 1) {
      ck_turn_ints((const uint8_t *)in, stride * 2, columns);
      continue;
    }
    ck_words32 turned[8 * 4];
    for (size_t c = 0; c < channels; c++) ck_turn_words(in + 8 * c, stride, turned + 8 * c);
    for (size_t pair = 0; pair < 4; pair++) {
      for (size_t c = 0; c < channels; c++) {
        const ck_words32 a = turned[2 * pair * channels + c], b = turned[(2 * pair + 1) * channels + c];
        const ck_words32 joined[2] = {CK_LOW_WORDS(a, b), CK_HIGH_WORDS(a, b)};
        memcpy(columns + pair * pair_words + c * 2 * CK_BATCH, joined, sizeof joined);
      }
    }
  }
  for (; x < end; x += 2, columns += pair_words) {
    for (size_t c = 0; c < channels; c++) {
      int16_t *out = columns + c * 2 * CK_BATCH;
      for (size_t r = 0; r < CK_BATCH; r++) {
        const int16_t *in = rows + r * stride + x * channels + c;
        out[2 * r] = x < last ? *in : 0;
        out[2 * r + 1] = x + 1 < last ? in[channels] : 0;
      }
    }
  }
}

// Filters CK_BATCH rows: `pairs` pairs, `step` words apart. The results, clamped to bytes, one of each row.
FIXED_TARGET CK_INLINE void FIXED(ck_filter_pairs)(const int16_t *column, size_t step, const int16_t *taps, int32_t pairs,
                                                   int32_t start, uint8_t *out) {
  const int shift = CK_WEIGHT_BITS + CK_ROW_BITS;
  enum { PARTS = 64 / CK_VECTOR };
  VECTOR sums[PARTS];
  for (int i = 0; i < PARTS; i++) sums[i] = EACH_INT(start);
  for (int32_t k = 0; k < pairs; k++, column += step) {
    const VECTOR pair = EACH_INT(WEIGHTS(taps[2 * k], taps[2 * k + 1]));
    for (int i = 0; i < PARTS; i++)
      sums[i] = ADD(sums[i], MULTIPLY_ADD(LOAD(column + i * (CK_VECTOR / 2)), pair));
  }
#if CK_VECTOR == 64
  const VECTOR values = _mm512_max_epi32(SHIFTED(sums[0], shift), ZERO);
  const __m128i bytes = _mm512_cvtusepi32_epi8(values);
  memcpy(out, &bytes, sizeof bytes);
#elif CK_VECTOR == 32
  const VECTOR words = PACK_WORDS(SHIFTED(sums[0], shift), SHIFTED(sums[1], shift));
  const VECTOR ordered = _mm256_permute4x64_epi64(words, 0xD8);
  const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
  memcpy(out, &bytes, sizeof bytes);
#elif defined(__x86_64__)
  const __m128i bytes = _mm_packus_epi16(PACK_WORDS(SHIFTED(sums[0], shift), SHIFTED(sums[1], shift)),
                                         PACK_WORDS(SHIFTED(sums[2], shift), SHIFTED(sums[3], shift)));
  memcpy(out, &bytes, sizeof bytes);
#else
  for (int i = 0; i < PARTS; i++) {
    int32_t values[4];
    memcpy(values, &sums[i], sizeof values);
    for (int r = 0; r < 4; r++) {
      const int32_t value = values[r] >> shift;
      out[4 * i + r] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
#endif
}

FIXED_TARGET FIXED_LINKAGE void FIXED(ck_horizontal_u8)(const int16_t *rows, size_t row_stride, size_t count, int channels,
                                                        ck_axis axis, const int16_t *weights, int32_t bias,
                                                        int16_t *columns, size_t capacity, uint8_t *out, size_t stride) {
  enum { RUN = 64 };
  uint8_t gathered[RUN * CK_BATCH];
  const size_t step = (size_t)channels * 2 * CK_BATCH;
  const int32_t start = bias + (1 << (CK_WEIGHT_BITS + CK_ROW_BITS - 1));
  size_t done = 0, filled = 0;
  for (int32_t x = 0; x < axis.count;) {
    const int32_t end = ck_window_end(axis, x, capacity);
    const size_t first = (size_t)axis.starts[x];
    const size_t last = (size_t)axis.starts[end - 1] + (size_t)axis.taps;
    switch (channels) {
      case 1: FIXED(ck_pair_columns)(rows, row_stride, 1, count, first, last, columns); break;
      case 2: FIXED(ck_pair_columns)(rows, row_stride, 2, count, first, last, columns); break;
      case 3: FIXED(ck_pair_columns)(rows, row_stride, 3, count, first, last, columns); break;
      default: FIXED(ck_pair_columns)(rows, row_stride, 4, count, first, last, columns); break;
    }
    for (; x < end; x++) {
      const int16_t *taps = weights + (size_t)x * (size_t)axis.taps;
      const int16_t *column = columns + ((size_t)axis.starts[x] - first) / 2 * step;
      for (int c = 0; c < channels; c++) {
        FIXED(ck_filter_pairs)(column + c * 2 * CK_BATCH, step, taps, axis.taps / 2, start, gathered + filled * CK_BATCH);
        if (++filled < RUN) continue;
        ck_turn_bytes(gathered, out + done, stride);
        ck_turn_bytes(gathered + 32 * CK_BATCH, out + done + 32, stride);
        done += RUN;
        filled = 0;
      }
    }
  }
  for (size_t r = 0; r < CK_BATCH; r++)
    for (size_t i = 0; i < filled; i++) out[r * stride + done + i] = gathered[i * CK_BATCH + r];
}

#undef VECTOR
#undef LOAD
#undef ZERO
#undef EACH_INT
#undef ADD
#undef MULTIPLY_ADD
#undef SHIFTED
#undef LOW_BYTES
#undef HIGH_BYTES
#undef PACK_WORDS
#undef WEIGHTS
