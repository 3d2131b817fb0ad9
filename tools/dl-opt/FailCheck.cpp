#include "dialects/graph/Check.h"
#include "tools/dl-opt/FactPasses.h"

namespace dl {
#define GEN_PASS_DEF_FAILCHECK
#include "tools/dl-opt/FactPasses.h.inc"
} // namespace dl

using namespace dl;

namespace {

struct FailCheck : dl::impl::FailCheckBase<FailCheck> {
  void runOnOperation() override {
    WorkingOn module(getOperation());
    getOperation().walk([](mlir::Operation *op) {
      WorkingOn each(op);
      DL_CHECK(!op->hasAttr("fail"), "the op has the attribute `fail`");
    });
  }
};

} // namespace
