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

using Commands = plan::CommandList;

struct Bytes {
  int64_t begin, end;
};

Bytes bytesOf(plan::BufferOp buffer) {
  int64_t begin = buffer.getOffset().value_or(0);
  return {begin, begin + static_cast<int64_t>(buffer.getBytes())};
}

Bytes bytesOf(const plan::Access &access) {
  return {access.begin(), access.end()};
}

std::string describe(unsigned index, plan::CommandOpInterface command) {
  return "command " + std::to_string(index) + " (" + command.getTitle() + ")";
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

  LogicalResult read(unsigned index, const plan::Access &access) {
    plan::BufferOp buffer = access.buffer();
    Bytes bytes = bytesOf(access);
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

  void write(unsigned index, const plan::Access &access) {
    plan::BufferOp buffer = access.buffer();
    Bytes bytes = bytesOf(access);
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

/// A command may see bytes twice, but what it writes only as a whole and
/// through one buffer: an operand that a result is written over.
LogicalResult checkAccesses(unsigned index, plan::CommandOpInterface command,
                            ArrayRef<plan::Access> accesses) {
  SmallVector<const plan::Access *> sorted;
  for (const plan::Access &access : accesses) {
    bool inArena = access.buffer().getSpace() == plan::Space::Arena;
    if (access.writes && !inArena)
      return command.emitOpError()
             << describe(index, command) << " writes '"
             << access.buffer().getName() << "', which is not of the arena";
    if (inArena && access.bytes != 0)
      sorted.push_back(&access);
  }
  // Writes first among those that begin at one byte.
  llvm::sort(sorted, [](const plan::Access *a, const plan::Access *b) {
    return std::tuple(a->begin(), !a->writes, a) <
           std::tuple(b->begin(), !b->writes, b);
  });
  const plan::Access *lastWrite = nullptr, *lastRead = nullptr; // that reach on
  auto reachesOver = [](const plan::Access *earlier,
                        const plan::Access *later) {
    return earlier && earlier->end() > later->begin();
  };
  for (const plan::Access *access : sorted) {
    const plan::Access *met = nullptr;
    if (reachesOver(lastWrite, access) &&
        (access->writes || lastWrite->begin() != access->begin() ||
         lastWrite->value != access->value))
      met = lastWrite;
    else if (access->writes && reachesOver(lastRead, access))
      met = lastRead;
    if (met) {
      const plan::Access *writer = access->writes ? access : met;
      const plan::Access *other = access->writes ? met : access;
      return command.emitOpError()
             << describe(index, command) << " writes '"
             << writer->buffer().getName() << "', which overlaps its '"
             << other->buffer().getName() << "'";
    }
    const plan::Access *&last = access->writes ? lastWrite : lastRead;
    if (!last || last->end() < access->end())
      last = access;
  }
  return success();
}

LogicalResult verifyProgram(plan::ProgramOp program, const SymbolTable &kernels,
                            ArrayRef<plan::BufferOp> states) {
  Commands commands = plan::commandsOf(program);
  ByteWatch watch(commands);
  for (plan::BufferOp state : states)
    watch.define(state);
  for (auto [index, command] : llvm::enumerate(commands)) {
    std::vector<plan::Access> accesses = command.getAccesses(kernels);
    if (failed(checkAccesses(index, command, accesses)))
      return failure();
    llvm::erase_if(accesses, [](const plan::Access &access) {
      return access.buffer().getSpace() != plan::Space::Arena;
    });
    for (const plan::Access &access : accesses)
      if (!access.writes && failed(watch.read(index, access)))
        return failure();
    for (const plan::Access &access : accesses)
      if (access.writes)
        watch.write(index, access);
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
