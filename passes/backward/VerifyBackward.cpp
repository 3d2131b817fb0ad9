#include "passes/backward/Passes.h"

namespace dl {
#define GEN_PASS_DEF_VERIFYBACKWARD
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct VerifyBackward : dl::impl::VerifyBackwardBase<VerifyBackward> {
  void runOnOperation() override {
    for (Operation &op : getOperation().getOps())
      if (failed(verify(op)))
        return signalPassFailure();
  }

private:
  static LogicalResult verify(Operation &op) {
    if (isa<graph::ReturnOp, graph::ShardOp, graph::AliasOpInterface>(op))
      return success();
    if (!isa<graph::LoopNestOpInterface>(op))
      return op.emitError() << "'" << op.getName()
                            << "' may not remain after the backward phase";
    // Some ops have a nest in their simple form only.
    auto composite = dyn_cast<graph::DecomposableOpInterface>(op);
    if (!composite)
      return success();
    OpBuilder builder(op.getContext());
    Block scratch;
    builder.setInsertionPointToEnd(&scratch);
    if (succeeded(composite.decompose(builder)))
      return op.emitError() << "'" << op.getName() << "' is not in the simple "
                            << "form that has a loop nest";
    return success();
  }
};

} // namespace
