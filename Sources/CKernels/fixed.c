#include "CKernels.h"
#include "columns.h"
#include "variants.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// The fixed-point kernels multiply pairs of 16 bits and add the two products, which the compiler does not find by itself: they
// are written once, in fixed.h, for registers of CK_VECTOR bytes, and the loader picks here.

#if defined(CK_VECTOR)

#define FIXED(NAME) NAME
#define FIXED_TARGET CK_VARIANTS
#define FIXED_LINKAGE
#include "fixed.h"

#else

#define FIXED_LINKAGE static

#define CK_VECTOR 64
#define FIXED(NAME) NAME##_v4
#define FIXED_TARGET __attribute__((target("arch=x86-64-v4")))
#include "fixed.h"
#undef CK_VECTOR
#undef FIXED
#undef FIXED_TARGET

#define CK_VECTOR 32
#define FIXED(NAME) NAME##_avx2
#define FIXED_TARGET __attribute__((target("avx2")))
#include "fixed.h"
#undef CK_VECTOR
#undef FIXED
#undef FIXED_TARGET

#define CK_VECTOR 16
#define FIXED(NAME) NAME##_baseline
#define FIXED_TARGET
#include "fixed.h"

#define CHOOSE(NAME)                                                                                         \
  __attribute__((used)) static __typeof__(NAME) *choose_##NAME(void) {                                       \
    __builtin_cpu_init();                                                                                    \
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&                           \
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&                          \
        __builtin_cpu_supports("avx512vl"))                                                                  \
      return NAME##_v4;                                                                                      \
    return __builtin_cpu_supports("avx2") ? NAME##_avx2 : NAME##_baseline;                                   \
  }                                                                                                          \
  __typeof__(NAME) NAME __attribute__((ifunc("choose_" #NAME)));

CHOOSE(ck_vertical_u8)
CHOOSE(ck_horizontal_u8)

#endif
