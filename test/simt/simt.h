// CUDA C++ for the host: what the text of a kernel may use, in terms of the
// machine that its image is connected to. The compiler includes it in front of
// the text (-include), like what NVRTC has built in; no other header is there.
#ifndef DL_TEST_SIMT_SIMT_H
#define DL_TEST_SIMT_SIMT_H

#include "Interface.h"

#define DL_SIMT_HOST 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __restrict__ __restrict
// A copy for each host thread is as good as one for each block: a host thread
// runs one block at a time. `extern __shared__` is rewritten before it gets
// here.
#define __shared__ static thread_local

namespace dlsimt {
inline Machine *machine;

__attribute__((no_sanitize("thread"))) inline void connect(Machine *to) {
  machine = to;
}

template <typename To, typename From> inline To bitsOf(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

template <typename T>
T shuffle(Collective kind, unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                "a shuffle moves 4 or 8 bytes");
  Deposit mine;
  __builtin_memcpy(mine.in, &value, sizeof(T));
  mine.source = source;
  machine->meet(kind, mask, mine);
  __builtin_memcpy(&value, mine.out, sizeof(T));
  return value;
}

template <typename... A> struct ArgumentSizes {
  static constexpr unsigned values[] = {unsigned(sizeof(A))..., 0};
};

template <unsigned... I> struct Indices {};
template <unsigned N, unsigned... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <unsigned... I> struct MakeIndices<0, I...> {
  using Type = Indices<I...>;
};

template <auto kernel> struct Entry;
template <typename... A, void (*kernel)(A...)> struct Entry<kernel> {
  // Arguments lie in the host's memory; reading them is no access of the
  // kernel.
  template <unsigned... I>
  __attribute__((no_sanitize("thread"))) static void
  call(void *const *arguments, Indices<I...>) {
    kernel(*static_cast<A *>(arguments[I])...);
  }
  static void invoke(void *const *arguments) {
    call(arguments, typename MakeIndices<sizeof...(A)>::Type());
  }
  static constexpr Kernel named(const char *name, unsigned maxThreads = 1024,
                                unsigned = 0, unsigned = 0) {
    return {name, &invoke, ArgumentSizes<A...>::values, sizeof...(A),
            maxThreads};
  }
};
} // namespace dlsimt

#ifdef DL_SIMT_RACES
#define DL_SIMT_REPORTS true
#else
#define DL_SIMT_REPORTS false
#endif
/// Behind the text: what test/simt/Interface.h wants of an image.
#define DL_SIMT_EXPORT(kernels, count)                                         \
  static thread_local char dl_simt_anchor;                                     \
  extern "C" __attribute__((visibility("default"))) const dlsimt::Image *      \
  DL_SIMT_IMAGE() {                                                            \
    static constexpr dlsimt::Image image = {                                   \
        dlsimt::interfaceVersion,                                              \
        DL_SIMT_REPORTS,                                                       \
        kernels,                                                               \
        count,                                                                 \
        &dlsimt::connect,                                                      \
        []() -> void * { return &dl_simt_anchor; }};                           \
    return &image;                                                             \
  }

#define threadIdx (dlsimt::machine->thread)
#define blockIdx (dlsimt::machine->block)
#define blockDim (dlsimt::machine->blockSize)
#define gridDim (dlsimt::machine->gridSize)
#define warpSize 32

using dim3 = dlsimt::Index3;
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};

inline void __syncthreads() { dlsimt::machine->syncThreads(); }
inline int __syncthreads_count(int p) {
  return int(dlsimt::machine->syncThreadsCount(p));
}
inline int __syncthreads_or(int p) {
  return dlsimt::machine->syncThreadsCount(p) != 0;
}
inline int __syncthreads_and(int p) {
  return dlsimt::machine->syncThreadsCount(!p) == 0;
}
inline void __threadfence() {}
inline void __threadfence_block() {}

inline void __syncwarp(unsigned mask = ~0u) {
  dlsimt::Deposit mine;
  dlsimt::machine->meet(dlsimt::Collective::SyncWarp, mask, mine);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  dlsimt::Deposit mine;
  mine.in[0] = predicate != 0;
  dlsimt::machine->meet(dlsimt::Collective::Ballot, mask, mine);
  return mine.out[0];
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

// `width`, a power of 2, divides the warp into segments that keep to
// themselves.
template <typename T>
T __shfl_sync(unsigned mask, T x, int lane, int width = 32) {
  unsigned own = dlsimt::machine->lane;
  return dlsimt::shuffle(dlsimt::Collective::ShuffleIndex, mask, x,
                         (own & ~(width - 1)) | (lane & (width - 1)));
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T x, int lanes, int width = 32) {
  unsigned own = dlsimt::machine->lane, source = own ^ lanes;
  bool inside = source <= (own | unsigned(width - 1));
  return dlsimt::shuffle(dlsimt::Collective::ShuffleXor, mask, x,
                         inside ? source : own);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32) {
  unsigned own = dlsimt::machine->lane;
  bool inside = (own & (width - 1)) + by < unsigned(width);
  return dlsimt::shuffle(dlsimt::Collective::ShuffleDown, mask, x,
                         inside ? own + by : own);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32) {
  unsigned own = dlsimt::machine->lane;
  bool inside = (own & (width - 1)) >= by;
  return dlsimt::shuffle(dlsimt::Collective::ShuffleUp, mask, x,
                         inside ? own - by : own);
}

extern "C" {
// These have other last bits on a device.
#define DL_SIMT_FUNCTION(name)                                                 \
  float name##f(float) noexcept;                                               \
  double name(double) noexcept;
DL_SIMT_FUNCTION(exp)
DL_SIMT_FUNCTION(exp2)
DL_SIMT_FUNCTION(expm1)
DL_SIMT_FUNCTION(log)
DL_SIMT_FUNCTION(log2)
DL_SIMT_FUNCTION(log1p)
DL_SIMT_FUNCTION(sin)
DL_SIMT_FUNCTION(cos)
DL_SIMT_FUNCTION(tanh)
DL_SIMT_FUNCTION(erf)
#undef DL_SIMT_FUNCTION
float powf(float, float) noexcept;
double pow(double, double) noexcept;
// All others have the same.
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
float sqrtf(float) noexcept;
double sqrt(double) noexcept;
float fabsf(float) noexcept;
double fabs(double) noexcept;
float floorf(float) noexcept;
double floor(double) noexcept;
float ceilf(float) noexcept;
double ceil(double) noexcept;
float truncf(float) noexcept;
double trunc(double) noexcept;
float rintf(float) noexcept;
double rint(double) noexcept;
float roundf(float) noexcept;
double round(double) noexcept;
float copysignf(float, float) noexcept;
double copysign(double, double) noexcept;
float fminf(float, float) noexcept;
double fmin(double, double) noexcept;
float fmaxf(float, float) noexcept;
double fmax(double, double) noexcept;
float fmodf(float, float) noexcept;
double fmod(double, double) noexcept;
float ldexpf(float, int) noexcept;
double ldexp(double, int) noexcept;
}
inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }
template <typename T> T min(T a, T b) { return b < a ? b : a; }
template <typename T> T max(T a, T b) { return a < b ? b : a; }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

inline unsigned __float_as_uint(float x) { return dlsimt::bitsOf<unsigned>(x); }
inline int __float_as_int(float x) { return dlsimt::bitsOf<int>(x); }
inline float __uint_as_float(unsigned x) { return dlsimt::bitsOf<float>(x); }
inline float __int_as_float(int x) { return dlsimt::bitsOf<float>(x); }
inline long long __double_as_longlong(double x) {
  return dlsimt::bitsOf<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return dlsimt::bitsOf<double>(x);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((unsigned long long)a * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a,
                                     unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
template <typename T> T __ldg(const T *at) { return *at; }

#include "Atomics.h"
#include "TensorCores.h"
#ifdef DL_SIMT_RACES
#include "Accesses.h"
#endif

#endif
