#include "passes/partition/LocalSteps.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "mlir/IR/IRMapping.h"
#include "passes/partition/MicroBatches.h"
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
        builder(step.getContext()), micro(step, mesh, shardings),
        reshards(mesh, coordinates, nextOrder), parts(mesh.microBatches) {}

  LogicalResult run() {
    auto local = cast<graph::StepOp>(at.insert(step->cloneWithoutRegions()));
    Block &body = local.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&body);
    bindArguments(local, body);
    for (auto [index, item] : llvm::enumerate(micro.order())) {
      // A number of its own for each communication, alike on all ranks.
      nextOrder = index * (16 + mesh.pipeline.ranks);
      auto stage = stageOf(item.op);
      Operation *before = body.empty() ? nullptr : &body.back();
      if (isa<graph::ReturnOp>(item.op))
        bindResults(local);
      else if (auto transfer = dyn_cast<graph::TransferOp>(item.op))
        build(transfer, item.micro);
      else if ((!stage || isHere(*stage)) && failed(build(item)))
        return failure();
      if (item.micro >= 0)
        markMicroBatch(before, body, item.micro);
    }
    return success();
  }

private:
  /// What was built behind an op.
  static void markMicroBatch(Operation *before, Block &body, int64_t m) {
    auto number = static_cast<unsigned>(m + 1);
    auto first = before ? std::next(before->getIterator()) : body.begin();
    for (Operation &op : llvm::make_range(first, body.end()))
      op.setLoc(graph::withBatchPart(op.getLoc(), number));
  }

  /// Along the axis of the pipeline.
  int64_t ownRank() const {
    return mesh.stages ? coordinates[*mesh.stages] : 0;
  }
  bool isHere(int64_t stage) const {
    return mesh.pipeline.rankOf(stage) == ownRank();
  }

  graph::StateOp stateOf(FlatSymbolRefAttr name) {
    return SymbolTable::lookupNearestSymbolFrom<graph::StateOp>(
        step->getParentOp(), name);
  }

  bool isElsewhere(FlatSymbolRefAttr state) {
    auto stage = state ? partition::stageOf(stateOf(state)) : std::nullopt;
    return stage && !isHere(*stage);
  }

  void bindArguments(graph::StepOp local, Block &body) {
    SmallVector<graph::PortAttr> ports;
    for (BlockArgument argument : step.getArguments()) {
      graph::PortAttr port = step.getArgPort(argument.getArgNumber());
      if (isElsewhere(port.asState()))
        continue;
      TensorSharding sharding = argumentSharding(argument, mesh);
      // The rank has all micro-batches of its part.
      for (DimSharding &dim : sharding.dims)
        llvm::erase(dim.axes, mesh.time.value_or(~0u));
      ports.push_back(port);
      bind(argument, body.addArgument(localType(argument.getType(), sharding,
                                                mesh, coordinates),
                                      argument.getLoc()));
    }
    local.setArgPorts(ports);
  }

  /// Micro-batches are rows of what the rank has of the batch.
  void bind(Value whole, Value local) {
    if (!micro.isPerMicro(whole)) {
      values.map(whole, local);
      return;
    }
    for (int64_t m = 0; m < mesh.microBatches; ++m)
      parts[m].map(whole, rowsOf(local, 0, m));
  }

  /// Part m of a dim.
  Value rowsOf(Value value, unsigned dim, int64_t m) {
    SmallVector<int64_t> sizes(graph::shapeOf(value));
    SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
    sizes[dim] /= mesh.microBatches;
    offsets[dim] = m * sizes[dim];
    graph::GraphBuilder g(builder, value.getLoc());
    return g.make<graph::SliceOp>(value, offsets, sizes, strides);
  }

  Value lookup(Value value, int64_t m) {
    return micro.isPerMicro(value) ? parts[m].lookup(value)
                                   : values.lookup(value);
  }
  void map(Value value, int64_t m, Value local) {
    (micro.isPerMicro(value) ? parts[m] : values).map(value, local);
  }

  void bindResults(graph::StepOp local) {
    SmallVector<Value> results;
    SmallVector<graph::PortAttr> ports;
    for (OpOperand &operand : step.getReturn()->getOpOperands()) {
      if (isElsewhere(graph::stateOf(operand)))
        continue;
      Value result = lookup(operand.get(), 0);
      // A rank that has nothing of a state has nothing to write.
      if (graph::stateOf(operand) && graph::numElements(result) == 0)
        continue;
      results.push_back(result);
      ports.push_back(graph::portOf(operand));
    }
    local.setResults(results, ports);
  }

  LogicalResult build(const WorkItem &item) {
    if (item.micro >= 0 && mesh.time)
      coordinates[*mesh.time] = item.micro;
    if (auto reshard = dyn_cast<graph::ReshardOp>(item.op))
      return build(reshard, item.micro);
    auto it = shardings.find(item.op);
    if (it != shardings.end() && !it->second.axes().empty())
      return divide(item.op, it->second, item.micro);
    IRMapping mapping;
    for (Value operand : item.op->getOperands())
      mapping.map(operand, lookup(operand, item.micro));
    Operation *copy = builder.clone(*item.op, mapping);
    copy->removeAttr(kStage);
    for (auto [result, local] :
         llvm::zip(item.op->getResults(), copy->getResults()))
      map(result, item.micro, local);
    return success();
  }

  LogicalResult build(graph::ReshardOp op, int64_t m) {
    TensorSharding from = TensorSharding::of(op.getFrom(), mesh);
    TensorSharding to = TensorSharding::of(op.getTo(), mesh);
    bool adds = addsMicroBatches(op, mesh);
    bool fromTime = mesh.time && from.uses(*mesh.time);
    bool toTime = mesh.time && to.uses(*mesh.time);
    graph::GraphBuilder g(builder, op.getLoc());
    Value value;
    std::optional<unsigned> cut; // the dim in which micro-batches lie
    auto dropTime = [&](TensorSharding &sharding) {
      for (auto [d, dim] : llvm::enumerate(sharding.dims))
        if (llvm::is_contained(dim.axes, *mesh.time)) {
          cut = d;
          llvm::erase(dim.axes, *mesh.time);
        }
    };
    if (adds) {
      bool isMax = llvm::is_contained(from.max, *mesh.time);
      value = parts[m].lookup(op.getX());
      if (Value before = sums.lookup(op))
        value = isMax ? g.make<graph::MaximumOp>(before, value)
                      : g.make<graph::AddOp>(before, value);
      sums[op] = value;
      if (m + 1 < mesh.microBatches)
        return success();
      from.erase(*mesh.time, mesh);
    } else if (fromTime && !toTime) {
      dropTime(from);
      for (IRMapping &part : parts) {
        Value next = part.lookup(op.getX());
        value =
            value ? g.make<graph::CatOp>(ValueRange{value, next}, *cut) : next;
      }
    } else {
      value = lookup(op.getX(), m);
      if (toTime && !fromTime)
        dropTime(to);
    }
    FailureOr<Value> made = reshards.lower(op, value, from, to, builder);
    if (failed(made))
      return failure();
    map(op.getResult(), m,
        toTime && !fromTime ? rowsOf(*made, *cut, m) : *made);
    return success();
  }

  /// From one stage to another one, or to all.
  void build(graph::TransferOp op, int64_t m) {
    const graph::Pipeline &pipeline = mesh.pipeline;
    int64_t from = pipeline.rankOf(op.getFrom()), own = ownRank();
    int64_t target = static_cast<int64_t>(op.getTo()); // -1: all
    int64_t firstOrder = nextOrder;
    ArrayAttr axes = mesh.namesOf({*mesh.stages});
    for (int64_t to = 0; to < pipeline.ranks; ++to) {
      if (to == from || (target >= 0 && to != pipeline.rankOf(target)))
        continue;
      IntegerAttr order = builder.getI64IntegerAttr(firstOrder + to);
      if (own == from) {
        Value value = lookup(op.getX(), m);
        if (graph::numElements(value) > 0)
          graph::SendOp::create(builder, op.getLoc(), value, axes,
                                builder.getI64IntegerAttr(to), order);
      } else if (own == to) {
        Type type = receivedType(op, m);
        Value value =
            cast<RankedTensorType>(type).getNumElements() > 0
                ? graph::ReceiveOp::create(builder, op.getLoc(), type, axes,
                                           builder.getI64IntegerAttr(from),
                                           order)
                      .getResult()
                : graph::GraphBuilder(builder, op.getLoc())
                      .make<graph::FullOp>(APFloat(0.0),
                                           cast<RankedTensorType>(type));
        map(op.getResult(), m, value);
      }
    }
    if (own == from)
      map(op.getResult(), m, lookup(op.getX(), m));
  }

  Type receivedType(graph::TransferOp op, int64_t m) {
    Coordinates there = coordinates;
    if (m >= 0 && mesh.time)
      there[*mesh.time] = m;
    return localType(op.getType(), shardingOf(op.getX()), mesh, there);
  }

  /// How a value of the whole step lies.
  TensorSharding shardingOf(Value value) {
    if (auto reshard = value.getDefiningOp<graph::ReshardOp>())
      return TensorSharding::of(reshard.getTo(), mesh);
    if (auto transfer = value.getDefiningOp<graph::TransferOp>())
      return shardingOf(transfer.getX());
    if (auto result = dyn_cast<OpResult>(value)) {
      auto it = shardings.find(result.getOwner());
      if (it != shardings.end())
        return it->second.result(result.getResultNumber());
      return TensorSharding::whole(graph::shapeOf(value).size());
    }
    return argumentSharding(cast<BlockArgument>(value), mesh);
  }

  LogicalResult divide(Operation *op, const OpSharding &sharding, int64_t m) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(lookup(operand, m));
    Block *body = builder.getInsertionBlock();
    Operation *before = body->empty() ? nullptr : &body->back();
    graph::Shard shard = sharding.shard(coordinates);
    FailureOr<SmallVector<Value>> made =
        graph::localize(op, shard, builder, operands);
    if (failed(made))
      return failure();
    for (auto [result, local] : llvm::zip(op->getResults(), *made))
      map(result, m, local);
    Block::iterator first =
        before ? std::next(before->getIterator()) : body->begin();
    auto local = llvm::make_range(first, body->end());
    if (op->hasAttr(graph::kRecomputed))
      for (Operation &one : local)
        one.setAttr(graph::kRecomputed, builder.getUnitAttr());
    return noteRankSteps(op, sharding, operands, local);
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
      if (axis == mesh.time)
        continue;
      std::optional<int64_t> other = ranks.neighbour(mesh, axis);
      if (!other)
        continue;
      Coordinates there = mesh.coordinates(*other);
      if (mesh.time)
        there[*mesh.time] = coordinates[*mesh.time];
      Block scratch;
      OpBuilder beside(step.getContext());
      beside.setInsertionPointToEnd(&scratch);
      graph::Shard shard = sharding.shard(there);
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
  MicroBatches micro;
  int64_t nextOrder = 0;
  ReshardLowering reshards;
  IRMapping values;                        // there is one of
  std::vector<IRMapping> parts;            // of each micro-batch
  llvm::DenseMap<Operation *, Value> sums; // of the micro-batches so far
};

} // namespace

LogicalResult buildLocalStep(graph::StepOp step, const Mesh &mesh,
                             const OpShardings &shardings,
                             const RankClass &ranks, OpBuilder &builder) {
  return LocalStepBuilder(step, mesh, shardings, ranks, builder).run();
}

} // namespace dl::partition
