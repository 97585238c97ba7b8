#include "variants.h"

#if CJPEG_HAS_X86

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,popcnt")))

// Shuffles of eight bytes, for each of 256 masks. Compressing: the bytes whose bit is set move together, the first to the
// front. Expanding: the other way, and zeros elsewhere. (The instructions that move bits by a mask take up to 250 cycles on
// AMD's processors before Zen 3.)
#define BEFORE(mask, i) ((uint64_t)__builtin_popcount((unsigned)(mask) & ((1U << (i)) - 1)))
#define SET(mask, i) ((unsigned)(mask) >> (i) & 1)
#define TO_FRONT(mask, i) (SET(mask, i) ? (uint64_t)(i) << 8 * BEFORE(mask, i) : 0)
#define FROM_FRONT(mask, i) ((SET(mask, i) ? BEFORE(mask, i) : (uint64_t)0x80) << 8 * (i))
#define EIGHT(f, m) (f(m, 0) | f(m, 1) | f(m, 2) | f(m, 3) | f(m, 4) | f(m, 5) | f(m, 6) | f(m, 7))
#define MASKS_4(f, m) EIGHT(f, m), EIGHT(f, (m) + 1), EIGHT(f, (m) + 2), EIGHT(f, (m) + 3)
#define MASKS_16(f, m) MASKS_4(f, m), MASKS_4(f, (m) + 4), MASKS_4(f, (m) + 8), MASKS_4(f, (m) + 12)
#define MASKS_64(f, m) MASKS_16(f, m), MASKS_16(f, (m) + 16), MASKS_16(f, (m) + 32), MASKS_16(f, (m) + 48)
static const uint64_t compressing[256] = {
    MASKS_64(TO_FRONT, 0), MASKS_64(TO_FRONT, 64), MASKS_64(TO_FRONT, 128), MASKS_64(TO_FRONT, 192)};
static const uint64_t expanding[256] = {
    MASKS_64(FROM_FRONT, 0), MASKS_64(FROM_FRONT, 64), MASKS_64(FROM_FRONT, 128), MASKS_64(FROM_FRONT, 192)};

AVX2 static inline __m128i load_8(const void *bytes) { return _mm_loadl_epi64(bytes); }
AVX2 static inline void store_8(void *bytes, __m128i eight) { _mm_storel_epi64(bytes, eight); }

AVX2 static inline __m128i compressed(__m128i bytes, uint64_t mask) {
  return _mm_shuffle_epi8(bytes, load_8(&compressing[mask & 255]));
}

AVX2 static inline __m128i expanded(__m128i bytes, uint64_t mask) {
  return _mm_shuffle_epi8(bytes, load_8(&expanding[mask & 255]));
}

AVX2 static inline int count_8(uint64_t mask) { return _mm_popcnt_u32((unsigned)mask & 255); }

// Packs 32 of the values: half a byte each. Gives a bit for each that is too large for that.
AVX2 static inline uint32_t pack_halves(uint8_t *out, const uint8_t *values, int count) {
  const __m256i numbers = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                           23, 24, 25, 26, 27, 28, 29, 30, 31);
  const __m256i there = _mm256_cmpgt_epi8(_mm256_set1_epi8((char)count), numbers);
  const __m256i all = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)values), there);
  const __m256i high = _mm256_and_si256(_mm256_add_epi8(all, _mm256_set1_epi8(8)), _mm256_set1_epi8((char)0xF0));
  const __m256i is_small = _mm256_cmpeq_epi8(high, _mm256_setzero_si256());
  const __m256i half = _mm256_and_si256(_mm256_and_si256(all, is_small), _mm256_set1_epi8(15));
  const __m256i pairs = _mm256_maddubs_epi16(half, _mm256_set1_epi16(0x1001));
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs), 0x08);
  _mm_storeu_si128((__m128i *)out, _mm256_castsi256_si128(packed));
  return ~(uint32_t)_mm256_movemask_epi8(is_small);
}

AVX2 static inline uint8_t *pack_large(uint8_t *out, const uint8_t *values, uint32_t large) {
  for (int i = 0; i < 4; i++) {
    store_8(out, compressed(load_8(values + 8 * i), large >> 8 * i));
    out += count_8(large >> 8 * i);
  }
  return out;
}

AVX2 static inline __m256i load_words(const int16_t *block, int first) {
  return _mm256_loadu_si256((const __m256i *)(block + first));
}

AVX2 static inline uint8_t *pack(uint8_t *out, const int16_t *block, uint64_t kept, uint64_t *any) {
  // Without the first coefficient, which may be large.
  const __m256i start = _mm256_blend_epi16(load_words(block, 0), _mm256_setzero_si256(), 1);
  const __m256i first = _mm256_inserti128_si256(load_words(block, 0), _mm256_castsi256_si128(start), 0);
  const __m256i low = _mm256_permute4x64_epi64(_mm256_packs_epi16(first, load_words(block, 16)), 0xD8);
  const __m256i high = _mm256_permute4x64_epi64(_mm256_packs_epi16(load_words(block, 32), load_words(block, 48)), 0xD8);
  // What is cut off to a byte becomes 127 or -128, and these are rare enough to go the long way with it.
  const __m256i most = _mm256_max_epu8(_mm256_abs_epi8(low), _mm256_abs_epi8(high));
  const __m256i outside = _mm256_subs_epu8(most, _mm256_set1_epi8(126));
  if (__builtin_expect(!_mm256_testz_si256(outside, outside), 0)) return cjpeg_pack_block(out, block, kept, any);
  const __m256i zero = _mm256_setzero_si256();
  const uint32_t low_zeros = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, zero));
  const uint32_t high_zeros = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, zero));
  const uint64_t mask = ~(low_zeros | (uint64_t)high_zeros << 32), rest = mask & kept;
  *any |= mask;
  const __m128i row_bytes = _mm_cvtsi64_si128((long long)mask);
  const unsigned rows = ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(row_bytes, _mm_setzero_si128())) & 255;
  *out = (uint8_t)rows;
  store_8(out + 1, compressed(row_bytes, rows));
  out += 1 + count_8(rows);

  uint8_t bytes[64], values[64 + 8];
  _mm256_storeu_si256((__m256i *)bytes, low);
  _mm256_storeu_si256((__m256i *)(bytes + 32), high);
  int count = 0;
  for (int row = 0; row < 8; row++) {
    store_8(values + count, compressed(load_8(bytes + 8 * row), rest >> 8 * row));
    count += count_8(rest >> 8 * row);
  }
  uint8_t *const end_of_halves = out + (count + 1) / 2;
  const uint32_t large = pack_halves(out, values, count);
  if (__builtin_expect(count <= 32, 1)) return pack_large(end_of_halves, values, large);
  const uint32_t more_large = pack_halves(out + 16, values + 32, count - 32);
  return pack_large(pack_large(end_of_halves, values, large), values + 32, more_large);
}

AVX2 uint8_t *cjpeg_pack_avx2(uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept, uint64_t *any) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; i++) out = pack(out, blocks[i], kept, &bits);
  *any |= bits;
  return out;
}

// Unpacks 32 values. Gives the end of the large ones.
AVX2 static inline const uint8_t *unpack_values(const uint8_t *halves, const uint8_t *large, uint8_t *values, int count) {
  const __m256i eight = _mm256_set1_epi8(8);
  const __m256i words = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)halves));
  const __m256i half =
      _mm256_and_si256(_mm256_or_si256(words, _mm256_slli_epi16(words, 4)), _mm256_set1_epi8(15));
  const uint32_t zeros = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_setzero_si256()));
  const uint32_t large_ones = count < 32 ? zeros & ((1U << count) - 1) : zeros;
  const __m256i small = _mm256_sub_epi8(_mm256_xor_si256(half, eight), eight);
  const __m128i low = _mm256_castsi256_si128(small), high = _mm256_extracti128_si256(small, 1);
  const __m128i eights[4] = {low, _mm_srli_si128(low, 8), high, _mm_srli_si128(high, 8)};
  for (int i = 0; i < 4; i++) {
    store_8(values + 8 * i, _mm_or_si128(eights[i], expanded(load_8(large), large_ones >> 8 * i)));
    large += count_8(large_ones >> 8 * i);
  }
  return large;
}

AVX2 static inline const uint8_t *unpack(const uint8_t *in, int16_t *block, uint64_t kept) {
  const unsigned rows = *in;
  const uint64_t mask = (uint64_t)_mm_cvtsi128_si64(expanded(load_8(in + 1), rows));
  if (__builtin_expect(mask & CJPEG_WIDE, 0)) return cjpeg_unpack_block(in, block, kept);
  in += 1 + count_8(rows);
  const uint64_t rest = mask & kept, only_known = mask & ~kept;
  const int count = (int)_mm_popcnt_u64(rest);
  uint8_t values[64 + 8];
  const uint8_t *end = unpack_values(in, in + (count + 1) / 2, values, count);
  if (__builtin_expect(count > 32, 0)) end = unpack_values(in + 16, end, values + 32, count - 32);
  // Of most blocks of chroma the upper half is all there is: only this much is worth a branch.
  const int used = mask >> 32 ? 8 : 4;
  for (int row = used; row < 8; row += 2) _mm256_storeu_si256((__m256i *)(block + 8 * row), _mm256_setzero_si256());
  int done = 0;
  for (int row = 0; row < used; row++) {
    __m128i placed = expanded(load_8(values + done), rest >> 8 * row);
    placed = _mm_or_si128(placed, expanded(_mm_set1_epi8(1), only_known >> 8 * row));
    _mm_storeu_si128((__m128i *)(block + 8 * row), _mm_cvtepi8_epi16(placed));
    done += count_8(rest >> 8 * row);
  }
  return end;
}

AVX2 void cjpeg_unpack_avx2(cjpeg_parts parts, cjpeg_block *blocks, size_t count, uint64_t kept) {
  CJPEG_UNPACK_PARTS(unpack, parts, blocks, count, kept)
}

#endif
