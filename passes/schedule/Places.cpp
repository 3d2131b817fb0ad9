#include "passes/schedule/Places.h"
#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/plan/Plan.h"
#include "passes/schedule/PhysicalLayout.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::schedule {
namespace {

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

bool joinsInMemory(graph::KernelOp kernel) {
  auto join = onlyOp<graph::JoinOpInterface>(kernel);
  std::optional<DenseI64ArrayAttr> order;
  return join && (order = commonOrder(kernel)) && join.joinsInOrder(*order);
}

Places::Places(graph::StepOp func, const Readers &readers,
               bool copiesAreLaunches)
    : readers(readers), copiesAreLaunches(copiesAreLaunches) {
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
  SmallVector<graph::KernelOp> byBytes, stretches;
  for (Operation *op : workOf(func)) {
    position[op] = position.size();
    auto kernel = dyn_cast<graph::KernelOp>(op);
    if (!kernel)
      continue;
    if (joinsInMemory(kernel)) {
      joins.insert(kernel);
      byBytes.push_back(kernel);
    } else if (stretchOf(kernel)) {
      stretches.push_back(kernel);
      bytesOfStretches[rootOf(kernel->getOperand(0))] +=
          sizeOf(kernel->getResult(0));
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
  for (graph::KernelOp stretch : stretches)
    readInPlace(stretch);
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
  inPlace[join];
  return true;
}

/// Computes operands where the result has them. That takes memory from the
/// first operand on: none of those that are early and small beside the others.
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
    (fits ? there : moves).push_back({operand, at});
    at += sizeOf(operand);
  }
  auto begins = [&](const Move &move) {
    return position.lookup(rootOf(move.operand).getDefiningOp());
  };
  llvm::stable_sort(there, [&](const Move &a, const Move &b) {
    return begins(a) > begins(b); // the earliest last
  });
  while (!there.empty()) {
    // Bytes times commands: of what has to wait for the join in any case, and
    // of what is kept free for it.
    unsigned end = position.lookup(join), begin = begins(there.back());
    double waiting = 0, free = 0;
    for (const Move &move : there) {
      waiting += double(sizeOf(move.operand)) * (end - begins(move));
      free += double(sizeOf(move.operand)) * (begins(move) - begin);
    }
    for (const Move &move : moves)
      free += double(sizeOf(move.operand)) * (end - begin);
    if (free <= 2 * waiting)
      break;
    moves.push_back(there.pop_back_val());
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

unsigned Places::lastUseOf(Value root, Operation *butFor) const {
  unsigned last = 0;
  for (Operation *reader : readers.of(root))
    if (reader != butFor)
      last = std::max(last, position.lookup(reader));
  return last;
}

/// A stretch keeps all of what it is one of in memory: not where that is much
/// more than is needed so long.
void Places::readInPlace(graph::KernelOp stretch) {
  Value result = stretch->getResult(0), whole = rootOf(stretch->getOperand(0));
  Place place = of(whole);
  place.offset += *stretchOf(stretch);
  bool isKept = lastUseOf(result) <= lastUseOf(whole, stretch) + kSoon ||
                2 * bytesOfStretches.lookup(whole) >= sizeOf(whole) ||
                isa<BlockArgument>(whole);
  bool changes = isa<BlockArgument>(whole) && fixed.contains(whole);
  if (changes || !isKept || !mayLieInAnother(result) ||
      !isAligned(place.offset))
    return;
  within[result] = place;
  inPlace[stretch];
}

} // namespace dl::schedule
