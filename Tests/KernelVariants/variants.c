#include <stddef.h>

#include "table.h"

static const kernel_table shipped = KERNEL_TABLE("shipped");

const kernel_table *kernel_variant(int index) {
  const kernel_table *tables[5] = {&shipped, &kernels_baseline};
#if defined(__x86_64__)
  int count = 2;
  if (__builtin_cpu_supports("avx2")) tables[count++] = &kernels_avx2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    tables[count++] = &kernels_avx512;
#endif
  return index >= 0 && index < 5 ? tables[index] : NULL;
}
