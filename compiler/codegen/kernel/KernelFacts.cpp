#include "compiler/codegen/kernel/KernelFacts.h"

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

} // namespace dl::kernel
