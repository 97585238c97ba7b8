/// The packing of coefficient blocks, which CJPEG keeps to itself, for the micro-benchmarks.
#ifndef CPACKING_H
#define CPACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor can run a variant: 0 plain, 1 AVX-512 with byte compression.
bool packing_has_variant(int variant);

/// The most bytes that so many blocks may take, padding included.
size_t packing_most_bytes(size_t count);

/// Each gives the packed bytes. A block is 64 coefficients in natural order; `kept` says which keep their values.
size_t packing_pack_ac(int variant, uint8_t *out, const int16_t *blocks, size_t count, uint64_t kept);
size_t packing_pack_dc(uint8_t *out, const int16_t *blocks, size_t count);
void packing_unpack_ac(int variant, const uint8_t *in, int16_t *blocks, size_t count, uint64_t kept);
void packing_unpack_dc(const uint8_t *in, int16_t *blocks, size_t count);

#endif
