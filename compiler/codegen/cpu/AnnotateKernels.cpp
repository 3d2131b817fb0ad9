// annotate-kernels: what a schedule knows of kernels.
#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/Passes.h"
#include "compiler/codegen/cpu/TiledKernel.h"
#include "compiler/codegen/kernel/KernelFacts.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/TensorBytes.h"

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
    if (failed(kernel::annotateByName(
            getOperation(),
            {"max_tiles", "strategy", "tiles", "scratch", "flops", "bytes",
             "streams"},
            [&](graph::KernelOp kernel) { return annotate(kernel); })))
      signalPassFailure();
  }

private:
  /// Tiles of one call are neighbours in memory.
  static bool streams(const TiledKernel &kernel) {
    const Stage &first = kernel.stages().front();
    return first.contraction &&
           ContractForm::of(kernel, first).is<StreamedProduct>();
  }

  /// Where a slice is replaced in place, the rest stays where it is.
  static int64_t bytesMoved(const TiledKernel &kernel) {
    int64_t bytes = kernel.bytes();
    for (const Stage &stage : kernel.stages()) {
      if (!kernel.nest(stage.op).replace || !kernel.op().getInplace())
        continue;
      Value slice = stage.op->getOperand(1), x = stage.op->getOperand(2);
      if (isa<BlockArgument>(x))
        bytes -= 2 * (graph::tensorBytes(x.getType()) -
                      graph::tensorBytes(slice.getType()));
    }
    return bytes;
  }

  LogicalResult annotate(graph::KernelOp kernel) {
    WorkingOn at(kernel);
    Builder builder(&getContext());
    if (maxTiles > 0)
      kernel->setAttr("max_tiles", builder.getI64IntegerAttr(maxTiles));
    FailureOr<TiledKernel> tiled = TiledKernel::create(kernel, machine);
    if (failed(tiled))
      return failure();
    kernel->setAttr("strategy", builder.getStringAttr(tiled->strategy()));
    auto set = [&](StringRef fact, int64_t value) {
      kernel->setAttr(fact, builder.getI64IntegerAttr(value));
    };
    set("tiles", tiled->numTiles());
    set("scratch", tiled->scratchBytes());
    set("flops", tiled->flops());
    set("bytes", bytesMoved(*tiled));
    if (streams(*tiled))
      kernel->setAttr("streams", builder.getUnitAttr());
    return success();
  }
};

} // namespace
} // namespace dl::cpu
