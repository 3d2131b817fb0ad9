#include "passes/fuse/KernelGroups.h"
#include "dialects/graph/DepthFirst.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;

namespace dl {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

KernelGroups::KernelGroups(graph::StepOp function, bool fuse,
                           const plan::MachineModel &machine)
    : fuse(fuse), function(function), machine(machine) {
  Block &body = function.getBody().front();
  findStateOrders();
  for (Operation &op : body.without_terminator()) {
    OpKind kind = classify(&op);
    // A free op whose value leaves the function or is seen in another shape
    // has to be computed once like any other.
    if (kind == OpKind::Free &&
        llvm::any_of(op.getUsers(), [&](Operation *user) {
          return user == body.getTerminator() ||
                 isa<graph::AliasOpInterface, graph::CommunicationOpInterface>(
                     user);
        }))
      kind = OpKind::Elementwise;
    if (kind == OpKind::Free && freeRepeatsTooMuch(&op))
      kind = OpKind::Elementwise;
    kinds[&op] = kind;
    if (kind == OpKind::Free && isStepNumber(&op))
      stepNumbers.insert(&op);
    if (kind == OpKind::Free && isOfPlaces(&op))
      ofPlaces.insert(&op);
  }
  for (Operation &op : body.without_terminator())
    if (kind(&op) != OpKind::Free && kind(&op) != OpKind::Alias)
      assign(&op);
  if (!fuse)
    return;
  chainProducts();
  absorbPrologues();
  moveIntoReaders();
  widenInReaders();
}

int KernelGroups::groupOf(Value value) const {
  auto it = groupOfOp.find(graph::rootOf(value).getDefiningOp());
  return it == groupOfOp.end() ? -1 : int(it->second);
}

/// Operands seen through free ops, each of which is looked through once.
SmallVector<Value> KernelGroups::realOperands(Operation *op) const {
  SmallVector<Value> values, open(llvm::reverse(op->getOperands()));
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Value operand = open.pop_back_val();
    Operation *def = operand.getDefiningOp();
    if (!def || kind(def) != OpKind::Free)
      values.push_back(operand);
    else if (seen.insert(def).second)
      llvm::append_range(open, llvm::reverse(def->getOperands()));
  }
  return values;
}

/// Along reads, `order` only falls: groups before `on` cannot lead to it.
bool KernelGroups::dependsOn(unsigned group, unsigned on) const {
  SmallVector<unsigned> stack{group};
  llvm::DenseSet<unsigned> seen;
  while (!stack.empty()) {
    unsigned next = stack.pop_back_val();
    if (next == on)
      return true;
    if (list[next].order < list[on].order || !seen.insert(next).second)
      continue;
    stack.append(list[next].reads.begin(), list[next].reads.end());
  }
  return false;
}

/// Keeps `order` topological as edges come (Pearce and Kelly, "A dynamic
/// topological sort algorithm for directed acyclic graphs", 2006): only what
/// lies between the two groups moves.
void KernelGroups::addRead(unsigned group, unsigned from) {
  list[group].reads.insert(from);
  list[from].readers.insert(group);
  if (list[from].order < list[group].order)
    return;
  unsigned low = list[group].order, high = list[from].order;
  auto reach = [&](unsigned start, auto edges, auto within) {
    llvm::SetVector<unsigned> found;
    found.insert(start);
    for (size_t i = 0; i < found.size(); ++i)
      for (unsigned next : edges(list[found[i]]))
        if (within(list[next].order))
          found.insert(next);
    SmallVector<unsigned> sorted(found.begin(), found.end());
    llvm::sort(sorted, [&](unsigned a, unsigned b) {
      return list[a].order < list[b].order;
    });
    return sorted;
  };
  auto before = reach(
      from, [](Group &g) { return ArrayRef(g.reads.getArrayRef()); },
      [&](unsigned order) { return order >= low; });
  auto after = reach(
      group, [](Group &g) { return ArrayRef(g.readers.getArrayRef()); },
      [&](unsigned order) { return order <= high; });
  SmallVector<unsigned> moved(before), places;
  moved.append(after.begin(), after.end());
  for (unsigned g : moved)
    places.push_back(list[g].order);
  llvm::sort(places);
  for (auto [g, place] : llvm::zip(moved, places))
    list[g].order = place;
}

unsigned KernelGroups::sharedPrefix(Operation *op, Value value) {
  LoopNest nest = cast<LoopNestOpInterface>(op).getLoopNest();
  unsigned shared = nest.numParallel;
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
    if (operand != value)
      continue;
    unsigned same = 0;
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    for (AffineExpr expr : access.map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || dim.getPosition() != same || same >= nest.numParallel ||
          shape[same] != nest.extents[same]) // a slice, or a part of a cat
        break;
      ++same;
    }
    shared = std::min(shared, same);
  }
  return shared;
}

/// If it reads `value` in windows that do not meet, one for each of its results
/// (max_pool2d with a stride of its kernel's size): their steps. Tiles can be
/// whole windows then. Else nothing.
static SmallVector<int64_t> blocksOf(Operation *op, Value value,
                                     const plan::MachineModel &machine) {
  LoopNest nest = cast<LoopNestOpInterface>(op).getLoopNest();
  SmallVector<int64_t> steps;
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
    if (operand != value)
      continue;
    int64_t block = 1, blocks = 1;
    steps.clear();
    if (access.outside || access.map.getNumResults() != nest.numParallel)
      return {};
    for (auto [d, expr] : llvm::enumerate(access.map.getResults())) {
      auto index = graph::blockIndex(expr, nest);
      if (!index || index->dim != d)
        return {};
      steps.push_back(index->size);
      block *= index->size;
      blocks *= index->size > 1 ? nest.extents[d] : 1;
    }
    if (block > machine.maxWindow || (block > 1 && blocks < machine.minWindows))
      return {};
  }
  return steps;
}

/// Elementwise work on the contraction's result, element by element; windows of
/// it, and elementwise work on these.
StringRef KernelGroups::obstacleInContraction(const Group &group,
                                              Operation *op) const {
  // (The contraction is the first op of its group.)
  ArrayRef<int64_t> product =
      typeOf(group.ops.front()->getResult(0)).getShape();
  bool windows = kind(op) == OpKind::Reduction;
  if (Attribute call = group.ops.front()->getAttr(graph::kLibraryCall);
      call != op->getAttr(graph::kLibraryCall))
    return call ? "a library computes that, and nothing else"
                : "it is part of a call of a library's";
  if (cast<LoopNestOpInterface>(op).getLoopNest().isIndirect())
    return "it reads elements wherever an index says";
  if (!windows && kind(op) != OpKind::Elementwise)
    return "only what is elementwise or pools follows a product in its tiles";
  if (graph::storageOrder(op->getOpResult(0)) !=
      graph::storageOrder(group.ops.front()->getOpResult(0)))
    return "it is stored in another order than the product";
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || !llvm::is_contained(group.ops, def))
      continue;
    ArrayRef<int64_t> read = typeOf(operand).getShape();
    if (windows) {
      auto blocks = blocksOf(op, operand, machine);
      if (read != product || blocks.empty())
        return "it needs more of the product than a tile of it";
      if (!group.blocks.empty() && group.blocks != blocks)
        return "a tile cannot be whole windows of two sizes";
    }
    if (!windows && read != shape)
      return "its shape is not that of the product";
    if (!windows && sharedPrefix(op, operand) != shape.size())
      return "it reads the product at other places than its own";
  }
  // A view between the two reads the result at other places.
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp();
        def && kind(def) == OpKind::Free)
      for (Value real : realOperands(def))
        if (llvm::is_contained(group.ops, real.getDefiningOp()))
          return "it reads the product at other places than its own";
  return "";
}

int64_t KernelGroups::points(Operation *op) {
  return cast<LoopNestOpInterface>(op).getLoopNest().points();
}

static bool isSequential(Operation *op) {
  return cast<LoopNestOpInterface>(op).getLoopNest().isSequential();
}

static bool replacesASlice(Operation *op) {
  return cast<LoopNestOpInterface>(op).getLoopNest().replace.has_value();
}

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

/// Numbers of two micro-batches, of which one goes back before the other comes.
static bool areApart(unsigned one, unsigned other) {
  return one != 0 && other != 0 && one != other;
}

StringRef KernelGroups::obstacleInLoops(const Group &group,
                                        Operation *op) const {
  if (kind(op) == OpKind::Contraction)
    return "a product has tiles of its own";
  if (std::max(group.largest, points(op)) <= machine.l1Elements())
    return "";
  if (isSequential(op) || llvm::any_of(group.ops, isSequential))
    return "what goes along a dim step by step is stored whole";
  unsigned shared = group.prefix.size();
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def)
      continue;
    bool inside = llvm::is_contained(group.ops, def);
    if (inside)
      shared = std::min(shared, sharedPrefix(op, operand));
    else if (kind(def) == OpKind::Free &&
             llvm::any_of(realOperands(def), [&](Value real) {
               return llvm::is_contained(group.ops, real.getDefiningOp());
             }))
      return "it reads it at other places than its own";
  }
  return shared > 0 && product(shape.take_front(shared)) >= machine.minFusedRows
             ? ""
             : "they share too few rows to be cut into tiles together";
}

StringRef KernelGroups::obstacle(const Group &group, Operation *op) const {
  if (op->hasAttr(graph::kRecomputed) &&
      graph::roleOf(group.ops.front()->getLoc()) == graph::StepRole::Forward)
    return "it is computed again for the backward, and not before";
  if (areApart(group.batchPart, graph::batchPartOf(op->getLoc())))
    return "it is for another part of the batch";
  if (group.communication)
    return "bytes of other ranks have to be there first";
  if (group.replaces || replacesASlice(op))
    return "a slice is written where it belongs, and nothing else";
  if (group.ops.size() + joining(op) > size_t(machine.maxKernelOps))
    return "so many ops in one kernel would take disproportionately long to "
           "compile";
  if ((group.reordered + reorderedBy(op) > kMostReordered && group.reordered) ||
      reordersTooMuch(group, op))
    return "so many values in another order would take disproportionately long "
           "to compile";
  if (group.sumsTogether && isUpdate(op))
    return "its old value is read by what waits for the other sums there";
  if (repeatsTooMuch(group, op))
    return "it would be computed again and again for the places at which it is "
           "read";
  return group.contraction ? obstacleInContraction(group, op)
                           : obstacleInLoops(group, op);
}

StringRef KernelGroups::obstacleInOrder(unsigned g, Operation *op,
                                        ArrayRef<unsigned> reads) const {
  if (llvm::any_of(reads, [&](unsigned other) {
        return other != g && dependsOn(other, g);
      }))
    return "another kernel has to run between the two";
  for (Value value : realOperands(op))
    if (Operation *def = value.getDefiningOp();
        def && kind(def) == OpKind::Alias && groupOf(value) == int(g))
      return "it reads it in another shape, for which it has to be whole";
  return "";
}

void KernelGroups::explain(Operation *op, StringRef what, const Group &group,
                           StringRef why) const {
  emitRemark(op->getLoc()) << op->getName().stripDialect() << ": " << what
                           << " " << group.ops.front()->getName().stripDialect()
                           << ": " << why;
}

/// An op such as momentum * buffer has no kernel to join yet. It is computed
/// where its one reader is, which may follow the contraction of its gradient.
/// Returns how many ops would wait together, or 0.
unsigned KernelGroups::canWait(Operation *op) const {
  if (!fuse || kind(op) != OpKind::Elementwise || !op->hasOneUse() ||
      cast<LoopNestOpInterface>(op).getLoopNest().isIndirect())
    return 0;
  Operation *reader = *op->getUsers().begin();
  auto it = kinds.find(reader);
  if (it == kinds.end() || reader->hasAttr(graph::kLibraryCall) ||
      it->second != OpKind::Elementwise ||
      typeOf(reader->getResult(0)).getShape() !=
          typeOf(op->getResult(0)).getShape() ||
      areApart(graph::batchPartOf(reader->getLoc()),
               graph::batchPartOf(op->getLoc())))
    return 0;
  bool waits = llvm::all_of(realOperands(op), [&](Value value) {
    Operation *def = graph::rootOf(value).getDefiningOp();
    return !def || waiting.contains(def);
  });
  unsigned count = joining(op);
  return waits && count <= machine.maxWaitingOps ? count : 0;
}

unsigned KernelGroups::joining(Operation *op) const {
  unsigned count = 1;
  for (Value value : realOperands(op))
    count += waiting.lookup(value.getDefiningOp());
  return count;
}

void KernelGroups::takeWaiting(unsigned group, Operation *op) {
  for (Value value : realOperands(op))
    if (Operation *def = value.getDefiningOp(); def && waiting.erase(def)) {
      takeWaiting(group, def);
      if (!list[group].ops.empty())
        explain(def, "fused with", list[group], "its one reader is there");
      append(group, def);
    }
}

void KernelGroups::append(unsigned g, Operation *op) {
  Group &group = list[g];
  if (kind(op) == OpKind::Communication)
    return appendCommunication(g, op);
  unsigned shared = group.prefix.size();
  for (Value operand : op->getOperands())
    if (llvm::is_contained(group.ops, operand.getDefiningOp())) {
      shared = std::min(shared, sharedPrefix(op, operand));
      if (group.contraction && kind(op) == OpKind::Reduction)
        group.blocks = blocksOf(op, operand, machine);
    }
  group.prefix.truncate(shared);
  group.largest = std::max(group.largest, points(op));
  for (Value value : realOperands(op)) {
    if (int from = groupOf(value); from >= 0 && from != int(g))
      addRead(g, from);
    if (auto &groups = readersOf[value]; !llvm::is_contained(groups, g))
      groups.push_back(g);
  }
  group.sums += kind(op) == OpKind::Reduction;
  group.reordered += reorderedBy(op);
  if (!stateOrders.empty())
    rowMajor[op] = rowMajorBehind(group, op);
  addTime(g, op);
  repeats[op] = repeatsIn(group, op);
  if (group.batchPart == 0)
    group.batchPart = graph::batchPartOf(op->getLoc());
  group.ops.push_back(op);
  groupOfOp[op] = g;
}

/// Ranks communicate in one order, whatever the kernels around are.
void KernelGroups::appendCommunication(unsigned g, Operation *op) {
  for (Value value : realOperands(op))
    if (int from = groupOf(value); from >= 0 && from != int(g))
      addRead(g, from);
  if (lastCommunication)
    addRead(g, *lastCommunication);
  lastCommunication = g;
  for (unsigned from : list[g].reads)
    list[g].start = std::max(list[g].start, list[from].finish());
  list[g].ops.push_back(op);
  groupOfOp[op] = g;
}

void KernelGroups::assign(Operation *op) {
  if (unsigned count = canWait(op)) {
    waiting[op] = count;
    return;
  }
  if (op->hasAttr(graph::kMadeAgain)) {
    if (!joinsBeside(op))
      startGroup(op);
    return;
  }
  SmallVector<unsigned> candidates, reads;
  for (Value value : realOperands(op)) {
    int group = groupOf(value);
    if (group < 0)
      continue;
    reads.push_back(group);
    if (!llvm::is_contained(candidates, unsigned(group)))
      candidates.push_back(group);
  }
  // The epilogue of a contraction costs no memory traffic: these first.
  llvm::sort(candidates, [&](unsigned x, unsigned y) {
    return std::make_pair(list[x].contraction, x) >
           std::make_pair(list[y].contraction, y);
  });
  for (unsigned g : candidates) {
    if (!fuse || kind(op) == OpKind::Communication)
      break;
    StringRef why = obstacle(list[g], op);
    if (why.empty())
      why = obstacleInOrder(g, op, reads);
    if (!why.empty()) {
      explain(op, "not fused with", list[g], why);
      continue;
    }
    if (!op->hasAttr(graph::kLibraryCall) &&
        delaysIndependentWork(g, op, reads))
      continue;
    if (!explained.contains(op))
      explain(op, "fused with", list[g],
              list[g].contraction
                  ? typeOf(op->getResult(0)).getShape() !=
                            typeOf(list[g].ops.front()->getResult(0)).getShape()
                        ? "computed on a tile of the product in the cache"
                        : "computed on the product in registers"
              : std::max(list[g].largest, points(op)) <= machine.l1Elements()
                  ? "both fit into the first-level cache"
                  : "they share rows, and nothing is stored in between");
    takeWaiting(g, op);
    append(g, op);
    return;
  }
  bool joins = false;
  if (fuse && kind(op) == OpKind::Reduction)
    joins = joinsSums(op);
  else if (fuse && kind(op) == OpKind::Elementwise)
    joins = (isUpdate(op) && joinsBeside(op)) || joinsSmallUpdates(op) ||
            joinsGradients(op) || joinsShort(op);
  if (!joins)
    startGroup(op);
}

void KernelGroups::startGroup(Operation *op) {
  Group group;
  group.contraction = kind(op) == OpKind::Contraction;
  group.communication = kind(op) == OpKind::Communication;
  if (!group.communication) {
    ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
    group.prefix.assign(shape.begin(), shape.end());
    group.replaces = replacesASlice(op);
  }
  group.order = list.size();
  list.push_back(std::move(group));
  takeWaiting(list.size() - 1, op);
  append(list.size() - 1, op);
}

bool KernelGroups::isRead(Value value, const KernelOps &kernel) const {
  if (inReaders.contains(value.getDefiningOp()))
    return false;
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 8> seen; // views and the like
  while (!open.empty()) {
    for (Operation *user : open.pop_back_val().getUsers()) {
      // (Whoever reads what its readers compute reads what that is made of.)
      if (inReaders.contains(user)) {
        if (seen.insert(user).second)
          open.push_back(user->getResult(0));
        continue;
      }
      if (kernel.own.contains(user))
        continue;
      auto it = kinds.find(user);
      if (it == kinds.end() || it->second != OpKind::Free)
        return true;
      if (seen.insert(user).second)
        open.push_back(user->getResult(0));
    }
  }
  return false;
}

std::vector<KernelOps> KernelGroups::kernels() const {
  llvm::DenseSet<unsigned> absorbed;
  for (auto &[reader, gs] : prologues)
    absorbed.insert(gs.begin(), gs.end());

  // Depth first from the first op on keeps program order where it can.
  SmallVector<unsigned> order;
  llvm::DenseSet<unsigned> done;
  for (unsigned g = 0; g < list.size(); ++g)
    graph::visitDepthFirst<unsigned>(
        g, [&](unsigned group) { return done.contains(group); },
        [&](unsigned group) {
          return SmallVector<unsigned>(list[group].reads.getArrayRef());
        },
        [&](unsigned group) {
          done.insert(group);
          order.push_back(group);
        });

  std::vector<KernelOps> result;
  for (unsigned g : order) {
    if (absorbed.contains(g))
      continue;
    KernelOps kernel;
    kernel.own.insert(list[g].ops.begin(), list[g].ops.end());
    SmallVector<Operation *> needed = neededOps(list[g]);
    if (needed.empty())
      continue;
    llvm::SetVector<Operation *> ops;
    auto add = [&](Operation *last) {
      graph::visitDepthFirst<Operation *>(
          last, [&](Operation *op) { return ops.contains(op); },
          [&](Operation *op) {
            SmallVector<Operation *> copied;
            for (Value operand : op->getOperands())
              if (Operation *def = operand.getDefiningOp();
                  def &&
                  (kind(def) == OpKind::Free ||
                   (inReaders.contains(def) && !kernel.own.contains(def))))
                copied.push_back(def);
            return copied;
          },
          [&](Operation *op) { ops.insert(op); });
    };
    for (unsigned prologue : prologues.lookup(g))
      for (Operation *op : list[prologue].ops)
        add(op);
    for (Operation *op : needed)
      add(op);
    kernel.ops = ops.takeVector();
    result.push_back(std::move(kernel));
  }
  return result;
}

} // namespace dl
