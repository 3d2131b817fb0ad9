// Where a tensor is needed otherwise than it lies.

#include "dialects/graph/Check.h"
#include "dialects/graph/Inference.h"
#include "passes/partition/SpreadValues.h"
#include "passes/partition/StepSharder.h"
#include "passes/partition/WantedParts.h"

using namespace mlir;

namespace dl::partition {

/// The value as it is wanted.
Value StepSharder::in(Value value, const TensorSharding &wanted) {
  return of(value) == wanted ? value : reshard(value, wanted);
}

/// Without the axes that divide rows of one micro-batch: `time, tp` is `time`.
TensorSharding StepSharder::wholeInTime(TensorSharding sharding) const {
  for (DimSharding &dim : sharding.dims)
    if (auto it = llvm::find(dim.axes, *mesh.time); it != dim.axes.end())
      dim.axes.erase(std::next(it), dim.axes.end());
  return sharding;
}

/// Each rank's own part of a value, made as the whole is; or null.
Value StepSharder::madeInParts(Value value, const TensorSharding &to) {
  if (to.isPartial() || !isSpread(value, known()))
    return Value();
  Operation *maker = value.getDefiningOp();
  OpSharding sharding(maker, mesh);
  for (auto [dim, factors] :
       llvm::zip_equal(to.dims, sharding.rule.results.front()))
    sharding.divide(factors, dim);
  if (sharding.result(0) != to)
    return Value();
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfterValue(value);
  Operation *parts = builder.clone(*maker);
  parts->setAttr(kFactors, sharding.attr());
  for (OpOperand &operand : parts->getOpOperands())
    operand.set(in(operand.get(), sharding.operand(operand.getOperandNumber(),
                                                   of(operand.get()))));
  shardings[parts->getResult(0)] = to;
  if (updates.contains(maker))
    updates.insert(parts);
  return parts->getResult(0);
}

/// Behind the op that makes the value, for all who want it so; a metric waits
/// until the end, for nothing else waits for it.
Value StepSharder::reshard(Value value, const TensorSharding &to) {
  TensorSharding from = of(value);
  if (from == to)
    return value;
  if (from.hasDigits() || to.hasDigits())
    return reshardDigits(value, to);
  // From one way to divide by micro-batches to another one all of them meet.
  if (mesh.time && from.uses(*mesh.time) && to.uses(*mesh.time) &&
      !(from.along(*mesh.time) == to.along(*mesh.time))) {
    TensorSharding between = to;
    between.erase(*mesh.time, mesh);
    value = reshard(value, between);
    from = between;
  }
  // Micro-batches meet, or part, as whole rows: what a rank has of the rows of
  // each is not one block of all rows.
  if (mesh.time && from.uses(*mesh.time) != to.uses(*mesh.time)) {
    TensorSharding between = wholeInTime(from.uses(*mesh.time) ? from : to);
    if (between != to) {
      value = reshard(value, between);
      from = between;
    }
  }
  graph::ShardingAttr attr = to.attr(mesh);
  bool again = !inUpdate && stored.contains(value);
  graph::StepRole role =
      again ? graph::roleOf(current->getLoc()) : graph::StepRole::Forward;
  auto key = std::pair(value, std::pair(Attribute(attr), role));
  if (Value made = resharded.lookup(key))
    return made;
  if (Value parts = madeInParts(value, to))
    return resharded[key] = parts;
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfterValue(value);
  if (again)
    builder.setInsertionPoint(current);
  else if (waitsUntilEnd)
    builder.setInsertionPoint(step.getReturn());
  // An argument is nowhere in the program but where it is read.
  Location place =
      value.getDefiningOp() || !current ? value.getLoc() : current->getLoc();
  Location loc = graph::withRole(graph::withoutRole(place), role);
  Value made = graph::ReshardOp::create(builder, loc, value.getType(), value,
                                        from.attr(mesh), attr);
  resharded[key] = made;
  shardings[made] = to;
  if (Operation *maker = value.getDefiningOp();
      maker && updates.contains(maker))
    updates.insert(made.getDefiningOp());
  return made;
}

/// As the dims that the digits once were.
Value StepSharder::reshardDigits(Value value, const TensorSharding &to) {
  auto key = std::pair(
      value, std::pair(Attribute(to.attr(mesh)), graph::StepRole::Forward));
  if (Value known = resharded.lookup(key))
    return known;
  if (Value parts = madeInParts(value, to))
    return resharded[key] = parts;
  TensorSharding from = of(value), between = to;
  SmallVector<int64_t> shape;
  TensorSharding digits[2]; // of `from` and `to`
  for (unsigned side : {0, 1})
    digits[side] = {{}, (side ? to : from).sum, (side ? to : from).max};
  for (auto [size, had, wanted, through] : llvm::zip_equal(
           graph::shapeOf(value), from.dims, to.dims, between.dims)) {
    SmallVector<int64_t> sizes;
    for (const Digit &digit :
         (had.digits.empty() ? wanted : had).digitsOf(size))
      sizes.push_back(digit.size);
    llvm::append_range(shape, sizes);
    for (unsigned side : {0, 1}) {
      auto dims = (side ? wanted : had).over(sizes, mesh);
      if (dims && llvm::all_of(*dims, [](const DimSharding &dim) {
            return dim.digits.empty();
          }))
        llvm::append_range(digits[side].dims, *dims);
      else
        through = {}; // By way of the whole dim.
    }
  }
  if (between != to)
    return reshard(reshard(value, between), to);
  Value apart = reshaped(value, shape, digits[0]);
  Value moved = reshard(apart, digits[1]);
  return resharded[key] =
             reshaped(moved, llvm::to_vector(graph::shapeOf(value)), to);
}

/// A view of another shape, which lies so; behind the op that makes the value.
Value StepSharder::reshaped(Value value, ArrayRef<int64_t> shape,
                            const TensorSharding &as) {
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = graph::withRole(value.getLoc(), graph::StepRole::Forward);
  auto view = graph::ReshapeOp::create(builder, loc, value,
                                       builder.getDenseI64ArrayAttr(shape));
  OpSharding sharding(view, mesh);
  sharding.sum = as.sum;
  sharding.max = as.max;
  for (auto [dim, factors] :
       llvm::zip_equal(as.dims, sharding.rule.results.front()))
    sharding.divide(factors, dim);
  DL_CHECK(sharding.result(0) == as && sharding.operand(0, as) == of(value),
           "a view lies as what it is of");
  if (!sharding.axes().empty() || as.isPartial())
    view->setAttr(kFactors, sharding.attr());
  shardings[view] = as;
  if (Operation *maker = value.getDefiningOp();
      maker && updates.contains(maker))
    updates.insert(view);
  return view;
}

/// The sum over ranks in the parts that `to` says, or, where gradients are not
/// divided, in whole as well: then both are there, for norms add parts.
Value StepSharder::summed(Value value, const TensorSharding &to) {
  TensorSharding parts = to;
  for (auto [d, dim] : llvm::enumerate(of(value).dims))
    if (parts.dims[d].isWhole() && !dim.axes.empty() &&
        !dim.uses(mesh.time.value_or(~0u)) &&
        llvm::none_of(dim.axes,
                      [&](unsigned axis) { return parts.uses(axis); }))
      parts.dims[d] = dim;
  bool keepsParts = mesh.zero >= (step.getPart() == graph::Part::Micro ? 2 : 1);
  if (keepsParts || !mesh.data || !parts.uses(*mesh.data))
    return reshard(value, parts);
  TensorSharding whole = parts;
  whole.erase(*mesh.data, mesh);
  Value divided, gathered;
  const bool isAlongOthers = llvm::any_of(
      mesh.replicas, [&](unsigned axis) { return of(value).uses(axis); });
  if (mesh.size(*mesh.data) == 2 && !isAlongOthers) {
    // Each of two sends as much as by way of parts, but once instead of twice.
    // (Along two axes the order in which ranks are added would be another.)
    gathered = reshard(value, whole);
    divided = reshard(gathered, parts);
  } else {
    divided = reshard(value, parts);
    gathered = reshard(divided, whole);
  }
  inParts[gathered] = divided;
  return gathered;
}

/// What is wanted in parts is added up in parts, once for all that read it.
void StepSharder::addInParts(OpOperand &operand) {
  Value value = operand.get();
  TensorSharding has = of(value);
  if (has.sum.size() != 1 || !has.max.empty())
    return;
  unsigned axis = has.sum.front();
  std::optional<TensorSharding> wanted =
      axis == mesh.time ? std::nullopt
                        : partsWantedOf(value, axis, mesh, known());
  if (!wanted)
    return;
  TensorSharding others = *wanted;
  others.erase(axis, mesh);
  if (others.dims == has.dims)
    operand.set(reshard(value, *wanted));
}

/// What one reader needs whole all read whole.
Value StepSharder::addedForAll(Value value) {
  TensorSharding whole = of(value);
  for (unsigned axis : of(value).sum)
    if (axis != mesh.time && !value.hasOneUse() &&
        isNeededWhole(value, axis, known()))
      llvm::erase(whole.sum, axis);
  return in(value, whole);
}

} // namespace dl::partition
