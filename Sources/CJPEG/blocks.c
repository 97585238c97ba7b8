#include "blocks.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HAS_X86 1
#include <immintrin.h>
#else
#define HAS_X86 0
#endif

// A block: a byte with a bit for each row (of 8 coefficients in natural order) that is not all zero; these rows' bytes, a bit for
// each coefficient that is not zero; for the kept ones of them half a byte each, -8 to 7, where 0 says that the value is
// too large and follows; these values, a byte each. Bit 0 of the first row stands for the first coefficient, which is not
// here: it is set when the large values are two bytes each.
enum { WIDE = 1, ESCAPE_DC = 0x80 };

static int bit_count(uint64_t bits) { return __builtin_popcountll(bits); }

// MARK: Plain

static uint64_t nonzero_mask(const int16_t *block) {
  uint64_t mask = 0;
#if HAS_X86
  const __m128i zero = _mm_setzero_si128();
  for (int i = 0; i < 64; i += 16) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(block + i));
    const __m128i high = _mm_loadu_si128((const __m128i *)(block + i + 8));
    // Saturation keeps what is not zero so.
    const unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_packs_epi16(low, high), zero));
    mask |= (uint64_t)(~zeros & 0xFFFF) << i;
  }
#else
  for (int i = 0; i < 64; i++) mask |= (uint64_t)(block[i] != 0) << i;
#endif
  return mask;
}

static uint8_t *pack_mask(uint8_t *out, uint64_t mask) {
  uint8_t rows = 0;
  uint8_t *next = out + 1;
  for (int row = 0; row < 8; row++) {
    const uint8_t bits = (uint8_t)(mask >> 8 * row);
    *next = bits;
    next += bits != 0;
    rows |= (uint8_t)((bits != 0) << row);
  }
  *out = rows;
  return next;
}

static const uint8_t *unpack_mask(const uint8_t *in, uint64_t *mask) {
  const uint8_t rows = *in++;
  uint64_t bits = 0;
  for (int row = 0; row < 8; row++) {
    const unsigned present = rows >> row & 1;
    bits |= (uint64_t)(*in & (0U - present)) << 8 * row;
    in += present;
  }
  *mask = bits;
  return in;
}

// With large values in one byte each, or NULL when that is too little.
static uint8_t *pack_values(uint8_t *out, const int16_t *block, uint64_t mask, bool is_wide) {
  uint8_t *large = out + (bit_count(mask) + 1) / 2;
  unsigned pending = 0;
  bool is_odd = false;
  for (; mask; mask &= mask - 1) {
    const int value = block[__builtin_ctzll(mask)];
    unsigned half = (unsigned)value & 15;
    if (value < -8 || value > 7) {
      half = 0;
      if (value != (int8_t)value && !is_wide) return NULL;
      *large++ = (uint8_t)value;
      if (is_wide) *large++ = (uint8_t)(value >> 8);
    }
    if (is_odd) {
      *out++ = (uint8_t)(pending | half << 4);
    } else {
      pending = half;
    }
    is_odd = !is_odd;
  }
  if (is_odd) *out = (uint8_t)pending;
  return large;
}

static uint8_t *pack_block(uint8_t *out, const int16_t *block, uint64_t kept) {
  const uint64_t mask = nonzero_mask(block) & ~(uint64_t)WIDE;
  uint8_t *end = pack_values(pack_mask(out, mask), block, mask & kept, false);
  return end ? end : pack_values(pack_mask(out, mask | WIDE), block, mask & kept, true);
}

static const uint8_t *unpack_block(const uint8_t *in, int16_t *block, uint64_t kept) {
  memset(block, 0, sizeof(cjpeg_block));
  uint64_t mask;
  in = unpack_mask(in, &mask);
  const bool is_wide = mask & WIDE;
  mask &= ~(uint64_t)WIDE;
  for (uint64_t rest = mask & ~kept; rest; rest &= rest - 1) block[__builtin_ctzll(rest)] = 1;
  mask &= kept;
  const uint8_t *large = in + (bit_count(mask) + 1) / 2;
  bool is_odd = false;
  for (; mask; mask &= mask - 1) {
    const int half = is_odd ? *in++ >> 4 : *in & 15;
    is_odd = !is_odd;
    int value = (half ^ 8) - 8;
    if (half == 0) {
      value = is_wide ? (int16_t)(large[0] | large[1] << 8) : (int8_t)large[0];
      large += is_wide ? 2 : 1;
    }
    block[__builtin_ctzll(mask)] = (int16_t)value;
  }
  return large;
}

static uint8_t *pack_plain(uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept) {
  for (size_t i = 0; i < count; i++) out = pack_block(out, blocks[i], kept);
  return out;
}

static void unpack_plain(const uint8_t *in, cjpeg_block *blocks, size_t count, uint64_t kept) {
  for (size_t i = 0; i < count; i++) in = unpack_block(in, blocks[i], kept);
}

#if HAS_X86

// MARK: With byte compression

#define VBMI2 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,bmi,bmi2,popcnt")))

// A byte of ones for each bit.
VBMI2 static inline uint64_t spread(unsigned bits) { return _pdep_u64(bits, 0x0101010101010101) * 255; }

VBMI2 static inline uint8_t *pack_mask_vbmi2(uint8_t *out, uint64_t mask) {
  const __m128i zeros = _mm_cmpeq_epi8(_mm_cvtsi64_si128((long long)mask), _mm_setzero_si128());
  const unsigned rows = ~(unsigned)_mm_movemask_epi8(zeros) & 255;
  const uint64_t bytes = _pext_u64(mask, spread(rows));
  *out = (uint8_t)rows;
  memcpy(out + 1, &bytes, sizeof bytes);
  return out + 1 + _mm_popcnt_u32(rows);
}

VBMI2 static inline const uint8_t *unpack_mask_vbmi2(const uint8_t *in, uint64_t *mask) {
  const unsigned rows = *in;
  uint64_t bytes;
  memcpy(&bytes, in + 1, sizeof bytes);
  *mask = _pdep_u64(bytes, spread(rows));
  return in + 1 + _mm_popcnt_u32(rows);
}

VBMI2 static uint8_t *pack_vbmi2(uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept) {
  const __m512i fifteen = _mm512_set1_epi8(15);
  for (size_t i = 0; i < count; i++) {
    // Without the first coefficient, which may be large.
    const __m512i low = _mm512_maskz_loadu_epi16(~(__mmask32)1, blocks[i]), high = _mm512_loadu_si512(blocks[i] + 32);
    const __m256i low_bytes = _mm512_cvtsepi16_epi8(low), high_bytes = _mm512_cvtsepi16_epi8(high);
    const __m512i bytes = _mm512_inserti64x4(_mm512_castsi256_si512(low_bytes), high_bytes, 1);
    const uint64_t mask = _mm512_test_epi8_mask(bytes, bytes);
    const __mmask32 outside = _mm512_cmpneq_epi16_mask(low, _mm512_cvtepi8_epi16(low_bytes)) |
                              _mm512_cmpneq_epi16_mask(high, _mm512_cvtepi8_epi16(high_bytes));
    if (outside) {
      out = pack_block(out, blocks[i], kept);
      continue;
    }
    const uint64_t rest = mask & kept;
    out = pack_mask_vbmi2(out, mask);
    const __m512i values = _mm512_maskz_compress_epi8(rest, bytes);
    const __m512i shifted = _mm512_add_epi8(values, _mm512_set1_epi8(8));
    const __mmask64 large = _mm512_test_epi8_mask(shifted, _mm512_set1_epi8((char)0xF0));
    const __m512i half = _mm512_and_si512(_mm512_maskz_mov_epi8(~large, values), fifteen);
    const __m512i pairs = _mm512_or_si512(half, _mm512_srli_epi16(half, 4));
    _mm256_storeu_si256((__m256i *)out, _mm512_cvtepi16_epi8(pairs));
    out += (_mm_popcnt_u64(rest) + 1) / 2;
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(large, values));
    out += _mm_popcnt_u64(large);
  }
  return out;
}

VBMI2 static void unpack_vbmi2(const uint8_t *in, cjpeg_block *blocks, size_t count, uint64_t kept) {
  const __m512i eight = _mm512_set1_epi8(8);
  for (size_t i = 0; i < count; i++) {
    uint64_t mask;
    const uint8_t *const start = in;
    in = unpack_mask_vbmi2(in, &mask);
    if (mask & WIDE) {
      in = unpack_block(start, blocks[i], kept);
      continue;
    }
    const uint64_t rest = mask & kept;
    const unsigned number = (unsigned)_mm_popcnt_u64(rest);
    const __m512i words = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)in));
    const __m512i half = _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)), _mm512_set1_epi8(15));
    in += (number + 1) / 2;
    const __mmask64 large = _mm512_testn_epi8_mask(half, half) & _bzhi_u64(~0ULL, number);
    const __m512i small = _mm512_sub_epi8(_mm512_xor_si512(half, eight), eight);
    const __m512i values = _mm512_mask_expand_epi8(small, large, _mm512_loadu_si512(in));
    in += _mm_popcnt_u64(large);
    const __m512i placed = _mm512_mask_expand_epi8(_mm512_maskz_set1_epi8(mask & ~kept, 1), rest, values);
    _mm512_storeu_si512(blocks[i], _mm512_cvtepi8_epi16(_mm512_castsi512_si256(placed)));
    _mm512_storeu_si512(blocks[i] + 32, _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(placed, 1)));
  }
}

#endif

// MARK: Rows

cjpeg_blocks_variant cjpeg_blocks_best(void) {
#if HAS_X86
  if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt"))
    return CJPEG_BLOCKS_VBMI2;
#endif
  return CJPEG_BLOCKS_PLAIN;
}

// Of all blocks together: whether any coefficient but the first is not zero.
static bool has_ac(const cjpeg_block *blocks, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (nonzero_mask(blocks[i]) & ~(uint64_t)1) return true;
  }
  return false;
}

uint8_t *cjpeg_pack_ac(cjpeg_blocks_variant variant, uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept) {
  if (!has_ac(blocks, count)) return out;
#if HAS_X86
  if (variant == CJPEG_BLOCKS_VBMI2) return pack_vbmi2(out, blocks, count, kept);
#else
  (void)variant;
#endif
  return pack_plain(out, blocks, count, kept);
}

void cjpeg_unpack_ac(cjpeg_blocks_variant variant, const uint8_t *in, cjpeg_block *blocks, size_t count, uint64_t kept) {
#if HAS_X86
  if (variant == CJPEG_BLOCKS_VBMI2) {
    unpack_vbmi2(in, blocks, count, kept);
    return;
  }
#else
  (void)variant;
#endif
  unpack_plain(in, blocks, count, kept);
}

// Differences from the block before, a byte each; a larger one's block has the value itself after ESCAPE_DC.
uint8_t *cjpeg_pack_dc(uint8_t *out, const cjpeg_block *blocks, size_t count) {
  uint8_t *const start = out;
  int before = 0, any = 0;
  for (size_t i = 0; i < count; i++) {
    const int value = blocks[i][0], difference = value - before;
    any |= value;
    before = value;
    if (difference >= -127 && difference <= 127) {
      *out++ = (uint8_t)difference;
    } else {
      *out++ = ESCAPE_DC;
      *out++ = (uint8_t)value;
      *out++ = (uint8_t)(value >> 8);
    }
  }
  return any ? out : start;
}

void cjpeg_unpack_dc(const uint8_t *in, cjpeg_block *blocks, size_t count) {
  int value = 0;
  for (size_t i = 0; i < count; i++) {
    if (*in == ESCAPE_DC) {
      value = (int16_t)(in[1] | in[2] << 8);
      in += 3;
    } else {
      value += (int8_t)*in++;
    }
    blocks[i][0] = (int16_t)value;
  }
}
