#include "passes/partition/JoinedSums.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/StepRole.h"

using namespace mlir;

namespace dl::partition {

/// How far it looks: a product, its bias, and a few residual connections.
static constexpr size_t kMostAdditions = 4;

static bool areParts(const TensorSharding &sharding, const Mesh &mesh) {
  return sharding.sum.size() == 1 && sharding.sum.front() != mesh.time &&
         sharding.max.empty() && !sharding.hasDigits();
}

static bool isSumOverRanks(graph::ReshardOp reshard, const Mesh &mesh) {
  return areParts(TensorSharding::of(reshard.getFrom(), mesh), mesh) &&
         !TensorSharding::of(reshard.getTo(), mesh).isPartial();
}

static std::optional<SumWithin> sumWithin(Value value, Type type,
                                          const Mesh &mesh) {
  if (value.getType() != type || !value.hasOneUse())
    return std::nullopt;
  if (auto reshard = value.getDefiningOp<graph::ReshardOp>())
    return isSumOverRanks(reshard, mesh)
               ? std::optional(SumWithin{reshard.getX(), reshard, {}})
               : std::nullopt;
  auto add = value.getDefiningOp<graph::AddOp>();
  if (!add)
    return std::nullopt;
  for (Value operand : add->getOperands())
    if (auto found = sumWithin(operand, type, mesh);
        found && found->path.size() < kMostAdditions) {
      found->path.push_back(add);
      return found;
    }
  return std::nullopt;
}

std::optional<std::pair<SumWithin, SumWithin>>
sumsToJoin(graph::AddOp add, const Mesh &mesh, KnownShardings known) {
  Type type = add.getType();
  if (graph::roleOf(add.getLoc()) != graph::StepRole::Forward)
    return std::nullopt;
  auto within = [&](Value operand) {
    const TensorSharding *sharding = known(operand);
    return sharding && areParts(*sharding, mesh) && operand.getType() == type
               ? std::optional(SumWithin{operand, {}, {}})
               : sumWithin(operand, type, mesh);
  };
  auto first = within(add->getOperand(0)), second = within(add->getOperand(1));
  if (first && second && !first->sum)
    std::swap(first, second);
  if (!first || !second || !first->sum ||
      *known(first->parts) != *known(second->parts) ||
      (second->sum && second->sum.getTo() != first->sum.getTo()))
    return std::nullopt;
  // What stays of the second one is the other operand of its reader, which may
  // be one that is repeated, a bias: not beside another one.
  if (second->path.size() > 1 &&
      llvm::none_of(second->path[1]->getOperands(), [&](Value operand) {
        return operand.getType() == type &&
               operand != second->path[0].getResult();
      }))
    return std::nullopt;
  return std::pair(*first, *second);
}

} // namespace dl::partition
