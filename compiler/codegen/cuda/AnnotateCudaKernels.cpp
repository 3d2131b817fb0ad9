// annotate-cuda-kernels: what a schedule knows of kernels.
#include "compiler/codegen/cuda/BlockKernel.h"
#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/cuda/Passes.h"
#include "compiler/codegen/cuda/Prediction.h"
#include "compiler/codegen/kernel/KernelFacts.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/LibraryCall.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_ANNOTATECUDAKERNELS
#include "compiler/codegen/cuda/Passes.h.inc"
} // namespace dl

namespace dl::cuda {
namespace {

struct AnnotateCudaKernels
    : impl::AnnotateCudaKernelsBase<AnnotateCudaKernels> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(kernel::annotateByName(
            getOperation(),
            {kTf32, kLeastProduct, "strategy", "tiles", "threads", "shared",
             "scratch", "workspace", "align", "flops", "bytes", "seconds",
             plan::kProduct},
            [&](graph::KernelOp kernel) { return annotate(kernel); })))
      signalPassFailure();
  }

private:
  LogicalResult annotate(graph::KernelOp kernel) {
    WorkingOn at(kernel);
    Builder builder(&getContext());
    if (tf32)
      kernel->setAttr(kTf32, builder.getUnitAttr());
    if (leastProduct > 0)
      kernel->setAttr(kLeastProduct, builder.getI64IntegerAttr(leastProduct));
    FailureOr<BlockKernel> blocks = BlockKernel::create(kernel);
    if (failed(blocks))
      return failure();
    kernel->setAttr("strategy", builder.getStringAttr(blocks->strategy()));
    auto set = [&](StringRef fact, int64_t value) {
      kernel->setAttr(fact, builder.getI64IntegerAttr(value));
    };
    set("tiles", blocks->blocks());
    set("threads", blocks->threads());
    set("shared", blocks->sharedBytes());
    set("scratch", blocks->counterBytes());
    set("workspace", blocks->workspaceBytes());
    set("align", kVectorBytes);
    set("flops", blocks->flops());
    set("bytes", blocks->bytes());
    setProduct(*blocks);
    kernel->setAttr("seconds",
                    builder.getF64FloatAttr(predictSeconds(*blocks, machine)));
    return success();
  }

  /// (Where fusion has made something else of it after all, the kernel is what
  /// computes it.)
  void setProduct(const BlockKernel &blocks) {
    if (llvm::none_of(blocks.ops(), [](Operation &op) {
          return op.hasAttr(graph::kLibraryCall);
        }))
      return; // the product of a call has it
    StringRef why;
    if (plan::ProductAttr product = libraryProduct(blocks, tf32, why))
      blocks.op()->setAttr(plan::kProduct, product);
    else
      emitRemark(blocks.op()->getLoc())
          << "product on a kernel of our own: " << why;
  }
};

} // namespace
} // namespace dl::cuda
