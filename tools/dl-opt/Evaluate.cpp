#include "dialects/graph/Evaluate.h"
#include "tools/dl-opt/FactPasses.h"

namespace dl {
#define GEN_PASS_DEF_EVALUATE
#include "tools/dl-opt/FactPasses.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct Evaluate : dl::impl::EvaluateBase<Evaluate> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<graph::StepOp>())
      if (failed(print(function)))
        return signalPassFailure();
  }

private:
  LogicalResult print(graph::StepOp function) {
    SmallVector<graph::HostTensor> arguments;
    int64_t next = 1;
    for (Type type : function.getArgumentTypes()) {
      graph::HostTensor tensor(type);
      for (double &value : tensor.floats)
        value = static_cast<double>(next++) / 4;
      for (int64_t &value : tensor.ints)
        value = next++;
      arguments.push_back(tensor);
    }
    FailureOr<SmallVector<graph::HostTensor>> results =
        graph::evaluateStep(function, arguments);
    if (failed(results))
      return failure();
    for (auto [i, result] : llvm::enumerate(*results))
      llvm::outs() << "@" << function.getSymName() << " #" << i << " "
                   << graph::tensorText(result) << "\n";
    return success();
  }
};

} // namespace
