#include "passes/partition/CheckMesh.h"
#include "dialects/graph/Step.h"
#include "passes/backward/ModelError.h"

using namespace mlir;

namespace dl::partition {

static LogicalResult checkMicroBatches(ModuleOp module, const Mesh &mesh) {
  int64_t ranks = mesh.data ? mesh.size(*mesh.data) : 1;
  for (auto step : module.getOps<graph::StepOp>()) {
    int64_t batch = step.getBatch().value_or(0);
    if (!mesh.time || !step.getTraining() || step.getIsShort() ||
        batch % (ranks * mesh.microBatches) == 0)
      continue;
    InFlightDiagnostic error = emitModelError(step);
    error << "a batch of " << batch << " does not give " << mesh.microBatches
          << " equal micro-batches";
    if (ranks > 1)
      error << " on each of " << ranks << " ranks";
    return error << "; a multiple of " << ranks * mesh.microBatches << " does";
  }
  return success();
}

static LogicalResult checkStagesAxis(ModuleOp module, const Mesh &mesh) {
  if (!mesh.stages)
    return success();
  StringRef stages = mesh.name(*mesh.stages).getValue();
  auto refuse = [&](Operation *op) {
    return emitModelError(op) << "the axis '" << stages
                              << "' is that of the pipeline's stages; along it "
                                 "no tensor is divided";
  };
  for (auto state : module.getOps<graph::StateOp>())
    if (graph::ShardingAttr sharding = state.getShardingAttr();
        sharding && TensorSharding::of(sharding, mesh).uses(*mesh.stages))
      return refuse(state);
  for (auto step : module.getOps<graph::StepOp>())
    for (auto shard : step.getOps<graph::ShardOp>())
      if (llvm::is_contained(shard.getAxisOfDims(), stages))
        return refuse(shard);
  return success();
}

LogicalResult checkMesh(ModuleOp module, const Mesh &mesh) {
  return success(succeeded(checkMicroBatches(module, mesh)) &&
                 succeeded(checkStagesAxis(module, mesh)));
}

void warnOfUnusedAxes(ModuleOp module, const Mesh &mesh) {
  SmallVector<bool> used(mesh.numAll(), false);
  auto note = [&](graph::ShardingAttr sharding) {
    for (const DimSharding &dim : TensorSharding::of(sharding, mesh).dims)
      for (unsigned axis : dim.allAxes())
        used[axis] = true;
  };
  module.walk([&](Operation *op) {
    if (auto factors = op->getAttrOfType<graph::ShardingAttr>(kFactors))
      note(factors);
    if (auto state = dyn_cast<graph::StateOp>(op); state && state.getSharding())
      note(state.getShardingAttr());
  });
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    if (!used[axis] && axis != mesh.stages)
      emitWarning(module.getLoc())
          << "the axis '" << mesh.name(axis).getValue()
          << "' of the mesh divides nothing: its " << mesh.size(axis)
          << " ranks compute the same";
}

} // namespace dl::partition
