#include "dialects/graph/StepRole.h"
#include "passes/backward/Passes.h"

namespace dl {
#define GEN_PASS_DEF_EXPANDOPTIMIZERS
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct ExpandOptimizers : dl::impl::ExpandOptimizersBase<ExpandOptimizers> {
  void runOnOperation() override {
    Value scalars = getOperation().getScalars();
    graph::RoleMarker marker(graph::StepRole::Update);
    SmallVector<graph::OptimizerOpInterface> ops(
        getOperation().getOps<graph::OptimizerOpInterface>());
    for (graph::OptimizerOpInterface op : ops) {
      OpBuilder builder(op, &marker);
      FailureOr<SmallVector<Value>> values = op.expandUpdate(builder, scalars);
      if (failed(values))
        return signalPassFailure();
      op->replaceAllUsesWith(*values);
      op->erase();
    }
  }
};

} // namespace
