#include "passes/saved/SavedValues.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/saved/MinimumCut.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using dl::graph::LoopNestOpInterface;

namespace dl::saved {

/// No longer chains of ops are repeated: each reader goes through all of one.
static constexpr unsigned kMaxDepth = 12;
/// A value is made again of no more bytes than so many of its own size: a
/// stream to which each block adds is kept every few blocks.
static constexpr int64_t kMostRead = 3;
/// How many values around one are looked at for an op to write it beside.
static constexpr size_t kMaxNeighbours = 64;
/// One in so many of the bytes has to be saved: what is kept is larger than
/// what is not, often, and is read instead.
static constexpr int64_t kLeastShare = 4;

/// From one width to another: next to it, a kernel's vectors would be shorter,
/// and with them its sums others.
static bool changesWidth(Operation *op) {
  bool wide = false, narrow = false;
  auto look = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getNumElements() != 1 && isa<FloatType>(type.getElementType()))
      (type.getElementType().isF64() ? wide : narrow) = true;
  };
  llvm::for_each(op->getOperands(), look);
  llvm::for_each(op->getResults(), look);
  return wide && narrow;
}

static bool isSumOp(Operation *op) {
  auto loops = dyn_cast<LoopNestOpInterface>(op);
  if (!loops ||
      isa<graph::AliasOpInterface, graph::CommunicationOpInterface>(op))
    return false;
  graph::LoopNest nest = loops.getLoopNest();
  return nest.combine == graph::Combine::Sum && !nest.contraction;
}

static OpFacts factsOf(Operation *op) {
  OpFacts facts;
  auto loops = dyn_cast<LoopNestOpInterface>(op);
  if (!loops ||
      isa<graph::AliasOpInterface, graph::CommunicationOpInterface>(op))
    return facts;
  graph::LoopNest nest = loops.getLoopNest();
  graph::PayloadFacts payload = graph::payloadFacts(loops);
  bool isView = payload.isView || payload.isWidening;
  if (op->getNumResults() == 1 && nest.combine == graph::Combine::None &&
      !nest.contraction && !nest.isIndirect()) {
    // A copy into another order is made once.
    facts.isRepeatable =
        (!isView || !graph::storageOrder(op->getOpResult(0))) &&
        !changesWidth(op);
    facts.isView = isView && facts.isRepeatable;
    facts.isWidening = payload.isWidening && facts.isRepeatable;
  }
  facts.isProduct = nest.contraction;
  facts.isSum = isSumOp(op);
  if (nest.contraction)
    facts.reading = Reading::Whole;
  else if (!nest.isIndirect() && !nest.isSequential() && !isView)
    facts.reading = Reading::Within;
  return facts;
}

StepFacts::StepFacts(graph::StepOp step) {
  for (Operation &op : step.getBody().front()) {
    OpFacts own = factsOf(&op);
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp())
        own.part = std::max(own.part, of(def).part);
    // What a gradient needs of the forward alone is not yet the backward, if
    // it is elementwise.
    graph::StepRole role = graph::roleOf(op.getLoc());
    bool isBackward = role == graph::StepRole::Update ||
                      (role == graph::StepRole::Backward && !own.isRepeatable);
    if (own.part % 2 ? role == graph::StepRole::Forward : isBackward)
      ++own.part;
    own.place = all.size();
    last = std::max(last, own.part);
    // Its kernel stores it, whoever reads it then. (Behind a product of an
    // earlier part it may be made again, then in the kernel of whoever reads
    // it.)
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && own.isRepeatable && (!own.isView || own.isWidening) &&
          cast<ShapedType>(operand.getType()).getShape() ==
              cast<ShapedType>(op.getResult(0).getType()).getShape())
        own.isProduct |= of(def).isProduct && of(def).part == own.part;
    all.push_back(&op);
    facts.try_emplace(&op, own);
  }
  for (Operation *op : llvm::reverse(all))
    for (Operation *user : op->getUsers())
      if (const OpFacts &reader = of(user);
          reader.isSum && !of(op).isProduct && of(op).isRepeatable)
        facts[op].isSum = true;
  // The order of a sum may follow from what it reads at its own places.
  for (Operation *op : all)
    if (OpFacts &own = facts[op]; own.isSum && own.reading == Reading::Within)
      own.reading = Reading::Kept;
  // Nor is anything taken out of the kernel of a sum that computes with its
  // results, as with r * r * r for the gradient of r = 1 / sqrt(sum).
  llvm::DenseSet<Operation *> behindSum;
  for (Operation *op : all) {
    OpFacts &own = facts[op];
    bool sums = isSumOp(op);
    auto isBehind = [&](Value operand) {
      return behindSum.contains(operand.getDefiningOp()) &&
             cast<ShapedType>(operand.getType()).getShape() ==
                 cast<ShapedType>(op->getResult(0).getType()).getShape();
    };
    bool behind = own.isRepeatable && !own.isView &&
                  llvm::any_of(op->getOperands(), isBehind);
    if (sums || behind)
      behindSum.insert(op);
    if (behind && graph::roleOf(op->getLoc()) == graph::StepRole::Backward)
      own.isSum = true;
  }
}

namespace {

int64_t bytesOf(Value value) { return graph::tensorBytes(value.getType()); }

/// The values that readers in one part need, directly or to make others again.
class Saving {
public:
  Saving(const StepFacts &facts, unsigned part, int64_t leastBytes)
      : facts(facts), part(part), leastBytes(leastBytes) {}

  Choice run() {
    for (Operation *op : facts.ops())
      if (facts.of(op).part < part)
        classify(op);
    std::vector<Value> roots = needed;
    do {
      needed = roots;
      numbers.clear();
      for (auto [number, value] : llvm::enumerate(roots))
        numbers[value] = number;
      for (size_t i = 0; i < needed.size(); ++i)
        for (Value operand : operandsOf(needed[i]))
          need(operand);
      if (needed.empty())
        return {};
      cut();
    } while (cutChains());
    return choice();
  }

private:
  /// What is behind views and other shapes of it.
  Value baseOf(Value value) const {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<graph::AliasOpInterface>(op) && !facts.of(op).isView)
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  /// Arguments, constants, random numbers: every reader has them anyway.
  bool isGiven(Value value) const {
    Operation *op = value.getDefiningOp();
    return !op || (llvm::all_of(op->getOperands(), graph::isScalars) &&
                   facts.of(op).isRepeatable);
  }

  bool isReader(Operation *op) const { return facts.of(op).part == part; }

  /// Whether the op can be repeated, who reads its result, and what for.
  void classify(Operation *op) {
    if (op->getNumResults() == 0 || isGiven(op->getResult(0)))
      return;
    bool view = facts.of(op).isView;
    bool moved = view && !facts.of(op).isWidening;
    if (facts.of(op).isRepeatable) {
      for (Value operand : op->getOperands())
        if (operand.getDefiningOp<graph::AliasOpInterface>())
          inMemory.insert(baseOf(operand));
      if (view || (facts.of(op).part + 1 == part && !facts.of(op).isSum &&
                   bytesOf(op->getResult(0)) >= leastBytes))
        repeatable.insert(op);
    }
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers())
        if (isReader(user))
          addReader(result, user, moved);
  }

  void addReader(Value value, Operation *reader, bool moved) {
    Value base = baseOf(value);
    if (isGiven(base))
      return;
    Reading reading = facts.of(reader).reading;
    if (isa<graph::AliasOpInterface>(value.getDefiningOp()) ||
        (moved && reading != Reading::Within))
      reading = Reading::Kept;
    if (reading == Reading::Within) {
      need(value);
      read.insert(value);
      return;
    }
    need(base);
    read.insert(base);
    if (reading == Reading::Kept)
      inMemory.insert(base);
    else if (!hosts.count(base) && !inMemory.contains(base)) {
      if (Operation *host = hostOf(base))
        hosts[base] = host;
      else
        inMemory.insert(base);
    }
  }

  void need(Value value) {
    if (numbers.try_emplace(value, needed.size()).second)
      needed.push_back(value);
  }

  /// It can be made again.
  bool isFree(Value value) const {
    Operation *op = value.getDefiningOp();
    return repeatable.contains(op) && !inMemory.contains(value);
  }

  /// What is needed to make it again.
  SmallVector<Value> operandsOf(Value value) const {
    SmallVector<Value> values;
    if (isFree(value))
      for (Value operand : value.getDefiningOp()->getOperands()) {
        if (operand.getDefiningOp<graph::AliasOpInterface>())
          operand = baseOf(operand);
        if (!isGiven(operand))
          values.push_back(operand);
      }
    return values;
  }

  /// It is in memory for others anyway.
  bool isThere(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<graph::ReturnOp>(user) || facts.of(user).part > part;
    });
  }

  /// Views are nowhere.
  int64_t costOf(Value value) const {
    return facts.of(value.getDefiningOp()).isView || isThere(value)
               ? 0
               : bytesOf(value);
  }

  Operation *hostOf(Value value) const;
  void cut();
  bool cutChains();
  Choice choice() const;
  llvm::SmallPtrSet<Operation *, 8> wholeReaders(Value value) const;

  const StepFacts &facts;
  unsigned part;
  int64_t leastBytes;
  llvm::DenseSet<Operation *> repeatable;
  llvm::DenseSet<Value> inMemory, read;
  llvm::DenseMap<Value, Operation *> hosts;
  std::vector<Value> needed;
  llvm::DenseMap<Value, unsigned> numbers; // in needed
  std::vector<bool> isAgain, isSaved;      // of those
};

llvm::SmallPtrSet<Operation *, 8> Saving::wholeReaders(Value value) const {
  llvm::SmallPtrSet<Operation *, 8> products;
  for (Operation *user : value.getUsers())
    if (isReader(user) && facts.of(user).reading == Reading::Whole)
      products.insert(user);
    else if (facts.of(user).isWidening)
      products.insert_range(wholeReaders(user->getResult(0)));
  return products;
}

/// An op of the part, of the same shape, that reads what the value could be
/// made from, or what is made from that; the products that read the value can
/// wait for it.
Operation *Saving::hostOf(Value value) const {
  auto shaped = [&](Operation *op) {
    return op->getNumResults() == 1 &&
           cast<RankedTensorType>(op->getResult(0).getType()).getShape() ==
               cast<RankedTensorType>(value.getType()).getShape() &&
           graph::storageOrder(op->getOpResult(0)) ==
               graph::storageOrder(cast<OpResult>(value));
  };
  auto products = wholeReaders(value);
  auto canWait = [&](Operation *product, Operation *host) {
    return facts.of(product).place > facts.of(host).place ||
           llvm::all_of(product->getUsers(), [&](Operation *user) {
             return facts.of(user).place > facts.of(host).place;
           });
  };
  Operation *best = nullptr;
  auto consider = [&](Operation *op) {
    if (!facts.of(op).isRepeatable || facts.of(op).isView || !shaped(op) ||
        facts.of(op).place < facts.of(value.getDefiningOp()).place ||
        (best && facts.of(best).place < facts.of(op).place))
      return;
    if (llvm::all_of(products, [&](Operation *p) { return canWait(p, op); }))
      best = op;
  };
  llvm::SetVector<Value> around;
  around.insert(value);
  // The nearest one: others belong to other parts of the model.
  for (size_t i = 0; i < around.size() && i < kMaxNeighbours && !best; ++i) {
    for (Operation *user : around[i].getUsers())
      if (isReader(user))
        consider(user);
      else if (facts.of(user).part < part && facts.of(user).isRepeatable &&
               shaped(user))
        around.insert(user->getResult(0));
    Operation *def = around[i].getDefiningOp();
    if (facts.of(def).isRepeatable)
      for (Value operand : def->getOperands())
        if (Operation *from = operand.getDefiningOp();
            from && !isa<graph::AliasOpInterface>(from) && shaped(from))
          around.insert(operand);
  }
  return best;
}

void Saving::cut() {
  FlowNetwork network;
  isAgain.clear();
  isSaved.clear();
  std::vector<std::pair<unsigned, unsigned>> nodes;
  for (size_t i = 0; i < needed.size(); ++i) {
    unsigned in = network.addNode(), out = network.addNode();
    nodes.push_back({in, out});
  }
  for (auto [value, node] : llvm::zip(needed, nodes)) {
    bool view = facts.of(value.getDefiningOp()).isView;
    network.addEdge(node.first, node.second,
                    view ? FlowNetwork::unlimited : costOf(value));
    if (!isFree(value) && !view)
      network.addEdge(FlowNetwork::source, node.first, FlowNetwork::unlimited);
    for (Value operand : operandsOf(value))
      network.addEdge(nodes[numbers.lookup(operand)].second, node.first,
                      FlowNetwork::unlimited);
    if (read.contains(value))
      network.addEdge(node.second, FlowNetwork::sink, FlowNetwork::unlimited);
  }
  network.maximise();
  std::vector<bool> behind = network.sinkSide();
  for (auto [in, out] : nodes) {
    isAgain.push_back(behind[in] && behind[out]);
    isSaved.push_back(!behind[in] && behind[out]);
  }
}

/// Where a chain of repeated ops becomes too long, or reads too much, a value
/// in it has to be kept after all; false where there is none.
bool Saving::cutChains() {
  llvm::DenseMap<Operation *, unsigned> depths;
  llvm::DenseMap<Operation *, llvm::SmallSetVector<Value, 8>> reads;
  bool any = false;
  for (Operation *op : facts.ops()) {
    if (op->getNumResults() != 1)
      continue;
    auto it = numbers.find(op->getResult(0));
    if (it == numbers.end() || !isAgain[it->second])
      continue;
    unsigned depth = 0;
    llvm::SmallSetVector<Value, 8> read;
    int64_t own = 0, bytes = 0; // of what it is made of, at once and in the end
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      depth = std::max(depth, depths.lookup(def));
      own += bytesOf(operand);
      if (auto made = reads.find(def); def && made != reads.end())
        read.insert_range(made->second);
      else if (!isGiven(operand))
        read.insert(operand);
    }
    for (Value value : read)
      bytes += bytesOf(value);
    if (!facts.of(op).isView &&
        (++depth > kMaxDepth ||
         bytes > std::max(own, kMostRead * bytesOf(op->getResult(0))))) {
      inMemory.insert(op->getResult(0));
      any = true;
      depth = 0;
      read.clear();
      read.insert(op->getResult(0));
    }
    depths[op] = depth;
    reads[op] = std::move(read);
  }
  return any;
}

/// Without the parts of the network where little is saved.
Choice Saving::choice() const {
  llvm::EquivalenceClasses<unsigned> joined;
  for (auto [number, value] : llvm::enumerate(needed)) {
    joined.insert(number);
    for (Value operand : operandsOf(value))
      joined.unionSets(number, numbers.lookup(operand));
  }
  struct Sum {
    int64_t before = 0, after = 0;
    bool changesSum = false; // what it goes over is stored now
  };
  llvm::DenseMap<unsigned, Sum> sums;
  for (auto [number, value] : llvm::enumerate(needed)) {
    Sum &sum = sums[joined.getLeaderValue(number)];
    sum.before += read.contains(value) ? costOf(value) : 0;
    sum.after += isSaved[number] ? costOf(value) : 0;
    sum.changesSum |= isSaved[number] && !read.contains(value) &&
                      facts.of(value.getDefiningOp()).isSum &&
                      facts.of(value.getDefiningOp()).isRepeatable;
  }
  auto pays = [&](unsigned number) {
    Sum sum = sums.lookup(joined.getLeaderValue(number));
    int64_t gain = sum.before - sum.after;
    return !sum.changesSum && gain >= leastBytes &&
           gain * kLeastShare >= sum.before;
  };
  Choice result;
  for (auto [leader, sum] : sums)
    if (pays(leader))
      result.bytes += sum.before - sum.after;
  llvm::DenseSet<Value> again;
  for (Operation *op : facts.ops())
    for (Value value : op->getResults()) {
      auto it = numbers.find(value);
      if (it == numbers.end() || !pays(it->second))
        continue;
      if (isSaved[it->second])
        result.kept.push_back(value);
      if (!isAgain[it->second])
        continue;
      if (facts.of(op).isView) { // only of what is itself made again
        if (again.contains(op->getOperand(0))) {
          result.again.push_back(op);
          again.insert(value);
        }
        continue;
      }
      result.again.push_back(op);
      again.insert(value);
      ++result.values;
      result.elements +=
          cast<RankedTensorType>(value.getType()).getNumElements();
      if (Operation *host = hosts.lookup(value))
        result.beside[value] = host;
    }
  return result;
}

} // namespace

Choice chooseSaved(const StepFacts &facts, unsigned part, int64_t leastBytes) {
  return Saving(facts, part, leastBytes).run();
}

} // namespace dl::saved
