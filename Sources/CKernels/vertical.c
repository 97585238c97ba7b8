#include "CKernels.h"
#include "variants.h"

// A strip's sums stay in registers over all taps: 64 columns are 4 registers of AVX-512 or 8 of AVX2.
enum { STRIP = 64 };

CK_VARIANTS
void ck_vertical_u16(const uint16_t *const *rows, const float *weights, int taps, float *out, size_t count) {
  size_t x = 0;
  for (; x + STRIP <= count; x += STRIP) {
    float sums[STRIP] = {0};
    for (int k = 0; k < taps; k++) {
      const uint16_t *row = rows[k] + x;
      const float weight = weights[k];
      for (int i = 0; i < STRIP; i++) sums[i] += (float)row[i] * weight;
    }
    for (int i = 0; i < STRIP; i++) out[x + (size_t)i] = sums[i];
  }
  for (; x < count; x++) {
    float sum = 0;
    for (int k = 0; k < taps; k++) sum += (float)rows[k][x] * weights[k];
    out[x] = sum;
  }
}

CK_VARIANTS
void ck_mean_add_u8(const uint8_t *row, float weight, float *sums, size_t count) {
  for (size_t i = 0; i < count; i++) sums[i] += (float)row[i] * weight;
}

CK_VARIANTS
void ck_mean_add_u16(const uint16_t *row, float weight, float *sums, size_t count) {
  for (size_t i = 0; i < count; i++) sums[i] += (float)row[i] * weight;
}

CK_VARIANTS
void ck_box_add_u8(const uint8_t *row, uint32_t *sums, size_t count) {
  for (size_t i = 0; i < count; i++) sums[i] += row[i];
}

CK_VARIANTS
void ck_box_add_u16(const uint16_t *row, uint32_t *sums, size_t count) {
  for (size_t i = 0; i < count; i++) sums[i] += row[i];
}

void ck_box_mean(const uint32_t *sums, size_t width, int channels, size_t factor, size_t rows, uint32_t scale,
                 uint16_t *out) {
  const size_t step = (size_t)channels;
  for (size_t x = 0; x < width; x += factor, sums += factor * step) {
    const size_t pixels = width - x < factor ? width - x : factor;
    // Half and one half more than a whole number, by a divisor below 2^17: never so near to the next quotient that rounding
    // in double precision could reach it.
    const double divisor = (double)(pixels * rows);
    const double half = (double)(pixels * rows / 2) + 0.5;
    const double inverse = 1 / divisor;
    for (size_t c = 0; c < step; c++) {
      uint64_t sum = 0;
      for (size_t i = 0; i < pixels; i++) sum += sums[i * step + c];
      *out++ = (uint16_t)(uint32_t)(((double)(sum * scale) + half) * inverse);
    }
  }
}
