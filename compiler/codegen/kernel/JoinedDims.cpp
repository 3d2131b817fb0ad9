#include "compiler/codegen/kernel/JoinedDims.h"
#include "dialects/graph/StorageOrder.h"

using namespace mlir;

namespace dl::kernel {

static ArrayRef<int64_t> shapeOfType(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static size_t numPairs(size_t dims) { return dims > 0 ? dims - 1 : 0; }

JoinedDims::JoinedDims(graph::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  bool contracts = false;
  for (Operation &op : body.without_terminator()) {
    auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
    if (!loops)
      return; // an error elsewhere
    graph::LoopNest nest = loops.getLoopNest();
    contracts |= nest.contraction;
    Cuts cuts(numPairs(nest.extents.size()), false);
    // Windows and sums are computed in the order of their own dims.
    if (nest.combine != graph::Combine::None && !nest.contraction)
      cuts.assign(cuts.size(), true);
    if (nest.numParallel > 0 && nest.numParallel <= cuts.size())
      cuts[nest.numParallel - 1] = true;
    ops.insert({&op, {std::move(nest), std::move(cuts)}});
  }
  if (!contracts) {
    ops.clear();
    return;
  }
  auto add = [&](Value value) {
    values[value] = Cuts(numPairs(shapeOfType(value).size()), false);
  };
  auto layout = [](std::optional<ArrayAttr> layouts, unsigned i) {
    return layouts ? (*layouts)[i] : Attribute();
  };
  for (BlockArgument argument : body.getArguments()) {
    add(argument);
    cutStored(argument,
              layout(kernel.getOperandLayouts(), argument.getArgNumber()));
  }
  for (auto &[op, loops] : ops)
    for (OpResult result : op->getResults()) {
      add(result);
      cutStored(result, graph::storageOrder(result));
    }
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    cutStored(value, layout(kernel.getResultLayouts(), i));
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[op, loops] : ops)
      changed |= cutOp(op);
  }
}

/// Dims that are no neighbours in memory.
void JoinedDims::cutStored(Value value, Attribute order) {
  auto dims = dyn_cast_or_null<DenseI64ArrayAttr>(order);
  if (!dims)
    return;
  Cuts &cuts = values[value];
  ArrayRef<int64_t> list = dims.asArrayRef();
  for (size_t d = 0; d < cuts.size(); ++d) {
    const auto *at = llvm::find(list, int64_t(d));
    cuts[d] = cuts[d] || at + 1 == list.end() || at[1] != int64_t(d) + 1;
  }
}

static bool cutBoth(bool &a, bool &b) {
  if (a == b)
    return false;
  return a = b = true;
}

/// True where something was cut. A pair of loops is a pair of dims of the
/// operand, one for one and whole, or does not appear in the access.
bool JoinedDims::cutAccess(Loops &loops, const graph::Access &access,
                           Cuts &operand, ArrayRef<int64_t> shape) const {
  unsigned numLoops = loops.nest.extents.size();
  SmallVector<unsigned> uses(numLoops, 0);
  SmallVector<int> at(numLoops, -1); // where an index is that loop alone
  auto count = [&](AffineExpr expr) {
    for (unsigned d = 0; d < numLoops; ++d)
      uses[d] += expr.isFunctionOfDim(d);
  };
  for (auto [p, expr] : llvm::enumerate(access.map.getResults())) {
    count(expr);
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && shape[p] == loops.nest.extents[dim.getPosition()])
      at[dim.getPosition()] = p;
  }
  for (AffineExpr guard : access.guards)
    count(guard);
  bool changed = false;
  Cuts joined(operand.size(), false); // by loops that are
  for (unsigned d = 0; d + 1 < numLoops; ++d) {
    if (uses[d] == 0 && uses[d + 1] == 0)
      continue;
    bool pair = uses[d] == 1 && uses[d + 1] == 1 && at[d] >= 0 &&
                at[d + 1] == at[d] + 1;
    if (!pair) {
      changed |= !loops.cuts[d];
      loops.cuts[d] = true;
      continue;
    }
    changed |= cutBoth(loops.cuts[d], operand[at[d]]);
    joined[at[d]] = !loops.cuts[d];
  }
  for (size_t p = 0; p < operand.size(); ++p) {
    changed |= !joined[p] && !operand[p];
    operand[p] = operand[p] || !joined[p];
  }
  return changed;
}

bool JoinedDims::cutOp(Operation *op) {
  Loops &loops = ops.find(op)->second;
  bool changed = false;
  for (Value result : op->getResults()) {
    Cuts &cuts = values[result];
    for (size_t d = 0; d < cuts.size(); ++d)
      changed |= cutBoth(loops.cuts[d], cuts[d]);
  }
  for (auto [operand, access] :
       llvm::zip(op->getOperands(), loops.nest.accesses))
    changed |= cutAccess(loops, access, values[operand], shapeOfType(operand));
  return changed;
}

SmallVector<int64_t, 6> JoinedDims::shapeOf(Value value) const {
  SmallVector<int64_t, 6> shape;
  auto cuts = values.find(value);
  for (auto [d, size] : llvm::enumerate(shapeOfType(value)))
    if (d > 0 && cuts != values.end() && !cuts->second[d - 1])
      shape.back() *= size;
    else
      shape.push_back(size);
  return shape;
}

SmallVector<int64_t, 6> JoinedDims::orderOf(Value value,
                                            DenseI64ArrayAttr order) const {
  SmallVector<int64_t, 6> dims;
  if (!order)
    return dims;
  auto cuts = values.find(value);
  auto isFirst = [&](int64_t d) {
    return d == 0 || cuts == values.end() || cuts->second[d - 1];
  };
  for (int64_t d : order.asArrayRef())
    if (isFirst(d))
      dims.push_back(llvm::count_if(llvm::seq<int64_t>(0, d), isFirst));
  return dims;
}

graph::LoopNest JoinedDims::nestOf(graph::LoopNestOpInterface op) const {
  auto it = ops.find(op);
  if (it == ops.end())
    return op.getLoopNest();
  graph::LoopNest nest = it->second.nest;
  const Cuts &cuts = it->second.cuts;
  SmallVector<AffineExpr> dims;
  SmallVector<int64_t, 6> extents;
  unsigned numParallel = 0;
  for (auto [d, extent] : llvm::enumerate(nest.extents)) {
    if (d > 0 && !cuts[d - 1])
      extents.back() *= extent;
    else
      extents.push_back(extent);
    if (d < nest.numParallel)
      numParallel = extents.size();
    dims.push_back(getAffineDimExpr(extents.size() - 1, op->getContext()));
  }
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
    const Cuts &joined = values.find(operand)->second;
    SmallVector<AffineExpr> index;
    for (auto [p, expr] : llvm::enumerate(access.map.getResults()))
      if (p == 0 || joined[p - 1])
        index.push_back(expr.replaceDims(dims));
    access.map = AffineMap::get(extents.size(), 0, index, op->getContext());
    for (AffineExpr &guard : access.guards)
      guard = guard.replaceDims(dims);
  }
  nest.extents = extents;
  nest.numParallel = numParallel;
  return nest;
}

SmallVector<AffineExpr> JoinedDims::split(graph::LoopNestOpInterface op,
                                          ArrayRef<AffineExpr> joined) const {
  auto it = ops.find(op);
  if (it == ops.end())
    return SmallVector<AffineExpr>(joined);
  const auto &[nest, cuts] = it->second;
  SmallVector<AffineExpr> dims(nest.extents.size());
  size_t next = joined.size();
  int64_t inner = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    bool last = d + 1 == dims.size() || cuts[d];
    if (last)
      --next, inner = 1;
    bool first = d == 0 || cuts[d - 1];
    dims[d] = joined[next].floorDiv(inner);
    if (!first)
      dims[d] = dims[d] % nest.extents[d];
    inner *= nest.extents[d];
  }
  return dims;
}

} // namespace dl::kernel
