#include "compiler/codegen/kernel/KernelFacts.h"
#include "dialects/plan/Plan.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace dl::kernel {

LogicalResult
annotateByName(ModuleOp module, ArrayRef<StringRef> facts,
               llvm::function_ref<LogicalResult(graph::KernelOp)> annotate) {
  llvm::DenseMap<StringAttr, graph::KernelOp> known;
  WalkResult result =
      module.walk<WalkOrder::PreOrder>([&](graph::KernelOp kernel) {
        auto [first, isNew] = known.try_emplace(kernel.getNameAttr(), kernel);
        if (isNew)
          return succeeded(annotate(kernel)) ? WalkResult::skip()
                                             : WalkResult::interrupt();
        for (StringRef fact : facts)
          if (Attribute value = first->second->getAttr(fact))
            kernel->setAttr(fact, value);
        return WalkResult::skip();
      });
  return failure(result.wasInterrupted());
}

SmallVector<graph::KernelOp> kernelsWithCode(ModuleOp module) {
  llvm::DenseSet<StringAttr> launched, seen;
  bool hasPlans = false;
  module.walk<WalkOrder::PreOrder>([&](plan::PlanOp plan) {
    hasPlans = true;
    for (auto kernel : plan.getOps<plan::KernelOp>())
      launched.insert(kernel.getSymNameAttr());
    return WalkResult::skip();
  });
  SmallVector<graph::KernelOp> kernels;
  module.walk<WalkOrder::PreOrder>([&](graph::KernelOp kernel) {
    StringAttr name = kernel.getNameAttr();
    if ((!hasPlans || launched.contains(name)) && seen.insert(name).second)
      kernels.push_back(kernel);
    return WalkResult::skip();
  });
  return kernels;
}

} // namespace dl::kernel
