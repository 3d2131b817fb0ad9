#include "runtime/state/StateInit.h"

#include "runtime/plan/DTypes.h"
#include "runtime/state/Distribution.h"
#include "runtime/state/InitialMatrix.h"
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

namespace {

/// The indices in a whole tensor of a part's elements, row by row.
class IndicesInWhole {
public:
  IndicesInWhole(const std::vector<uint64_t> &shape, const Box &part)
      : shape(shape), part(part), at(shape.size(), 0),
        left(shape.empty() ? 1 : part.extent.back()) {
    beginRow();
  }

  uint64_t next() {
    if (left == 0) {
      for (size_t d = shape.size() - 1; d-- > 0;) {
        if (++at[d] != part.extent[d])
          break;
        at[d] = 0;
      }
      left = part.extent.back();
      beginRow();
    }
    --left;
    return index++;
  }

private:
  void beginRow() {
    index = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      index = index * shape[d] + part.begin[d] + at[d];
  }

  const std::vector<uint64_t> &shape;
  const Box &part;
  std::vector<uint64_t> at; ///< the row
  uint64_t left, index = 0;
};

} // namespace

namespace {

/// The elements that have values of their own; asked in ascending order.
class OwnValues {
public:
  explicit OwnValues(const fb::InitT &init) : init(init) {}

  const double *find(uint64_t index) {
    for (; run < init.runs.size() && index >= end(init.runs[run]); ++run)
      value += init.runs[run].given();
    if (run == init.runs.size() || index < init.runs[run].first())
      return nullptr;
    const fb::InitRun &found = init.runs[run];
    return &init.values[value +
                        (found.given() == 1 ? 0 : index - found.first())];
  }

private:
  static uint64_t end(const fb::InitRun &run) {
    return run.first() + run.count();
  }

  const fb::InitT &init;
  size_t run = 0, value = 0; ///< the run's first
};

} // namespace

template <typename T>
static void fill(const fb::StateT &state, const Box &part, uint64_t seed,
                 uint8_t *stored) {
  const fb::InitT &init = *state.init;
  const std::vector<double> matrix = initialMatrix(state, seed);
  uint64_t row = 1; // elements of one
  for (size_t d = 1; d < state.shape.size(); ++d)
    row *= state.shape[d];
  IndicesInWhole indices(state.shape, part);
  OwnValues own(init);
  LayoutWalker(part.extent, state.layout).forEach([&](uint64_t position) {
    uint64_t index = indices.next();
    double value = init.a;
    if (init.kind == fb::InitKind::Uniform)
      value = uniformElement(seed, init.key, index, init.a, init.b);
    else if (init.kind == fb::InitKind::Normal)
      value = normalElement(seed, init.key, index, init.a, init.b);
    else if (init.kind == fb::InitKind::Truncated)
      value = truncatedElement(seed, init.key, index, init.a, init.b, init.low,
                               init.high);
    else if (init.kind == fb::InitKind::Padded)
      value = static_cast<double>(index / row) == init.low
                  ? 0
                  : normalElement(seed, init.key, index, init.a, init.b);
    else if (!matrix.empty())
      value = matrix[index];
    if (const double *known = own.find(index))
      value = *known;
    T element = converted<T>(value);
    std::memcpy(stored + position * sizeof(T), &element, sizeof(T));
  });
}

void dlrt::initialiseState(const fb::StateT &state, const Box &part,
                           uint64_t seed, uint8_t *stored, uint64_t bytes) {
  std::memset(stored, 0, bytes);
  if (state.init->kind == fb::InitKind::Zero && state.init->runs.empty())
    return;
  switch (state.dtype) {
  case fb::DType::F32:
    return fill<float>(state, part, seed, stored);
  case fb::DType::F64:
    return fill<double>(state, part, seed, stored);
  case fb::DType::I64:
    return fill<int64_t>(state, part, seed, stored);
  case fb::DType::I32:
    return fill<int32_t>(state, part, seed, stored);
  case fb::DType::U8:
    return fill<uint8_t>(state, part, seed, stored);
  case fb::DType::Bool:
    // Any value but zero is true; a conversion to an integer would lose 0.5.
    return fill<bool>(state, part, seed, stored);
  }
}
