// add-dependencies: which commands must have finished before another starts.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/HappensBefore.h"
#include "passes/schedule/LastUsers.h"
#include "passes/schedule/Passes.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_ADDDEPENDENCIES
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

void addDependencies(plan::ProgramOp program, const SymbolTable &kernels) {
  LastUsers users; // of the arena's bytes
  HappensBefore order;
  plan::CommandList commands = plan::commandsOf(program);
  for (auto [index, command] : llvm::enumerate(commands)) {
    std::vector<plan::Access> accesses = command.getAccesses(kernels);
    llvm::erase_if(accesses, [](const plan::Access &access) {
      return access.buffer().getSpace() != plan::Space::Arena;
    });
    SmallVector<unsigned> deps;
    // Reads first: an operand that is written over is read before.
    for (const plan::Access &access : accesses)
      if (!access.writes)
        users.read(access.begin(), access.end(), index, deps);
    for (const plan::Access &access : accesses)
      if (access.writes)
        users.write(access.begin(), access.end(), index, deps);
    llvm::erase(deps, index);
    SmallVector<Value> after;
    for (unsigned dep : order.add(deps))
      after.push_back(commands[dep].getDone());
    command.getAfterMutable().assign(after);
  }
}

struct AddDependencies : impl::AddDependenciesBase<AddDependencies> {
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<plan::PlanOp>()) {
      SymbolTable kernels(plan);
      for (auto buffer : plan.getOps<plan::BufferOp>())
        if (buffer.getSpace() == plan::Space::Arena && !buffer.getOffset()) {
          buffer.emitOpError("'") << buffer.getName() << "' has no offset yet";
          return signalPassFailure();
        }
      plan.walk(
          [&](plan::ProgramOp program) { addDependencies(program, kernels); });
    }
  }
};

} // namespace
} // namespace dl::schedule
