#include "passes/partition/StepSharder.h"
#include "dialects/graph/Inference.h"
#include "passes/partition/JoinedSums.h"
#include "passes/partition/PlaceOfMaximum.h"
#include "passes/partition/WantedParts.h"

using namespace mlir;

namespace dl::partition {

void StepSharder::run() {
  placeArguments();
  for (Operation &op : llvm::make_early_inc_range(step.getOps())) {
    if (auto returned = dyn_cast<graph::ReturnOp>(op))
      placeResults(returned);
    else if (auto gradient = dyn_cast<graph::GradientOp>(op))
      place(gradient);
    else if (auto shard = dyn_cast<graph::ShardOp>(op))
      place(shard);
    else
      place(&op);
  }
}

TensorSharding StepSharder::proposal(Value value) const {
  TensorSharding sharding = of(value);
  if (!inUpdate && stored.contains(value) && !isUpdate(current))
    sharding.erase(*mesh.data, mesh);
  return sharding;
}

bool StepSharder::isUpdate(Operation *op) const {
  return updates.contains(op) ||
         graph::roleOf(op->getLoc()) == graph::StepRole::Update;
}

/// Micro-batches have equal sizes: a batch that does not give them is done at
/// once, as are evaluations.
Axes StepSharder::batchAxes(int64_t items) {
  Axes axes;
  if (items > 1)
    axes = mesh.itemAxes(items);
  if (mesh.time && step.getTraining() && items > 1 &&
      items % (mesh.count(axes) * mesh.microBatches) == 0)
    axes.push_back(*mesh.time);
  return axes;
}

void StepSharder::placeArguments() {
  for (BlockArgument argument : step.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    TensorSharding sharding = TensorSharding::whole(type.getRank());
    graph::PortAttr port = step.getArgPort(argument.getArgNumber());
    if (port.asInput() && type.getRank() > 0)
      sharding.dims[0] = batchAxes(type.getDimSize(0));
    if (FlatSymbolRefAttr state = port.asState()) {
      if (const TensorSharding *known = states.of(state.getValue()))
        sharding = *known;
      else
        open[argument] = state.getValue();
      if (mesh.zero >= 3 && mesh.data && sharding.uses(*mesh.data) &&
          states.isParameter(state.getValue()))
        stored.insert(argument);
      if (states.isPlaced(state.getValue()))
        placed.insert(argument);
    }
    shardings[argument] = sharding;
    if (port.asInput() && type.getRank() > 0)
      if (const Axes axes = mesh.itemAxes(type.getDimSize(0));
          !axes.empty() && sharding.uses(axes.front()))
        step->setAttr(kBatchAxes, mesh.namesOf(axes));
    if (port.asInput() && mesh.time && sharding.uses(*mesh.time))
      step->setAttr(
          kMicroBatches,
          Builder(step.getContext()).getI64IntegerAttr(mesh.microBatches));
  }
  if (!inUpdate)
    return;
  // Sums over micro-batches that each rank has its own part of.
  for (BlockArgument argument : step.getArguments())
    if (of(argument).isPartial()) {
      FlatSymbolRefAttr state = graph::stateOf(argument);
      StringRef name = state.getValue();
      readInstead(argument, [&] {
        return summed(argument,
                      states.divide(argument.getType(),
                                    states.baseOf(name, argument.getType())));
      });
    }
}

/// Who reads the value so far reads instead what is made of it.
void StepSharder::readInstead(Value value, llvm::function_ref<Value()> make) {
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : value.getUses())
    readers.push_back(&use);
  Value made = make();
  for (OpOperand *reader : readers)
    reader->set(made);
}

/// What is added to an accumulator lies as that does from now on.
void StepSharder::placeAccumulators(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto it = open.find(operand);
    if (it == open.end())
      continue;
    for (Value other : op->getOperands())
      if (other != operand && other.getType() == operand.getType()) {
        shardings[operand] = of(other);
        states.set(it->second, of(other));
      }
    open.erase(it);
  }
}

/// Sums over the devices at the border of micro-batch and update.
void StepSharder::place(graph::GradientOp gradient) {
  current = gradient;
  // States lie in blocks, or in those of their sections.
  TensorSharding sharding = of(gradient.getX());
  TensorSharding state = states.baseOf(gradient.getOf(), gradient.getType());
  for (auto [dim, own] : llvm::zip_equal(sharding.dims, state.dims))
    if (dim.digits != own.digits)
      dim.digits.clear();
  Value x = in(gradient.getX(), sharding);
  gradient.getXMutable().assign(x);
  bool isMicro = step.getPart() == graph::Part::Micro;
  if (sharding.isPartial() && (!isMicro || mesh.zero >= 2)) {
    gradient.getXMutable().assign(
        summed(x, states.divide(gradient.getType(), state)));
  } else if (mesh.time && sharding.uses(*mesh.time)) {
    sharding.erase(*mesh.time, mesh); // an accumulator is for all of a batch's
    gradient.getXMutable().assign(reshard(x, sharding));
  }
  OpSharding decided = decide(gradient);
  // (It may lie as no op divides it: a dim of one element, all of it on the
  // first rank, by a hint.)
  Value summedUp = gradient.getX();
  Value placed = in(summedUp, decided.operand(0, of(summedUp)));
  gradient.getXMutable().assign(placed);
  if (!decided.axes().empty() || !decided.sum.empty())
    gradient->setAttr(kFactors, decided.attr());
  shardings[gradient.getResult()] = decided.result(0);
  if (Value parts = inParts.lookup(gradient.getX()))
    inParts[gradient.getResult()] = parts;
  updates.insert(gradient);
}

/// The gradient of what has been divided otherwise before, if axes have gone
/// from one dim to another one: they go back, as the exchange did.
static TensorSharding movedBack(const TensorSharding &gradient,
                                const TensorSharding &before) {
  auto dimOf = [](const TensorSharding &sharding, unsigned axis) {
    for (auto [d, dim] : llvm::enumerate(sharding.dims))
      if (dim.uses(axis))
        return std::optional<size_t>(d);
    return std::optional<size_t>();
  };
  for (const DimSharding &dim : gradient.dims)
    for (unsigned axis : dim.allAxes())
      if (auto was = dimOf(before, axis); was && was != dimOf(gradient, axis)) {
        TensorSharding back = gradient;
        back.dims = before.dims;
        return back;
      }
  return gradient;
}

void StepSharder::place(graph::ShardOp shard) {
  Value x = shard.getX();
  TensorSharding has = of(x);
  if (shard.getNumber() != 0)
    before[shard.getNumber()] = has;
  x = in(x, wantedBy(shard, has, mesh));
  if (auto known = before.find(shard.getBack()); known != before.end())
    x = in(x, movedBack(of(x), known->second));
  shard.getResult().replaceAllUsesWith(x);
  shard.erase();
}

/// Whether it works on a gradient element by element for sums over all of it.
bool StepSharder::feedsNormsOnly(Operation *op) const {
  auto isSum = [](Operation *user) {
    auto nest = dyn_cast<graph::LoopNestOpInterface>(user);
    return nest && nest.getLoopNest().combine != graph::Combine::None &&
           !nest.getLoopNest().contraction &&
           graph::numElements(user->getResult(0)) == 1;
  };
  for (Operation *next = op;;) {
    if (isSum(next))
      return true;
    if (!next->hasOneUse() || next->getNumResults() != 1)
      return false;
    next = *next->getUsers().begin();
  }
}

void StepSharder::place(Operation *op) {
  current = op;
  if (isa<graph::ReshardOp>(op) || placeInParts(op) || joinSums(op))
    return;
  placeAccumulators(op);
  if (llvm::any_of(op->getOperands(), [&](Value operand) {
        Operation *maker = operand.getDefiningOp();
        return maker && updates.contains(maker);
      }))
    updates.insert(op);
  if (llvm::any_of(op->getOperands(),
                   [&](Value v) { return inParts.contains(v); }) &&
      feedsNormsOnly(op))
    for (OpOperand &operand : op->getOpOperands())
      if (Value parts = inParts.lookup(operand.get()))
        operand.set(parts);
  for (OpOperand &operand : op->getOpOperands())
    addInParts(operand);
  for (Value operand : SmallVector<Value>(op->getOperands()))
    op->replaceUsesOfWith(operand, addedForAll(operand));
  OpSharding sharding = decide(op);
  SmallVector<TensorSharding> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    TensorSharding has = of(operand.get());
    operands.push_back(proposal(operand.get())); // without what ZeRO divides
    operand.set(
        in(operand.get(), sharding.operand(operand.getOperandNumber(), has)));
  }
  if (!sharding.axes().empty() || !sharding.sum.empty() ||
      !sharding.max.empty())
    op->setAttr(kFactors, sharding.attr());
  for (OpResult result : op->getResults())
    shardings[result] = sharding.result(result.getResultNumber());
  if (op->getNumOperands() == 1 && placed.contains(op->getOperand(0)))
    placed.insert(op->result_begin(), op->result_end());
  keepItemsDivided(op, operands);
}

/// Makes two sums over ranks that are added up one; whether the op is gone with
/// that.
bool StepSharder::joinSums(Operation *op) {
  auto add = dyn_cast<graph::AddOp>(op);
  auto found = add && !inUpdate ? sumsToJoin(add, mesh, known()) : std::nullopt;
  if (!found)
    return false;
  auto &[first, second] = *found;
  OpBuilder builder(op);
  auto parts =
      graph::AddOp::create(builder, op->getLoc(), first.parts, second.parts);
  TensorSharding from = of(first.parts);
  OpSharding sharding(parts, mesh);
  sharding.sum = from.sum;
  for (auto [dim, factors] :
       llvm::zip_equal(from.dims, sharding.rule.results.front()))
    sharding.divide(factors, dim);
  if (sharding.result(0) != from) {
    parts.erase();
    return false;
  }
  parts->setAttr(kFactors, sharding.attr());
  shardings[parts] = from;
  auto sum = graph::ReshardOp::create(
      builder, first.sum.getLoc(), first.sum.getType(), parts,
      first.sum.getFromAttr(), first.sum.getToAttr());
  shardings[sum] = of(first.sum);
  first.sum.getResult().replaceAllUsesWith(sum);
  for (graph::AddOp one : first.path)
    one->moveBefore(op);
  // Of the second one the rest stays.
  Operation *reader = second.path.empty() ? op : second.path.front();
  Value gone = second.sum ? second.sum.getResult() : second.parts;
  Value rest = reader->getOperand(reader->getOperand(0) == gone ? 1 : 0);
  reader->getResult(0).replaceAllUsesWith(rest);
  bool isGone = reader == op;
  reader->erase();
  for (graph::ReshardOp joined : {first.sum, second.sum}) {
    if (!joined)
      continue;
    for (auto &[key, made] : resharded)
      if (made == joined.getResult())
        made = {};
    joined.erase();
  }
  return isGone;
}

/// Where a maximum along a divided dim is, without all of it on one rank.
bool StepSharder::placeInParts(Operation *op) {
  std::optional<int64_t> dim = dimOfPlace(op);
  if (!dim)
    return false;
  TensorSharding operand = of(op->getOperand(0));
  Axes axes = operand.dims[static_cast<size_t>(*dim)].allAxes();
  if (axes.empty() || operand.isPartial() ||
      (mesh.time && llvm::is_contained(axes, *mesh.time)))
    return false;
  Operation *before = op->getPrevNode();
  OpBuilder builder(op);
  SmallVector<Value> results = placeByMaxima(op, builder);
  Block::iterator made =
      before ? std::next(before->getIterator()) : op->getBlock()->begin();
  SmallVector<Operation *> ops;
  for (; &*made != op; ++made)
    ops.push_back(&*made);
  for (Operation *one : ops)
    place(one);
  op->replaceAllUsesWith(results);
  op->erase();
  return true;
}

/// A cat or a slice along the items of a batch needs parts of other ranks, so
/// all get them; what is computed behind it is divided again.
void StepSharder::keepItemsDivided(Operation *op,
                                   ArrayRef<TensorSharding> operands) {
  const Axes items = mesh.items();
  if (items.empty() || isUpdate(op) || !isa<graph::CatOp, graph::SliceOp>(op))
    return;
  auto isOfItems = [&](unsigned axis) {
    return llvm::is_contained(items, axis);
  };
  Value result = op->getResult(0);
  TensorSharding to = of(result);
  if (llvm::any_of(items, [&](unsigned axis) { return to.uses(axis); }))
    return;
  for (auto [d, size] : llvm::enumerate(graph::shapeOf(result))) {
    bool wasDivided =
        llvm::any_of(operands, [&](const TensorSharding &operand) {
          return llvm::any_of(operand.dims[d].allAxes(), isOfItems);
        });
    if (!wasDivided || !to.dims[d].allAxes().empty() ||
        size < mesh.count(mesh.itemAxes(size)))
      continue;
    to.dims[d] = mesh.itemAxes(size);
    return readInstead(result, [&] { return reshard(result, to); });
  }
}

OpSharding StepSharder::decide(Operation *op) {
  OpSharding sharding(op, mesh);
  passPartials(op, sharding);
  divideAsOperands(op, sharding);
  return sharding;
}

/// A partial sum goes on as one through what is linear in it, but for what
/// makes it larger, for then less is to be exchanged before, and where it meets
/// what is divided along the axis, which would have to be gathered.
void StepSharder::passPartials(Operation *op, OpSharding &sharding) {
  auto pass = [&](graph::Splitting kind, Axes TensorSharding::*partial,
                  Axes &passing) {
    for (unsigned axis = 0; axis < mesh.numAll(); ++axis) {
      SmallVector<unsigned, 2> operands;
      int64_t elements = 0;
      bool meetsParts = false;
      for (OpOperand &operand : op->getOpOperands())
        if (llvm::is_contained(of(operand.get()).*partial, axis)) {
          operands.push_back(operand.getOperandNumber());
          elements = std::max(elements, graph::numElements(operand.get()));
        } else {
          meetsParts |= proposal(operand.get()).uses(axis);
        }
      bool known = llvm::any_of(
          sharding.rule.partials, [&](const graph::PartialRule &rule) {
            return rule.kind == kind && rule.operands == operands;
          });
      if (!operands.empty() && known && !meetsParts &&
          graph::numElements(op->getResult(0)) <= elements)
        passing.push_back(axis);
    }
  };
  pass(graph::Splitting::Sum, &TensorSharding::sum, sharding.sum);
  if (sharding.sum.empty())
    pass(graph::Splitting::Max, &TensorSharding::max, sharding.max);
}

/// The gradient of a parameter that the user has placed comes as that lies.
void StepSharder::divideAsPlaced(Operation *op, OpSharding &sharding) {
  auto gradient = op->getNumResults() == 1 && op->hasOneUse()
                      ? dyn_cast<graph::GradientOp>(*op->getUsers().begin())
                      : graph::GradientOp();
  if (!gradient || !states.isPlaced(gradient.getOf()))
    return;
  TensorSharding wanted = states.baseOf(gradient.getOf(), gradient.getType());
  for (auto [dim, factors] :
       llvm::zip_equal(wanted.dims, sharding.rule.results.front()))
    sharding.divide(factors, dim);
}

/// Whether less moves if all ranks get the operand than if they add up the
/// parts of a result that it takes no work to make, as a lookup in a small
/// table is.
bool StepSharder::isBetterWhole(OpOperand &operand,
                                const graph::ShardingRule &rule,
                                const graph::DimFactors &factors) const {
  Operation *op = operand.getOwner();
  // Of the result a rank has what the others divide it into. (All
  // micro-batches of a table that is gathered once.)
  int64_t elements = graph::numElements(op->getResult(0));
  Axes known;
  for (Value other : op->getOperands())
    for (const DimSharding &dim : of(other).dims)
      for (unsigned axis : dim.allAxes())
        if (other != operand.get() && axis != mesh.time &&
            !llvm::is_contained(known, axis)) {
          known.push_back(axis);
          elements = llvm::divideCeil(elements, mesh.size(axis));
        }
  auto cost = dyn_cast<graph::CostOpInterface>(op);
  return cost && cost.getFlops() == 0 &&
         llvm::any_of(factors,
                      [&](unsigned f) {
                        return rule.factors[f].splitting ==
                               graph::Splitting::Sum;
                      }) &&
         2 * elements >= graph::numElements(operand.get());
}

/// What the user has placed first, then the largest operand; others may divide
/// the same factors more finely.
void StepSharder::divideAsOperands(Operation *op, OpSharding &sharding) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(&operand);
  auto rank = [&](OpOperand *operand) {
    return std::pair(placed.contains(operand->get()),
                     graph::numElements(operand->get()));
  };
  llvm::stable_sort(
      operands, [&](OpOperand *a, OpOperand *b) { return rank(a) > rank(b); });
  divideAsPlaced(op, sharding);
  for (OpOperand *operand : operands) {
    TensorSharding given = proposal(operand->get());
    for (auto [dim, factors] : llvm::zip_equal(
             given.dims, sharding.rule.operands[operand->getOperandNumber()]))
      if (!isBetterWhole(*operand, sharding.rule, factors))
        sharding.divide(factors, dim);
  }
}

void StepSharder::placeResults(graph::ReturnOp returned) {
  for (OpOperand &operand : returned->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    TensorSharding wanted = TensorSharding::whole(type.getRank());
    if (FlatSymbolRefAttr state = graph::stateOf(operand)) {
      if (const TensorSharding *known = states.of(state.getValue()))
        wanted = *known;
      else
        states.set(state.getValue(), wanted = of(operand.get()));
    }
    // In a pipeline without copies, ranks have time for it as soon as it is
    // there.
    waitsUntilEnd = !graph::stateOf(operand) && (mesh.data || !mesh.stages);
    operand.set(in(operand.get(), wanted));
  }
}

} // namespace dl::partition
