// What kernels compute for themselves that another one could store for them.
//
// Example, a batch norm over 128 x 64 x 32 x 32:
//   rest = x - mean; sum(rest * rest); y = rest * scale
// rest would be written and read, and its square too. Each reader makes both
// from x, which it reads in their place: the kernel that made them is gone.
#include "dialects/graph/DepthFirst.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "dialects/plan/Plan.h"
#include "passes/fuse/KernelGroups.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;

namespace dl {

/// A reader goes through no longer chain of ops for one value, and evaluates no
/// more of them for one element: then it waits for memory as before.
static constexpr size_t kMostCopied = 12;
static constexpr uint64_t kMostEvaluations = 24;

/// So much as the value takes may stay in memory for its readers: numbers for
/// each channel do not count.
static constexpr double kMostKept = 1.0625, kMostStaying = 3;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t bytesOf(Value value) {
  return graph::tensorBytes(value.getType());
}

static bool isCheap(Operation *op) {
  auto loops = cast<LoopNestOpInterface>(op);
  return !graph::payloadFacts(loops).isExpensive &&
         !loops.getLoopNest().isIndirect();
}

/// What a library multiplies, as it is or widened, has to be in memory.
static bool isReadByLibrary(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    if (user->hasAttr(graph::kLibraryCall))
      return true;
    auto reader = dyn_cast<LoopNestOpInterface>(user);
    return reader &&
           (graph::payloadFacts(reader).isWidening ||
            graph::payloadFacts(reader).isView) &&
           isReadByLibrary(user);
  });
}

/// Elementwise work on inputs that only contractions read, such as decoding
/// raw pixels, is done while they fetch their operands.
void KernelGroups::absorbPrologues() {
  for (auto [g, group] : llvm::enumerate(list)) {
    bool cheap = llvm::all_of(group.ops, [&](Operation *op) {
      return kind(op) == OpKind::Elementwise &&
             !graph::payloadFacts(cast<LoopNestOpInterface>(op)).isExpensive &&
             !graph::storageOrder(op->getOpResult(0)); // reordered: once
    });
    if (!cheap || !group.reads.empty())
      continue;
    SmallVector<unsigned> readers;
    bool absorbable = true;
    for (Operation *op : group.ops)
      for (Operation *user : op->getUsers()) {
        auto it = groupOfOp.find(user);
        if (it == groupOfOp.end()) {
          absorbable = false;
          continue;
        }
        if (it->second == g)
          continue;
        absorbable &=
            list[it->second].contraction &&
            !list[it->second].ops.front()->hasAttr(graph::kLibraryCall);
        if (!llvm::is_contained(readers, it->second))
          readers.push_back(it->second);
      }
    auto hasRoom = [&](unsigned reader) {
      size_t count = list[reader].ops.size() + group.ops.size();
      for (unsigned prologue : prologues.lookup(reader))
        count += list[prologue].ops.size();
      return count <= size_t(machine.maxKernelOps);
    };
    if (!absorbable || readers.empty() ||
        readers.size() > size_t(machine.maxPrologueReaders) ||
        !llvm::all_of(readers, hasRoom))
      continue;
    for (unsigned reader : readers) {
      prologues[reader].push_back(g);
      explain(group.ops.back(), "computed within", list[reader],
              "cheaper than to store and load it");
    }
  }
}

class KernelGroups::ReadersChoice {
public:
  explicit ReadersChoice(KernelGroups &groups) : groups(groups) {
    Operation *terminator = groups.function.getBody().front().getTerminator();
    for (OpOperand &returned : terminator->getOpOperands())
      if (FlatSymbolRefAttr state = graph::stateOf(returned))
        if (int group = groups.groupOf(returned.get()); group >= 0)
          updates[state.getAttr()] = group;
    for (auto &[reader, absorbed] : groups.prologues)
      prologues.insert(absorbed.begin(), absorbed.end());
  }

  void chooseIn(unsigned g);

private:
  /// A stored value, and what each of its readers would compute instead.
  struct Recipe {
    Operation *op = nullptr;
    llvm::SetVector<Operation *> ops;
    llvm::SetVector<Value> leaves; // what these read from memory
    llvm::SetVector<unsigned> readers;
    uint64_t evaluations = 0;
  };
  /// Of a group: what it reads from memory, and what it makes for itself.
  struct Reader {
    llvm::SetVector<Value> values;
    llvm::SetVector<Operation *> copies;
    uint64_t evaluations = 1;
  };

  bool isStored(Value value) const;
  bool isJoinedInPlace(Operation *op) const;
  bool isIn(Operation *op, unsigned g) const {
    auto it = groups.groupOfOp.find(op);
    return it != groups.groupOfOp.end() && it->second == g;
  }
  bool findReaders(Recipe &recipe) const;
  bool findOps(Recipe &recipe) const;
  bool areLeavesThere(const Recipe &recipe);
  bool hasRoom(const Recipe &recipe);
  Reader &readerOf(unsigned g);
  int64_t bytesOfReaders(const Recipe &recipe);
  void accept(const Recipe &recipe);

  KernelGroups &groups;
  llvm::DenseMap<unsigned, Reader> known;
  mutable llvm::DenseMap<unsigned, KernelOps> kernels; // what each makes
  llvm::DenseMap<StringAttr, unsigned> updates; // groups that update states
  llvm::DenseSet<unsigned> prologues;
};

/// Something outside of its group reads it from memory.
bool KernelGroups::ReadersChoice::isStored(Value value) const {
  Operation *def = value.getDefiningOp();
  unsigned g = groups.groupOfOp.lookup(def);
  if (groups.inReaders.contains(def) || prologues.contains(g))
    return false;
  auto [it, isNew] = kernels.try_emplace(g);
  if (isNew)
    it->second.own.insert(groups.list[g].ops.begin(), groups.list[g].ops.end());
  return groups.isRead(value, it->second);
}

/// Whether operands will be computed where the result has them: to store it
/// moves nothing (passes/schedule/Places.h).
bool KernelGroups::ReadersChoice::isJoinedInPlace(Operation *op) const {
  auto join = dyn_cast<graph::JoinOpInterface>(op);
  DenseI64ArrayAttr order = graph::storageOrder(op->getResult(0));
  if (!join || groups.list[groups.groupOfOp.lookup(op)].ops.size() > 1 ||
      !join.joinsInOrder(order))
    return false;
  int64_t offset = 0;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    auto root = dyn_cast<OpResult>(graph::rootOf(operand));
    bool isThere = root && groups.groupOf(root) >= 0 && isStored(root) &&
                   graph::storageOrder(root) == order &&
                   offset % plan::alignment == 0;
    offset += bytesOf(operand);
    return isThere;
  });
}

/// Whoever reads it from memory, if each can compute it where it reads it.
bool KernelGroups::ReadersChoice::findReaders(Recipe &recipe) const {
  unsigned g = groups.groupOfOp.lookup(recipe.op);
  Value value = recipe.op->getResult(0);
  int64_t elements = typeOf(value).getNumElements();
  SmallVector<Operation *> open(value.getUsers());
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *user = open.pop_back_val();
    if (isIn(user, g) || !seen.insert(user).second)
      continue;
    auto it = groups.kinds.find(user);
    if (it == groups.kinds.end())
      return false;
    if (it->second == OpKind::Free) {
      open.append(user->user_begin(), user->user_end());
      continue;
    }
    if ((it->second != OpKind::Elementwise &&
         it->second != OpKind::Reduction) ||
        user->hasAttr(graph::kLibraryCall))
      return false;
    if (graph::payloadFacts(cast<LoopNestOpInterface>(user)).isWidening &&
        isReadByLibrary(user))
      return false;
    LoopNest nest = cast<LoopNestOpInterface>(user).getLoopNest();
    // (A frame of zeros around it is read, too; overlapping windows are not.)
    auto reader = groups.groupOfOp.find(user);
    if (nest.isSequential() || nest.isIndirect() ||
        nest.points() > 2 * elements || reader == groups.groupOfOp.end() ||
        prologues.contains(reader->second))
      return false;
    recipe.readers.insert(reader->second);
  }
  return !recipe.readers.empty();
}

/// The ops from what is in memory anyway to the value.
bool KernelGroups::ReadersChoice::findOps(Recipe &recipe) const {
  llvm::DenseMap<Operation *, uint64_t> evaluations;
  bool possible = true;
  auto isCopied = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (!def)
      return false;
    OpKind kind = groups.kind(def);
    return kind == OpKind::Free ||
           (kind == OpKind::Elementwise && !isStored(value));
  };
  graph::visitDepthFirst<Operation *>(
      recipe.op,
      [&](Operation *op) { return !possible || recipe.ops.contains(op); },
      [&](Operation *op) {
        SmallVector<Operation *> needs;
        possible &= isCheap(op) && recipe.ops.size() < kMostCopied;
        for (Value operand : op->getOperands()) {
          Operation *def = operand.getDefiningOp();
          if (isCopied(operand))
            needs.push_back(def);
          else if (def && !isStored(operand) &&
                   (groups.kind(def) == OpKind::Reduction ||
                    groups.kind(def) == OpKind::Contraction))
            possible = false; // only its kernel has it
          else
            recipe.leaves.insert(operand);
        }
        return needs;
      },
      [&](Operation *op) {
        recipe.ops.insert(op);
        uint64_t &count = evaluations[op];
        count = 1;
        for (Value operand : op->getOperands())
          if (isCopied(operand))
            count += evaluations.lookup(operand.getDefiningOp());
        possible &= count <= kMostEvaluations;
      });
  recipe.evaluations = evaluations.lookup(recipe.op);
  return possible;
}

/// Whether what is read instead of the value is there for all readers: in the
/// same order, not overwritten by then, and keeping no more bytes alive than
/// the value would.
bool KernelGroups::ReadersChoice::areLeavesThere(const Recipe &recipe) {
  auto result = cast<OpResult>(recipe.op->getResult(0));
  unsigned last = 0;
  for (unsigned reader : recipe.readers)
    last = std::max(last, groups.list[reader].order);
  int64_t stays = 0;
  for (Value leaf : recipe.leaves) {
    Value root = graph::rootOf(leaf);
    bool isOrdered =
        isa<OpResult>(root) && graph::storageOrder(cast<OpResult>(root));
    if (2 * typeOf(leaf).getNumElements() >= typeOf(result).getNumElements() &&
        isOrdered != bool(graph::storageOrder(result)))
      return false;
    FlatSymbolRefAttr state = graph::stateOf(root);
    if (auto update = state ? updates.find(state.getAttr()) : updates.end();
        update != updates.end() &&
        llvm::any_of(recipe.readers, [&](unsigned reader) {
          return groups.dependsOn(reader, update->second);
        }))
      return false; // its old value would have to be kept
    if (isa<BlockArgument>(root))
      continue;
    unsigned until = 0;
    if (auto it = groups.readersOf.find(leaf); it != groups.readersOf.end())
      for (unsigned reader : newest(it->second))
        until = std::max(until, groups.list[reader].order);
    if (until < last)
      stays += bytesOf(leaf);
  }
  // From the forward to the backward is a long time.
  auto isForward = [](Operation *op) {
    return graph::roleOf(op->getLoc()) == graph::StepRole::Forward;
  };
  bool isSaved = isForward(recipe.op) &&
                 llvm::any_of(recipe.readers, [&](unsigned reader) {
                   return !isForward(groups.list[reader].ops.front());
                 });
  return stays <= bytesOf(result) * (isSaved ? kMostKept : kMostStaying);
}

bool KernelGroups::ReadersChoice::hasRoom(const Recipe &recipe) {
  return llvm::all_of(recipe.readers, [&](unsigned reader) {
    const Group &group = groups.list[reader];
    uint64_t repeats = 1;
    for (Operation *op : group.ops)
      repeats = std::max(repeats, groups.repeats.lookup(op).all);
    const Reader &now = readerOf(reader);
    return group.ops.size() + now.copies.size() + recipe.ops.size() <=
               size_t(groups.machine.maxKernelOps) &&
           repeats * (now.evaluations + recipe.evaluations) <= kMostRepeated;
  });
}

KernelGroups::ReadersChoice::Reader &
KernelGroups::ReadersChoice::readerOf(unsigned g) {
  auto [it, isNew] = known.try_emplace(g);
  if (isNew)
    for (Operation *op : groups.list[g].ops)
      for (Value value : groups.realOperands(op))
        if (groups.groupOf(value) != int(g) ||
            groups.kind(value.getDefiningOp()) == OpKind::Alias)
          it->second.values.insert(value);
  return it->second;
}

/// Bytes that all readers together would read more than now; negative: fewer.
int64_t KernelGroups::ReadersChoice::bytesOfReaders(const Recipe &recipe) {
  int64_t bytes = 0;
  for (unsigned reader : recipe.readers) {
    bytes -= bytesOf(recipe.op->getResult(0));
    for (Value leaf : recipe.leaves)
      if (!readerOf(reader).values.contains(leaf))
        bytes += bytesOf(leaf);
  }
  return bytes;
}

void KernelGroups::ReadersChoice::accept(const Recipe &recipe) {
  for (Operation *op : recipe.ops)
    if (groups.kind(op) != OpKind::Free)
      groups.inReaders.insert(op);
  for (unsigned number : recipe.readers) {
    Reader &reader = readerOf(number);
    reader.values.remove(recipe.op->getResult(0));
    reader.values.insert(recipe.leaves.begin(), recipe.leaves.end());
    reader.copies.insert(recipe.ops.begin(), recipe.ops.end());
    reader.evaluations += recipe.evaluations;
    for (Value leaf : recipe.leaves) {
      if (int from = groups.groupOf(leaf); from >= 0)
        groups.addRead(number, from);
      if (auto &list = groups.readersOf[leaf];
          !llvm::is_contained(list, number))
        list.push_back(number);
    }
    groups.explain(recipe.op, "computed within", groups.list[number],
                   "fewer bytes move than if it were stored");
  }
}

void KernelGroups::ReadersChoice::chooseIn(unsigned g) {
  const Group &group = groups.list[g];
  if (group.communication || prologues.contains(g))
    return;
  for (Operation *op : group.ops) {
    if (groups.kind(op) != OpKind::Elementwise || !isStored(op->getResult(0)) ||
        isJoinedInPlace(op))
      continue;
    Recipe recipe;
    recipe.op = op;
    if (!findReaders(recipe) || !findOps(recipe) || !areLeavesThere(recipe) ||
        !hasRoom(recipe))
      continue;
    int64_t saved = bytesOf(op->getResult(0));
    if (llvm::none_of(group.ops, [&](Operation *other) {
          return other != op &&
                 llvm::any_of(other->getResults(),
                              [&](Value made) { return isStored(made); });
        }))
      for (Value value : readerOf(g).values) // its kernel is gone
        saved += bytesOf(value);
    if (bytesOfReaders(recipe) < saved)
      accept(recipe);
  }
}

void KernelGroups::moveIntoReaders() {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, list.size()));
  llvm::sort(order, [&](unsigned x, unsigned y) {
    return list[x].order < list[y].order;
  });
  ReadersChoice choice(*this);
  for (unsigned g : order)
    choice.chooseIn(g);
}

/// It lives from step to step as bf16: a weight or a cache of a step that
/// generates.
static bool isKept(Value value) {
  Operation *def = graph::rootOf(value).getDefiningOp();
  auto loops = dyn_cast_if_present<LoopNestOpInterface>(def);
  return !def || (loops && loops.getLoopNest().replace.has_value());
}

/// Of a product: it has one row, and reads no element again.
static bool readsOnce(Operation *reader, Value value) {
  LoopNest nest = cast<LoopNestOpInterface>(reader).getLoopNest();
  return !nest.contraction || nest.points() == graph::numElements(value);
}

/// bf16 takes half of the memory of what is made of it, for each reader: values
/// are stored as that alone. On a CPU only what is kept, for products of one
/// row: others want it in an order of their own.
void KernelGroups::widenInReaders() {
  llvm::DenseSet<unsigned> absorbed;
  for (auto &[reader, groups] : prologues)
    absorbed.insert(groups.begin(), groups.end());
  for (unsigned g = 0; g < list.size(); ++g) {
    if (list[g].communication || absorbed.contains(g))
      continue;
    for (Operation *op : list[g].ops) {
      if (!graph::payloadFacts(cast<LoopNestOpInterface>(op)).isWidening ||
          inReaders.contains(op) ||
          (machine.widensInReaders == 0 && !isKept(op->getOperand(0))))
        continue;
      llvm::SetVector<unsigned> readers;
      bool isPossible = true;
      SmallVector<Operation *> open(op->getUsers());
      llvm::SmallPtrSet<Operation *, 8> seen;
      while (!open.empty()) {
        Operation *user = open.pop_back_val();
        if (!seen.insert(user).second)
          continue;
        if (kinds.lookup(user) == OpKind::Free && kinds.contains(user)) {
          open.append(user->user_begin(), user->user_end());
          continue;
        }
        auto reader = groupOfOp.find(user);
        isPossible &=
            reader != groupOfOp.end() && !list[reader->second].communication &&
            (machine.widensInReaders > 0 || readsOnce(user, op->getResult(0)));
        if (reader != groupOfOp.end() && reader->second != g)
          readers.insert(reader->second);
      }
      if (!isPossible || readers.empty())
        continue;
      Value narrow = op->getOperand(0);
      inReaders.insert(op);
      auto &known = readersOf[narrow];
      llvm::DenseSet<unsigned> before(known.begin(), known.end());
      for (unsigned reader : readers) {
        if (int from = groupOf(narrow); from >= 0 && from != int(reader))
          addRead(reader, from);
        if (!before.contains(reader))
          known.push_back(reader);
        explain(op, "computed within", list[reader],
                "it is stored in half of the bytes");
      }
    }
  }
}

/// Of a group, without those that only its readers compute.
SmallVector<Operation *> KernelGroups::neededOps(const Group &group) const {
  SmallVector<Operation *> needed;
  llvm::DenseSet<Value> read;
  for (Operation *op : llvm::reverse(group.ops)) {
    if (inReaders.contains(op) && !read.contains(op->getResult(0)))
      continue;
    needed.push_back(op);
    for (Value value : realOperands(op))
      read.insert(value);
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

} // namespace dl
