// The FMA peak of one core: as many independent chains of fused multiply-adds
// as hide their latency, in registers only. Prints GFLOP/s of f32 for 256 and
// for 512 bits (0 where the CPU has none), the best of several short runs.
#define _POSIX_C_SOURCE 199309L
#include <immintrin.h>
#include <stdio.h>
#include <time.h>

#define CHAINS 12
#define ROUNDS 2000000L
#define RUNS 7

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// `set`, `fma` and `add` of one register width, and a sum that keeps the work.
#define PEAK(name, isa, type, lanes, set, fma, store)                          \
  __attribute__((target(isa), noinline)) static double name(float x,           \
                                                            float *sink) {     \
    type a[CHAINS], b = set(x), c = set(1 - x);                                \
    for (int i = 0; i < CHAINS; ++i)                                           \
      a[i] = set((float)i);                                                    \
    double start = now();                                                      \
    for (long round = 0; round < ROUNDS; ++round) {                            \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < CHAINS; ++i)      \
          a[i] = fma(a[i], b, c);                                              \
      __asm__ volatile("" : "+v"(b));                                          \
    }                                                                          \
    double seconds = now() - start;                                            \
    for (int i = 0; i < CHAINS; ++i)                                           \
      store(sink + i * lanes, a[i]);                                           \
    return 2.0 * lanes * CHAINS * ROUNDS / seconds * 1e-9;                     \
  }

PEAK(peak256, "avx2,fma", __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps,
     _mm256_storeu_ps)
PEAK(peak512, "avx512f", __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps,
     _mm512_storeu_ps)

int main(void) {
  volatile float x = 0.5f;
  float sink[CHAINS * 16];
  double best256 = 0, best512 = 0;
  int wide = __builtin_cpu_supports("avx512f");
  for (int run = 0; run < RUNS; ++run) {
    double narrow = peak256(x, sink), broad = wide ? peak512(x, sink) : 0;
    best256 = narrow > best256 ? narrow : best256;
    best512 = broad > best512 ? broad : best512;
  }
  printf("{\"avx2\":%.2f,\"avx512\":%.2f}\n", best256, best512);
  return sink[0] == 12345.0f; // never, but the compiler does not know
}
