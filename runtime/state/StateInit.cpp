#include "runtime/state/StateInit.h"

#include "runtime/plan/DTypes.h"
#include "runtime/state/Distribution.h"
#include "runtime/state/LayoutCopy.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace dlrt;

/// Rounds to the dtype; integers saturate, so that no value is undefined.
template <typename T> static T converted(double value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
    if (std::isnan(value))
      return 0;
    if (value <= low)
      return std::numeric_limits<T>::min();
    if (value >= high)
      return std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

template <typename T>
static void fill(const fb::StateT &state, uint64_t seed, uint8_t *stored) {
  const fb::InitT &init = *state.init;
  uint64_t index = 0;
  LayoutWalker(state.shape, state.layout).forEach([&](uint64_t position) {
    double value = init.a;
    if (init.kind == fb::InitKind::Uniform)
      value = uniformElement(seed, init.key, index, init.a, init.b);
    else if (init.kind == fb::InitKind::Normal)
      value = normalElement(seed, init.key, index, init.a, init.b);
    ++index;
    T element = converted<T>(value);
    std::memcpy(stored + position * sizeof(T), &element, sizeof(T));
  });
}

void dlrt::initialiseState(const fb::StateT &state, uint64_t seed,
                           uint8_t *stored, uint64_t bytes) {
  std::memset(stored, 0, bytes);
  if (state.init->kind == fb::InitKind::Zero)
    return;
  switch (state.dtype) {
  case fb::DType::F32:
    return fill<float>(state, seed, stored);
  case fb::DType::F64:
    return fill<double>(state, seed, stored);
  case fb::DType::I64:
    return fill<int64_t>(state, seed, stored);
  case fb::DType::I32:
    return fill<int32_t>(state, seed, stored);
  case fb::DType::U8:
    return fill<uint8_t>(state, seed, stored);
  case fb::DType::Bool:
    // Any value but zero is true; a conversion to an integer would lose 0.5.
    return fill<bool>(state, seed, stored);
  }
}
