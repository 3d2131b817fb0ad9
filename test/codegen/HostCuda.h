// What the CUDA text of elementary functions takes from CUDA, for the host.
#pragma once

#include <bit>
#include <cmath>

#define __device__
#define __forceinline__ inline
#define __noinline__
static inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
static inline float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}
static inline long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
static inline double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}
