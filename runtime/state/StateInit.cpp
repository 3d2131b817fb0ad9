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
      : shape(shape), part(part), at(shape.size(), 0) {
    beginRow();
  }

  uint64_t next() {
    if (shape.empty())
      return 0;
    const size_t last = shape.size() - 1;
    if (at[last] == part.extent[last]) {
      at[last] = 0;
      for (size_t d = last; d-- > 0;) {
        if (++at[d] != part.extent[d])
          break;
        at[d] = 0;
      }
      beginRow();
    }
    return row + part.place(last, at[last]++);
  }

private:
  void beginRow() {
    row = 0;
    for (size_t d = 0; d + 1 < shape.size(); ++d)
      row = (row + part.place(d, at[d])) * shape[d + 1];
  }

  const std::vector<uint64_t> &shape;
  const Box &part;
  std::vector<uint64_t> at; ///< of the next one
  uint64_t row = 0;         ///< the index of its row's first
};

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

/// The elements of a tensor that begins so.
class Elements {
public:
  Elements(const fb::InitT &init, const std::vector<uint64_t> &shape,
           uint64_t seed)
      : init(init), seed(seed), matrix(initialMatrix(init, shape, seed)) {
    for (size_t d = 1; d < shape.size(); ++d)
      row *= shape[d];
  }

  double operator[](uint64_t index) const {
    switch (init.kind) {
    case fb::InitKind::Zero:
      return 0;
    case fb::InitKind::Constant:
      return init.a;
    case fb::InitKind::Uniform:
      return uniformElement(seed, init.key, index, init.a, init.b);
    case fb::InitKind::Normal:
      return normalElement(seed, init.key, index, init.a, init.b);
    case fb::InitKind::Truncated:
      return truncatedElement(seed, init.key, index, init.a, init.b, init.low,
                              init.high);
    case fb::InitKind::Padded:
      return static_cast<double>(index / row) == init.low
                 ? 0
                 : normalElement(seed, init.key, index, init.a, init.b);
    case fb::InitKind::Orthogonal:
    case fb::InitKind::Dirac:
    case fb::InitKind::Sparse:
      break;
    }
    return matrix[index];
  }

private:
  const fb::InitT &init;
  uint64_t seed, row = 1; ///< a row's elements
  std::vector<double> matrix;
};

/// The elements of a box that begin as parts of the state do.
class PartValues {
public:
  PartValues(const fb::StateT &state, const Box &box, uint64_t seed)
      : state(state), box(box) {
    if (state.init->parts.empty())
      return;
    uint64_t count = 1;
    for (uint64_t extent : box.extent)
      count *= extent;
    values.resize(count);
    isSet.resize(count);
    for (const auto &part : state.init->parts)
      set(*part, seed);
  }

  /// Of the box's element with that row-major index.
  const double *find(uint64_t index) const {
    return isSet.empty() || !isSet[index] ? nullptr : &values[index];
  }

private:
  void set(const fb::InitPartT &part, uint64_t seed) {
    Elements elements(*part.begins, part.whole ? state.shape : part.shape,
                      seed);
    std::vector<uint64_t> at(part.shape.size(), 0);
    uint64_t place = part.offset;
    for (uint64_t index = 0;; ++index) {
      if (uint64_t inBox; locate(place, inBox)) {
        values[inBox] = elements[part.whole ? place : index];
        isSet[inBox] = true;
      }
      size_t d = at.size();
      for (; d-- > 0; at[d] = 0) {
        place += part.strides[d];
        if (++at[d] < part.shape[d])
          break;
        place -= part.shape[d] * part.strides[d];
      }
      if (d == size_t(-1))
        return;
    }
  }

  /// The row-major index in the box of an element of the state, if it has it.
  bool locate(uint64_t place, uint64_t &inBox) const {
    uint64_t size = 1;
    inBox = 0;
    for (size_t d = state.shape.size(); d-- > 0; place /= state.shape[d]) {
      uint64_t at;
      if (!box.find(d, place % state.shape[d], at))
        return false;
      inBox += at * size;
      size *= box.extent[d];
    }
    return true;
  }

  const fb::StateT &state;
  const Box &box;
  std::vector<double> values;
  std::vector<bool> isSet;
};

} // namespace

template <typename T>
static void fill(const fb::StateT &state, const Box &part, uint64_t seed,
                 uint8_t *stored) {
  const Elements elements(*state.init, state.shape, seed);
  const PartValues parts(state, part, seed);
  IndicesInWhole indices(state.shape, part);
  OwnValues own(*state.init);
  uint64_t inPart = 0;
  LayoutWalker(part.extent, state.layout).forEach([&](uint64_t position) {
    uint64_t index = indices.next();
    const double *known = own.find(index);
    if (const double *set = parts.find(inPart++); set && !known)
      known = set;
    T element = converted<T>(known ? *known : elements[index]);
    std::memcpy(stored + position * sizeof(T), &element, sizeof(T));
  });
}

void dlrt::initialiseState(const fb::StateT &state, const Box &part,
                           uint64_t seed, uint8_t *stored, uint64_t bytes) {
  std::memset(stored, 0, bytes);
  if (state.init->kind == fb::InitKind::Zero && state.init->runs.empty() &&
      state.init->parts.empty())
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
  case fb::DType::BF16: // no state has it
    return;
  }
}
