#include "passes/partition/WantedParts.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/LoopNest.h"

using namespace mlir;

namespace dl::partition {

TensorSharding wantedBy(graph::ShardOp shard, const TensorSharding &has,
                        const Mesh &mesh) {
  TensorSharding wanted =
      TensorSharding::whole(graph::shapeOf(shard.getX()).size());
  for (auto [name, from, dim] :
       llvm::zip_equal(shard.getAxisOfDims(), has.dims, wanted.dims)) {
    if (std::optional<unsigned> axis = mesh.axis(name))
      dim.axes.push_back(*axis);
    // Micro-batches of what is divided along the data axis stay apart.
    const Axes &outer =
        from.digits.empty() ? from.axes : from.digits.front().axes;
    if (mesh.time && llvm::is_contained(outer, *mesh.time) &&
        ArrayRef(outer).drop_back() == ArrayRef(dim.axes))
      dim.axes.push_back(*mesh.time);
  }
  return wanted;
}

/// Whether each element of the result is made of few: views, and elementwise
/// ops, as a rotation of keys is.
static bool isElementwise(Operation *op) {
  if (isa<graph::ReshapeOp>(op))
    return true;
  auto nest = dyn_cast<graph::LoopNestOpInterface>(op);
  return nest && op->getNumResults() == 1 &&
         nest.getLoopNest().combine == graph::Combine::None &&
         !nest.getLoopNest().isIndirect();
}

static bool isPointwise(Operation *op, ArrayRef<int64_t> shape) {
  return isElementwise(op) && graph::shapeOf(op->getResult(0)) == shape;
}

/// Whether a reader may take it as a partial sum, as far as the other operands
/// are known. Of those that are not, what another reader makes of it is
/// partial, too, as where a gradient is added to what micro-batches before have
/// left: select(first, x, accumulator + x).
static bool mayTakePartial(Operation *user, Value sum, unsigned axis,
                           KnownShardings known, unsigned depth = 3) {
  if (isa<graph::GradientOp, graph::ShardOp, graph::ReshardOp>(user))
    return true;
  auto isMadeOfIt = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return depth > 0 && maker &&
           llvm::is_contained(maker->getOperands(), sum) &&
           mayTakePartial(maker, sum, axis, known, depth - 1);
  };
  SmallVector<unsigned, 2> partial;
  int64_t elements = 0;
  for (OpOperand &operand : user->getOpOperands()) {
    const TensorSharding *lies = known(operand.get());
    if (lies ? llvm::is_contained(lies->sum, axis)
             : isMadeOfIt(operand.get())) {
      partial.push_back(operand.getOperandNumber());
      elements = std::max(elements, graph::numElements(operand.get()));
    } else if (lies && lies->uses(axis))
      return false; // It would have to be gathered.
  }
  if (user->getNumResults() > 0 &&
      graph::numElements(user->getResult(0)) > elements)
    return false; // There would be more to exchange.
  graph::ShardingRule rule = graph::shardingRule(user);
  return llvm::any_of(rule.partials, [&](const graph::PartialRule &one) {
    return one.kind == graph::Splitting::Sum && one.operands == partial;
  });
}

bool isNeededWhole(Value sum, unsigned axis, KnownShardings known) {
  return llvm::any_of(sum.getUsers(), [&](Operation *user) {
    return !mayTakePartial(user, sum, axis, known);
  });
}

/// As the dim of an operand that has the same outermost factor; null: none has.
static const DimSharding *alike(const graph::TensorFactors &factors,
                                ArrayRef<unsigned> dim,
                                const TensorSharding &lies) {
  for (auto [own, division] : llvm::zip(factors, lies.dims))
    if (!dim.empty() && !own.empty() && own.front() == dim.front())
      return &division;
  return nullptr;
}

/// A product goes over a dim with an operand that is divided there: as rows of
/// keys' gradients do with the rows that the keys were made of.
static std::optional<TensorSharding>
partsWantedByProduct(Operation *user, Value value, unsigned axis,
                     KnownShardings known) {
  auto nest = dyn_cast<graph::LoopNestOpInterface>(user);
  if (!nest || !nest.getLoopNest().contraction || user->getNumOperands() != 2)
    return std::nullopt;
  unsigned number = user->getOperand(0) == value ? 0 : 1;
  const TensorSharding *other = known(user->getOperand(1 - number));
  if (!other || other->isPartial() || !other->uses(axis))
    return std::nullopt;
  graph::ShardingRule rule = graph::shardingRule(user);
  auto wanted = TensorSharding::whole(graph::shapeOf(value).size());
  for (auto [factors, dim] : llvm::zip(rule.operands[number], wanted.dims))
    if (const DimSharding *as =
            alike(rule.operands[1 - number], factors, *other);
        as && as->digits.empty() && as->axes == Axes{axis})
      dim = *as;
  return wanted.uses(axis) ? std::optional(wanted) : std::nullopt;
}

/// What an operand has to be for the result to be so.
static std::optional<TensorSharding> before(OpOperand &use,
                                            const TensorSharding &result) {
  graph::ShardingRule rule = graph::shardingRule(use.getOwner());
  auto operand = TensorSharding::whole(graph::shapeOf(use.get()).size());
  for (auto [factors, dim] :
       llvm::zip(rule.operands[use.getOperandNumber()], operand.dims))
    if (const DimSharding *as = alike(rule.results[0], factors, result))
      dim = *as;
  for (const DimSharding &dim : result.dims)
    if (!dim.isWhole() && !llvm::is_contained(operand.dims, dim))
      return std::nullopt;
  return operand;
}

/// By products that come of it, looking at so many ops. All that is elementwise
/// on it has to want the same, or it would be there in whole as well.
static std::optional<TensorSharding> partsWantedByProducts(Value value,
                                                           unsigned axis,
                                                           KnownShardings known,
                                                           unsigned &looks) {
  for (Operation *user : value.getUsers())
    if (auto wanted = partsWantedByProduct(user, value, axis, known))
      return wanted;
  std::optional<TensorSharding> all;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (!isElementwise(user))
      continue;
    if (looks == 0)
      return std::nullopt;
    --looks;
    auto wanted = partsWantedByProducts(user->getResult(0), axis, known, looks);
    if (wanted)
      wanted = before(use, *wanted);
    if (!wanted || (all && all->dims != wanted->dims))
      return std::nullopt;
    all = wanted;
  }
  return all;
}

std::optional<TensorSharding> partsWantedOf(Value sum, unsigned axis,
                                            const Mesh &mesh,
                                            KnownShardings known) {
  unsigned looks = 32;
  if (auto wanted = partsWantedByProducts(sum, axis, known, looks))
    return wanted;
  const TensorSharding has = *known(sum);
  ArrayRef<int64_t> shape = graph::shapeOf(sum);
  for (Value value = sum;;) {
    std::optional<TensorSharding> wanted;
    for (Operation *user : value.getUsers()) {
      if (auto shard = dyn_cast<graph::ShardOp>(user)) {
        TensorSharding said = wantedBy(shard, has, mesh);
        if (said.along(axis).uses(axis))
          wanted = said;
        continue;
      }
      if (!isPointwise(user, shape))
        continue;
      for (Value other : user->getOperands()) {
        const TensorSharding *lies = known(other);
        if (other == value || !lies || graph::shapeOf(other) != shape)
          continue;
        if (lies->isPartial())
          return std::nullopt;
        if (lies->uses(axis))
          wanted = *lies;
      }
    }
    if (wanted || !value.hasOneUse())
      return wanted;
    Operation *user = *value.getUsers().begin();
    if (!isPointwise(user, shape))
      return std::nullopt;
    value = user->getResult(0);
  }
}

} // namespace dl::partition
