// Vectors of floats with the operators of arithmetic, for the formulas of
// vector math.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/IRBuilder.h"

namespace dl::cpu {

/// A vector of float or double, or one of the integers of the same width, while
/// IR that computes it is emitted. No operator is ever contracted, reordered or
/// approximated.
class Vec {
public:
  Vec(llvm::IRBuilderBase &builder, llvm::Value *value)
      : builder(&builder), value(value) {}
  operator llvm::Value *() const { return value; }

  bool isDouble() const {
    return value->getType()->getScalarSizeInBits() == 64;
  }
  /// `single` for vectors of float, `dual` for vectors of double.
  template <typename T> T pick(T single, T dual) const {
    return isDouble() ? dual : single;
  }
  /// The same number in all lanes, rounded to the type.
  Vec splat(double number) const;
  Vec splatInt(int64_t number) const;
  Vec infinity() const;
  Vec nan() const;

  Vec operator+(Vec y) const;
  Vec operator-(Vec y) const;
  Vec operator*(Vec y) const;
  Vec operator/(Vec y) const;
  Vec operator-() const;
  Vec operator+(double y) const { return *this + splat(y); }
  Vec operator-(double y) const { return *this - splat(y); }
  Vec operator*(double y) const { return *this * splat(y); }

  // Ordered comparisons: false for NaN.
  Vec operator<(Vec y) const;
  Vec operator>(Vec y) const;
  Vec operator==(Vec y) const;
  Vec operator<(double y) const { return *this < splat(y); }
  Vec operator>(double y) const { return *this > splat(y); }
  Vec operator==(double y) const { return *this == splat(y); }

  // On integers, and on results of comparisons.
  Vec operator&(Vec y) const;
  Vec operator|(Vec y) const;
  Vec operator^(Vec y) const;
  Vec operator!() const;
  Vec isNotZero() const;
  Vec addInt(Vec y) const;
  Vec subInt(Vec y) const;
  Vec operator<<(unsigned bits) const;
  Vec operator>>(unsigned bits) const; // zeros come in

  /// The number's representation as an integer, and back.
  Vec bits() const;
  Vec number() const;
  /// The sign bit alone, as an integer.
  Vec sign() const;
  Vec withSign(Vec integer) const; // flips where the sign bit is set
  Vec abs() const;
  Vec floor() const;
  Vec toDouble() const;
  Vec toFloat() const;
  /// The low halves of wide integers.
  Vec toInt32() const;

  /// The bound where the lane is beyond it; NaN stays.
  Vec atMost(double bound) const;
  Vec atLeast(double bound) const;

private:
  Vec with(llvm::Value *result) const { return Vec(*builder, result); }
  llvm::Type *integerType() const;

  llvm::IRBuilderBase *builder;
  llvm::Value *value;

  friend Vec fma(Vec x, Vec y, Vec z);
  friend Vec select(Vec condition, Vec x, Vec y);
};

/// x * y + z, rounded once.
Vec fma(Vec x, Vec y, Vec z);
inline Vec fma(Vec x, double y, Vec z) { return fma(x, x.splat(y), z); }
inline Vec fma(Vec x, double y, double z) {
  return fma(x, x.splat(y), x.splat(z));
}
Vec select(Vec condition, Vec x, Vec y);

/// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
Vec polynomial(Vec x, llvm::ArrayRef<double> c);

/// An unevaluated sum; the tail is what rounding took from the head.
struct Pair {
  Vec head, tail;
};
/// The exact sum; in quickSum the first has the larger exponent, or is zero.
Pair exactSum(Vec x, Vec y);
Pair quickSum(Vec x, Vec y);
Pair exactProduct(Vec x, Vec y);

/// The integer nearest to x * scale, for |x * scale| < 2^22 or 2^51, as a
/// number and as the low bits of an integer.
struct Rounded {
  Vec number, bits;
};
Rounded roundScaled(Vec x, double scale);
/// 2^n for the low bits of an integer n, in the range of normal numbers.
Vec powerOfTwo(Vec bits);

} // namespace dl::cpu
