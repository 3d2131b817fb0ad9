// Products that are a chain through large values, with what is between them, as
// one kernel.
//
// Example, attention of B batches and H heads, and its backward:
//   scores = q k^T  [B,H,L,S];  p = softmax(scores);  out = p v
//   dp = dout v^T;  ds = p (dp - sum(p dp));  dq = ds k;  dk = ds^T q;  ...
// Scores, p, dp and ds of all heads go to memory and come back for each op; of
// one head they stay in a cache, where all is done with them before the next
// head (Dao et al., "FlashAttention", 2022, does so for blocks of a head). A
// GPU has so little memory beside its arithmetic that they stay there for a few
// rows of a head: what each product makes of rows is a chain then, and dk and
// dv are another one, of columns (TransposeChains.cpp).
#include "dialects/graph/Inference.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/fuse/KernelGroups.h"
#include "passes/fuse/ProductRate.h"
#include "passes/fuse/StreamedProducts.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;

namespace dl {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool isProduct(Operation *op) {
  return cast<LoopNestOpInterface>(op).getLoopNest().contraction;
}

/// Leading dims of a product's result that both operands have.
static unsigned batchDims(Operation *product) {
  LoopNest nest = cast<LoopNestOpInterface>(product).getLoopNest();
  unsigned count = 0;
  while (count < nest.numParallel &&
         llvm::all_of(
             nest.accesses,
             [&](const graph::Access &access) {
               return access.map.isFunctionOfDim(count);
             }))
    ++count;
  return count;
}

/// Ops on a product that are looked through.
static constexpr int kMostOnProduct = 8;

/// What an op is elementwise on, of its own shape; null where it is not.
static Operation *elementwiseOn(Operation *op) {
  auto loops = dyn_cast<LoopNestOpInterface>(op);
  if (!loops || loops.getLoopNest().combine != graph::Combine::None)
    return nullptr;
  LoopNest nest = loops.getLoopNest();
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses))
    if (Operation *def = operand.getDefiningOp();
        def && access.map.isIdentity() &&
        shapeOf(operand) == shapeOf(op->getResult(0)))
      return def;
  return nullptr;
}

/// A product makes it of much less, or much less of it.
static bool isInner(Value value) {
  int64_t elements = graph::numElements(value);
  auto isSmall = [&](Value other) {
    return 2 * graph::numElements(other) <= elements;
  };
  // (A product may be rounded, and have something added.)
  Operation *def = value.getDefiningOp();
  for (int seen = 0; seen < kMostOnProduct; ++seen) {
    Operation *under = elementwiseOn(def);
    if (!under)
      break;
    def = under;
  }
  if (isa<LoopNestOpInterface>(def) && isProduct(def) &&
      llvm::all_of(def->getOperands(), isSmall))
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<LoopNestOpInterface>(user) && isProduct(user) &&
           isSmall(user->getResult(0));
  });
}

/// The shape of the values through which the two would be chained; empty where
/// they are none of a chain.
SmallVector<int64_t> KernelGroups::innerShape(unsigned from,
                                              unsigned to) const {
  SmallVector<int64_t> found;
  for (Operation *op : list[to].ops)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      auto it = groupOfOp.find(def);
      if (it == groupOfOp.end() || it->second != from ||
          graph::tensorBytes(operand.getType()) < machine.chainLeastBytes)
        continue;
      ArrayRef<int64_t> shape = shapeOf(operand);
      auto isOf = [&](const Group &group) {
        return group.inner.empty() || ArrayRef(group.inner) == shape;
      };
      bool isKnown = !list[from].inner.empty() || !list[to].inner.empty();
      if (isOf(list[from]) && isOf(list[to]) && (isKnown || isInner(operand)))
        found.assign(shape.begin(), shape.end());
    }
  return found;
}

/// Leading dims that all of the two goes over, index by index, batches of its
/// products or rows of these; 0 where something is read in another way.
unsigned KernelGroups::commonBatch(unsigned from, unsigned to) const {
  unsigned shared = std::numeric_limits<unsigned>::max();
  auto isInside = [&](Value value) {
    int group = groupOf(value);
    return group == int(from) || group == int(to);
  };
  for (unsigned g : {from, to})
    for (Operation *op : list[g].ops) {
      if (isProduct(op)) {
        unsigned batch = batchDims(op);
        if (machine.chainRows == 0 || batch == 0)
          shared = std::min(shared, batch);
      }
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def)
          continue;
        if (kind(def) == OpKind::Free || kind(def) == OpKind::Alias) {
          SmallVector<Value> seen = kind(def) == OpKind::Free
                                        ? realOperands(def)
                                        : SmallVector<Value>{operand};
          if (llvm::any_of(seen, isInside))
            return 0;
        } else if (isInside(operand)) {
          shared = std::min(shared, sharedPrefix(op, operand));
        }
      }
    }
  return shared;
}

/// What is rounded is so as bf16, for whoever reads it.
static bool isPlaced(Operation *op, Value value, OpKind kind) {
  if (changesPrecision(op))
    return isNarrow(value);
  return kind != OpKind::Elementwise || !value.hasOneUse() ||
         llvm::any_of(value.getUsers(), [](Operation *user) {
           return isa<LoopNestOpInterface>(user) && isProduct(user);
         });
}

/// Those of what is widened read what is stored.
static SmallVector<Operation *> readersOfPlaced(Value value) {
  SmallVector<Operation *> readers;
  for (Operation *user : value.getUsers())
    if (isNarrow(value) && changesPrecision(user))
      llvm::append_range(readers, user->getUsers());
    else
      readers.push_back(user);
  return readers;
}

/// What one slice of the batch may have in scratch: each product and its
/// operands, and what is read more than once.
int64_t KernelGroups::scratchBytes(ArrayRef<unsigned> groups,
                                   int64_t slices) const {
  if (machine.chainRows > 0)
    return rowScratchBytes(groups, slices);
  int64_t bytes = 0;
  for (unsigned g : groups)
    for (Operation *op : list[g].ops)
      for (Value value : op->getResults())
        if (isPlaced(op, value, kind(op)))
          bytes += graph::tensorBytes(value.getType()) / slices;
  return bytes;
}

/// Of rows there is at most at once what is not stored, and an elementwise op
/// writes over what it reads last.
int64_t KernelGroups::rowScratchBytes(ArrayRef<unsigned> groups,
                                      int64_t slices) const {
  SmallVector<Operation *> ops;
  for (unsigned g : groups)
    ops.append(list[g].ops);
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  /// By the number of an op: what is there behind it, less before it.
  SmallVector<int64_t> change(ops.size() + 1);
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [number, op] : llvm::enumerate(ops))
    numbers[op] = number;
  for (auto [number, op] : llvm::enumerate(ops))
    for (Value value : op->getResults()) {
      bool inRegisters = kind(op) == OpKind::Contraction && value.hasOneUse() &&
                         kind(*value.getUsers().begin()) == OpKind::Elementwise;
      SmallVector<Operation *> readers = readersOfPlaced(value);
      if (inRegisters || !isPlaced(op, value, kind(op)) ||
          !llvm::all_of(readers,
                        [&](Operation *user) { return inside.contains(user); }))
        continue;
      // A product is computed right before it is read.
      unsigned first = kind(op) == OpKind::Contraction ? ops.size() : number,
               last = number;
      for (Operation *user : readers) {
        first = std::min(first, numbers[user]);
        last = std::max(last, numbers[user]);
      }
      bool isOver = kind(ops[last]) == OpKind::Elementwise;
      int64_t bytes = graph::tensorBytes(value.getType()) / slices;
      change[first] += bytes;
      change[isOver && last > first ? last : last + 1] -= bytes;
    }
  int64_t most = 0, now = 0;
  for (int64_t each : change)
    most = std::max(most, now += each);
  return most * machine.chainRows;
}

/// Columns of rows may come some at a time: each op goes over those of what it
/// reads, or adds all of them up; and to compute them again for each total that
/// is waited for takes less than they take in memory. (In which order a kernel
/// has all of it, its compiler finds: BoundKernel::canStream.)
bool KernelGroups::mayStream(ArrayRef<unsigned> groups,
                             ArrayRef<int64_t> inner) const {
  if (machine.chainRows == 0)
    return false;
  SmallVector<Operation *> ops;
  for (unsigned g : groups)
    ops.append(list[g].ops);
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  // The pass in which an op is computed, and that after which others have it.
  llvm::DenseMap<Operation *, std::pair<unsigned, unsigned>> passOf;
  unsigned last = 0;
  for (Operation *op : ops) {
    LoopNest nest = cast<LoopNestOpInterface>(op).getLoopNest();
    bool isTotal = false, isColumn = shapeOf(op->getResult(0)) == inner;
    unsigned pass = 0;
    for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
      auto known = passOf.find(operand.getDefiningOp());
      if (known == passOf.end())
        continue;
      pass = std::max(pass, known->second.second);
      if (shapeOf(operand) != inner)
        continue;
      auto column = dyn_cast<AffineDimExpr>(access.map.getResults().back());
      if (!column)
        return false;
      bool sums = column.getPosition() >= nest.numParallel;
      if (sums && ((nest.combine != graph::Combine::Sum &&
                    nest.combine != graph::Combine::Max) ||
                   nest.yieldsIndex))
        return false;
      if (!sums && !isColumn)
        return false;
      isTotal |= sums;
    }
    passOf[op] = {pass, pass + isTotal};
    if (isTotal || isColumn)
      last = std::max(last, pass);
  }
  // In memory columns are
  // written once and read twice, for a maximum and what it is taken from, and
  // that is written.
  double again = 0, bytes = 0;
  for (Operation *op : ops) {
    if (!isProduct(op) || shapeOf(op->getResult(0)) != inner)
      continue;
    LoopNest nest = cast<LoopNestOpInterface>(op).getLoopNest();
    double sums =
        double(nest.points()) / double(graph::numElements(op->getResult(0)));
    again += (last - passOf[op].first) * 2 * sums /
             (kChainRate * productRate(op, machine));
    int64_t stored = graph::tensorBytes(op->getResult(0).getType()) /
                     graph::numElements(op->getResult(0));
    bytes = std::max(bytes, multipliesNarrow(op) ? 2.0 : double(stored));
  }
  // (Of what a mask of places hides, half of it mostly, nothing is computed.)
  bool isMasked = llvm::any_of(ops, [&](Operation *op) {
    return llvm::any_of(op->getOperands(), isMaskOfPlaces);
  });
  return again * (isMasked ? 0.5 : 1) <= 4 * bytes / machine.bytesPerSecond;
}

/// A value of the shape is made in one group and read in the other, and nowhere
/// else.
bool KernelGroups::savesValue(unsigned from, unsigned to,
                              ArrayRef<int64_t> shape) const {
  return llvm::any_of(list[from].ops, [&](Operation *op) {
    return llvm::any_of(op->getResults(), [&](Value value) {
      bool isRead = false;
      for (Operation *user : value.getUsers()) {
        auto group = groupOfOp.find(user);
        if (group == groupOfOp.end() ||
            (group->second != from && group->second != to))
          return false;
        isRead |= group->second == to;
      }
      return isRead && shapeOf(value) == shape;
    });
  });
}

/// Half of the processors have a block of rows.
int64_t KernelGroups::leastSlices() const {
  return machine.chainRows > 0 ? machine.chainRows * machine.processors / 2
                               : machine.minFusedRows;
}

bool KernelGroups::canChain(unsigned from, unsigned to,
                            SmallVector<int64_t> &inner) const {
  const Group &first = list[from], &second = list[to];
  if (first.communication || second.communication || first.ops.empty())
    return false;
  inner = innerShape(from, to);
  if (inner.empty())
    return false;
  auto isForward = [](const Group &group) {
    return graph::roleOf(group.ops.front()->getLoc()) ==
           graph::StepRole::Forward;
  };
  auto isPlain = [&](Operation *op) {
    auto loops = cast<LoopNestOpInterface>(op).getLoopNest();
    return !op->hasAttr(graph::kLibraryCall) && !loops.isIndirect() &&
           !loops.isSequential() && !loops.replace;
  };
  if (first.ops.size() + second.ops.size() > size_t(machine.maxKernelOps) ||
      first.batchPart != second.batchPart ||
      isForward(first) != isForward(second) ||
      !llvm::all_of(first.ops, isPlain) || !llvm::all_of(second.ops, isPlain))
    return false;
  int narrow = 0, products = 0;
  for (const Group *group : {&first, &second})
    for (Operation *op : group->ops)
      if (isProduct(op))
        ++products, narrow += multipliesNarrow(op);
  if (narrow != 0 && narrow != products)
    return false;
  // (Of rows; all that two products beside each other share has columns, too.)
  unsigned batch = std::min<size_t>(commonBatch(from, to),
                                    inner.size() - (machine.chainRows > 0));
  if (machine.chainRows > 0 && batch + 1 < inner.size())
    return false;
  int64_t slices = 1;
  for (int64_t extent : ArrayRef(inner).take_front(batch))
    slices *= extent;
  if (batch == 0 || slices < leastSlices())
    return false;
  int64_t leastScratch = // of one value
      machine.chainRows * inner.back() * int64_t(sizeof(float));
  if (std::max(leastScratch, scratchBytes({from, to}, slices)) >
          machine.chainScratchBytes &&
      !mayStream({from, to}, inner))
    return false;
  // Where all that goes from one to the other is stored for others, tiles of
  // products are better apart, unless their rows are there anyway.
  bool isChain = !first.inner.empty() || !second.inner.empty();
  if (machine.chainRows > 0 && !isChain && !savesValue(from, to, inner))
    return false;
  return llvm::none_of(second.reads, [&](unsigned other) {
    return other != from && dependsOn(other, from);
  });
}

/// All of `from` becomes a part of `to`.
void KernelGroups::mergeGroups(unsigned from, unsigned to) {
  Group &first = list[from], &second = list[to];
  for (Operation *op : first.ops) {
    groupOfOp[op] = to;
    for (Value value : realOperands(op))
      for (auto &readers = readersOf[value]; unsigned &reader : readers)
        if (reader == from)
          reader = to;
  }
  second.ops.insert(second.ops.begin(), first.ops.begin(), first.ops.end());
  llvm::sort(second.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  second.contraction |= first.contraction;
  second.largest = std::max(second.largest, first.largest);
  second.sums += first.sums;
  SmallVector<unsigned> reads(first.reads.getArrayRef()),
      readers(first.readers.getArrayRef());
  first.ops.clear(), first.reads.clear(), first.readers.clear();
  for (unsigned other : reads) {
    list[other].readers.remove(from);
    addRead(to, other);
  }
  second.reads.remove(from);
  for (unsigned other : readers) {
    list[other].reads.remove(from);
    if (other != to)
      addRead(other, to);
  }
}

void KernelGroups::chainProducts() {
  if (machine.chainScratchBytes == 0)
    return;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, list.size()));
  llvm::sort(order, [&](unsigned x, unsigned y) {
    return list[x].order < list[y].order;
  });
  // One that comes early may belong to a chain that is found later.
  bool found = true;
  while (std::exchange(found, false))
    for (unsigned to : order)
      while (joinsChain(to))
        found = true;
}

/// Of those that it reads, one becomes a part of it.
bool KernelGroups::joinsChain(unsigned to) {
  for (unsigned from : SmallVector<unsigned>(list[to].reads.getArrayRef())) {
    SmallVector<int64_t> inner;
    if (!canChain(from, to, inner))
      continue;
    explain(list[to].ops.front(), "chained with", list[from],
            "what is large between them stays in a cache");
    mergeGroups(from, to);
    list[to].inner = inner;
    return true;
  }
  return false;
}

} // namespace dl
