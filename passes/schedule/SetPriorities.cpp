// set-priorities: what commands have to wait for each one.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include <cmath>

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_SETPRIORITIES
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

struct SetPriorities : impl::SetPrioritiesBase<SetPriorities> {
  void runOnOperation() override {
    getOperation().walk([](plan::ProgramOp program) { visit(program); });
  }

  static void visit(plan::ProgramOp program) {
    llvm::DenseMap<Value, uint64_t> behind; // each command: nanoseconds
    plan::CommandList commands = plan::commandsOf(program);
    for (plan::CommandOpInterface command : llvm::reverse(commands)) {
      auto seconds = command.getSeconds();
      double own = seconds ? seconds->convertToDouble() : 0;
      uint64_t whole = behind.lookup(command.getDone()) +
                       static_cast<uint64_t>(std::llround(own * 1e9));
      command.setPriority(whole);
      for (Value token : command.getAfter()) {
        uint64_t &longest = behind[token];
        longest = std::max(longest, whole);
      }
    }
  }
};

} // namespace
} // namespace dl::schedule
