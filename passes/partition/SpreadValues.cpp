#include "passes/partition/SpreadValues.h"
#include "dialects/graph/Inference.h"

using namespace mlir;

namespace dl::partition {

/// How far back it looks: such values are made in few steps.
static constexpr int kMostSteps = 6;

static bool isSpreadWithin(Value value, KnownShardings known, int steps) {
  Operation *maker = value.getDefiningOp();
  auto nest = dyn_cast_or_null<graph::LoopNestOpInterface>(maker);
  if (steps == 0 || !nest || maker->getNumResults() != 1 ||
      nest.getLoopNest().combine != graph::Combine::None ||
      isa<graph::LaunchConstantsOpInterface>(maker) || !known(value) ||
      !known(value)->isWhole())
    return false;
  int64_t read = 0;
  for (Value operand : maker->getOperands())
    if (!isSpreadWithin(operand, known, steps - 1))
      read += graph::numElements(operand);
  return read < graph::numElements(value);
}

bool isSpread(Value value, KnownShardings known) {
  return isSpreadWithin(value, known, kMostSteps);
}

} // namespace dl::partition
