#include "passes/backward/Passes.h"

namespace dl {
#define GEN_PASS_DEF_OPENBORDER
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct OpenBorder : dl::impl::OpenBorderBase<OpenBorder> {
  void runOnOperation() override {
    for (auto gradient : llvm::make_early_inc_range(
             getOperation().getOps<graph::GradientOp>())) {
      gradient.replaceAllUsesWith(gradient.getX());
      gradient.erase();
    }
  }
};

} // namespace
