#include "variants.h"

#if CJPEG_HAS_X86
#include <emmintrin.h>
#endif

enum { ESCAPE_DC = 0x80 };

static int bit_count(uint64_t bits) { return __builtin_popcountll(bits); }

// MARK: Plain

static uint64_t nonzero_mask(const int16_t *block) {
  uint64_t mask = 0;
#if CJPEG_HAS_X86
  const __m128i zero = _mm_setzero_si128();
  for (int i = 0; i < 64; i += 16) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(block + i));
    const __m128i high = _mm_loadu_si128((const __m128i *)(block + i + 8));
    // Saturation keeps what is not zero so.
    const unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_packs_epi16(low, high), zero));
    mask |= (uint64_t)(~zeros & 0xFFFF) << i;
  }
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const uint64_t most = 0x7FFF7FFF7FFF7FFF;
  for (int i = 0; i < 64; i += 4) {
    uint64_t four;
    memcpy(&four, block + i, sizeof four);
    // The highest bit of each that is not zero, then these four bits side by side.
    const uint64_t bits = (((four & most) + most) | four) >> 15 & 0x0001000100010001;
    mask |= bits * 0x0001000200040008 >> 48 << i;
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

// Half bytes to and from whole ones, eight at a time.
static void join_halves(uint8_t *out, const uint8_t *halves) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t bits;
  memcpy(&bits, halves, sizeof bits);
  bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF;
  bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF;
  const uint32_t joined = (uint32_t)(bits | bits >> 16);
  memcpy(out, &joined, sizeof joined);
#else
  for (int i = 0; i < 4; i++) out[i] = (uint8_t)(halves[2 * i] | halves[2 * i + 1] << 4);
#endif
}

static void split_halves(uint8_t *halves, const uint8_t *in) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint32_t joined;
  memcpy(&joined, in, sizeof joined);
  uint64_t bits = joined;
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFF;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FF;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F;
  memcpy(halves, &bits, sizeof bits);
#else
  for (int i = 0; i < 8; i++) halves[i] = in[i / 2] >> i % 2 * 4 & 15;
#endif
}

static bool is_large(int value) { return (unsigned)(value + 8) > 15; }

static uint8_t *pack_wide_block(uint8_t *out, const int16_t *block, uint64_t mask, uint64_t values) {
  out = pack_mask(out, mask | CJPEG_WIDE);
  const int count = bit_count(values);
  uint8_t *large = out + (count + 1) / 2;
  memset(out, 0, (size_t)(large - out));
  for (int i = 0; values; values &= values - 1, i++) {
    const int value = block[__builtin_ctzll(values)];
    if (is_large(value)) {
      *large++ = (uint8_t)value;
      *large++ = (uint8_t)(value >> 8);
    } else {
      out[i / 2] |= (uint8_t)((value & 15) << i % 2 * 4);
    }
  }
  return large;
}

// Which values are large nobody can foresee, nor how many there are: branches on that cost more than bytes that are written
// in vain.
uint8_t *cjpeg_pack_block(uint8_t *out, const int16_t *block, uint64_t kept, uint64_t *any) {
  enum { STEP = 16 };
  const uint64_t mask = nonzero_mask(block) & ~(uint64_t)CJPEG_WIDE, values = mask & kept;
  *any |= mask;
  uint8_t halves[64] = {0}, large[64];
  size_t count = 0, large_count = 0;
  bool is_wide = false;
  for (uint64_t rest = values; rest; rest &= rest - 1) {
    const int value = block[__builtin_ctzll(rest)];
    const unsigned is_beside = is_large(value);
    halves[count++] = (uint8_t)((unsigned)value & 15 & (is_beside - 1));
    large[large_count] = (uint8_t)value;
    large_count += is_beside;
    is_wide |= value != (int8_t)value;
  }
  if (is_wide) return pack_wide_block(out, block, mask, values);
  out = pack_mask(out, mask);
  for (size_t i = 0; i < count; i += STEP) {
    join_halves(out + i / 2, halves + i);
    join_halves(out + i / 2 + STEP / 4, halves + i + STEP / 2);
  }
  out += (count + 1) / 2;
  memcpy(out, large, STEP);
  for (size_t i = STEP; i < large_count; i++) out[i] = large[i];
  return out + large_count;
}

static const uint8_t *unpack_wide_block(const uint8_t *in, int16_t *block, uint64_t mask, uint64_t kept) {
  for (uint64_t rest = mask & ~kept; rest; rest &= rest - 1) block[__builtin_ctzll(rest)] = 1;
  mask &= kept;
  const uint8_t *large = in + (bit_count(mask) + 1) / 2;
  for (int i = 0; mask; mask &= mask - 1, i++) {
    const int half = in[i / 2] >> i % 2 * 4 & 15;
    block[__builtin_ctzll(mask)] = (int16_t)(half == 0 ? large[0] | large[1] << 8 : (half ^ 8) - 8);
    large += half == 0 ? 2 : 0;
  }
  return large;
}

const uint8_t *cjpeg_unpack_block(const uint8_t *in, int16_t *block, uint64_t kept) {
  memset(block, 0, sizeof(cjpeg_block));
  uint64_t mask;
  in = unpack_mask(in, &mask);
  if (mask & CJPEG_WIDE) return unpack_wide_block(in, block, mask & ~(uint64_t)CJPEG_WIDE, kept);
  const int count = bit_count(mask & kept);
  const uint8_t *large = in + (count + 1) / 2;
  uint8_t halves[64];
  for (int i = 0; i < count; i += 16) {
    split_halves(halves + i, in + i / 2);
    split_halves(halves + i + 8, in + i / 2 + 4);
  }
  const uint8_t *half = halves;
  for (uint64_t rest = mask; rest; rest &= rest - 1) {
    const int place = __builtin_ctzll(rest);
    const int is_kept = kept >> place & 1, is_beside = is_kept & (*half == 0);
    const int small = is_kept ? (*half ^ 8) - 8 : 1, value = (int8_t)*large;
    block[place] = (int16_t)(is_beside ? value : small);
    half += is_kept;
    large += is_beside;
  }
  return large;
}

static uint8_t *pack_plain(uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept, uint64_t *any) {
  for (size_t i = 0; i < count; i++) out = cjpeg_pack_block(out, blocks[i], kept, any);
  return out;
}

static void unpack_plain(cjpeg_parts parts, cjpeg_block *blocks, size_t count, uint64_t kept) {
  const uint8_t *in = parts.starts[0];
  for (size_t i = 0; i < count; i++) in = cjpeg_unpack_block(in, blocks[i], kept);
}

// MARK: Variants

cjpeg_blocks_variant cjpeg_blocks_best(void) {
#if CJPEG_HAS_X86
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("popcnt")) return CJPEG_BLOCKS_PLAIN;
  if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("bmi"))
    return CJPEG_BLOCKS_VBMI2;
  return CJPEG_BLOCKS_AVX2;
#else
  return CJPEG_BLOCKS_PLAIN;
#endif
}

static cjpeg_packer *packer_of(cjpeg_blocks_variant variant) {
  switch (variant) {
#if CJPEG_HAS_X86
    case CJPEG_BLOCKS_VBMI2: return cjpeg_pack_vbmi2;
    case CJPEG_BLOCKS_AVX2: return cjpeg_pack_avx2;
#endif
    default: return pack_plain;
  }
}

static cjpeg_unpacker *unpacker_of(cjpeg_blocks_variant variant) {
  switch (variant) {
#if CJPEG_HAS_X86
    case CJPEG_BLOCKS_VBMI2: return cjpeg_unpack_vbmi2;
    case CJPEG_BLOCKS_AVX2: return cjpeg_unpack_avx2;
#endif
    default: return unpack_plain;
  }
}

// MARK: Rows

// The header says where the parts begin, but the first.
uint8_t *cjpeg_pack_ac(cjpeg_blocks_variant variant, uint8_t *out, const cjpeg_block *blocks, size_t count, uint64_t kept) {
  cjpeg_packer *const pack = packer_of(variant);
  const cjpeg_parts parts = {.length = (count + CJPEG_PARTS - 1) / CJPEG_PARTS};
  uint8_t *end = out + CJPEG_PACKED_AC_HEADER;
  uint64_t any = 0;
  for (size_t part = 0; part < CJPEG_PARTS; part++) {
    const uint32_t start = (uint32_t)(end - out);
    if (part > 0) memcpy(out + (part - 1) * sizeof start, &start, sizeof start);
    const size_t length = cjpeg_part_length(&parts, part, count);
    if (length > 0) end = pack(end, blocks + part * parts.length, length, kept, &any);
  }
  return any ? end : out;
}

void cjpeg_unpack_ac(cjpeg_blocks_variant variant, const uint8_t *in, cjpeg_block *blocks, size_t count, uint64_t kept) {
  cjpeg_parts parts = {.starts = {in + CJPEG_PACKED_AC_HEADER}, .length = (count + CJPEG_PARTS - 1) / CJPEG_PARTS};
  for (size_t part = 1; part < CJPEG_PARTS; part++) {
    uint32_t start;
    memcpy(&start, in + (part - 1) * sizeof start, sizeof start);
    parts.starts[part] = in + start;
  }
  unpacker_of(variant)(parts, blocks, count, kept);
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
