// annotate-kernels: what a schedule knows of kernels.
#include "compiler/codegen/cpu/KernelPlan.h"
#include "compiler/codegen/cpu/Passes.h"
#include "dialects/graph/Check.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_ANNOTATEKERNELS
#include "compiler/codegen/cpu/Passes.h.inc"
} // namespace dl

namespace dl::cpu {
namespace {

struct AnnotateKernels : impl::AnnotateKernelsBase<AnnotateKernels> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](graph::KernelOp kernel) {
      return failed(annotate(kernel)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult annotate(graph::KernelOp kernel) {
    WorkingOn at(kernel);
    Builder builder(&getContext());
    if (maxTiles > 0)
      kernel->setAttr("max_tiles", builder.getI64IntegerAttr(maxTiles));
    FailureOr<KernelPlan> plan = KernelPlan::create(kernel, machine);
    if (failed(plan))
      return failure();
    kernel->setAttr("strategy", builder.getStringAttr(plan->strategy()));
    kernel->setAttr("tiles", builder.getI64IntegerAttr(plan->numTiles()));
    kernel->setAttr("scratch", builder.getI64IntegerAttr(plan->scratchBytes));
    kernel->setAttr("flops", builder.getI64IntegerAttr(plan->flops));
    kernel->setAttr("bytes", builder.getI64IntegerAttr(plan->bytes));
    return success();
  }
};

} // namespace
} // namespace dl::cpu
