// place-buffers: an offset in the arena for every buffer.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/Packing.h"
#include "passes/schedule/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

bool isTemporary(plan::BufferOp buffer) {
  return buffer.getSpace() == plan::Space::Arena && !buffer.getPinned();
}

/// Puts pinned buffers one after the other and returns their end.
int64_t placePinned(plan::PlanOp plan) {
  Builder builder(plan.getContext());
  int64_t end = 0;
  for (auto buffer : plan.getOps<plan::BufferOp>()) {
    if (buffer.getSpace() != plan::Space::Arena || !buffer.getPinned())
      continue;
    buffer.setOffsetAttr(builder.getI64IntegerAttr(end));
    end += llvm::alignTo(buffer.getBytes(), plan::alignment);
  }
  return end;
}

/// The commands of a program and the buffers that they share with nobody else.
class ProgramPlacer {
public:
  ProgramPlacer(plan::ProgramOp program, SymbolTable &kernels)
      : program(program), kernels(kernels),
        commands(program.getOps<plan::CommandOp>()) {
    for (auto [index, command] : llvm::enumerate(commands))
      for (Value binding : command.getBindings())
        if (auto buffer = binding.getDefiningOp<plan::BufferOp>();
            isTemporary(buffer))
          uses[buffer].push_back(index);
  }

  /// Packs the temporaries behind `base`; returns the end of the last.
  int64_t place(int64_t base) {
    SmallVector<unsigned> sequence(commands.size());
    std::iota(sequence.begin(), sequence.end(), 0);
    Packing packing = pack(lifetimes(sequence), plan::alignment);
    SmallVector<unsigned> levels = dataLevels();
    if (hasIndependentWork(levels)) {
      // Bytes are shared only by what data orders anyway, level by level.
      Packing wide = pack(lifetimes(levels), plan::alignment);
      bool taken = wide.bytes <= packing.bytes * (1 + tolerance);
      emitRemark(program.getLoc())
          << "independent kernels "
          << (taken ? "may run at once: "
                    : "run one by one: at once they need ")
          << wide.bytes << " bytes of temporaries, " << packing.bytes
          << " in sequence";
      if (taken) {
        packing = std::move(wide);
        sortCommands(levels);
      }
    }
    Builder builder(program.getContext());
    for (auto [entry, offset] : llvm::zip_equal(uses, packing.offsets))
      entry.first.setOffsetAttr(builder.getI64IntegerAttr(base + offset));
    return base + packing.bytes;
  }

private:
  /// What running independent kernels at once may cost in memory.
  static constexpr double tolerance = 0.1;

  /// From the first to the last use, if each command runs at its time.
  std::vector<Lifetime> lifetimes(ArrayRef<unsigned> times) {
    std::vector<Lifetime> lives;
    for (auto &[buffer, indices] : uses) {
      plan::BufferOp op = buffer;
      Lifetime life{static_cast<int64_t>(op.getBytes()), ~0u, 0};
      for (unsigned index : indices) {
        life.begin = std::min(life.begin, times[index]);
        life.end = std::max(life.end, times[index]);
      }
      lives.push_back(life);
    }
    return lives;
  }

  /// The earliest time of each command if nothing but data orders them.
  SmallVector<unsigned> dataLevels() {
    // Of each buffer: the first times at which it may be read and written.
    llvm::DenseMap<Value, std::pair<unsigned, unsigned>> free;
    SmallVector<unsigned> levels;
    for (plan::CommandOp command : commands) {
      ArrayRef<bool> writes =
          kernels.lookup<plan::KernelOp>(command.getKernel()).getWrites();
      unsigned level = 0;
      for (auto [buffer, written] :
           llvm::zip_equal(command.getBindings(), writes)) {
        auto [readable, writable] = free.lookup(buffer);
        level = std::max(level, written ? writable : readable);
      }
      for (auto [buffer, written] :
           llvm::zip_equal(command.getBindings(), writes)) {
        auto &[readable, writable] = free[buffer];
        writable = std::max(writable, level + 1);
        if (written)
          readable = level + 1;
      }
      levels.push_back(level);
    }
    return levels;
  }

  /// Whether kernels that are worth a thread of their own stand on one level.
  bool hasIndependentWork(ArrayRef<unsigned> levels) {
    llvm::DenseSet<unsigned> busy;
    for (auto [command, level] : llvm::zip_equal(commands, levels)) {
      // Somebody else's order is not ours to change.
      if (!command.getAfter().empty())
        return false;
      if (!plan::CommandOp(command).getSerial() && !busy.insert(level).second)
        return true;
    }
    return false;
  }

  void sortCommands(ArrayRef<unsigned> levels) {
    SmallVector<unsigned> order(commands.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(levels[a], a) < std::pair(levels[b], b);
    });
    Block &block = program.getBody().front();
    Operation *last = nullptr;
    for (unsigned index : order) {
      if (last)
        commands[index]->moveAfter(last);
      else
        commands[index]->moveBefore(&block, block.begin());
      last = commands[index];
    }
  }

  plan::ProgramOp program;
  SymbolTable &kernels;
  SmallVector<plan::CommandOp> commands;
  llvm::MapVector<plan::BufferOp, SmallVector<unsigned, 4>> uses;
};

struct PlaceBuffers : impl::PlaceBuffersBase<PlaceBuffers> {
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<plan::PlanOp>())
      if (failed(place(plan)))
        return signalPassFailure();
  }

  LogicalResult place(plan::PlanOp plan) {
    SymbolTable kernels(plan);
    int64_t pinned = placePinned(plan), end = pinned;
    plan.walk([&](plan::ProgramOp program) {
      end = std::max(end, ProgramPlacer(program, kernels).place(pinned));
    });
    for (auto buffer : plan.getOps<plan::BufferOp>())
      if (isTemporary(buffer) && !buffer.getOffset())
        return buffer.emitOpError("'")
               << buffer.getName() << "' is used by no command";
    // Kernels may read past the last buffer's end.
    plan.setArena(end + plan::alignment);
    return success();
  }
};

} // namespace
} // namespace dl::schedule
