// Images, groups and channels can be split; rows and columns only where windows
// do not overlap, which the nest of a simple convolution shows.

#include "dialects/graph/ops/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace dl::graph;

namespace {
/// The rule of a convolution that is yet to be decomposed. Its three tensors
/// are the input, the weight and the output, one of which is the result.
class WindowRule {
public:
  template <typename Op> WindowRule(Op op, Value x, Value weight, Value y) {
    SmallVector<int64_t> filter = mergedWeight(shapeOf(weight));
    int64_t groups = op.getGroups();
    image = factor(shapeOf(x)[0]);
    group = factor(groups);
    out = factor(filter[0] / groups);
    in = factor(filter[1]);
    xDims = images(x, in);
    yDims = images(y, out);
    weightDims = grouped(weight, out);
    weightDims.push_back(in);
    for (int i = 0; i < 2; ++i)
      addWindows(op, i, shapeOf(x).take_back(2)[i], shapeOf(y).take_back(2)[i],
                 filter[2 + i]);
  }

  ShardingRule finish(TensorFactors a, TensorFactors b, TensorFactors result) {
    rule.operands = {std::move(a), std::move(b)};
    rule.results = {std::move(result)};
    rule.partials = {{{0}, Splitting::Sum}, {{1}, Splitting::Sum}};
    return std::move(rule);
  }
  /// What the result does not have.
  void sum(const DimFactors &factors) {
    for (unsigned factor : factors)
      rule.factors[factor].splitting = Splitting::Sum;
  }

  DimFactors image, group, out, in;
  DimFactors windows[2]; // rows and columns of y, where they can be split
  DimFactors taps[2];    // those of the weight, where they can be
  TensorFactors xDims, weightDims, yDims;

private:
  DimFactors factor(int64_t size) {
    return size == 1 ? DimFactors() : DimFactors{rule.add(size)};
  }
  /// The groups are a dim of their own, or the outer part of the channels.
  TensorFactors grouped(Value tensor, const DimFactors &channels) {
    TensorFactors dims = {group};
    if (shapeOf(tensor).size() == 5)
      dims.push_back(channels);
    else
      dims.back().append(channels);
    return dims;
  }
  TensorFactors images(Value tensor, const DimFactors &channels) {
    TensorFactors dims = grouped(tensor, channels);
    dims.insert(dims.begin(), image);
    return dims;
  }
  DimFactors blocked(int64_t size, BlockReason reason) {
    return size == 1 ? DimFactors() : DimFactors{rule.addBlocked(size, reason)};
  }
  /// Rows can be split where each window has its own: no padding, and as many
  /// rows as strides. Where there is but one window, its taps can be, if each
  /// has as many rows as another.
  template <typename Op>
  void addWindows(Op op, int i, int64_t x, int64_t y, int64_t kernel) {
    int64_t stride = op.getStride()[i], dilation = op.getDilation()[i];
    if (y == 1 && op.getPadding()[i] == 0 && x == kernel * dilation) {
      taps[i] = factor(kernel);
      yDims.emplace_back();
      xDims.push_back(taps[i]);
      xDims.back().append(blocked(dilation, BlockReason::Skipped));
      weightDims.push_back(taps[i]);
      return;
    }
    bool apart = x == y * stride && op.getPadding()[i] == 0 &&
                 dilation * (kernel - 1) < stride;
    if (apart) {
      windows[i] = factor(y);
      yDims.push_back(windows[i]);
      xDims.push_back(windows[i]);
      xDims.back().append(blocked(stride, BlockReason::Skipped));
    } else {
      yDims.push_back(blocked(y, BlockReason::WindowHalo));
      xDims.push_back(blocked(x, BlockReason::WindowHalo));
    }
    weightDims.push_back(blocked(kernel, apart ? BlockReason::Composite
                                               : BlockReason::WindowHalo));
  }

  ShardingRule rule;
};
} // namespace

ShardingRule Conv2dOp::getShardingRule() {
  if (!isComposite(*this))
    return deriveShardingRule(*this);
  WindowRule r(*this, getX(), getWeight(), getResult());
  for (const DimFactors &factors : {r.in, r.taps[0], r.taps[1]})
    r.sum(factors);
  return r.finish(r.xDims, r.weightDims, r.yDims);
}

ShardingRule Conv2dInputGradOp::getShardingRule() {
  if (!isComposite(*this))
    return deriveShardingRule(*this);
  WindowRule r(*this, getResult(), getWeight(), getDy());
  r.sum(r.out);
  return r.finish(r.yDims, r.weightDims, r.xDims);
}

ShardingRule Conv2dWeightGradOp::getShardingRule() {
  if (!isComposite(*this))
    return deriveShardingRule(*this);
  WindowRule r(*this, getX(), getResult(), getDy());
  for (const DimFactors &factors : {r.image, r.windows[0], r.windows[1]})
    r.sum(factors);
  return r.finish(r.xDims, r.yDims, r.weightDims);
}

/// How many groups have their channels in the part.
static void setLocalGroups(Operation *op, const Box &images, const Box &weight,
                           NamedAttrList &attributes) {
  bool merged = images.sizes.size() == 4;
  int64_t groups = merged ? images.sizes[1] / weight.sizes[1] : images.sizes[1];
  attributes.set("groups", Builder(op->getContext()).getI64IntegerAttr(groups));
}

void Conv2dOp::localizeAttributes(const Shard &shard,
                                  NamedAttrList &attributes) {
  setLocalGroups(*this, shard.operand(0), shard.operand(1), attributes);
}

void Conv2dInputGradOp::localizeAttributes(const Shard &shard,
                                           NamedAttrList &attributes) {
  setLocalGroups(*this, shard.result(0), shard.operand(1), attributes);
  attributes.set(
      "input_shape",
      Builder(getContext()).getDenseI64ArrayAttr(shard.result(0).sizes));
}

void Conv2dWeightGradOp::localizeAttributes(const Shard &shard,
                                            NamedAttrList &attributes) {
  Box weight = shard.result(0);
  setLocalGroups(*this, shard.operand(0), weight, attributes);
  attributes.set(
      "kernel", Builder(getContext())
                    .getDenseI64ArrayAttr(ArrayRef(weight.sizes).take_back(2)));
}
