#include "passes/layout/Passes.h"

using namespace mlir;

namespace dl {

#define GEN_PASS_DEF_COMPOSEVIEWS
#include "passes/layout/Passes.h.inc"

namespace {

struct ComposeViews : impl::ComposeViewsBase<ComposeViews> {
  void runOnOperation() override {
    for (bool changed = true; changed;) {
      changed = false;
      for (graph::SliceOp slice :
           llvm::to_vector(getOperation().getOps<graph::SliceOp>())) {
        OpBuilder builder(slice);
        Value part =
            slice->use_empty() ? Value() : slice.takeFromWhole(builder);
        if (!part)
          continue;
        slice.replaceAllUsesWith(part);
        changed = true;
      }
    }
    SmallVector<Operation *> views;
    for (Operation &op : getOperation().getOps())
      if (isa<graph::SliceOp, graph::TransposeOp>(op))
        views.push_back(&op);
    for (Operation *view : llvm::reverse(views))
      if (view->use_empty())
        view->erase();
  }
};

} // namespace
} // namespace dl
