#include "passes/backward/Passes.h"

namespace dl {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct Decompose : dl::impl::DecomposeBase<Decompose> {
  void runOnOperation() override {
    bool changed = true;
    while (changed) {
      changed = false;
      SmallVector<graph::DecomposableOpInterface> ops(
          getOperation().getOps<graph::DecomposableOpInterface>());
      for (graph::DecomposableOpInterface op : ops)
        changed |= succeeded(decompose(op));
    }
  }

private:
  LogicalResult decompose(graph::DecomposableOpInterface op) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = op.decompose(builder);
    if (failed(values))
      return failure(); // Already simple.
    op->replaceAllUsesWith(*values);
    op->erase();
    return success();
  }
};

} // namespace
