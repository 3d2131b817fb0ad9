// mark-serial: commands that one thread should run alone.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/Passes.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_MARKSERIAL
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

struct MarkSerial : impl::MarkSerialBase<MarkSerial> {
  using Base::Base;
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<plan::PlanOp>()) {
      SymbolTable kernels(plan);
      plan.walk([&](plan::CommandOp command) {
        auto kernel = kernels.lookup<plan::KernelOp>(command.getKernel());
        double seconds =
            machine.estimateSeconds(kernel.getFlops(), kernel.getBytes());
        command.setSecondsAttr(
            Builder(command.getContext()).getF64FloatAttr(seconds));
        bool serial = seconds <= machine.serialSeconds;
        command.setSerial(serial);
        if (serial)
          emitRemark(command.getLoc())
              << kernel.getSymName().rsplit('_').first
              << ": on one thread: its work ("
              << static_cast<int64_t>(kernel.getFlops()) << " FLOP, "
              << static_cast<int64_t>(kernel.getBytes())
              << " bytes) takes less time than to share it";
      });
    }
  }
};

} // namespace
} // namespace dl::schedule
