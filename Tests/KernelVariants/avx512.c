#if defined(__x86_64__)
#define CK_VARIANTS __attribute__((target("arch=x86-64-v4")))
#define CK_VECTOR 64
#define VARIANT avx512
#define VARIANT_NAME "AVX-512"
#include "renamed.h"
#endif
