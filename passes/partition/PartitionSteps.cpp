// partition-steps: a module for each class of ranks.
#include "dialects/graph/Step.h"
#include "passes/partition/LocalSteps.h"
#include "passes/partition/MicroBatches.h"
#include "passes/partition/Passes.h"

namespace dl {
#define GEN_PASS_DEF_PARTITIONSTEPS
#include "passes/partition/Passes.h.inc"
} // namespace dl

using namespace mlir;

namespace dl::partition {
namespace {

class Partition {
public:
  Partition(ModuleOp module, const Mesh &mesh) : module(module), mesh(mesh) {}

  LogicalResult run() {
    takeShardings();
    std::vector<RankClass> classes = classifyRanks(module, mesh, shardings);
    for (const RankClass &ranks : classes)
      if (failed(build(ranks)))
        return failure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<graph::StepOp, graph::StateOp>(op))
        op.erase();
    return success();
  }

private:
  /// Local ops are made of the ops' own attributes.
  void takeShardings() {
    module.walk([&](Operation *op) {
      if (!op->hasAttr(kFactors))
        return;
      shardings.try_emplace(op, OpSharding::of(op, mesh));
      op->removeAttr(kFactors);
    });
  }

  LogicalResult build(const RankClass &ranks) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto local = ModuleOp::create(builder, module.getLoc());
    local->setAttr(kRanks, builder.getDenseI64ArrayAttr(ranks.ranks));
    builder.setInsertionPointToEnd(local.getBody());
    Coordinates first = mesh.coordinates(ranks.ranks.front());
    for (Operation &op : *module.getBody()) {
      if (auto step = dyn_cast<graph::StepOp>(op)) {
        if (failed(buildLocalStep(step, mesh, shardings, ranks, builder)))
          return failure();
      } else if (auto stage = stageOf(&op);
                 stage && mesh.pipeline.rankOf(*stage) != first[*mesh.stages]) {
        continue;
      } else if (!isa<ModuleOp>(op)) {
        Operation *copy = builder.clone(op);
        copy->removeAttr(kStage);
        if (auto state = dyn_cast<graph::StateOp>(copy))
          makeLocal(state, first);
      }
    }
    return success();
  }

  void makeLocal(graph::StateOp state, ArrayRef<int64_t> coordinates) {
    if (!state.getShardingAttr())
      return;
    TensorSharding sharding = TensorSharding::of(state.getShardingAttr(), mesh);
    Type whole = state.getType();
    state.setType(localType(whole, sharding, mesh, coordinates));
    if (state.getType() != whole)
      state.setWhole(whole);
  }

  ModuleOp module;
  const Mesh &mesh;
  OpShardings shardings;
};

struct PartitionSteps : impl::PartitionStepsBase<PartitionSteps> {
  void runOnOperation() override {
    graph::MeshOp op = meshOf(getOperation());
    if (!op)
      return;
    Mesh mesh(op);
    if (failed(Partition(getOperation(), mesh).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace dl::partition
