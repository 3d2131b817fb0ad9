// place-buffers: an offset in the arena for every buffer.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/ArenaPacking.h"
#include "passes/schedule/LastUsers.h"
#include "passes/schedule/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
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
        commands(plan::commandsOf(program)) {
    for (auto [index, command] : llvm::enumerate(commands))
      for (const plan::Access &access : command.getAccesses(kernels))
        if (isTemporary(access.buffer()))
          uses[access.buffer()].push_back(index);
    for (auto metric : program.getBody().getOps<plan::MetricOp>())
      reported.insert(metric.getBuffer().getDefiningOp());
    exchanges = llvm::any_of(llvm::seq<unsigned>(0, commands.size()),
                             [&](unsigned c) { return isExchange(c); });
  }

  /// Packs the temporaries behind `base`; returns the end of the last.
  int64_t place(int64_t base) {
    SmallVector<unsigned> sequence(commands.size());
    std::iota(sequence.begin(), sequence.end(), 0);
    ArenaPacking packing = packArena(lifetimes(sequence), plan::alignment);
    if (uses.size() > fewLifetimes)
      emitRemark(program.getLoc())
          << uses.size()
          << " temporaries are packed once, by time: " << packing.bytes
          << " bytes; up to " << fewLifetimes
          << " the best of many packings is taken";
    if (!hasForeignOrder())
      packing = letRunAtOnce(std::move(packing), base);
    Builder builder(program.getContext());
    for (auto [entry, offset] : llvm::zip_equal(uses, packing.offsets))
      entry.first.setOffsetAttr(builder.getI64IntegerAttr(base + offset));
    return base + packing.bytes;
  }

private:
  /// What running independent commands at once may cost in memory.
  static constexpr double tolerance = 0.1;
  /// And beside exchanges, of all that the rank keeps: a network is slow, and
  /// what waits for it are gradients, as large as the parameters that stay.
  static constexpr double toleranceBesideExchanges = 0.5;
  static constexpr int64_t smallBesideExchanges = 4096;
  /// So many commands behind one are looked at, by the bits of a word.
  static constexpr unsigned farthest = 64;

  /// Somebody else's order is not ours to change.
  bool hasForeignOrder() {
    return llvm::any_of(commands, [](plan::CommandOpInterface command) {
      return !command.getAfter().empty();
    });
  }

  bool isExchange(unsigned command) {
    return commands[command].getResource() == plan::Resource::Communication;
  }

  /// Whether there is something to gain by running two at once: both are worth
  /// a thread, or one is an exchange, beside which all is worth it.
  bool pays(unsigned a, unsigned b) {
    return isExchange(a) || isExchange(b) ||
           (!commands[a].getSerial() && !commands[b].getSerial());
  }

  /// Whether it is ever one of such two.
  bool isWorthy(unsigned command) {
    return exchanges || !commands[command].getSerial();
  }

  /// From the first use to the end of the last one's time, or of the program
  /// where somebody reads it then. Small ones beside
  /// exchanges share their bytes with nobody: a loss on its way through a
  /// network must not keep the backward waiting for its 64 bytes.
  std::vector<Lifetime> lifetimes(ArrayRef<unsigned> ends) {
    std::vector<Lifetime> lives;
    for (auto &[buffer, indices] : uses) {
      plan::BufferOp op = buffer;
      Lifetime life{static_cast<int64_t>(op.getBytes()), indices.front(), 0};
      for (unsigned index : indices)
        life.end = std::max(life.end, ends[index]);
      if (reported.contains(op))
        life.end = commands.size() - 1;
      if (exchanges && life.bytes <= smallBesideExchanges)
        life = {life.bytes, 0, static_cast<unsigned>(commands.size() - 1)};
      lives.push_back(life);
    }
    return lives;
  }

  /// A packing that orders no two near commands that data leave free, the
  /// nearer the less memory there is; `sequence` if even neighbours take too
  /// much.
  ArenaPacking letRunAtOnce(ArenaPacking sequence, int64_t pinned) {
    int64_t allowed = sequence.bytes * (1 + tolerance);
    if (exchanges)
      allowed = std::max<int64_t>(allowed, sequence.bytes +
                                               toleranceBesideExchanges *
                                                   (pinned + sequence.bytes));
    std::vector<SmallVector<unsigned, 4>> before = dataDependencies();
    SmallVector<uint64_t> waits = nearCommandsWaitedFor(before);
    int64_t atOnce = 0;
    for (unsigned reach : {farthest, 32u, 16u, 8u, 4u, 2u, 1u}) {
      SmallVector<unsigned> ends = keptUntil(before, waits, reach);
      if (llvm::equal(ends, llvm::seq<unsigned>(0, ends.size())))
        break;
      ArenaPacking wide = packArena(lifetimes(ends), plan::alignment);
      if (wide.bytes <= allowed) {
        emitRemark(program.getLoc())
            << "independent kernels may run at once"
            << (atOnce ? " with the next " + std::to_string(reach) : "") << ": "
            << wide.bytes << " bytes of temporaries, " << sequence.bytes
            << " in sequence";
        return wide;
      }
      atOnce = atOnce ? atOnce : wide.bytes;
    }
    if (atOnce)
      emitRemark(program.getLoc())
          << "independent kernels run one by one: at once they need " << atOnce
          << " bytes of temporaries, " << sequence.bytes << " in sequence";
    return sequence;
  }

  /// For each command those that buffers let it wait for, whatever their bytes.
  std::vector<SmallVector<unsigned, 4>> dataDependencies() {
    llvm::DenseMap<Value, LastUsers> last;
    std::vector<SmallVector<unsigned, 4>> before(commands.size());
    for (auto [index, command] : llvm::enumerate(commands)) {
      std::vector<plan::Access> accesses = command.getAccesses(kernels);
      for (const plan::Access &access : accesses)
        if (!access.writes)
          last[access.value].read(access.offset, access.offset + access.bytes,
                                  index, before[index]);
      for (const plan::Access &access : accesses)
        if (access.writes)
          last[access.value].write(access.offset, access.offset + access.bytes,
                                   index, before[index]);
      llvm::erase(before[index], index);
    }
    return before;
  }

  /// For each command which of the worthy ones before it it has to wait for:
  /// bit 0 is the last of them in the sequence.
  SmallVector<uint64_t>
  nearCommandsWaitedFor(ArrayRef<SmallVector<unsigned, 4>> before) {
    SmallVector<uint64_t> waits(commands.size());
    SmallVector<unsigned> ordinal; // how many worthy ones are before
    unsigned count = 0;
    for (unsigned index = 0; index < commands.size(); ++index) {
      ordinal.push_back(count);
      for (unsigned other : before[index]) {
        unsigned distance = count - ordinal[other];
        if (distance < farthest)
          waits[index] |= waits[other] << distance;
        if (isWorthy(other) && distance <= farthest)
          waits[index] |= uint64_t(1) << (distance - 1);
      }
      count += isWorthy(index);
    }
    return waits;
  }

  /// For each command until when its buffers are kept: those of a worthy one,
  /// and of what follows from it, until none among the next `reach` can run
  /// beside it. Nothing then takes over bytes on the way from one to the other.
  SmallVector<unsigned> keptUntil(ArrayRef<SmallVector<unsigned, 4>> before,
                                  ArrayRef<uint64_t> waits, unsigned reach) {
    SmallVector<unsigned> ends(commands.size());
    std::iota(ends.begin(), ends.end(), 0);
    SmallVector<unsigned> worthy;
    for (unsigned index = 0; index < commands.size(); ++index) {
      if (!isWorthy(index))
        continue;
      unsigned near = std::min<size_t>(reach, worthy.size());
      for (unsigned distance = 1; distance <= near; ++distance)
        if (unsigned other = worthy[worthy.size() - distance];
            !(waits[index] >> (distance - 1) & 1) && pays(other, index))
          ends[other] = index;
      worthy.push_back(index);
    }
    for (unsigned index = 0; index < commands.size(); ++index)
      for (unsigned other : before[index])
        if (ends[other] > index)
          ends[index] = std::max(ends[index], ends[other]);
    return ends;
  }

  plan::ProgramOp program;
  SymbolTable &kernels;
  plan::CommandList commands;
  bool exchanges = false;
  llvm::MapVector<plan::BufferOp, SmallVector<unsigned, 4>> uses;
  llvm::SmallPtrSet<Operation *, 4> reported;
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
