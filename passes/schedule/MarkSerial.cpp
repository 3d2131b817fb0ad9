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
      bool hasThreads = plan.getTarget() == plan::Target::Cpu;
      plan.walk([&](plan::CommandOpInterface command) {
        plan::Work work = command.getWork(kernels);
        double seconds = machine.estimateSeconds(work.flops, work.bytes);
        if (!hasThreads)
          seconds += machine.launchSeconds;
        if (!command.getSeconds()) // whoever makes the code may know better
          command.setSeconds(llvm::APFloat(seconds));
        if (!hasThreads)
          return; // a device runs whatever it has room for
        bool serial = seconds <= machine.serialSeconds;
        command.setSerial(serial);
        if (serial)
          emitRemark(command.getLoc())
              << plan::shortTitle(command) << ": on one thread: its work ("
              << work.flops << " FLOP, " << work.bytes
              << " bytes) takes less time than to share it";
      });
    }
  }
};

} // namespace
} // namespace dl::schedule
