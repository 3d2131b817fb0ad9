#include "passes/partition/LocalSteps.h"
#include "dialects/graph/Step.h"
#include "mlir/IR/IRMapping.h"
#include "passes/partition/Reshards.h"

using namespace mlir;

namespace dl::partition {

RankedTensorType localType(Type whole, const TensorSharding &sharding,
                           const Mesh &mesh, ArrayRef<int64_t> coordinates) {
  auto type = cast<RankedTensorType>(whole);
  return RankedTensorType::get(
      boxOf(type.getShape(), sharding, mesh, coordinates).sizes,
      type.getElementType());
}

namespace {

class LocalStepBuilder {
public:
  LocalStepBuilder(graph::StepOp step, const Mesh &mesh,
                   const OpShardings &shardings, const RankClass &ranks,
                   OpBuilder &at)
      : step(step), mesh(mesh), shardings(shardings), ranks(ranks),
        coordinates(mesh.coordinates(ranks.ranks.front())), at(at),
        builder(step.getContext()), reshards(mesh, coordinates, nextOrder) {}

  LogicalResult run() {
    auto local = cast<graph::StepOp>(at.insert(step->cloneWithoutRegions()));
    Block &body = local.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&body);
    bindArguments(body);
    for (Operation &op : step.getOps())
      if (failed(build(&op)))
        return failure();
    return success();
  }

private:
  void bindArguments(Block &body) {
    auto batch = step->getAttrOfType<ArrayAttr>(kBatchAxes);
    for (BlockArgument argument : step.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      TensorSharding sharding = TensorSharding::whole(type.getRank());
      graph::PortAttr port = step.getArgPort(argument.getArgNumber());
      if (port.asInput() && batch && type.getRank() > 0 &&
          type.getDimSize(0) > 1)
        sharding.dims[0] = mesh.axesOf(batch);
      if (FlatSymbolRefAttr name = port.asState()) {
        auto state = SymbolTable::lookupNearestSymbolFrom<graph::StateOp>(
            step->getParentOp(), name);
        if (state.getShardingAttr())
          sharding = TensorSharding::of(state.getShardingAttr(), mesh);
      }
      values.map(argument,
                 body.addArgument(localType(type, sharding, mesh, coordinates),
                                  argument.getLoc()));
    }
  }

  LogicalResult build(Operation *op) {
    if (auto reshard = dyn_cast<graph::ReshardOp>(op)) {
      FailureOr<Value> part =
          reshards.lower(reshard, values.lookup(reshard.getX()), builder);
      if (failed(part))
        return failure();
      values.map(reshard.getResult(), *part);
      return success();
    }
    auto it = shardings.find(op);
    if (it == shardings.end() || it->second.axes().empty()) {
      builder.clone(*op, values);
      return success();
    }
    return divide(op, it->second);
  }

  LogicalResult divide(Operation *op, const OpSharding &sharding) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(values.lookup(operand));
    Block *body = builder.getInsertionBlock();
    Operation *before = body->empty() ? nullptr : &body->back();
    graph::Shard shard(sharding.rule, sharding.parts(mesh, coordinates));
    FailureOr<SmallVector<Value>> parts =
        graph::localize(op, shard, builder, operands);
    if (failed(parts))
      return failure();
    values.map(op->getResults(), *parts);
    Block::iterator first =
        before ? std::next(before->getIterator()) : body->begin();
    return noteRankSteps(op, sharding, operands,
                         llvm::make_range(first, body->end()));
  }

  /// Numbers of launches, compared with those of the next rank along each axis.
  LogicalResult noteRankSteps(Operation *op, const OpSharding &sharding,
                              ArrayRef<Value> operands,
                              llvm::iterator_range<Block::iterator> local) {
    if (llvm::none_of(local, [](Operation &made) {
          return isa<graph::LaunchConstantsOpInterface>(made);
        }))
      return success();
    llvm::MapVector<Operation *,
                    llvm::MapVector<StringAttr, SmallVector<int64_t>>>
        steps;
    for (unsigned axis : sharding.axes()) {
      std::optional<int64_t> other = ranks.neighbour(mesh, axis);
      if (!other)
        continue;
      Coordinates there = mesh.coordinates(*other);
      Block scratch;
      OpBuilder beside(step.getContext());
      beside.setInsertionPointToEnd(&scratch);
      graph::Shard shard(sharding.rule, sharding.parts(mesh, there));
      LogicalResult result = graph::localize(op, shard, beside, operands);
      if (succeeded(result))
        for (auto [here, next] : llvm::zip_equal(local, scratch))
          compare(&here, &next, axis, there[axis] - coordinates[axis],
                  steps[&here]);
      while (!scratch.empty())
        scratch.back().erase();
      if (failed(result))
        return failure();
    }
    Builder attributes(step.getContext());
    for (auto &[made, numbers] : steps) {
      NamedAttrList entries;
      for (auto &[name, list] : numbers)
        if (llvm::any_of(list, [](int64_t step) { return step != 0; }))
          entries.set(name, attributes.getDenseI64ArrayAttr(list));
      if (entries.empty())
        continue;
      made->setAttr(graph::kRankSteps,
                    entries.getDictionary(step.getContext()));
      storeOperands(made);
    }
    return success();
  }

  /// Offsets of ranks are those of a binding: behind other ops of a kernel they
  /// could not be.
  void storeOperands(Operation *made) {
    auto taker = cast<graph::LaunchConstantsOpInterface>(made);
    for (const graph::LaunchConstant &constant : taker.getLaunchConstants()) {
      if (constant.operand < 0)
        continue;
      Value operand = made->getOperand(constant.operand);
      if (isa<BlockArgument>(operand) ||
          operand.getDefiningOp<graph::StoredOp>())
        continue;
      OpBuilder before(made);
      made->setOperand(constant.operand, graph::StoredOp::create(
                                             before, made->getLoc(), operand));
    }
  }

  void compare(Operation *here, Operation *next, unsigned axis, int64_t ranks,
               llvm::MapVector<StringAttr, SmallVector<int64_t>> &steps) {
    auto taker = dyn_cast<graph::LaunchConstantsOpInterface>(here);
    if (!taker)
      return;
    for (const graph::LaunchConstant &constant : taker.getLaunchConstants()) {
      auto name = StringAttr::get(here->getContext(), constant.attribute);
      int64_t step = (graph::launchNumberOf(next, constant) -
                      graph::launchNumberOf(here, constant)) /
                     ranks;
      SmallVector<int64_t> &list = steps[name];
      list.resize(graph::numbersIn(here, constant.attribute) * mesh.numAxes(),
                  0);
      list[constant.element * mesh.numAxes() + axis] = step;
    }
  }

  graph::StepOp step;
  const Mesh &mesh;
  const OpShardings &shardings;
  const RankClass &ranks;
  Coordinates coordinates;
  OpBuilder &at;
  OpBuilder builder;
  int64_t nextOrder = 0;
  ReshardLowering reshards;
  IRMapping values;
};

} // namespace

LogicalResult buildLocalStep(graph::StepOp step, const Mesh &mesh,
                             const OpShardings &shardings,
                             const RankClass &ranks, OpBuilder &builder) {
  return LocalStepBuilder(step, mesh, shardings, ranks, builder).run();
}

} // namespace dl::partition
