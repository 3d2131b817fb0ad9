#include "compiler/codegen/cpu/VectorExpr.h"

#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace dl::cpu {

Type *Vec::integerType() const {
  return VectorType::getInteger(cast<VectorType>(value->getType()));
}

Vec Vec::splat(double number) const {
  return with(ConstantFP::get(value->getType(), number));
}
Vec Vec::splatInt(int64_t number) const {
  return with(ConstantInt::get(integerType(), number, /*IsSigned=*/true,
                               /*ImplicitTrunc=*/true));
}
Vec Vec::infinity() const {
  return with(ConstantFP::getInfinity(value->getType()));
}
Vec Vec::nan() const { return with(ConstantFP::getNaN(value->getType())); }

Vec Vec::operator+(Vec y) const { return with(builder->CreateFAdd(value, y)); }
Vec Vec::operator-(Vec y) const { return with(builder->CreateFSub(value, y)); }
Vec Vec::operator*(Vec y) const { return with(builder->CreateFMul(value, y)); }
Vec Vec::operator/(Vec y) const { return with(builder->CreateFDiv(value, y)); }
Vec Vec::operator-() const { return with(builder->CreateFNeg(value)); }

Vec Vec::operator<(Vec y) const {
  return with(builder->CreateFCmpOLT(value, y));
}
Vec Vec::operator>(Vec y) const {
  return with(builder->CreateFCmpOGT(value, y));
}
Vec Vec::operator==(Vec y) const {
  return with(builder->CreateFCmpOEQ(value, y));
}

Vec Vec::operator&(Vec y) const { return with(builder->CreateAnd(value, y)); }
Vec Vec::operator|(Vec y) const { return with(builder->CreateOr(value, y)); }
Vec Vec::operator^(Vec y) const { return with(builder->CreateXor(value, y)); }
Vec Vec::operator!() const { return with(builder->CreateNot(value)); }
Vec Vec::isNotZero() const { return with(builder->CreateIsNotNull(value)); }
Vec Vec::addInt(Vec y) const { return with(builder->CreateAdd(value, y)); }
Vec Vec::subInt(Vec y) const { return with(builder->CreateSub(value, y)); }
Vec Vec::operator<<(unsigned bits) const {
  return with(builder->CreateShl(value, bits));
}
Vec Vec::operator>>(unsigned bits) const {
  return with(builder->CreateLShr(value, bits));
}

Vec Vec::bits() const {
  return with(builder->CreateBitCast(value, integerType()));
}
Vec Vec::number() const {
  auto *type = cast<VectorType>(value->getType());
  Type *element = isDouble() ? builder->getDoubleTy() : builder->getFloatTy();
  return with(builder->CreateBitCast(
      value, VectorType::get(element, type->getElementCount())));
}
Vec Vec::sign() const {
  return bits() & splatInt(pick(INT64_C(1) << 31, INT64_MIN));
}
Vec Vec::withSign(Vec integer) const { return (bits() ^ integer).number(); }
Vec Vec::abs() const {
  return with(builder->CreateUnaryIntrinsic(Intrinsic::fabs, value));
}
Vec Vec::floor() const {
  return with(builder->CreateUnaryIntrinsic(Intrinsic::floor, value));
}
Vec Vec::toDouble() const {
  auto *type = cast<VectorType>(value->getType());
  return with(builder->CreateFPExt(
      value, VectorType::get(builder->getDoubleTy(), type->getElementCount())));
}
Vec Vec::toFloat() const {
  auto *type = cast<VectorType>(value->getType());
  return with(builder->CreateFPTrunc(
      value, VectorType::get(builder->getFloatTy(), type->getElementCount())));
}

Vec Vec::toInt32() const {
  auto *type = cast<VectorType>(value->getType());
  return with(builder->CreateTrunc(
      value, VectorType::get(builder->getInt32Ty(), type->getElementCount())));
}

Vec Vec::atMost(double bound) const {
  return select(*this > bound, splat(bound), *this);
}
Vec Vec::atLeast(double bound) const {
  return select(*this < bound, splat(bound), *this);
}

Vec fma(Vec x, Vec y, Vec z) {
  return x.with(x.builder->CreateIntrinsic(x.value->getType(), Intrinsic::fma,
                                           {x.value, y.value, z.value}));
}
Vec select(Vec condition, Vec x, Vec y) {
  return x.with(x.builder->CreateSelect(condition, x, y));
}

Vec polynomial(Vec x, ArrayRef<double> c) {
  Vec sum = x.splat(c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    sum = fma(sum, x, x.splat(coefficient));
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
  Vec shifted = fma(x, x.splat(scale), magic);
  return {shifted - magic, shifted.bits()};
}

Vec powerOfTwo(Vec bits) {
  Vec one = bits.splatInt(bits.pick(INT64_C(0x3f800000), INT64_C(1023) << 52));
  return (bits << bits.pick(23, 52)).addInt(one).number();
}

} // namespace dl::cpu
