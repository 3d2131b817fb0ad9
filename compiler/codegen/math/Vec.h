// Numbers with the operators of arithmetic, for the formulas of elementary
// functions. A formula is written once, over Vec; what becomes of it is the
// business of an Emitter: IR on vectors, or CUDA C++ on scalars.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace dl::formula {

enum class Type : uint8_t { F32, F64, I32, I64, Bool };

/// What formulas are made of. Each has one meaning for all bits: floats are
/// IEEE's, rounded to nearest, denormals included; integers wrap around. Only
/// the payload and sign of a NaN are free.
enum class Op : uint8_t {
  // Of floats.
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Abs,
  Floor,
  Fma,
  // Ordered comparisons: false for NaN.
  Less,
  Greater,
  Equal,
  // Of integers; the first three of Bool, too.
  And,
  Or,
  Xor,
  Not,
  NotZero,
  AddInt,
  SubInt,
  MulInt,
  ShiftLeft,
  ShiftRight, // zeros come in
  // Of any type.
  Select, // of condition, x, y
  // From one type to another.
  Bits,   // a float's representation as an integer as wide
  Number, // and back
  ToDouble,
  ToFloat,
  Truncate, // the low half of a wide integer
  Widen     // zeros become the high half
};

/// Makes values. Nothing may be contracted, reordered or approximated.
class Emitter {
public:
  /// A value, as the emitter itself knows it.
  using Ref = void *;

  virtual ~Emitter() = default;
  /// The same number everywhere, rounded to the type; infinities and NaN as
  /// they are.
  virtual Ref number(Type type, double value) = 0;
  virtual Ref integer(Type type, int64_t value) = 0;
  virtual Ref emit(Op op, Type type, llvm::ArrayRef<Ref> operands) = 0;
  /// What a reader would call the value.
  virtual void name(Ref value, const char *name) {}
};

/// A value of a formula.
class Vec {
public:
  Vec(Emitter &emitter, Type type, Emitter::Ref ref)
      : emitter(&emitter), value(ref), kind(type) {}
  Emitter::Ref ref() const { return value; }
  Type type() const { return kind; }

  /// Of doubles, and of integers as wide.
  bool isWide() const { return kind == Type::F64 || kind == Type::I64; }
  /// `single` where the value is a float or as wide as one, else `dual`.
  template <typename T> T pick(T single, T dual) const {
    return isWide() ? dual : single;
  }
  /// Another number of the type.
  Vec splat(double number) const;
  /// An integer of the type, or as wide as it.
  Vec splatInt(int64_t number) const;
  Vec infinity() const;
  Vec nan() const;
  Vec named(const char *name) const;

  Vec operator+(Vec y) const { return with(Op::Add, kind, y); }
  Vec operator-(Vec y) const { return with(Op::Sub, kind, y); }
  Vec operator*(Vec y) const { return with(Op::Mul, kind, y); }
  Vec operator/(Vec y) const { return with(Op::Div, kind, y); }
  Vec operator-() const { return with(Op::Neg, kind); }
  Vec operator+(double y) const { return *this + splat(y); }
  Vec operator-(double y) const { return *this - splat(y); }
  Vec operator*(double y) const { return *this * splat(y); }

  Vec operator<(Vec y) const { return with(Op::Less, Type::Bool, y); }
  Vec operator>(Vec y) const { return with(Op::Greater, Type::Bool, y); }
  Vec operator==(Vec y) const { return with(Op::Equal, Type::Bool, y); }
  Vec operator<(double y) const { return *this < splat(y); }
  Vec operator>(double y) const { return *this > splat(y); }
  Vec operator==(double y) const { return *this == splat(y); }

  Vec operator&(Vec y) const { return with(Op::And, kind, y); }
  Vec operator|(Vec y) const { return with(Op::Or, kind, y); }
  Vec operator^(Vec y) const { return with(Op::Xor, kind, y); }
  Vec operator!() const { return with(Op::Not, kind); }
  Vec isNotZero() const { return with(Op::NotZero, Type::Bool); }
  Vec addInt(Vec y) const { return with(Op::AddInt, kind, y); }
  Vec subInt(Vec y) const { return with(Op::SubInt, kind, y); }
  Vec mulInt(Vec y) const { return with(Op::MulInt, kind, y); }
  Vec operator<<(unsigned bits) const {
    return with(Op::ShiftLeft, kind, splatInt(bits));
  }
  Vec operator>>(unsigned bits) const {
    return with(Op::ShiftRight, kind, splatInt(bits));
  }

  /// By as many bits as another integer says, less than all.
  Vec operator<<(Vec bits) const { return with(Op::ShiftLeft, kind, bits); }
  Vec operator>>(Vec bits) const { return with(Op::ShiftRight, kind, bits); }

  /// The number's representation as an integer, and back.
  Vec bits() const { return with(Op::Bits, integerType()); }
  Vec number() const { return with(Op::Number, pick(Type::F32, Type::F64)); }
  /// The sign bit alone, as an integer.
  Vec sign() const;
  Vec withSign(Vec integer) const; // flips where the sign bit is set
  Vec abs() const { return with(Op::Abs, kind); }
  Vec floor() const { return with(Op::Floor, kind); }
  Vec toDouble() const { return with(Op::ToDouble, Type::F64); }
  Vec toFloat() const { return with(Op::ToFloat, Type::F32); }
  /// The low halves of wide integers, and back with zeros.
  Vec toInt32() const { return with(Op::Truncate, Type::I32); }
  Vec toInt64() const { return with(Op::Widen, Type::I64); }

  /// The bound where the number is beyond it; NaN stays.
  Vec atMost(double bound) const;
  Vec atLeast(double bound) const;

private:
  Vec with(Op op, Type type) const {
    return Vec(*emitter, type, emitter->emit(op, type, {value}));
  }
  Vec with(Op op, Type type, Vec y) const {
    return Vec(*emitter, type, emitter->emit(op, type, {value, y.value}));
  }
  Type integerType() const { return pick(Type::I32, Type::I64); }

  Emitter *emitter;
  Emitter::Ref value;
  Type kind;

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

} // namespace dl::formula
