// add-dependencies: which commands must have finished before another starts.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/HappensBefore.h"
#include "passes/schedule/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_ADDDEPENDENCIES
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

/// Who used a buffer last: its last writer and the readers since.
struct Users {
  std::optional<unsigned> writer;
  SmallVector<unsigned, 2> readers;

  void appendAll(SmallVectorImpl<unsigned> &deps) const {
    deps.append(readers.begin(), readers.end());
    if (writer)
      deps.push_back(*writer);
  }
};

/// The buffers of a program in the order of their use.
class Hazards {
public:
  void read(plan::BufferOp buffer, unsigned command,
            SmallVectorImpl<unsigned> &deps) {
    Users &users = usersOf(buffer, deps);
    if (users.writer)
      deps.push_back(*users.writer);
    users.readers.push_back(command);
  }

  void write(plan::BufferOp buffer, unsigned command,
             SmallVectorImpl<unsigned> &deps) {
    Users &users = usersOf(buffer, deps);
    users.appendAll(deps);
    users.readers.clear();
    users.writer = command;
  }

private:
  struct Range {
    int64_t end;
    plan::BufferOp owner;
  };

  Users &usersOf(plan::BufferOp buffer, SmallVectorImpl<unsigned> &deps) {
    auto [it, isNew] = users.try_emplace(buffer);
    if (isNew && buffer.getSpace() == plan::Space::Arena && buffer.getBytes())
      occupy(buffer, deps);
    // occupy() looks into the map but never grows it.
    return it->second;
  }

  /// Takes bytes over from their owners: whoever used those last comes first.
  void occupy(plan::BufferOp buffer, SmallVectorImpl<unsigned> &deps) {
    int64_t begin = *buffer.getOffset(), end = begin + buffer.getBytes();
    auto it = ranges.upper_bound(begin);
    if (it != ranges.begin() && std::prev(it)->second.end > begin)
      --it;
    while (it != ranges.end() && it->first < end) {
      auto [start, range] = *it;
      users.find(range.owner)->second.appendAll(deps);
      it = ranges.erase(it);
      if (start < begin)
        ranges[start] = {begin, range.owner};
      if (range.end > end)
        it = ranges.emplace(end, range).first;
    }
    ranges[begin] = {end, buffer};
  }

  llvm::DenseMap<plan::BufferOp, Users> users;
  std::map<int64_t, Range> ranges;
};

void addDependencies(plan::ProgramOp program, SymbolTable &kernels) {
  Hazards hazards;
  HappensBefore order;
  SmallVector<plan::CommandOp> commands(program.getOps<plan::CommandOp>());
  for (auto [index, command] : llvm::enumerate(commands)) {
    auto kernel = kernels.lookup<plan::KernelOp>(command.getKernel());
    SmallVector<unsigned> deps;
    for (bool writing : {false, true})
      for (auto [value, writes] :
           llvm::zip_equal(command.getBindings(), kernel.getWrites())) {
        auto buffer = value.getDefiningOp<plan::BufferOp>();
        if (writing && writes)
          hazards.write(buffer, index, deps);
        else if (!writing && !writes)
          hazards.read(buffer, index, deps);
      }
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
