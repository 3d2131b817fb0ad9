// What stands in front of every kernel's source.
#pragma once

namespace dl::cuda {

/// CUDA C++ without any header: NVRTC knows none, and the same text is compiled
/// for hosts.
inline constexpr const char *kPrelude = R"cuda(
// Neighbours in memory, read and written at once.
template <class T, unsigned N> struct alignas(sizeof(T) * N) Vec {
  T at[N];
};
template <unsigned N, class T>
__device__ __forceinline__ Vec<T, N> load(const T *from) {
  return *reinterpret_cast<const Vec<T, N> *>(from);
}
template <class T, unsigned N>
__device__ __forceinline__ void store(T *to, Vec<T, N> content) {
  *reinterpret_cast<Vec<T, N> *>(to) = content;
}

// Greater than nothing: where maxima begin.
template <class T> __device__ __forceinline__ T lowest();
template <> __device__ __forceinline__ float lowest<float>() { return -__uint_as_float(0x7f800000u); }
template <> __device__ __forceinline__ double lowest<double>() { return -__longlong_as_double(0x7ff0000000000000ll); }
template <> __device__ __forceinline__ signed char lowest<signed char>() { return -128; }
template <> __device__ __forceinline__ int lowest<int>() { return -2147483647 - 1; }
template <> __device__ __forceinline__ long long lowest<long long>() { return -9223372036854775807ll - 1; }
template <> __device__ __forceinline__ bool lowest<bool>() { return false; }

// A NaN is greater than all numbers.
template <class T> __device__ __forceinline__ bool isLess(T x, T y) { return x < y || (y != y && x == x); }

// A maximum and the position of the first one.
template <class T> struct Best {
  T value;
  unsigned position;
};

// How two states of a reduction become one.
struct Sum {
  template <class T> __device__ __forceinline__ T operator()(T x, T y) const { return x + y; }
};
struct Max {
  template <class T> __device__ __forceinline__ T operator()(T x, T y) const {
    return !(y <= x) && x == x ? y : x;
  }
};
struct First {
  template <class T> __device__ __forceinline__ Best<T> operator()(Best<T> x, Best<T> y) const {
    const bool greater = !(y.value <= x.value) && x.value == x.value;
    const bool equal = x.value == y.value || (x.value != x.value && y.value != y.value);
    return greater || (equal && y.position < x.position) ? y : x;
  }
};

template <class T> __device__ __forceinline__ T fromLane(T x, unsigned distance) {
  return __shfl_xor_sync(0xffffffffu, x, distance);
}
template <> __device__ __forceinline__ bool fromLane<bool>(bool x, unsigned distance) {
  return __shfl_xor_sync(0xffffffffu, (int)x, distance) != 0;
}
template <> __device__ __forceinline__ signed char fromLane<signed char>(signed char x, unsigned distance) {
  return (signed char)__shfl_xor_sync(0xffffffffu, (int)x, distance);
}
template <class T> __device__ __forceinline__ Best<T> fromLane(Best<T> x, unsigned distance) {
  return {fromLane(x.value, distance), __shfl_xor_sync(0xffffffffu, x.position, distance)};
}

// The states of a point's lanes become one, which the lanes of number 0 get. All threads of the block take part.
// INNER: neighbouring threads are lanes of one point; else they are points.
template <unsigned LANES, unsigned SLOTS, bool INNER, class State, class Merge>
__device__ __forceinline__ State combineLanes(State state, Merge merge, unsigned char *memory) {
  if (INNER) {
#pragma unroll
    for (unsigned distance = (LANES < 32 ? LANES : 32) / 2; distance > 0; distance /= 2)
      state = merge(state, fromLane(state, distance));
    if (LANES <= 32)
      return state;
  }
  State *states = reinterpret_cast<State *>(memory);
  if (!INNER) {
    // Lanes of a warp first, where it has several.
    constexpr unsigned ROW = SLOTS < 32 ? SLOTS : 32, ROWS = LANES * SLOTS / (SLOTS < 32 ? 32 : SLOTS);
#pragma unroll
    for (unsigned distance = 16; distance >= ROW; distance /= 2)
      state = merge(state, fromLane(state, distance));
    const unsigned row = SLOTS < 32 ? threadIdx.x / 32 : threadIdx.x / SLOTS;
    const unsigned slot = SLOTS < 32 ? threadIdx.x % 32 : threadIdx.x % SLOTS;
    __syncthreads(); // of an earlier use
    if (slot < SLOTS)
      states[row * SLOTS + slot] = state;
    __syncthreads();
    if (threadIdx.x < SLOTS) {
#pragma unroll
      for (unsigned other = 1; other < ROWS; ++other)
        state = merge(state, states[other * SLOTS + threadIdx.x]);
    }
    return state;
  }
  __syncthreads(); // of an earlier use
  if (threadIdx.x % 32 == 0)
    states[threadIdx.x / 32] = state;
  __syncthreads();
  if (threadIdx.x % LANES == 0) {
#pragma unroll
    for (unsigned warp = 1; warp < LANES / 32; ++warp)
      state = merge(state, states[threadIdx.x / 32 + warp]);
  }
  return state;
}

// Threads have found up to EACH of THREADS * EACH numbers, one after the other thread by thread, ~0u of which is none:
// `places` of those that were found and what they are come in their order. Returns how many; all threads take part.
template <unsigned THREADS, unsigned EACH>
__device__ __forceinline__ unsigned listFound(const unsigned (&found)[EACH], unsigned *places, unsigned *contents) {
  constexpr unsigned GROUP = 16, GROUPS = THREADS / GROUP;
  unsigned *counts = contents + THREADS * EACH, *totals = counts + THREADS;
  unsigned mine = 0, at = 0, all = 0;
#pragma unroll
  for (unsigned i = 0; i < EACH; ++i)
    mine += found[i] != ~0u;
  __syncthreads(); // of an earlier use
  counts[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x < GROUPS) {
    unsigned total = 0;
#pragma unroll
    for (unsigned i = 0; i < GROUP; ++i)
      total += counts[threadIdx.x * GROUP + i];
    totals[threadIdx.x] = total;
  }
  __syncthreads();
#pragma unroll
  for (unsigned group = 0; group < GROUPS; ++group) {
    at += group < threadIdx.x / GROUP ? totals[group] : 0;
    all += totals[group];
  }
  if (mine != 0) {
    for (unsigned i = threadIdx.x / GROUP * GROUP; i < threadIdx.x; ++i)
      at += counts[i];
#pragma unroll
    for (unsigned i = 0; i < EACH; ++i)
      if (found[i] != ~0u) {
        places[at] = threadIdx.x * EACH + i;
        contents[at++] = found[i];
      }
  }
  __syncthreads();
  return all;
}

// `count` numbers, a power of two, and their places are put in the order that `before` says of two of both.
template <unsigned THREADS, class T, class Before>
__device__ __forceinline__ void sortTogether(T *numbers, unsigned *places, unsigned count, Before before) {
  for (unsigned size = 2; size <= count; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (unsigned i = threadIdx.x; i < count / 2; i += THREADS) {
        const unsigned low = 2 * i - (i & (stride - 1)), high = low + stride;
        const T x = numbers[low], y = numbers[high];
        const unsigned p = places[low], q = places[high];
        if (before(y, q, x, p) == ((low & size) == 0)) {
          numbers[low] = y, numbers[high] = x;
          places[low] = q, places[high] = p;
        }
      }
    }
  __syncthreads();
}

// Whether this block is the last of `count` to come here, with all that the others have written. The counter is left
// at zero. No float is added by whoever comes first: the last one adds in a fixed order.
__device__ __forceinline__ bool isLastOf(unsigned count, unsigned *counter, unsigned char *memory) {
  unsigned *last = reinterpret_cast<unsigned *>(memory);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    *last = atomicAdd(counter, 1u) == count - 1;
    if (*last)
      *counter = 0;
  }
  __syncthreads();
  const bool result = *last != 0;
  __threadfence();
  return result;
}

// Which of `count` blocks has a column; the first or the last one where it lies outside.
__device__ __forceinline__ unsigned blockOf(long long column, unsigned size, long long count) {
  if (column < 0)
    return 0;
  return (unsigned)(column < size * count ? column / size : count - 1);
}
)cuda";

} // namespace dl::cuda
