// annotate-cuda-kernels: what a schedule knows of kernels.
#include "compiler/codegen/cuda/BlockKernel.h"
#include "compiler/codegen/cuda/Passes.h"
#include "dialects/graph/Check.h"

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
    // Kernels of one name are one code.
    llvm::DenseMap<StringAttr, graph::KernelOp> known;
    WalkResult result =
        getOperation().walk<WalkOrder::PreOrder>([&](graph::KernelOp kernel) {
          auto [first, isNew] = known.try_emplace(kernel.getNameAttr(), kernel);
          if (isNew && failed(annotate(kernel)))
            return WalkResult::interrupt();
          if (!isNew)
            copyFacts(first->second, kernel);
          return WalkResult::skip();
        });
    if (result.wasInterrupted())
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
    set("scratch", blocks->scratchBytes());
    set("align", kVectorBytes);
    set("flops", blocks->flops());
    set("bytes", blocks->bytes());
    return success();
  }

  static void copyFacts(graph::KernelOp from, graph::KernelOp to) {
    for (StringRef fact :
         {StringRef(kTf32), StringRef(kLeastProduct), StringRef("strategy"),
          StringRef("tiles"), StringRef("threads"), StringRef("shared"),
          StringRef("scratch"), StringRef("align"), StringRef("flops"),
          StringRef("bytes")})
      if (Attribute value = from->getAttr(fact))
        to->setAttr(fact, value);
  }
};

} // namespace
} // namespace dl::cuda
