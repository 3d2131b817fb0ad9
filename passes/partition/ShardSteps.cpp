// shard-steps: how tensors lie on the mesh, decided op by op.
#include "dialects/graph/Inference.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "passes/partition/CheckMesh.h"
#include "passes/partition/OpSharding.h"
#include "passes/partition/Passes.h"
#include "passes/partition/StateShardings.h"
#include "passes/partition/WantedParts.h"

namespace dl {
#define GEN_PASS_DEF_SHARDSTEPS
#include "passes/partition/Passes.h.inc"
} // namespace dl

using namespace mlir;

namespace dl::partition {
namespace {

class StepSharder {
public:
  StepSharder(graph::StepOp step, const Mesh &mesh, StateShardings &states)
      : step(step), mesh(mesh), states(states),
        inUpdate(step.getPart() == graph::Part::Update) {}

  void run() {
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

private:
  Axes batchAxes(int64_t items);
  void placeArguments();
  void placeAccumulators(Operation *op);
  void place(Operation *op);
  void place(graph::GradientOp gradient);
  void place(graph::ShardOp shard);
  void addInParts(OpOperand &operand);
  void placeResults(graph::ReturnOp returned);
  OpSharding decide(Operation *op);
  void passPartials(Operation *op, OpSharding &sharding);
  void divideAsPlaced(Operation *op, OpSharding &sharding,
                      MutableArrayRef<bool> used);
  void divideAsOperands(Operation *op, OpSharding &sharding);
  bool feedsNormsOnly(Operation *op) const;
  Value in(Value value, const TensorSharding &wanted);
  Value reshard(Value value, const TensorSharding &to);
  Value madeInParts(Value value, const TensorSharding &to);
  TensorSharding wholeInTime(TensorSharding sharding) const;
  Value summed(Value value, const TensorSharding &to);

  TensorSharding of(Value value) const { return shardings.at(value); }
  /// Without the parts of a parameter that only the update works on.
  TensorSharding proposal(Value value) const {
    TensorSharding sharding = of(value);
    if (!inUpdate && stored.contains(value) && !isUpdate(current))
      for (Axes &dim : sharding.dims)
        llvm::erase(dim, *mesh.data);
    return sharding;
  }

  /// What has to do with the new value of a state: it needs gradients, or an
  /// optimizer makes it of the old value alone, as weight decay does.
  bool isUpdate(Operation *op) const {
    return updates.contains(op) ||
           graph::roleOf(op->getLoc()) == graph::StepRole::Update;
  }

  graph::StepOp step;
  const Mesh &mesh;
  StateShardings &states;
  bool inUpdate;
  Operation *current = nullptr;
  llvm::DenseMap<Value, TensorSharding> shardings;
  /// By what is wanted of it; of a parameter that ZeRO divides one forward and
  /// one backward: between them nobody has it in whole.
  llvm::DenseMap<std::pair<Value, std::pair<Attribute, graph::StepRole>>, Value>
      resharded;
  /// Parameters that the user has placed, and views of them.
  llvm::DenseSet<Value> placed;
  /// Parameters that ZeRO divides.
  llvm::DenseSet<Value> stored;
  /// Accumulators whose sharding the first gradient decides.
  llvm::DenseMap<Value, StringRef> open;
  /// Ops that depend on a gradient.
  llvm::DenseSet<Operation *> updates;
  /// Gradients whose sum over ranks is there in parts as well.
  llvm::DenseMap<Value, Value> inParts;
};

/// Micro-batches have equal sizes: a batch that does not give them is done at
/// once, as are evaluations.
Axes StepSharder::batchAxes(int64_t items) {
  Axes axes;
  if (mesh.data && items > 1)
    axes.push_back(*mesh.data);
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
    if (port.asInput() && mesh.data && sharding.uses(*mesh.data))
      step->setAttr(kBatchAxes, mesh.namesOf({*mesh.data}));
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
      Value whole = summed(
          argument, states.divide(argument.getType(),
                                  states.baseOf(name, argument.getType())));
      argument.replaceUsesWithIf(whole, [&](OpOperand &use) {
        return !isa<graph::ReshardOp>(use.getOwner());
      });
    }
}

/// The sum over ranks in the parts that `to` says, or, where gradients are not
/// divided, in whole as well: then both are there, for norms add parts.
Value StepSharder::summed(Value value, const TensorSharding &to) {
  TensorSharding parts = to;
  for (auto [d, axes] : llvm::enumerate(of(value).dims))
    if (parts.dims[d].empty() && !axes.empty() &&
        !llvm::is_contained(axes, mesh.time.value_or(~0u)) &&
        llvm::none_of(axes, [&](unsigned axis) { return parts.uses(axis); }))
      parts.dims[d] = axes;
  bool keepsParts = mesh.zero >= (step.getPart() == graph::Part::Micro ? 2 : 1);
  if (keepsParts || !mesh.data || !parts.uses(*mesh.data))
    return reshard(value, parts);
  TensorSharding whole = parts;
  whole.erase(*mesh.data);
  Value divided, gathered;
  if (mesh.size(*mesh.data) == 2) {
    // Each of two sends as much as by way of parts, but once instead of twice.
    gathered = reshard(value, whole);
    divided = reshard(gathered, parts);
  } else {
    divided = reshard(value, parts);
    gathered = reshard(divided, whole);
  }
  inParts[gathered] = divided;
  return gathered;
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
  Value x = gradient.getX();
  TensorSharding sharding = of(x);
  bool isMicro = step.getPart() == graph::Part::Micro;
  if (sharding.isPartial() && (!isMicro || mesh.zero >= 2)) {
    TensorSharding base = states.baseOf(gradient.getOf(), gradient.getType());
    gradient.getXMutable().assign(
        summed(x, states.divide(gradient.getType(), base)));
  } else if (mesh.time && sharding.uses(*mesh.time)) {
    sharding.erase(*mesh.time); // an accumulator is for all of a batch's
    gradient.getXMutable().assign(reshard(x, sharding));
  }
  OpSharding decided = decide(gradient);
  // (It may lie as no op divides it: a dim of one element, all of it on the
  // first rank, by a hint.)
  Value summedUp = gradient.getX();
  Value placed = in(summedUp, decided.operand(0, of(summedUp)));
  gradient.getXMutable().assign(placed);
  if (!decided.axes().empty() || !decided.sum.empty())
    gradient->setAttr(kFactors, decided.attr(mesh));
  shardings[gradient.getResult()] = decided.result(0);
  if (Value parts = inParts.lookup(gradient.getX()))
    inParts[gradient.getResult()] = parts;
  updates.insert(gradient);
}

void StepSharder::place(graph::ShardOp shard) {
  Value x = shard.getX();
  shard.getResult().replaceAllUsesWith(in(x, wantedBy(shard, of(x), mesh)));
  shard.erase();
}

/// What is wanted in parts is added up in parts, once for all that read it.
void StepSharder::addInParts(OpOperand &operand) {
  Value value = operand.get();
  TensorSharding has = of(value);
  if (has.sum.size() != 1 || !has.max.empty())
    return;
  unsigned axis = has.sum.front();
  auto known = [&](Value other) {
    auto it = shardings.find(other);
    return it == shardings.end() ? nullptr : &it->second;
  };
  std::optional<TensorSharding> wanted =
      axis == mesh.time ? std::nullopt
                        : partsWantedOf(value, axis, mesh, known);
  if (!wanted)
    return;
  TensorSharding others = *wanted;
  others.erase(axis);
  if (others.dims == has.dims)
    operand.set(reshard(value, *wanted));
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
  if (isa<graph::ReshardOp>(op))
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
  OpSharding sharding = decide(op);
  for (OpOperand &operand : op->getOpOperands()) {
    TensorSharding has = of(operand.get());
    operand.set(
        in(operand.get(), sharding.operand(operand.getOperandNumber(), has)));
  }
  if (!sharding.axes().empty() || !sharding.sum.empty() ||
      !sharding.max.empty())
    op->setAttr(kFactors, sharding.attr(mesh));
  for (OpResult result : op->getResults())
    shardings[result] = sharding.result(result.getResultNumber());
  if (op->getNumOperands() == 1 && placed.contains(op->getOperand(0)))
    placed.insert(op->result_begin(), op->result_end());
}

OpSharding StepSharder::decide(Operation *op) {
  OpSharding sharding(graph::shardingRule(op));
  passPartials(op, sharding);
  divideAsOperands(op, sharding);
  return sharding;
}

/// A partial sum goes on as one through what is linear in it, but for what
/// makes it larger: then less is to be exchanged before.
void StepSharder::passPartials(Operation *op, OpSharding &sharding) {
  auto pass = [&](graph::Splitting kind, Axes TensorSharding::*partial,
                  Axes &passing) {
    for (unsigned axis = 0; axis < mesh.numAll(); ++axis) {
      SmallVector<unsigned, 2> operands;
      int64_t elements = 0;
      for (OpOperand &operand : op->getOpOperands())
        if (llvm::is_contained(of(operand.get()).*partial, axis)) {
          operands.push_back(operand.getOperandNumber());
          elements = std::max(elements, graph::numElements(operand.get()));
        }
      bool known = llvm::any_of(
          sharding.rule.partials, [&](const graph::PartialRule &rule) {
            return rule.kind == kind && rule.operands == operands;
          });
      if (!operands.empty() && known &&
          graph::numElements(op->getResult(0)) <= elements)
        passing.push_back(axis);
    }
  };
  pass(graph::Splitting::Sum, &TensorSharding::sum, sharding.sum);
  if (sharding.sum.empty())
    pass(graph::Splitting::Max, &TensorSharding::max, sharding.max);
}

/// The gradient of a parameter that the user has placed comes as that lies.
void StepSharder::divideAsPlaced(Operation *op, OpSharding &sharding,
                                 MutableArrayRef<bool> used) {
  auto gradient = op->getNumResults() == 1 && op->hasOneUse()
                      ? dyn_cast<graph::GradientOp>(*op->getUsers().begin())
                      : graph::GradientOp();
  if (!gradient || !states.isPlaced(gradient.getOf()))
    return;
  TensorSharding wanted = states.baseOf(gradient.getOf(), gradient.getType());
  for (auto [axes, factors] :
       llvm::zip_equal(wanted.dims, sharding.rule.results.front())) {
    if (axes.empty() || factors.empty() ||
        llvm::any_of(axes, [&](unsigned axis) { return used[axis]; }))
      continue;
    Axes &chosen = sharding.factors[factors.front()];
    chosen = axes;
    if (whyNotSplit(sharding.rule, sharding.parts(mesh, mesh.origin())) !=
        graph::BlockReason::None)
      chosen.clear();
    for (unsigned axis : chosen)
      used[axis] = true;
  }
}

/// What the user has placed first, then the largest operand.
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
  const graph::ShardingRule &rule = sharding.rule;
  SmallVector<bool> used(mesh.numAll(), false);
  for (unsigned axis : sharding.sum)
    used[axis] = true;
  for (unsigned axis : sharding.max)
    used[axis] = true;
  divideAsPlaced(op, sharding, used);
  std::optional<graph::Splitting> combined;
  if (!sharding.sum.empty() || !sharding.max.empty())
    combined =
        sharding.sum.empty() ? graph::Splitting::Max : graph::Splitting::Sum;
  for (OpOperand *operand : operands) {
    TensorSharding given = proposal(operand->get());
    for (auto [dim, axes] : llvm::enumerate(given.dims)) {
      const graph::DimFactors &factors =
          rule.operands[operand->getOperandNumber()][dim];
      if (axes.empty() || factors.empty())
        continue;
      unsigned factor = factors.front();
      graph::Splitting splitting = rule.factors[factor].splitting;
      bool partial = splitting == graph::Splitting::Sum ||
                     splitting == graph::Splitting::Max;
      if (!sharding.factors[factor].empty() ||
          splitting == graph::Splitting::Blocked ||
          llvm::any_of(axes, [&](unsigned axis) { return used[axis]; }) ||
          (partial && combined && *combined != splitting) ||
          (axes.size() > 1 && rule.factors[factor].size % mesh.count(axes)))
        continue;
      sharding.factors[factor] = axes;
      SmallVector<graph::FactorPart> parts =
          sharding.parts(mesh, mesh.origin());
      if (whyNotSplit(rule, parts) != graph::BlockReason::None) {
        sharding.factors[factor].clear();
        continue;
      }
      for (unsigned axis : axes)
        used[axis] = true;
      if (partial)
        combined = splitting;
    }
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
    operand.set(in(operand.get(), wanted));
  }
}

/// The value as it is wanted.
Value StepSharder::in(Value value, const TensorSharding &wanted) {
  return of(value) == wanted ? value : reshard(value, wanted);
}

/// Without the axes that divide rows of one micro-batch: `time, tp` is `time`.
TensorSharding StepSharder::wholeInTime(TensorSharding sharding) const {
  for (Axes &axes : sharding.dims)
    if (auto it = llvm::find(axes, *mesh.time); it != axes.end())
      axes.erase(std::next(it), axes.end());
  return sharding;
}

/// What is larger than all that it is made from, as an expanded scalar is, each
/// rank makes its own part of; or null. Cutting that from the whole would have
/// every rank write the whole first. Draws and index ranges, whose numbers say
/// where in the whole they begin, are cut.
Value StepSharder::madeInParts(Value value, const TensorSharding &to) {
  Operation *maker = value.getDefiningOp();
  auto nest = dyn_cast_or_null<graph::LoopNestOpInterface>(maker);
  if (!nest || nest.getLoopNest().combine != graph::Combine::None ||
      isa<graph::LaunchConstantsOpInterface>(maker) ||
      maker->getNumResults() != 1 || !of(value).isWhole() || to.isPartial())
    return Value();
  int64_t read = 0;
  for (Value operand : maker->getOperands())
    read += graph::numElements(operand);
  if (read >= graph::numElements(value))
    return Value();
  OpSharding sharding(graph::shardingRule(maker));
  for (auto [axes, factors] :
       llvm::zip_equal(to.dims, sharding.rule.results.front()))
    if (!axes.empty() && !factors.empty())
      sharding.factors[factors.front()] = axes;
  if (sharding.result(0) != to ||
      whyNotSplit(sharding.rule, sharding.parts(mesh, mesh.origin())) !=
          graph::BlockReason::None)
    return Value();
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfterValue(value);
  Operation *parts = builder.clone(*maker);
  parts->setAttr(kFactors, sharding.attr(mesh));
  for (OpOperand &operand : parts->getOpOperands())
    operand.set(in(operand.get(), sharding.operand(operand.getOperandNumber(),
                                                   of(operand.get()))));
  shardings[parts->getResult(0)] = to;
  if (updates.contains(maker))
    updates.insert(parts);
  return parts->getResult(0);
}

/// Behind the op that makes the value, for all who want it so.
Value StepSharder::reshard(Value value, const TensorSharding &to) {
  TensorSharding from = of(value);
  if (from == to)
    return value;
  // From one way to divide by micro-batches to another one all of them meet.
  if (mesh.time && from.uses(*mesh.time) && to.uses(*mesh.time) &&
      !(from.along(*mesh.time) == to.along(*mesh.time))) {
    TensorSharding between = to;
    between.erase(*mesh.time);
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
  Value &known = resharded[{value, {attr, role}}];
  if (known)
    return known;
  if (Value parts = madeInParts(value, to))
    return resharded[{value, {attr, role}}] = parts;
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfterValue(value);
  if (again)
    builder.setInsertionPoint(current);
  Location loc = graph::withRole(value.getLoc(), role);
  known = graph::ReshardOp::create(builder, loc, value.getType(), value,
                                   from.attr(mesh), attr);
  shardings[known] = to;
  if (Operation *maker = value.getDefiningOp();
      maker && updates.contains(maker))
    updates.insert(known.getDefiningOp());
  return known;
}

struct ShardSteps : impl::ShardStepsBase<ShardSteps> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    graph::MeshOp op = meshOf(module);
    if (!op)
      return;
    Mesh mesh(op);
    if (failed(checkMesh(module, mesh)))
      return signalPassFailure();
    StateShardings states(module, mesh, splitFrom);
    SmallVector<graph::StepOp> steps(module.getOps<graph::StepOp>());
    // An update takes what micro-batches leave.
    llvm::stable_sort(steps, [](graph::StepOp a, graph::StepOp b) {
      return (a.getPart() == graph::Part::Update) <
             (b.getPart() == graph::Part::Update);
    });
    for (graph::StepOp step : steps)
      StepSharder(step, mesh, states).run();
    states.record(module);
    warnOfUnusedAxes(module, mesh);
    warnOfGatheredBatch(module, mesh);
  }
};

} // namespace
} // namespace dl::partition
