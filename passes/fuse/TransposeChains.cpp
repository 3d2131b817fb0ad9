#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/Payload.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/ProductRate.h"
#include "passes/fuse/StreamedProducts.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;
using dl::graph::shapeOf;

namespace dl {
#define GEN_PASS_DEF_TRANSPOSECHAINS
#include "passes/fuse/Passes.h.inc"

namespace {

using Ops = llvm::SetVector<Operation *>;

bool isRowMajor(Operation *op) {
  return llvm::all_of(op->getResults(), [](OpResult result) {
    return !graph::storageOrder(result);
  });
}

bool isProduct(Operation *op) {
  auto loops = dyn_cast_or_null<LoopNestOpInterface>(op);
  return loops && isa<graph::TransposableOpInterface>(op) &&
         op->getNumResults() == 1 && loops.getLoopNest().contraction &&
         isRowMajor(op) && !op->hasAttr(graph::kLibraryCall);
}

/// Each element is made of one of each operand, at its own place but for dims
/// of one element, and of nothing else.
bool isElementwise(Operation *op) {
  auto loops = dyn_cast_or_null<LoopNestOpInterface>(op);
  if (!loops || op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      !isRowMajor(op))
    return false;
  LoopNest nest = loops.getLoopNest();
  // (Attributes of views say their shape.)
  if (nest.combine != graph::Combine::None || nest.replace ||
      nest.isIndirect() || nest.isSequential() || graph::isView(op))
    return false;
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
    size_t rank = shapeOf(operand).size();
    if (access.outside || !access.guards.empty() || rank > nest.numParallel)
      return false;
    for (auto [at, expr] : llvm::enumerate(access.map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim ? dim.getPosition() != nest.numParallel - rank + at
              : shapeOf(operand)[at] != 1)
        return false;
    }
  }
  graph::PayloadBlock payload(loops, nest.extents.size());
  return llvm::all_of(payload.indices(),
                      [](Value index) { return index.use_empty(); }) &&
         llvm::none_of(payload.block, [](Operation &step) {
           return isa<graph::ScalarOp, graph::LaunchConstantOp,
                      graph::PhiloxOp>(step);
         });
}

/// Of one or more dims, as another view of the same.
Value exchanged(Value value, OpBuilder &builder) {
  graph::GraphBuilder g(builder, value.getLoc());
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.empty())
    return value;
  if (shape.size() == 1) {
    SmallVector<int64_t> column{shape[0], 1};
    if (auto iota = value.getDefiningOp<graph::IotaOp>())
      return g.make<graph::IotaOp>(
          0, RankedTensorType::get(column, graph::elementOf(value)),
          iota.getStart());
    return g.reshape(value, column);
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(shape.size()));
  std::swap(order.end()[-1], order.end()[-2]);
  return g.transpose(value, order);
}

/// A product that no library gets.
Value chained(Operation *product, ValueRange operands,
              ArrayRef<bool> transposed, OpBuilder &builder) {
  Value result = cast<graph::TransposableOpInterface>(product).buildTransposed(
      builder, operands, transposed);
  result.getDefiningOp()->setAttr(graph::kChained, builder.getUnitAttr());
  return result;
}

/// An elementwise op on operands whose last two dims are exchanged.
Value transposedClone(Operation *op, ValueRange operands, OpBuilder &builder) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *clone = builder.clone(*op, mapping);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape.end()[-1], shape.end()[-2]);
  clone->getResult(0).setType(type.clone(shape));
  return clone->getResult(0);
}

/// What values of one shape are made of that a product sums the rows of.
class Chain {
public:
  /// Of so many ops at most: more have no room in one kernel.
  Chain(ArrayRef<int64_t> shape, size_t most) : shape(shape), most(most) {}

  /// Whether all that the value is made of can be had transposed.
  bool add(Value value) {
    Operation *op = value.getDefiningOp();
    if (ops.contains(op))
      return true;
    if (++looked > most)
      return false;
    if (shapeOf(value) == ArrayRef(shape) && isProduct(op) &&
        llvm::all_of(op->getOperands(),
                     [&](Value operand) { return isSmall(operand); })) {
      ops.insert(op);
      products.insert(op);
      ofProducts.insert(op);
      return true;
    }
    if (!isOfShape(value) || !isElementwise(op))
      return isSmall(seen(value));
    if (!llvm::all_of(op->getOperands(),
                      [&](Value operand) { return add(operand); }))
      return false;
    // What is compared with a number made again in another order may differ.
    bool isOfProducts = llvm::any_of(op->getOperands(), [&](Value operand) {
      return ofProducts.contains(operand.getDefiningOp());
    });
    bool compares =
        graph::payloadFacts(cast<LoopNestOpInterface>(op)).isComparison;
    if (compares && isOfProducts)
      return false;
    hasMask |= isMaskOfPlaces(value);
    if (isOfProducts)
      ofProducts.insert(op);
    ops.insert(op);
    return true;
  }

  const Ops &makers() const { return products; }
  bool isMasked() const { return hasMask; }

  /// Its last two dims exchanged. What is made of others is made again there.
  Value transposed(Value value, OpBuilder &builder) {
    if (Value known = made.lookup(value))
      return known;
    return made[value] = build(value, builder);
  }

private:
  /// Of masks, too, which have no batch.
  bool isOfShape(Value value) const {
    ArrayRef<int64_t> own = shapeOf(value);
    return own.size() >= 2 && own.take_back(2) == ArrayRef(shape).take_back(2);
  }
  /// What is expanded is in memory as it was.
  static Value seen(Value value) {
    while (graph::isView(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }
  bool isSmall(Value value) const {
    int64_t elements = 1;
    for (int64_t extent : shape)
      elements *= extent;
    return 2 * graph::numElements(value) <= elements;
  }

  Value build(Value value, OpBuilder &builder) {
    Operation *op = value.getDefiningOp();
    if (products.contains(op))
      return chained(op, op->getOperands(), {false, false, true}, builder);
    if (!ops.contains(op))
      return exchanged(value, builder);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(transposed(operand, builder));
    return transposedClone(op, operands, builder);
  }

  SmallVector<int64_t> shape;
  size_t most, looked = 0;
  Ops ops, products;
  llvm::DenseSet<Operation *> ofProducts;
  bool hasMask = false;
  llvm::DenseMap<Value, Value> made;
};

/// A product that sums over the rows of a value, which it has no other index of
/// than its batch and a column.
struct SumOverRows {
  Operation *product;
  unsigned operand;

  Value value() const { return product->getOperand(operand); }
};

class Transposing {
public:
  Transposing(graph::StepOp step, const plan::MachineModel &machine)
      : step(step), machine(machine) {}

  void run() {
    for (Operation &op : step.getOps())
      if (isProduct(&op))
        for (unsigned operand : {0, 1})
          if (sumsRows(&op, operand))
            add({&op, operand});
    for (Group &group : groups)
      if (isWorthIt(group))
        transpose(group);
    // (Till then a chain may be made of what another one has replaced.)
    for (Operation *op : llvm::reverse(replaced))
      if (op->use_empty())
        op->erase();
    for (Operation &op : step.getOps())
      if (isLarge(&op) && streams(&op, machine))
        keepTogether(&op);
  }

private:
  /// Sums over rows of values that are made of the same products.
  struct Group {
    Chain chain;
    SmallVector<SumOverRows> sums;
  };

  /// It makes much of less.
  bool isLarge(Operation *op) const {
    return isProduct(op) &&
           graph::tensorBytes(op->getResult(0).getType()) >=
               machine.chainLeastBytes &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return 2 * graph::numElements(operand) <=
                    graph::numElements(op->getResult(0));
           });
  }

  /// No library gets a product, or another that adds up what is made of it:
  /// columns would be in memory between the two.
  static void keepTogether(Operation *product) {
    auto chained = UnitAttr::get(product->getContext());
    for (Operation *total : totalsOf(product))
      if (isProduct(total)) {
        product->setAttr(graph::kChained, chained);
        total->setAttr(graph::kChained, chained);
      }
  }

  /// And may sum leading dims, too: heads of queries that share one of keys.
  bool sumsRows(Operation *product, unsigned operand) const {
    Value value = product->getOperand(operand);
    LoopNest nest = cast<LoopNestOpInterface>(product).getLoopNest();
    size_t rank = shapeOf(value).size();
    const graph::Access &access = nest.accesses[operand];
    if (rank < 3 || access.outside || !access.guards.empty() ||
        graph::tensorBytes(value.getType()) < machine.chainLeastBytes)
      return false;
    for (auto [at, expr] : llvm::enumerate(access.map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || (at >= rank - 2 &&
                   (dim.getPosition() >= nest.numParallel) != (at == rank - 2)))
        return false;
    }
    return true;
  }

  void add(SumOverRows sum) {
    Chain own(shapeOf(sum.value()), machine.maxKernelOps);
    if (!own.add(sum.value()) || own.makers().empty())
      return;
    for (Group &group : groups)
      if (llvm::any_of(own.makers(), [&](Operation *product) {
            return group.chain.makers().contains(product);
          })) {
        if (group.chain.add(sum.value()))
          group.sums.push_back(sum);
        return;
      }
    groups.push_back({std::move(own), {sum}});
  }

  /// To compute the values again takes less than to write and read them. Of
  /// these, and of the chain over rows, which then stores nothing, a mask hides
  /// half.
  bool isWorthIt(const Group &group) const {
    double computing = 0, moving = 0;
    for (Operation *product : group.chain.makers()) {
      double flops =
          2 * double(cast<LoopNestOpInterface>(product).getLoopNest().points());
      computing += flops / (kChainRate * productRate(product, machine));
    }
    llvm::SmallPtrSet<void *, 4> values;
    for (const SumOverRows &sum : group.sums)
      if (!isKept(sum) &&
          values.insert(sum.value().getAsOpaquePointer()).second)
        moving += 2 * double(storedBytes(sum.value())) / machine.bytesPerSecond;
    return computing * (group.chain.isMasked() ? 0.25 : 1) <= moving;
  }

  /// What the forward makes is in memory for the rest of the backward anyway.
  static bool isKept(const SumOverRows &sum) {
    auto isForward = [](Operation *op) {
      return graph::roleOf(op->getLoc()) == graph::StepRole::Forward;
    };
    return isForward(sum.value().getDefiningOp()) && !isForward(sum.product);
  }

  static int64_t storedBytes(Value value) {
    auto maker = value.getDefiningOp<LoopNestOpInterface>();
    if (maker && graph::payloadFacts(maker).isWidening)
      value = maker->getOperand(0);
    return graph::tensorBytes(value.getType());
  }

  void transpose(Group &group) {
    for (SumOverRows &sum : group.sums) {
      // (Of the rows of both of its operands it sums those of one.)
      if (sum.product->use_empty() || !leaveLeadingSums(sum))
        continue;
      Operation *product = sum.product;
      OpBuilder builder(product);
      SmallVector<Value> operands(product->getOperands());
      SmallVector<bool> transposed(operands.size() + 1, false);
      operands[sum.operand] = group.chain.transposed(sum.value(), builder);
      transposed[sum.operand] = true;
      // Columns of the value are to be rows of what is made of it, too.
      transposed.back() = columnIsLast(sum);
      Value result = chained(product, operands, transposed, builder);
      replace(product->getResult(0), result, transposed.back(), builder);
    }
  }

  /// A chain has sums of its own rows alone: those over leading dims follow it.
  bool leaveLeadingSums(SumOverRows &sum) {
    Operation *product = sum.product;
    LoopNest nest = cast<LoopNestOpInterface>(product).getLoopNest();
    SmallVector<int64_t> dims;
    for (auto [at, expr] : llvm::enumerate(
             nest.accesses[sum.operand].map.getResults().drop_back(2)))
      if (cast<AffineDimExpr>(expr).getPosition() >= nest.numParallel)
        dims.push_back(at);
    if (dims.empty())
      return true;
    OpBuilder builder(product);
    Value parts = cast<graph::TransposableOpInterface>(product).buildUnsummed(
        builder, sum.operand);
    if (!parts)
      return false;
    graph::GraphBuilder g(builder, product->getLoc());
    Value all = g.sum(parts, dims, /*keepdim=*/true);
    Value old = product->getResult(0);
    if (all.getType() != old.getType())
      all = g.reshape(all, shapeOf(old));
    old.replaceAllUsesWith(all);
    replaced.push_back(product);
    sum.product = parts.getDefiningOp();
    return true;
  }

  static bool columnIsLast(const SumOverRows &sum) {
    LoopNest nest = cast<LoopNestOpInterface>(sum.product).getLoopNest();
    return nest.accesses[sum.operand].map.getResults().back() ==
           getAffineDimExpr(nest.numParallel - 1, sum.product->getContext());
  }

  /// Rounding, which a product does itself, comes before what is transposed is
  /// turned round.
  void replace(Value old, Value result, bool isTransposed, OpBuilder &builder) {
    replaced.push_back(old.getDefiningOp());
    while (isTransposed && old.hasOneUse()) {
      Operation *user = *old.getUsers().begin();
      if (user->getNumOperands() != 1 || !isElementwise(user))
        break;
      replaced.push_back(user);
      old = user->getResult(0);
      result = transposedClone(user, result, builder);
    }
    if (isTransposed)
      result = exchanged(result, builder);
    old.replaceAllUsesWith(result);
  }

  graph::StepOp step;
  const plan::MachineModel &machine;
  std::vector<Group> groups;
  std::vector<Operation *> replaced;
};

struct TransposeChains : impl::TransposeChainsBase<TransposeChains> {
  using Base::Base;

  void runOnOperation() override {
    if (machine.chainRows > 0 && machine.chainScratchBytes > 0)
      Transposing(getOperation(), machine).run();
  }
};

} // namespace
} // namespace dl
