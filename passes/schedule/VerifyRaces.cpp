// verify-races: proves that the order of commands is enough.
//
// Written apart from the passes that place buffers and add dependencies: it
// looks at bytes, keeps for each range who wrote and read it last, and asks
// plain reachability over the edges that stand in the plan.
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <bitset>
#include <map>
#include <tuple>

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_VERIFYRACES
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

using Commands = std::vector<plan::CommandOp>;

struct Bytes {
  int64_t begin, end;
};

Bytes bytesOf(plan::BufferOp buffer) {
  int64_t begin = buffer.getOffset().value_or(0);
  return {begin, begin + static_cast<int64_t>(buffer.getBytes())};
}

std::string describe(unsigned index, plan::CommandOp command) {
  return "command " + std::to_string(index) + " (@" +
         command.getKernel().str() + ")";
}

/// Two commands that must be ordered, and over which bytes.
struct Conflict {
  unsigned before, after;
  Bytes bytes;
  plan::BufferOp beforeBuffer, afterBuffer;
};

/// Walks a program in its order and collects what must be ordered.
class ByteWatch {
public:
  explicit ByteWatch(Commands &commands) : commands(commands) {}

  /// Bytes that hold something before the program starts.
  void define(plan::BufferOp buffer) {
    Bytes bytes = bytesOf(buffer);
    if (bytes.begin < bytes.end)
      ranges[bytes.begin] = {bytes.end, buffer, std::nullopt, {}};
  }

  LogicalResult read(unsigned index, plan::BufferOp buffer) {
    Bytes bytes = bytesOf(buffer);
    int64_t covered = bytes.begin;
    for (auto it = cut(bytes); it != ranges.end() && it->first < bytes.end;
         ++it) {
      Range &range = it->second;
      if (it->first > covered)
        break;
      if (range.owner != buffer)
        return refuse(index, buffer,
                      "bytes that were written through '" +
                          range.owner.getName().str() + "'");
      require(range.writer, index, range, buffer, it->first);
      range.readers.push_back(index);
      covered = range.end;
    }
    if (covered < bytes.end)
      return refuse(index, buffer, "bytes that nothing has written");
    return success();
  }

  void write(unsigned index, plan::BufferOp buffer) {
    Bytes bytes = bytesOf(buffer);
    if (bytes.begin == bytes.end)
      return;
    auto it = cut(bytes);
    while (it != ranges.end() && it->first < bytes.end) {
      for (unsigned reader : it->second.readers)
        require(reader, index, it->second, buffer, it->first);
      require(it->second.writer, index, it->second, buffer, it->first);
      it = ranges.erase(it);
    }
    ranges[bytes.begin] = {bytes.end, buffer, index, {}};
  }

  /// Whether `buffer` holds what was last written through it.
  LogicalResult readAtEnd(plan::BufferOp buffer) {
    Bytes bytes = bytesOf(buffer);
    auto it = cut(bytes);
    int64_t covered = bytes.begin;
    for (; it != ranges.end() && it->first == covered && covered < bytes.end;
         ++it) {
      if (it->second.owner != buffer)
        return failure();
      covered = it->second.end;
    }
    return success(covered >= bytes.end);
  }

  std::vector<Conflict> conflicts;

private:
  struct Range {
    int64_t end;
    plan::BufferOp owner;
    std::optional<unsigned> writer;
    std::vector<unsigned> readers;
  };
  using Ranges = std::map<int64_t, Range>;

  /// Splits ranges at the borders of `bytes`; returns the first one inside.
  Ranges::iterator cut(Bytes bytes) {
    for (int64_t border : {bytes.begin, bytes.end}) {
      auto it = ranges.upper_bound(border);
      if (it == ranges.begin() || (--it)->first == border ||
          it->second.end <= border)
        continue;
      ranges[border] = it->second;
      it->second.end = border;
    }
    return ranges.lower_bound(bytes.begin);
  }

  void require(std::optional<unsigned> before, unsigned after,
               const Range &range, plan::BufferOp buffer, int64_t begin) {
    if (before && *before != after)
      conflicts.push_back(
          {*before, after, {begin, range.end}, range.owner, buffer});
  }

  LogicalResult refuse(unsigned index, plan::BufferOp buffer,
                       const std::string &what) {
    return commands[index]->emitOpError()
           << describe(index, commands[index]) << " reads '" << buffer.getName()
           << "' and finds " << what;
  }

  Commands &commands;
  Ranges ranges;
};

/// Checks conflicts against the edges, a block of first commands at a time,
/// with one bit for each pair.
LogicalResult checkOrder(Commands &commands, std::vector<Conflict> conflicts) {
  constexpr unsigned blockSize = 4096;
  using Row = std::bitset<blockSize>;
  llvm::DenseMap<Value, unsigned> indexOf;
  for (auto [index, command] : llvm::enumerate(commands))
    indexOf[command.getDone()] = index;
  llvm::sort(conflicts, [](const Conflict &a, const Conflict &b) {
    return std::tie(a.before, a.after, a.bytes.begin) <
           std::tie(b.before, b.after, b.bytes.begin);
  });
  auto next = conflicts.begin();
  for (unsigned base = 0; next != conflicts.end(); base += blockSize) {
    std::vector<Row> rows(commands.size() - base);
    for (unsigned index = base; index < commands.size(); ++index)
      for (Value token : commands[index].getAfter()) {
        unsigned dep = indexOf.lookup(token);
        if (dep < base)
          continue;
        rows[index - base] |= rows[dep - base];
        if (dep < base + blockSize)
          rows[index - base].set(dep - base);
      }
    for (; next != conflicts.end() && next->before < base + blockSize; ++next) {
      if (rows[next->after - base].test(next->before - base))
        continue;
      InFlightDiagnostic error = commands[next->after]->emitOpError();
      error << describe(next->before, commands[next->before]) << " and "
            << describe(next->after, commands[next->after]) << " touch bytes "
            << next->bytes.begin << " to " << next->bytes.end
            << " of the arena ('" << next->beforeBuffer.getName() << "', '"
            << next->afterBuffer.getName() << "') and are not ordered";
      error.attachNote(commands[next->before].getLoc()) << "the other command";
      return error;
    }
  }
  return success();
}

/// A kernel may see one buffer twice, but not overlapping ones.
LogicalResult checkBindings(unsigned index, plan::CommandOp command,
                            ArrayRef<bool> writes) {
  for (auto [i, a] : llvm::enumerate(command.getBindings()))
    for (auto [j, b] : llvm::enumerate(command.getBindings())) {
      auto first = a.getDefiningOp<plan::BufferOp>();
      auto second = b.getDefiningOp<plan::BufferOp>();
      if (!writes[i] || i == j || first == second ||
          first.getSpace() != plan::Space::Arena ||
          second.getSpace() != plan::Space::Arena)
        continue;
      Bytes x = bytesOf(first), y = bytesOf(second);
      if (x.begin < y.end && y.begin < x.end)
        return command.emitOpError()
               << describe(index, command) << " writes '" << first.getName()
               << "', which overlaps its '" << second.getName() << "'";
    }
  return success();
}

LogicalResult verifyProgram(plan::ProgramOp program, SymbolTable &kernels,
                            ArrayRef<plan::BufferOp> states) {
  Commands commands(program.getOps<plan::CommandOp>().begin(),
                    program.getOps<plan::CommandOp>().end());
  ByteWatch watch(commands);
  for (plan::BufferOp state : states)
    watch.define(state);
  for (auto [index, command] : llvm::enumerate(commands)) {
    ArrayRef<bool> writes =
        kernels.lookup<plan::KernelOp>(command.getKernel()).getWrites();
    if (failed(checkBindings(index, command, writes)))
      return failure();
    for (bool writing : {false, true})
      for (auto [value, written] :
           llvm::zip_equal(command.getBindings(), writes)) {
        auto buffer = value.getDefiningOp<plan::BufferOp>();
        if (written != writing)
          continue;
        if (buffer.getSpace() != plan::Space::Arena) {
          if (writing)
            return command.emitOpError()
                   << describe(index, command) << " writes '"
                   << buffer.getName() << "', which is not of the arena";
          continue;
        }
        if (writing)
          watch.write(index, buffer);
        else if (failed(watch.read(index, buffer)))
          return failure();
      }
  }
  // What a program leaves behind must still be there at its end.
  auto survives = [&](plan::BufferOp buffer) {
    return buffer.getSpace() != plan::Space::Arena ||
           succeeded(watch.readAtEnd(buffer));
  };
  for (Operation &op : *program.getBody().getBlocks().begin()) {
    Value value;
    if (auto metric = dyn_cast<plan::MetricOp>(op))
      value = metric.getBuffer();
    else if (auto flag = dyn_cast<plan::ErrorOp>(op))
      value = flag.getBuffer();
    if (value && !survives(value.getDefiningOp<plan::BufferOp>()))
      return op.emitOpError("does not hold its value at the program's end");
  }
  for (plan::BufferOp state : states)
    if (!survives(state))
      return program.emitOpError("overwrites the state '")
             << state.getName() << "' through another buffer";
  return checkOrder(commands, std::move(watch.conflicts));
}

struct VerifyRaces : impl::VerifyRacesBase<VerifyRaces> {
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<plan::PlanOp>()) {
      SymbolTable kernels(plan);
      SmallVector<plan::BufferOp> states;
      for (auto state : plan.getOps<plan::StateOp>())
        states.push_back(state.getBuffer().getDefiningOp<plan::BufferOp>());
      if (failed(verifyStates(states)))
        return signalPassFailure();
      WalkResult result = plan.walk([&](plan::ProgramOp program) {
        return failed(verifyProgram(program, kernels, states))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }

  /// No two states may share a byte.
  LogicalResult verifyStates(SmallVector<plan::BufferOp> states) {
    llvm::sort(states, [](plan::BufferOp a, plan::BufferOp b) {
      return std::pair(bytesOf(a).begin, a.getName()) <
             std::pair(bytesOf(b).begin, b.getName());
    });
    for (size_t i = 1; i < states.size(); ++i)
      if (bytesOf(states[i - 1]).end > bytesOf(states[i]).begin &&
          states[i].getBytes())
        return states[i].emitOpError("'")
               << states[i].getName() << "' overlaps the state '"
               << states[i - 1].getName() << "'";
    return success();
  }
};

} // namespace
} // namespace dl::schedule
