// Ops that join a kernel which makes none of their operands, but reads the same
// values anyway: what the backward makes again for a product, and an
// optimizer's moments. `m' = b1*m + (1-b1)*g` and `v' = b2*v + (1-b2)*g*g`
// where g is an argument or came from other ranks are one pass over g then, and
// the new parameter, which reads both, needs neither from memory. Sums over the
// same points, too: those of a batch norm's gradient are one pass over it. And
// what is short: the gates of a recurrent layer.
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/fuse/KernelGroups.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;
using dl::graph::StepRole;

namespace dl {

/// Sums that are added up together; a kernel keeps their parts in registers.
static constexpr unsigned kMostSums = 4;
/// Ops of a kernel that short ones join: more save no time worth mentioning,
/// and take long to compile.
static constexpr size_t kMostShort = 16;
/// Of the readers of one value so many are looked at.
static constexpr size_t kMostAsked = 8;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static StepRole roleOf(Operation *op) { return graph::roleOf(op->getLoc()); }

/// Whether the op goes over the points of the group, none of whose values it
/// reads.
static bool hasShapeOf(ArrayRef<int64_t> points, Operation *op,
                       Operation *first) {
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  return shape.size() >= points.size() &&
         shape.take_front(points.size()) == points &&
         graph::storageOrder(op->getOpResult(0)) ==
             graph::storageOrder(first->getOpResult(0));
}

/// What the op reads, and what those read that go where it goes.
SmallVector<Value> KernelGroups::operandsWithWaiting(Operation *op) const {
  SmallVector<Value> values, open(llvm::reverse(realOperands(op)));
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (Operation *def = value.getDefiningOp(); def && waiting.contains(def))
      llvm::append_range(open, llvm::reverse(realOperands(def)));
    else
      values.push_back(value);
  }
  return values;
}

/// Groups that read an operand of the op at its own places, products first: of
/// the backward for what is made again, of updates for an update.
SmallVector<unsigned> KernelGroups::groupsBeside(Operation *op) const {
  bool update = roleOf(op) == StepRole::Update;
  SmallVector<unsigned> groups;
  // (One number, such as a bias correction, may be read by all updates.)
  for (Value value : operandsWithWaiting(op))
    if (typeOf(value).getShape() == typeOf(op->getResult(0)).getShape() &&
        (!update || typeOf(value).getNumElements() > 1))
      for (unsigned g : readersOf.lookup(value))
        if (!llvm::is_contained(groups, g) && !list[g].ops.empty() &&
            (update ? roleOf(list[g].ops.front()) == StepRole::Update
                    : roleOf(list[g].ops.front()) != StepRole::Forward))
          groups.push_back(g);
  llvm::sort(groups, [&](unsigned x, unsigned y) {
    return std::make_pair(!list[x].contraction, x) <
           std::make_pair(!list[y].contraction, y);
  });
  return groups;
}

SmallVector<unsigned> KernelGroups::groupsRead(Operation *op) const {
  SmallVector<unsigned> groups;
  for (Value value : realOperands(op))
    if (int group = groupOf(value); group >= 0)
      groups.push_back(group);
  return groups;
}

bool KernelGroups::joinsBeside(Operation *op) {
  StringRef verb = op->hasAttr(graph::kMadeAgain) ? "made again" : "computed";
  SmallVector<unsigned> reads = groupsRead(op);
  for (unsigned g : groupsBeside(op)) {
    const Group &group = list[g];
    Operation *first = group.ops.front();
    bool whole = group.contraction || roleOf(op) == StepRole::Update;
    StringRef why = obstacle(group, op);
    if (why.empty())
      why = obstacleInOrder(g, op, reads);
    if (why.empty() &&
        !hasShapeOf(whole ? typeOf(first->getResult(0)).getShape()
                          : ArrayRef<int64_t>(group.prefix),
                    op, first))
      why = "its shape is another one";
    if (!why.empty()) {
      explain(op, ("not " + verb + " beside").str(), group, why);
      continue;
    }
    explain(op, (verb + " beside").str(), group, "it reads the same values");
    takeWaiting(g, op);
    append(g, op);
    return true;
  }
  return false;
}

ArrayRef<unsigned> KernelGroups::newest(ArrayRef<unsigned> readers) {
  return readers.take_back(std::min(readers.size(), kMostAsked));
}

/// Whether the group would begin later for something that it reads as well.
bool KernelGroups::waitsFor(const Group &group,
                            ArrayRef<unsigned> reads) const {
  return llvm::any_of(reads, [&](unsigned from) {
    return !group.reads.contains(from) && list[from].finish() > group.start;
  });
}

bool KernelGroups::isUpdate(Operation *op) const {
  return roleOf(op) == StepRole::Update;
}

/// The new value of a state.
static bool isNewValue(Operation *op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    return use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
           graph::stateOf(use);
  });
}

/// Updates of a few numbers each, which take longer to start than to run, are
/// one kernel, though they have nothing in common but their shape: of vectors
/// by an optimizer, and of counters, which need arguments alone.
bool KernelGroups::joinsSmallUpdates(Operation *op) {
  // What runs once need not be short, but is to be compiled soon: initial
  // values of many layers are one kernel each, and most of those are equal.
  if (op->getParentOfType<graph::StepOp>().getPart() == graph::Part::Initial)
    return false;
  SmallVector<unsigned> reads = groupsRead(op);
  if (typeOf(op->getResult(0)).getNumElements() > machine.l1Elements() ||
      (!isUpdate(op) && !(reads.empty() && isNewValue(op))))
    return false;
  auto [it, isNew] =
      smallUpdates.try_emplace(op->getResult(0).getType(), list.size());
  unsigned g = it->second;
  if (!isNew && obstacle(list[g], op).empty() &&
      obstacleInOrder(g, op, reads).empty()) {
    explain(op, "computed beside", list[g], "both are short updates");
    takeWaiting(g, op);
    append(g, op);
    return true;
  }
  it->second = list.size(); // the group that it begins
  return false;
}

/// Whether what the op reads at its own places takes so long to be read that
/// another pass over it is worth avoiding.
bool KernelGroups::readsMuchWith(const Group &group, unsigned g,
                                 Operation *op) const {
  double shared = 0;
  for (Value value : realOperands(op))
    if (typeOf(value).getShape() == typeOf(op->getResult(0)).getShape())
      if (auto it = readersOf.find(value);
          it != readersOf.end() && llvm::is_contained(newest(it->second), g))
        shared += double(graph::tensorBytes(value.getType()));
  return shared > machine.serialSeconds * machine.bytesPerSecond;
}

/// Gradients of one value by several of its uses, such as both factors of a
/// GELU: the kernel that reads a large value for one makes the other, too.
bool KernelGroups::joinsGradients(Operation *op) {
  if (roleOf(op) != StepRole::Backward)
    return false;
  SmallVector<unsigned> reads = groupsRead(op), asked;
  for (Value value : realOperands(op))
    if (auto it = readersOf.find(value); it != readersOf.end())
      llvm::append_range(asked, newest(it->second));
  for (unsigned g : asked) {
    const Group &group = list[g];
    if (group.contraction || group.communication ||
        roleOf(group.ops.front()) != StepRole::Backward ||
        !readsMuchWith(group, g, op) || waitsFor(group, reads) ||
        !hasShapeOf(typeOf(group.ops.front()->getResult(0)).getShape(), op,
                    group.ops.front()) ||
        !obstacle(group, op).empty() || !obstacleInOrder(g, op, reads).empty())
      continue;
    explain(op, "computed beside", group, "it reads the same values");
    takeWaiting(g, op);
    append(g, op);
    return true;
  }
  return false;
}

/// Of values that fit into the first-level cache a kernel takes as long to
/// start as to run: the gates of a recurrent layer, which are parts of one
/// product, are computed by one.
bool KernelGroups::joinsShort(Operation *op) {
  auto isView = [](Operation *op) { // which need not be moved at all
    return graph::payloadFacts(cast<LoopNestOpInterface>(op)).isView;
  };
  if (points(op) > machine.l1Elements() || isView(op))
    return false;
  SmallVector<unsigned> reads = groupsRead(op);
  for (Value value : realOperands(op)) {
    auto it = readersOf.find(value);
    // (What many read at many times would all be made at once, and kept.)
    int from = groupOf(value);
    if (it == readersOf.end() || from < 0 || !list[from].contraction ||
        value.hasNUsesOrMore(kMostAsked + 1))
      continue;
    for (unsigned g : newest(it->second)) {
      const Group &group = list[g];
      Operation *first = group.ops.front();
      if (group.contraction || group.communication ||
          group.ops.size() + joining(op) > kMostShort ||
          group.largest > machine.l1Elements() || roleOf(first) != roleOf(op) ||
          isView(first) || waitsFor(group, reads) ||
          !hasShapeOf(typeOf(first->getResult(0)).getShape(), op, first) ||
          !obstacle(group, op).empty() ||
          !obstacleInOrder(g, op, reads).empty())
        continue;
      explain(op, "computed beside", group,
              "it reads the same values, and both are short");
      takeWaiting(g, op);
      append(g, op);
      return true;
    }
  }
  return false;
}

/// A plain sum, whose loops another one can share.
static std::optional<LoopNest> sumOf(Operation *op) {
  LoopNest nest = cast<LoopNestOpInterface>(op).getLoopNest();
  if (nest.combine != graph::Combine::Sum || nest.contraction ||
      nest.isSequential() || nest.isIndirect())
    return std::nullopt;
  return nest;
}

/// Groups with a sum that reads, element by element, one of the values that
/// this one reads or another one of the kernel that makes it; the newest ones.
SmallVector<unsigned> KernelGroups::sumsBeside(Operation *op,
                                               const LoopNest &nest) const {
  SmallVector<unsigned> groups;
  auto add = [&](ArrayRef<unsigned> readers) {
    for (unsigned g : newest(readers))
      if (list[g].sums > 0 && !llvm::is_contained(groups, g))
        groups.push_back(g);
  };
  for (Value value : realOperands(op)) {
    if (typeOf(value).getNumElements() != nest.points())
      continue;
    if (auto it = readersOf.find(value); it != readersOf.end())
      add(it->second);
    if (int from = groupOf(value); from >= 0)
      add(list[from].readers.getArrayRef());
  }
  return groups;
}

/// A sum goes along where others are added up at the same time.
bool KernelGroups::joinsSums(Operation *op) {
  std::optional<LoopNest> nest = sumOf(op);
  if (!nest || nest->points() <= machine.l1Elements())
    return false;
  SmallVector<unsigned> reads = groupsRead(op);
  for (unsigned g : sumsBeside(op, *nest)) {
    const Group &group = list[g];
    bool isSame = llvm::any_of(group.ops, [&](Operation *other) {
      if (kind(other) != OpKind::Reduction ||
          other->getResult(0).getType() != op->getResult(0).getType())
        return false;
      auto sum = sumOf(other);
      return sum && sum->extents == nest->extents;
    });
    if (!isSame || group.sums >= kMostSums || waitsFor(group, reads) ||
        !obstacle(group, op).empty() || !obstacleInOrder(g, op, reads).empty())
      continue;
    explain(op, "added up beside", group, "it goes over the same points");
    append(g, op);
    list[g].sumsTogether = true;
    return true;
  }
  return false;
}

} // namespace dl
