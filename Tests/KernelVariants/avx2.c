#if defined(__x86_64__)
#define CK_VARIANTS __attribute__((target("avx2")))
#define CK_VECTOR 32
#define VARIANT avx2
#define VARIANT_NAME "AVX2"
#include "renamed.h"
#endif
