#include "variants.h"

#if CJPEG_HAS_X86

#include <immintrin.h>

#define VBMI2 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,bmi,bmi2,popcnt")))

// A byte of ones for each bit.
VBMI2 static inline uint64_t spread(unsigned bits) { return _pdep_u64(bits, 0x0101010101010101) * 255; }

VBMI2 static inline uint8_t *pack(uint8_t *out, const int16_t *block, uint64_t kept, uint64_t *any) {
  // Without the first coefficient, which may be large.
  const __m512i low = _mm512_maskz_loadu_epi16(~(__mmask32)1, block), high = _mm512_loadu_si512(block + 32);
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const __m512i bytes = _mm512_permutexvar_epi64(order, _mm512_packs_epi16(low, high));
  // What is cut off to a byte becomes 127 or -128, and these are rare enough to go the long way with it.
  const __m512i beside = _mm512_sub_epi8(bytes, _mm512_set1_epi8(127));
  if (__builtin_expect(_mm512_cmple_epu8_mask(beside, _mm512_set1_epi8(1)) != 0, 0))
    return cjpeg_pack_block(out, block, kept, any);
  const uint64_t mask = _mm512_test_epi8_mask(bytes, bytes), rest = mask & kept;
  const unsigned rows = _mm512_test_epi64_mask(bytes, bytes);
  *any |= mask;
  const uint64_t row_bytes = _pext_u64(mask, spread(rows));
  *out = (uint8_t)rows;
  memcpy(out + 1, &row_bytes, sizeof row_bytes);
  out += 1 + _mm_popcnt_u32(rows);
  const __m512i values = _mm512_maskz_compress_epi8(rest, bytes);
  const __m512i shifted = _mm512_add_epi8(values, _mm512_set1_epi8(8));
  const __mmask64 large = _mm512_test_epi8_mask(shifted, _mm512_set1_epi8((char)0xF0));
  const __m512i half = _mm512_and_si512(_mm512_maskz_mov_epi8(~large, values), _mm512_set1_epi8(15));
  const __m512i pairs = _mm512_or_si512(half, _mm512_srli_epi16(half, 4));
  _mm256_storeu_si256((__m256i *)out, _mm512_cvtepi16_epi8(pairs));
  out += (_mm_popcnt_u64(rest) + 1) / 2;
  const __m512i large_values = _mm512_maskz_compress_epi8(large, values);
  const int large_count = (int)_mm_popcnt_u64(large);
  _mm_storeu_si128((__m128i *)out, _mm512_castsi512_si128(large_values));
  if (__builtin_expect(large_count > 16, 0)) _mm512_storeu_si512(out, large_values);
  return out + large_count;
}

VBMI2 uint8_t *cjpeg_pack_vbmi2(uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept, uint64_t *any) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; i++) out = pack(out, blocks[i], kept, &bits);
  *any |= bits;
  return out;
}

VBMI2 static inline const uint8_t *unpack(const uint8_t *in, int16_t *block, uint64_t kept) {
  const __m512i eight = _mm512_set1_epi8(8);
  const uint8_t *const start = in;
  const unsigned rows = *in;
  uint64_t row_bytes;
  memcpy(&row_bytes, in + 1, sizeof row_bytes);
  const uint64_t mask = _pdep_u64(row_bytes, spread(rows));
  in += 1 + _mm_popcnt_u32(rows);
  if (__builtin_expect(mask & CJPEG_WIDE, 0)) return cjpeg_unpack_block(start, block, kept);
  const uint64_t rest = mask & kept;
  const unsigned count = (unsigned)_mm_popcnt_u64(rest);
  const __m512i words = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)in));
  const __m512i half = _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)), _mm512_set1_epi8(15));
  in += (count + 1) / 2;
  const __mmask64 large = _mm512_testn_epi8_mask(half, half) & _bzhi_u64(~0ULL, count);
  const __m512i small = _mm512_sub_epi8(_mm512_xor_si512(half, eight), eight);
  const __m512i values = _mm512_mask_expand_epi8(small, large, _mm512_loadu_si512(in));
  const __m512i placed = _mm512_mask_expand_epi8(_mm512_maskz_set1_epi8(mask & ~kept, 1), rest, values);
  _mm512_storeu_si512(block, _mm512_cvtepi8_epi16(_mm512_castsi512_si256(placed)));
  _mm512_storeu_si512(block + 32, _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(placed, 1)));
  return in + _mm_popcnt_u64(large);
}

VBMI2 void cjpeg_unpack_vbmi2(cjpeg_parts parts, cjpeg_block *blocks, size_t count, uint64_t kept) {
  CJPEG_UNPACK_PARTS(unpack, parts, blocks, count, kept)
}

#endif
