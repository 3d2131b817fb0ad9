#include "passes/backward/GradientSums.h"
#include "dialects/graph/StepRole.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace dl;
using graph::GraphBuilder;
using graph::shapeOf;

/// A part of a tensor along one dim, zeros around it.
struct Part {
  Value x;
  int64_t dim, low, size;
};

/// What pad() of zeros puts somewhere along a single dim.
static std::optional<Part> partOf(Value value) {
  auto pad = value.getDefiningOp<graph::PadOp>();
  if (!pad || !pad.getValue().isZero() || !value.use_empty())
    return std::nullopt;
  std::optional<Part> part;
  for (auto [i, size] : llvm::enumerate(shapeOf(pad.getX()))) {
    int64_t dim = static_cast<int64_t>(i);
    if (pad.getInterior()[i])
      return std::nullopt;
    if (!pad.getLow()[i] && !pad.getHigh()[i])
      continue;
    if (part || pad.getLow()[i] < 0 || pad.getHigh()[i] < 0)
      return std::nullopt;
    part = {pad.getX(), dim, pad.getLow()[i], size};
  }
  return part;
}

bool dl::isCutUp(Value value) {
  return !value.hasOneUse() &&
         llvm::all_of(value.getUsers(), [](Operation *user) {
           return isa<graph::SliceOp, graph::GradientsOp>(user) ||
                  graph::roleOf(user->getLoc()) != graph::StepRole::Forward;
         });
}

/// Parts that do not overlap beside each other; what none of them covers is
/// zeros.
static Value joined(GraphBuilder &g, Value whole, ArrayRef<Part> parts) {
  auto dim = static_cast<size_t>(parts.front().dim);
  int64_t at = 0;
  SmallVector<Value> inputs;
  auto zerosUpTo = [&](int64_t next) {
    SmallVector<int64_t> shape(shapeOf(whole));
    shape[dim] = next - at;
    auto type = RankedTensorType::get(shape, graph::elementOf(whole));
    if (next != at)
      inputs.push_back(g.make<graph::FullOp>(APFloat(0.0), type));
  };
  for (const Part &part : parts) {
    zerosUpTo(part.low);
    inputs.push_back(part.x);
    at = part.low + part.size;
  }
  zerosUpTo(shapeOf(whole)[dim]);
  // Rows [1, n, ...] that were [n, ...]: joined as such, which products and
  // sums of them are, too.
  SmallVector<Value> rows;
  for (Value input : inputs)
    if (auto reshape = input.getDefiningOp<graph::ReshapeOp>();
        reshape && dim == 0 && shapeOf(input).front() == 1 &&
        shapeOf(input).size() > 1 &&
        shapeOf(input).drop_front() == shapeOf(reshape.getX()))
      rows.push_back(reshape.getX());
  if (rows.size() == inputs.size())
    return g.reshape(g.make<graph::CatOp>(rows, 0), shapeOf(whole));
  return g.make<graph::CatOp>(inputs, parts.front().dim);
}

/// Ops that differ in nothing but their operands, by what they have in common.
static std::string likenessOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName() << op->getAttrDictionary();
  for (Value operand : op->getOperands())
    os << operand.getType();
  return text;
}

Value dl::sumOfMany(OpBuilder &builder, Location loc,
                    ArrayRef<Value> backwards) {
  GraphBuilder g(builder, loc);
  // In the order of the forward pass, which parts have, too.
  SmallVector<Value> contributions(llvm::reverse(backwards));
  llvm::MapVector<int64_t, std::vector<Part>> parts; // by their dim
  llvm::StringMap<size_t> likenesses;
  SmallVector<SmallVector<Value>> alike;
  SmallVector<Value> terms;
  auto place = [&](Value value) {
    auto [found, isNew] =
        likenesses.try_emplace(likenessOf(value.getDefiningOp()), alike.size());
    if (isNew)
      alike.emplace_back();
    alike[found->second].push_back(value);
  };
  for (Value value : contributions)
    if (std::optional<Part> part = partOf(value))
      parts[part->dim].push_back(*part);
    else if (value.getDefiningOp<graph::JointSumOpInterface>() &&
             value.use_empty())
      place(value);
    else
      terms.push_back(value);
  for (auto &[dim, ofDim] : parts) {
    llvm::stable_sort(
        ofDim, [](const Part &a, const Part &b) { return a.low < b.low; });
    // A tensor that was cut several times has several layers of parts.
    std::vector<std::vector<Part>> layers;
    for (const Part &part : ofDim) {
      auto free = llvm::find_if(layers, [&](const std::vector<Part> &layer) {
        return layer.back().low + layer.back().size <= part.low;
      });
      if (free == layers.end())
        free = layers.emplace(layers.end());
      free->push_back(part);
    }
    for (const std::vector<Part> &layer : layers)
      terms.push_back(joined(g, contributions.front(), layer));
  }
  for (ArrayRef<Value> values : alike) {
    Value one;
    if (values.size() >= kManyContributions)
      one = values.front()
                .getDefiningOp<graph::JointSumOpInterface>()
                .buildJointSum(builder, values);
    if (one)
      terms.push_back(one);
    else
      llvm::append_range(terms, values);
  }
  Value total = terms.front();
  for (Value term : llvm::drop_begin(terms))
    total = g.make<graph::AddOp>(total, term);
  return total;
}
