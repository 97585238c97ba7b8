#ifndef CK_VARIANTS_H
#define CK_VARIANTS_H

// ThreadSanitizer makes every function call its runtime, also those by which the loader chooses a variant, which run before
// the runtime is ready: a crash at start. The other sanitizers leave them alone, so that they see every variant.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CK_BASELINE_ONLY 1
#endif
#endif

// The loader picks the variant for the processor. GCC is left with the baseline: it gains nothing from wider registers here,
// and is used only to check the code.
#if defined(CK_VARIANTS)
// Whoever compiles one variant by itself says which, and the bytes of its registers in CK_VECTOR.
#elif defined(__x86_64__) && defined(__clang__) && defined(__linux__) && defined(__GLIBC__) && !defined(CK_BASELINE_ONLY)
#define CK_VARIANTS __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#define CK_CHOOSES 1
#else
#define CK_VARIANTS
#define CK_VECTOR 16
#endif

#define CK_INLINE static inline __attribute__((always_inline))

// A fused multiply-add rounds once where a multiplication and an addition round twice: variants with and without it would
// differ in the last bit.
#ifdef __clang__
#pragma clang fp contract(off)
#endif

// A filtered sample of colour, or of alpha itself, where alpha became `coverage`: overshoot of alpha beyond the maximum is
// taken back from all of them, and colour is no more than alpha.
CK_INLINE unsigned short ck_within_coverage(float value, float coverage, float maximum) {
  const float most = coverage < 0 ? 0 : coverage > maximum ? maximum : coverage;
  const float shrunk = coverage > maximum ? value * (maximum / coverage) : value;
  return (unsigned short)((shrunk < 0 ? 0 : shrunk > most ? most : shrunk) + 0.5f);
}

#endif
