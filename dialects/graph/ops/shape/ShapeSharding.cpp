// Reshapes by the common factors of the two shapes; slices and pads also where
// blocks of the operand and of the result do not meet: then the operand is
// whole and the part of the result is taken from it by an offset, or the
// operand is split and the results are partial.

#include "dialects/graph/GraphBuilder.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace dl::graph;

static DenseI64ArrayAttr arrayAttr(MLIRContext *context,
                                   ArrayRef<int64_t> values) {
  return DenseI64ArrayAttr::get(context, values);
}

namespace {
/// Goes through the dims of both shapes from the outermost on.
class ReshapeFactors {
public:
  ReshapeFactors(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
    shapes[0] = from;
    shapes[1] = to;
    dims[0].resize(from.size());
    dims[1].resize(to.size());
  }

  ShardingRule build() {
    while (next(0) && next(1)) {
      int64_t common = std::gcd(left[0], left[1]);
      if (common == 1) {
        blockUntilEqual();
        continue;
      }
      unsigned factor = rule.add(common);
      for (int side : {0, 1}) {
        current(side).push_back(factor);
        left[side] /= common;
      }
    }
    rule.operands.push_back(dims[0]);
    rule.results.push_back(dims[1]);
    return std::move(rule);
  }

private:
  /// Moves to a dim of which something is left.
  bool next(int side) {
    while (left[side] == 1 && at[side] < shapes[side].size())
      left[side] = shapes[side][at[side]++];
    return left[side] != 1;
  }

  DimFactors &current(int side) { return dims[side][at[side] - 1]; }

  void blockUntilEqual() {
    int64_t products[2] = {left[0], left[1]};
    for (int side : {0, 1})
      current(side).push_back(
          rule.addBlocked(left[side], BlockReason::Flattening));
    while (products[0] != products[1]) {
      int side = products[0] < products[1] ? 0 : 1;
      int64_t size = shapes[side][at[side]++];
      products[side] *= size;
      if (size != 1)
        current(side).push_back(rule.addBlocked(size, BlockReason::Flattening));
    }
    left[0] = left[1] = 1;
  }

  ArrayRef<int64_t> shapes[2];
  TensorFactors dims[2];
  size_t at[2] = {0, 0};
  int64_t left[2] = {1, 1};
  ShardingRule rule;
};

/// Factors of one dim of an operand and of the result.
struct DimPair {
  DimFactors operand, result;
};
} // namespace

ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule;
  if (numElements(getX()) == 0) {
    for (auto [tensors, value] : {std::pair(&rule.operands, getX()),
                                  std::pair(&rule.results, getResult())}) {
      tensors->emplace_back();
      for (int64_t size : shapeOf(value))
        tensors->back().push_back(
            {rule.addBlocked(size, BlockReason::Flattening)});
    }
  } else {
    rule = ReshapeFactors(shapeOf(getX()), getShape()).build();
    rule.isReshape = true;
  }
  rule.partials = {{{0}, Splitting::Sum}, {{0}, Splitting::Max}};
  return rule;
}

void ReshapeOp::localizeAttributes(const Shard &shard,
                                   NamedAttrList &attributes) {
  attributes.set("shape", arrayAttr(getContext(), shard.result(0).sizes));
}

void ExpandOp::localizeAttributes(const Shard &shard,
                                  NamedAttrList &attributes) {
  attributes.set("shape", arrayAttr(getContext(), shard.result(0).sizes));
}

/// One factor through `outer` elements, each of which stands for `inner` ones
/// on the side where that is more than 1.
static DimPair meetingDims(ShardingRule &rule, int64_t outer,
                           int64_t operandInner, int64_t resultInner) {
  DimPair dims;
  if (outer != 1)
    dims.operand = dims.result = {rule.add(outer)};
  if (operandInner != 1)
    dims.operand.push_back(rule.addBlocked(operandInner, BlockReason::Skipped));
  if (resultInner != 1)
    dims.result.push_back(rule.addBlocked(resultInner, BlockReason::Skipped));
  return dims;
}

ShardingRule SliceOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.emplace_back();
  rule.results.emplace_back();
  for (auto [i, size] : llvm::enumerate(getSizes())) {
    int64_t from = shapeOf(getX())[i], stride = getStrides()[i];
    DimPair dims;
    if (from == size * stride && getOffsets()[i] < stride) {
      dims = meetingDims(rule, size, stride, 1);
    } else {
      if (from != 1)
        dims.operand.push_back(rule.addBlocked(from, BlockReason::Shifted));
      if (size != 1)
        dims.result.push_back(rule.addPlaced(size));
    }
    rule.operands[0].push_back(dims.operand);
    rule.results[0].push_back(dims.result);
  }
  rule.partials = {{{0}, Splitting::Sum}, {{0}, Splitting::Max}};
  return rule;
}

void SliceOp::localizeAttributes(const Shard &shard,
                                 NamedAttrList &attributes) {
  SmallVector<int64_t> offsets(getOffsets());
  Box operand = shard.operand(0), result = shard.result(0);
  for (size_t i = 0; i < offsets.size(); ++i)
    offsets[i] += result.offsets[i] * getStrides()[i] - operand.offsets[i];
  attributes.set("offsets", arrayAttr(getContext(), offsets));
  attributes.set("sizes", arrayAttr(getContext(), result.sizes));
}

/// Its nest is right for any number of operands.
ShardingRule CatOp::getShardingRule() { return deriveShardingRule(*this); }

ShardingRule PadOp::getShardingRule() {
  double value = getValue().convertToDouble();
  bool isFloat = isa<FloatType>(elementOf(getX()));
  // Every part gives a whole result with its elements alone.
  Splitting alone =
      value == 0 ? Splitting::Sum
      : isFloat && value == -std::numeric_limits<double>::infinity()
          ? Splitting::Max
          : Splitting::Blocked;
  if (elementOf(getX()).isInteger(1))
    alone = Splitting::Blocked;
  ShardingRule rule;
  rule.operands.emplace_back();
  rule.results.emplace_back();
  for (auto [i, from] : llvm::enumerate(shapeOf(getX()))) {
    int64_t size = shapeOf(getResult())[i], step = getInterior()[i] + 1;
    DimPair dims;
    if (size == from * step && getLow()[i] < step) {
      dims = meetingDims(rule, from, 1, step);
    } else {
      if (from != 1)
        dims.operand.push_back(alone == Splitting::Blocked
                                   ? rule.addBlocked(from, BlockReason::Shifted)
                                   : rule.addPlaced(from, alone));
      if (size != 1)
        dims.result.push_back(rule.addPlaced(size));
    }
    rule.operands[0].push_back(dims.operand);
    rule.results[0].push_back(dims.result);
  }
  rule.partials = derivePartialRules(*this);
  return rule;
}

/// Pads those elements of the local operand that lie in the local result.
FailureOr<SmallVector<Value>>
PadOp::buildLocal(const Shard &shard, OpBuilder &builder, ValueRange operands) {
  GraphBuilder g(builder, getLoc());
  Box from = shard.operand(0), to = shard.result(0);
  SmallVector<int64_t> offsets, sizes, low, high;
  SmallVector<int64_t> ones(from.sizes.size(), 1);
  for (size_t i = 0; i < from.sizes.size(); ++i) {
    int64_t step = getInterior()[i] + 1;
    int64_t begin = to.offsets[i] - getLow()[i], end = begin + to.sizes[i];
    int64_t fromEnd = from.offsets[i] + from.sizes[i];
    // Element k is at k * step from `begin` on.
    int64_t first =
        std::max(from.offsets[i], llvm::divideCeilSigned(begin, step));
    int64_t last = std::min(fromEnd, llvm::divideCeilSigned(end, step));
    if (first >= last) {
      auto type = RankedTensorType::get(to.sizes, elementOf(getX()));
      return SmallVector<Value>{g.make<FullOp>(getValue(), type)};
    }
    offsets.push_back(first - from.offsets[i]);
    sizes.push_back(last - first);
    low.push_back(first * step - begin);
    high.push_back(end - ((last - 1) * step + 1));
  }
  Value x = operands[0];
  if (shapeOf(x) != ArrayRef(sizes))
    x = g.make<SliceOp>(x, offsets, sizes, ones);
  return SmallVector<Value>{
      g.make<PadOp>(x, low, high, getInterior(), getValue())};
}
