// shard-steps: how tensors lie on the mesh.
#include "passes/partition/CheckMesh.h"
#include "passes/partition/Passes.h"
#include "passes/partition/Sections.h"
#include "passes/partition/StepSharder.h"

namespace dl {
#define GEN_PASS_DEF_SHARDSTEPS
#include "passes/partition/Passes.h.inc"
} // namespace dl

using namespace mlir;

namespace dl::partition {
namespace {

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
    joinAsParts(module);
    divideInSections(module, mesh);
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
    warnOfUndividedViews(module, mesh);
    warnOfRepeatedProducts(module, mesh);
  }
};

} // namespace
} // namespace dl::partition
