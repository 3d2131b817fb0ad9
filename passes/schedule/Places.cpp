#include "passes/schedule/Places.h"
#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/plan/Plan.h"
#include "passes/schedule/PhysicalLayout.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::schedule {
namespace {

/// A copy of so many bytes takes less than half of a kernel's time, which a
/// command more an operand does not make up for where they are fewer.
constexpr int64_t kBytesWorthACopy = 8192;

/// Bytes times commands: what lies in another value's memory may keep so many
/// times more of it than it would take by itself. Of a sequence that grows, all
/// keep twice as much.
constexpr double kMostMemory = 3;

/// So many commands more do not count.
constexpr unsigned kSoon = 8;

/// Buffers, too, begin at such bytes, and code is made for that.
bool isAligned(int64_t offset) { return offset % plan::alignment == 0; }

int64_t sizeOf(Value value) {
  return bytesOf(cast<RankedTensorType>(value.getType()));
}

/// The one op of a kernel, if it takes the operands as they come.
template <typename Op> Op onlyOp(graph::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto op = dyn_cast<Op>(body.front());
  bool isAlone = op && body.front().getNextNode() == body.getTerminator() &&
                 llvm::equal(op->getOperands(), body.getArguments());
  return isAlone ? op : Op();
}

/// The order in which the operands and the result are stored, null if row by
/// row; nothing if they differ.
std::optional<DenseI64ArrayAttr> commonOrder(graph::KernelOp kernel) {
  auto orderOf = [](std::optional<ArrayAttr> layouts, unsigned index) {
    auto order = layouts ? dyn_cast<DenseI64ArrayAttr>((*layouts)[index])
                         : DenseI64ArrayAttr();
    return order && llvm::is_sorted(order.asArrayRef()) ? DenseI64ArrayAttr()
                                                        : order;
  };
  DenseI64ArrayAttr order = orderOf(kernel.getResultLayouts(), 0);
  for (unsigned i = 0; i < kernel->getNumOperands(); ++i)
    if (orderOf(kernel.getOperandLayouts(), i) != order)
      return std::nullopt;
  return order;
}

/// Whether a kernel puts its operands one after the other, and nothing else.
bool joinsInMemory(graph::KernelOp kernel) {
  auto join = onlyOp<graph::JoinOpInterface>(kernel);
  std::optional<DenseI64ArrayAttr> order;
  return join && (order = commonOrder(kernel)) && join.joinsInOrder(*order);
}

/// The first byte of the operand's that is the result's, if the result is a
/// stretch of it.
std::optional<int64_t> stretchOf(graph::KernelOp kernel) {
  auto op = onlyOp<graph::StretchOpInterface>(kernel);
  std::optional<DenseI64ArrayAttr> order;
  bool differsBetweenRanks =
      llvm::any_of(kernel.getConstantSteps().value_or(ArrayRef<int64_t>()),
                   [](int64_t step) { return step != 0; });
  if (!op || differsBetweenRanks || kernel->getNumOperands() != 1 ||
      !(order = commonOrder(kernel)))
    return std::nullopt;
  std::optional<int64_t> element = op.firstElement(
      *order, graph::attributesInLaunch(
                  op, kernel.getConstants().value_or(ArrayRef<int64_t>())));
  auto type = cast<RankedTensorType>(kernel->getResult(0).getType());
  return element ? std::optional(*element * elementBytes(type)) : std::nullopt;
}

} // namespace

Places::Places(graph::StepOp func, bool copiesAreLaunches)
    : copiesAreLaunches(copiesAreLaunches) {
  llvm::DenseSet<StringAttr> updated;
  for (OpOperand &returned : func.getReturn()->getOpOperands()) {
    fixed.insert(rootOf(returned.get()));
    if (FlatSymbolRefAttr state = graph::stateOf(returned)) {
      updated.insert(state.getAttr());
      newStates.insert(rootOf(returned.get()));
    }
  }
  for (BlockArgument argument : func.getArguments())
    if (FlatSymbolRefAttr state = graph::stateOf(argument);
        !state || updated.contains(state.getAttr()))
      fixed.insert(argument);
  SmallVector<Operation *> work = workOf(func);
  SmallVector<graph::KernelOp> byBytes;
  for (Operation *op : work) {
    position[op] = position.size();
    if (auto kernel = dyn_cast<graph::KernelOp>(op);
        kernel && joinsInMemory(kernel)) {
      joins.insert(kernel);
      byBytes.push_back(kernel);
    }
  }
  // The largest first: a value that two of them take is in that one, and the
  // other one may be a stretch of it.
  llvm::stable_sort(byBytes, [](graph::KernelOp a, graph::KernelOp b) {
    return sizeOf(a->getResult(0)) > sizeOf(b->getResult(0));
  });
  for (graph::KernelOp join : byBytes)
    if (!inPlace.contains(join) && !isThereAlready(join))
      computeInPlace(join);
  readInPlace(work);
}

Place Places::of(Value root) const {
  Place place{root, 0};
  for (auto it = within.find(root); it != within.end();
       it = within.find(place.owner))
    place = {it->second.owner, place.offset + it->second.offset};
  return place;
}

/// Nothing that has a buffer of its own.
bool Places::mayLieInAnother(Value root) const {
  return isa<OpResult>(root) && !fixed.contains(root) && !within.contains(root);
}

/// Whether a value lies at `next`, or is joined from those that lie there one
/// after the other; `next` is then behind it.
bool Places::follows(Value root, Place &next) const {
  Place place = of(root);
  if (place.owner == next.owner && place.offset == next.offset) {
    next.offset += sizeOf(root);
    return true;
  }
  auto join = root.getDefiningOp<graph::KernelOp>();
  return join && joins.contains(join) && !within.contains(root) &&
         llvm::all_of(join->getOperands(), [&](Value operand) {
           return follows(rootOf(operand), next);
         });
}

/// Whether what is joined lies so in another one's memory: the states of a
/// sequence but for the first, say, where all of them are joined, too.
bool Places::isThereAlready(graph::KernelOp join) {
  Value result = join->getResult(0);
  if (!mayLieInAnother(result))
    return false;
  Value first = result;
  while (!within.contains(first)) {
    auto maker = first.getDefiningOp<graph::KernelOp>();
    if (!maker || !joins.contains(maker))
      return false;
    first = rootOf(maker->getOperand(0));
  }
  Place begin = of(first), next = begin;
  if (begin.owner == result || !follows(result, next))
    return false;
  within[result] = begin;
  inPlace.try_emplace(join);
  return true;
}

/// Computes operands where the result has them, which takes its memory from the
/// first of them on: none of those that are early and small beside the others.
/// (Where the new value of a state will be, the old one may still be read.)
void Places::computeInPlace(graph::KernelOp join) {
  Value result = join->getResult(0);
  int64_t base = of(result).offset, at = 0;
  SmallVector<Move> there, moves;
  llvm::SmallDenseSet<Value> seen;
  for (Value operand : join->getOperands()) {
    Value root = rootOf(operand);
    bool fits = mayLieInAnother(root) && isAligned(base + at) &&
                !newStates.contains(result) && seen.insert(root).second;
    if (int64_t bytes = sizeOf(operand)) {
      (fits ? there : moves).push_back({operand, at});
      at += bytes;
    }
  }
  unsigned end = position.lookup(join);
  auto waits = [&](const Move &move) { // for the join
    return end - position.lookup(rootOf(move.operand).getDefiningOp());
  };
  llvm::stable_sort(there, [&](const Move &a, const Move &b) {
    return waits(a) < waits(b); // the earliest last
  });
  double alone = 0;
  for (const Move &move : there)
    alone += double(sizeOf(move.operand)) * waits(move);
  while (!there.empty() && waits(there.back()) > kSoon &&
         double(at) * waits(there.back()) > kMostMemory * alone) {
    const Move &first = there.back();
    alone -= double(sizeOf(first.operand)) * waits(first);
    moves.push_back(first);
    there.pop_back();
  }
  bool areFew = moves.size() <= (copiesAreLaunches ? 1 : 2);
  bool areLong =
      !copiesAreLaunches && llvm::all_of(moves, [](const Move &move) {
        return sizeOf(move.operand) >= kBytesWorthACopy;
      });
  if ((there.empty() || !areFew) && !areLong)
    return;
  inPlace[join].append(moves.begin(), moves.end());
  for (const Move &move : there)
    within[rootOf(move.operand)] = {result, move.offset};
  for (const Move &move : there) {
    auto inner = rootOf(move.operand).getDefiningOp<graph::KernelOp>();
    if (inner && joins.contains(inner))
      computeInPlace(inner);
  }
}

/// Reads stretches where they are, which keeps all of what they are parts of in
/// memory: none of those that are needed long after the others.
void Places::readInPlace(ArrayRef<Operation *> work) {
  llvm::MapVector<Value, SmallVector<graph::KernelOp>> stretches; // by owner
  llvm::DenseMap<Value, unsigned> lastUse; // of an owner's memory
  for (Operation *op : work) {
    auto kernel = dyn_cast<graph::KernelOp>(op);
    Value whole = kernel && kernel->getNumOperands() == 1
                      ? rootOf(kernel->getOperand(0))
                      : Value();
    std::optional<int64_t> begin =
        whole && mayLieInAnother(kernel->getResult(0)) ? stretchOf(kernel)
                                                       : std::nullopt;
    bool changes =
        isa_and_nonnull<BlockArgument>(whole) && fixed.contains(whole);
    if (begin && !changes && isAligned(of(whole).offset + *begin)) {
      stretches[of(whole).owner].push_back(kernel);
      continue;
    }
    for (Value operand : op->getOperands())
      lastUse[of(rootOf(operand)).owner] = position.lookup(op);
  }
  // Parts of parts come first, so that the last use of a part is known.
  for (auto &[owner, parts] : llvm::reverse(stretches)) {
    Operation *maker = owner.getDefiningOp();
    unsigned from =
        std::max(lastUse.lookup(owner), maker ? position.lookup(maker) : 0);
    auto stays = [&](graph::KernelOp part) { // longer than it would in any case
      unsigned last = lastUse.lookup(part->getResult(0));
      return last > from + kSoon ? last - from : 0;
    };
    llvm::stable_sort(parts, [&](graph::KernelOp a, graph::KernelOp b) {
      return stays(a) < stays(b); // the last one last
    });
    double alone = 0;
    for (graph::KernelOp part : parts)
      alone += double(sizeOf(part->getResult(0))) * stays(part);
    while (maker && !parts.empty() &&
           double(sizeOf(owner)) * stays(parts.back()) > kMostMemory * alone) {
      alone -= double(sizeOf(parts.back()->getResult(0))) * stays(parts.back());
      parts.pop_back();
    }
    for (graph::KernelOp part : parts) {
      Value result = part->getResult(0), whole = rootOf(part->getOperand(0));
      within[result] = {whole, *stretchOf(part)};
      inPlace.try_emplace(part);
      unsigned &last = lastUse[owner];
      last = std::max(last, lastUse.lookup(result));
    }
  }
}

} // namespace dl::schedule
