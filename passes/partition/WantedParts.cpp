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

static bool isPointwise(Operation *op, ArrayRef<int64_t> shape) {
  auto nest = dyn_cast<graph::LoopNestOpInterface>(op);
  return nest && op->getNumResults() == 1 &&
         nest.getLoopNest().combine == graph::Combine::None &&
         !nest.getLoopNest().isIndirect() &&
         graph::shapeOf(op->getResult(0)) == shape;
}

/// Whether a reader may take it as a partial sum, as far as the other operands
/// are known. Of those that are not, what another reader makes of it is
/// partial, too, as where a gradient is added to what micro-batches before have
/// left: select(first, x, accumulator + x).
static bool mayTakePartial(Operation *user, Value sum, unsigned axis,
                           KnownShardings known) {
  if (isa<graph::GradientOp, graph::ShardOp, graph::ReshardOp>(user))
    return true;
  auto isMadeOfIt = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && llvm::is_contained(maker->getOperands(), sum) &&
           mayTakePartial(maker, sum, axis, known);
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

std::optional<TensorSharding> partsWantedOf(Value sum, unsigned axis,
                                            const Mesh &mesh,
                                            KnownShardings known) {
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
