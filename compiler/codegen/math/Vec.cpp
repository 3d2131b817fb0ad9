#include "compiler/codegen/math/Vec.h"

#include "llvm/ADT/STLExtras.h"
#include <limits>

using llvm::ArrayRef;

namespace dl::formula {

Vec Vec::splat(double number) const {
  return Vec(*emitter, kind, emitter->number(kind, number));
}
Vec Vec::splatInt(int64_t number) const {
  return Vec(*emitter, integerType(), emitter->integer(integerType(), number));
}
Vec Vec::infinity() const {
  return splat(std::numeric_limits<double>::infinity());
}
Vec Vec::nan() const { return splat(std::numeric_limits<double>::quiet_NaN()); }
Vec Vec::named(const char *name) const {
  emitter->name(value, name);
  return *this;
}

Vec Vec::sign() const {
  return bits() & splatInt(pick(INT64_C(1) << 31, INT64_MIN));
}
Vec Vec::withSign(Vec integer) const { return (bits() ^ integer).number(); }

Vec Vec::atMost(double bound) const {
  return select(*this > bound, splat(bound), *this);
}
Vec Vec::atLeast(double bound) const {
  return select(*this < bound, splat(bound), *this);
}

Vec fma(Vec x, Vec y, Vec z) {
  return Vec(*x.emitter, x.kind,
             x.emitter->emit(Op::Fma, x.kind, {x.value, y.value, z.value}));
}
Vec select(Vec condition, Vec x, Vec y) {
  return Vec(
      *x.emitter, x.kind,
      x.emitter->emit(Op::Select, x.kind, {condition.value, x.value, y.value}));
}

Vec polynomial(Vec x, ArrayRef<double> c) {
  Vec sum = x.splat(c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    sum = fma(sum, x, x.splat(coefficient)).named("p");
  return sum;
}

Pair exactSum(Vec x, Vec y) {
  Vec sum = x + y;
  Vec part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}
Pair quickSum(Vec x, Vec y) {
  Vec sum = x + y;
  return {sum, y - (sum - x)};
}
Pair exactProduct(Vec x, Vec y) {
  Vec product = x * y;
  return {product, fma(x, y, -product)};
}

Rounded roundScaled(Vec x, double scale) {
  // At this size the last bit is worth one, and adding rounds to it.
  Vec magic = x.splat(x.pick(0x1.8p23, 0x1.8p52));
  Vec shifted = fma(x, x.splat(scale), magic).named("shifted");
  return {(shifted - magic).named("n"), shifted.bits()};
}

Vec powerOfTwo(Vec bits) {
  Vec one = bits.splatInt(bits.pick(INT64_C(0x3f800000), INT64_C(1023) << 52));
  return (bits << bits.pick(23, 52)).addInt(one).number().named("power");
}

} // namespace dl::formula
