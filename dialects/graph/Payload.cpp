#include "dialects/graph/Payload.h"

using namespace mlir;

namespace dl::graph {

PayloadBlock::PayloadBlock(LoopNestOpInterface op, size_t loops)
    : numScalars(op->getNumOperands()) {
  Location loc = op->getLoc();
  for (Value operand : op->getOperands())
    block.addArgument(scalarType(elementOf(operand)), loc);
  for (size_t i = 0; i < loops; ++i)
    block.addArgument(IndexType::get(op->getContext()), loc);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  results = op.buildBody(builder, loc, scalars(), indices());
}

Type scalarType(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (integer && !integer.isSignless())
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Value scalarConstant(OpBuilder &builder, Location loc, Type scalar,
                     double value) {
  if (isa<FloatType>(scalar))
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(scalar, value));
  if (scalar.isInteger(1))
    return arith::ConstantOp::create(builder, loc,
                                     builder.getBoolAttr(value != 0));
  unsigned width = cast<IntegerType>(scalar).getWidth();
  APInt bits(64, static_cast<uint64_t>(static_cast<int64_t>(value)));
  return arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(scalar, bits.trunc(width)));
}

Value indexToScalar(OpBuilder &builder, Location loc, Value index,
                    Type element) {
  if (!isa<FloatType>(element))
    return arith::IndexCastOp::create(builder, loc, scalarType(element), index);
  Type i64 = builder.getI64Type();
  Value wide = arith::IndexCastOp::create(builder, loc, i64, index);
  return arith::SIToFPOp::create(builder, loc, element, wide);
}

static Value floatToInt(OpBuilder &builder, Location loc, Value x, Type to) {
  if (to.isInteger(1)) {
    Value zero = scalarConstant(builder, loc, x.getType(), 0);
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, x,
                                 zero);
  }
  if (to.isUnsignedInteger())
    return arith::FPToUIOp::create(builder, loc, scalarType(to), x);
  return arith::FPToSIOp::create(builder, loc, to, x);
}

static Value intToInt(OpBuilder &builder, Location loc, Value x, bool unsign,
                      Type to) {
  if (to.isInteger(1)) {
    Value zero = scalarConstant(builder, loc, x.getType(), 0);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, x,
                                 zero);
  }
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned width = to.getIntOrFloatBitWidth();
  Type scalar = scalarType(to);
  if (from == width)
    return x;
  if (from > width)
    return arith::TruncIOp::create(builder, loc, scalar, x);
  if (unsign)
    return arith::ExtUIOp::create(builder, loc, scalar, x);
  return arith::ExtSIOp::create(builder, loc, scalar, x);
}

Value castScalar(OpBuilder &builder, Location loc, Value x, Type from,
                 Type to) {
  if (from == to)
    return x;
  // bf16 is widened to f32, and rounded from it, whatever the other type is.
  Type f32 = builder.getF32Type();
  if (from.isBF16() && to != f32)
    return castScalar(builder, loc, arith::ExtFOp::create(builder, loc, f32, x),
                      f32, to);
  if (to.isBF16() && from != f32)
    return arith::TruncFOp::create(builder, loc, to,
                                   castScalar(builder, loc, x, from, f32));
  bool unsign = from.isUnsignedInteger() || from.isInteger(1);
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(builder, loc, to, x);
    return arith::TruncFOp::create(builder, loc, to, x);
  }
  if (isa<FloatType>(from))
    return floatToInt(builder, loc, x, to);
  if (!isa<FloatType>(to))
    return intToInt(builder, loc, x, unsign, to);
  if (unsign)
    return arith::UIToFPOp::create(builder, loc, to, x);
  return arith::SIToFPOp::create(builder, loc, to, x);
}

} // namespace dl::graph
