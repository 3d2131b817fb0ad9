// Functions of floats as kernels, and arguments to try them on.
#pragma once

#include "test/codegen/LoadedImage.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace dl::cpu::test {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T x : {T(0),
              Limits::denorm_min(),
              3 * Limits::denorm_min(),
              Limits::min() / 2,
              std::nextafter(Limits::min(), T(0)),
              Limits::min(),
              Limits::epsilon(),
              T(0.5),
              T(1) / 3,
              std::nextafter(T(1), T(0)),
              T(1),
              std::nextafter(T(1), T(2)),
              T(1.5),
              T(2),
              T(3),
              T(10),
              T(87.5),
              T(88.8),
              T(103.5),
              T(104.5),
              T(709.5),
              T(710),
              T(744.5),
              T(746),
              T(1e5),
              T(1e7),
              T(1) / Limits::epsilon(),
              T(2) / Limits::epsilon() + 2,
              Limits::max() / 2,
              Limits::max(),
              Limits::infinity()})
    for (T value : {x, -x})
      values.push_back(value);
  values.push_back(Limits::quiet_NaN());
  return values;
}

template <typename T>
void addUniform(std::vector<T> &values, T low, T high, int count,
                std::mt19937_64 &random) {
  std::uniform_real_distribution<T> uniform(low, high);
  for (int i = 0; i < count; ++i)
    values.push_back(uniform(random));
}

/// Numbers of all exponents up to `largest`, and many of usual size.
template <typename T> std::vector<T> samplesUpTo(T largest, int count) {
  std::mt19937_64 random(1);
  std::vector<T> values = specialValues<T>();
  std::erase_if(values, [&](T x) { return std::fabs(x) > largest; });
  for (T bound : {T(1), T(4), T(30), T(100), T(750)})
    addUniform<T>(values, -bound, bound, count / 8, random);
  addUniform<T>(values, T(0.5), T(2), count / 8, random); // around 1
  for (int i = 0; i < count; ++i) {
    T x = std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
    if (std::fabs(x) <= largest)
      values.push_back(x);
  }
  return values;
}

/// One function on one instruction set.
class CompiledFunction {
public:
  CompiledFunction(const TargetVariant &variant, bool isDouble,
                   unsigned numOperands, EmitFn emit)
      : image(build(variant, isDouble, numOperands, emit)) {}

  /// Operands are padded to whole vectors.
  template <typename T>
  std::vector<T> operator()(std::vector<std::vector<T>> operands) const {
    size_t count = operands.front().size();
    size_t vectors = (count + lanes - 1) / lanes;
    std::vector<T> result(vectors * lanes);
    std::vector<void *> bindings;
    for (std::vector<T> &operand : operands) {
      operand.resize(vectors * lanes, T(1));
      bindings.push_back(operand.data());
    }
    bindings.push_back(result.data());
    image.kernel("f")(bindings.data(), nullptr, nullptr, 0,
                      static_cast<int64_t>(vectors));
    result.resize(count);
    return result;
  }

private:
  static constexpr unsigned lanes = 16;

  static LoadedImage build(const TargetVariant &variant, bool isDouble,
                           unsigned numOperands, EmitFn emit) {
    OwnedModule owned = makeMapKernel("f", isDouble, lanes, numOperands, emit);
    auto object = compileFor(variant, *owned.module);
    auto image = linkImage(NamedObject{"f", object});
    EXPECT_TRUE(bool(image)) << llvm::toString(image.takeError());
    return LoadedImage::load(*image);
  }

  LoadedImage image;
};

template <typename T> bool sameBits(T x, T y) {
  return std::bit_cast<BitsOf<T>>(x) == std::bit_cast<BitsOf<T>>(y) ||
         (std::isnan(x) && std::isnan(y));
}

template <typename T> std::vector<std::vector<T>> powSamples(int count) {
  std::vector<std::vector<T>> samples(2);
  auto add = [&](T x, T y) {
    samples[0].push_back(x);
    samples[1].push_back(y);
  };
  for (T x : specialValues<T>())
    for (T y : specialValues<T>())
      add(x, y);
  for (T x :
       {T(-3), T(-0.5), T(-0.0), T(0), -std::numeric_limits<T>::infinity()})
    for (int y = -9; y <= 9; ++y)
      add(x, T(y) / 2);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<T> unit(-1, 1);
  for (int i = 0; i < count; ++i) {
    T x = std::exp(unit(random) * T(i % 2 ? 80 : 2));
    // Results of all sizes, just beyond the range included.
    add(x, unit(random) * T(sizeof(T) == 8 ? 750 : 106) / std::log(x));
    add(unit(random) * 10,
        static_cast<T>(static_cast<int>(random() % 40) - 20));
  }
  return samples;
}

} // namespace dl::cpu::test
