#include "tools/dl-opt/FactPasses.h"

namespace dl {
#define GEN_PASS_DEF_PRINTCOSTS
#include "tools/dl-opt/FactPasses.h.inc"
} // namespace dl

using namespace dl;

namespace {

struct PrintCosts : dl::impl::PrintCostsBase<PrintCosts> {
  void runOnOperation() override {
    getOperation().walk([](graph::CostOpInterface op) {
      llvm::outs() << op->getName() << " flops " << op.getFlops() << "\n";
    });
  }
};

} // namespace
