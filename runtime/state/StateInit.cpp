#include "runtime/state/StateInit.h"

#include "runtime/plan/DTypes.h"
#include "runtime/state/Distribution.h"
#include "runtime/state/InitialMatrix.h"
#include "runtime/state/LayoutCopy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <system_error>
#include <thread>
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

  /// Those with these indices; random numbers are drawn many at a time.
  void read(std::span<const uint64_t> indices, double *values) const {
    if (init.kind == fb::InitKind::Normal)
      return normalElements(seed, init.key, indices, init.a, init.b, values);
    for (size_t i = 0; i < indices.size(); ++i)
      values[i] = (*this)[indices[i]];
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

static constexpr size_t kBlock = 256; ///< elements that are drawn at a time

/// Calls share(0) to share(count - 1), each on a thread of its own where the
/// system gives one.
static void inParallel(size_t count, const std::function<void(size_t)> &share) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    try {
      threads.emplace_back(share, i);
    } catch (const std::system_error &) {
      share(i);
    }
  share(0);
  for (std::thread &thread : threads)
    thread.join();
}

template <typename T>
static void fill(const fb::StateT &state, const Box &part, uint64_t seed,
                 uint8_t *stored, uint64_t bytes, unsigned threads) {
  const Elements elements(*state.init, state.shape, seed);
  const PartValues parts(state, part, seed);
  const LayoutWalker walker(part.extent, state.layout);
  // A thread takes less time than 64 blocks.
  const size_t shares =
      std::clamp<size_t>(bytes / sizeof(T) / kBlock / 64, 1, threads);
  inParallel(shares, [&](size_t share) {
    IndicesInWhole indices(state.shape, part);
    OwnValues own(*state.init);
    std::array<uint64_t, kBlock> positions, inWhole;
    std::array<double, kBlock> drawn;
    size_t block = 0, count = 0;
    auto write = [&] {
      if (block % shares == share) {
        elements.read({inWhole.data(), count}, drawn.data());
        for (size_t i = 0; i < count; ++i) {
          const double *known = own.find(inWhole[i]);
          if (const double *set = parts.find(block * kBlock + i); set && !known)
            known = set;
          T element = converted<T>(known ? *known : drawn[i]);
          std::memcpy(stored + positions[i] * sizeof(T), &element, sizeof(T));
        }
      }
      ++block;
      count = 0;
    };
    walker.forEach([&](uint64_t position) {
      positions[count] = position;
      inWhole[count] = indices.next();
      if (++count == kBlock)
        write();
    });
    write();
  });
}

bool dlrt::beginsAsZeros(const fb::StateT &state) {
  return state.init->kind == fb::InitKind::Zero && state.init->runs.empty() &&
         state.init->parts.empty();
}

void dlrt::initialiseState(const fb::StateT &state, const Box &part,
                           uint64_t seed, uint8_t *stored, uint64_t bytes,
                           unsigned threads) {
  std::memset(stored, 0, bytes);
  if (beginsAsZeros(state))
    return;
  switch (state.dtype) {
  case fb::DType::F32:
    return fill<float>(state, part, seed, stored, bytes, threads);
  case fb::DType::F64:
    return fill<double>(state, part, seed, stored, bytes, threads);
  case fb::DType::I64:
    return fill<int64_t>(state, part, seed, stored, bytes, threads);
  case fb::DType::I32:
    return fill<int32_t>(state, part, seed, stored, bytes, threads);
  case fb::DType::U8:
    return fill<uint8_t>(state, part, seed, stored, bytes, threads);
  case fb::DType::Bool:
    // Any value but zero is true; a conversion to an integer would lose 0.5.
    return fill<bool>(state, part, seed, stored, bytes, threads);
  case fb::DType::BF16: // no state has it
    return;
  }
}
