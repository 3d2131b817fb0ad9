#include "dialects/graph/Payload.h"
#include "dialects/graph/ops/random/Random.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace dl::graph;

/// Every element of the result; `scalars` is read through graph.scalar.
static LoopNest drawNest(Operation *op, Value scalars) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  MLIRContext *context = op->getContext();
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = shape.size();
  AffineMap first =
      AffineMap::get(shape.size(), 0, getAffineConstantExpr(0, context));
  for (Value operand : op->getOperands())
    nest.accesses.push_back(operand == scalars
                                ? Access{first, {}, {}}
                                : broadcastAccess(operand, shape));
  return nest;
}

/// Row-major position of an element within the whole tensor, i64; of its first
/// `count` indices alone.
template <typename Op>
static Value positionOf(OpBuilder &builder, Location loc, Op op,
                        ValueRange indices, size_t count) {
  DrawPlace place = drawPlaceOf(op);
  Type i64 = builder.getI64Type();
  Value position;
  for (size_t i = 0; i < count; ++i) {
    int64_t size = place.extents[i];
    if (size == 1)
      continue;
    Value index = arith::IndexCastOp::create(builder, loc, i64, indices[i]);
    if (place.offset[i] != 0 || constantOf(op, "offset", i)) {
      Value first =
          launchNumber(builder, loc, op, "offset", place.offset[i], i);
      index = arith::AddIOp::create(builder, loc, first, index);
    }
    if (position) {
      Value extent = scalarConstant(builder, loc, i64, size);
      Value scaled = arith::MulIOp::create(builder, loc, position, extent);
      index = arith::AddIOp::create(builder, loc, scaled, index);
    }
    position = index;
  }
  return position ? position : scalarConstant(builder, loc, i64, 0);
}

/// So many words of an element; one draw serves all that differ in later
/// indices than the first `count` only.
template <typename Op>
static ResultRange draw(OpBuilder &builder, Location loc, Op op,
                        ValueRange indices, size_t count, size_t numWords) {
  Value position = positionOf(builder, loc, op, indices, count);
  Value seed = ScalarOp::create(builder, loc, StepScalar::Seed);
  Value step = ScalarOp::create(builder, loc, StepScalar::Step);
  Value micro = ScalarOp::create(builder, loc, StepScalar::Micro);
  Value key = launchNumber(builder, loc, op, "key", op.getKey());
  SmallVector<Type, 2> words(numWords, builder.getI32Type());
  return PhiloxOp::create(builder, loc, words, position, seed, step, micro, key)
      .getWords();
}

/// The upper 24 bits of a word, i32.
static Value upperBits(OpBuilder &builder, Location loc, Value word) {
  Value eight = scalarConstant(builder, loc, word.getType(), 8);
  return arith::ShRUIOp::create(builder, loc, word, eight);
}

/// bits * 2^-24, exact in f32.
static Value fraction(OpBuilder &builder, Location loc, Value bits,
                      Type element) {
  Value number = arith::UIToFPOp::create(builder, loc, element, bits);
  Value scale = scalarConstant(builder, loc, element, std::ldexp(1.0, -24));
  return arith::MulFOp::create(builder, loc, number, scale);
}

template <typename Op> static SmallVector<LaunchConstant> drawConstants(Op op) {
  SmallVector<LaunchConstant> constants = {
      {"key", 0, std::numeric_limits<int64_t>::min(),
       std::numeric_limits<int64_t>::max()}};
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  for (size_t i = 0; i < op.getOffset().size(); ++i)
    constants.push_back(
        {"offset", unsigned(i), 0, op.getExtents()[i] - shape[i]});
  return constants;
}

SmallVector<LaunchConstant> UniformOp::getLaunchConstants() {
  return drawConstants(*this);
}
SmallVector<LaunchConstant> NormalOp::getLaunchConstants() {
  return drawConstants(*this);
}
SmallVector<LaunchConstant> DropoutOp::getLaunchConstants() {
  return drawConstants(*this);
}

LoopNest UniformOp::getLoopNest() { return drawNest(*this, getScalars()); }
LoopNest NormalOp::getLoopNest() { return drawNest(*this, getScalars()); }
LoopNest DropoutOp::getLoopNest() { return drawNest(*this, getScalars()); }

SmallVector<Value> UniformOp::buildBody(OpBuilder &builder, Location loc,
                                        ValueRange, ValueRange indices) {
  Value word = draw(builder, loc, *this, indices, indices.size(), 1)[0];
  Value bits = upperBits(builder, loc, word);
  return {fraction(builder, loc, bits, elementOf(getResult()))};
}

SmallVector<Value> NormalOp::buildBody(OpBuilder &builder, Location loc,
                                       ValueRange, ValueRange indices) {
  Type element = elementOf(getResult());
  ResultRange words = draw(builder, loc, *this, indices, indices.size(), 2);
  Value bits0 = upperBits(builder, loc, words[0]);
  Value one = scalarConstant(builder, loc, bits0.getType(), 1);
  Value positive = arith::AddIOp::create(builder, loc, bits0, one);
  Value u1 = fraction(builder, loc, positive, element);
  Value bits1 = upperBits(builder, loc, words[1]);
  Value u2 = fraction(builder, loc, bits1, element);

  Value minusTwo = scalarConstant(builder, loc, element, -2);
  Value logarithm = math::LogOp::create(builder, loc, u1);
  Value square = arith::MulFOp::create(builder, loc, minusTwo, logarithm);
  Value radius = math::SqrtOp::create(builder, loc, square);
  Value turn = scalarConstant(builder, loc, element, 2 * std::numbers::pi);
  Value angle = arith::MulFOp::create(builder, loc, turn, u2);
  Value cosine = math::CosOp::create(builder, loc, angle);
  return {arith::MulFOp::create(builder, loc, radius, cosine)};
}

SmallVector<Value> DropoutOp::buildBody(OpBuilder &builder, Location loc,
                                        ValueRange x, ValueRange indices) {
  size_t drawn = getChannelwise() ? 2 : indices.size();
  Value word = draw(builder, loc, *this, indices, drawn, 1)[0];
  Value bits = upperBits(builder, loc, word);
  // u >= p as integers: u * 2^24 >= ceil(p * 2^24).
  double p = getP().convertToDouble();
  Value limit = scalarConstant(builder, loc, bits.getType(),
                               std::ceil(std::ldexp(p, 24)));
  Value keep = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                     bits, limit);
  Type element = elementOf(getX());
  Value scale = scalarConstant(builder, loc, element, p < 1 ? 1 / (1 - p) : 0);
  Value scaled = arith::MulFOp::create(builder, loc, x[0], scale);
  Value zero = scalarConstant(builder, loc, element, 0);
  return {arith::SelectOp::create(builder, loc, keep, scaled, zero)};
}
