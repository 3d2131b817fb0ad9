// What an op's payload says about the op, for passes that must not know its
// name.
#pragma once

#include "dialects/graph/Graph.h"

namespace dl::graph {

struct PayloadFacts {
  /// The result is the one operand, only indexed otherwise: transpose, expand.
  bool isView = false;
  /// The same, but zero where the index leaves the operand: a pad around it.
  bool isZeroPaddedView = false;
  /// The operand's element at the same place, as f32 what is stored as bf16.
  bool isWidening = false;
  /// The other way round.
  bool isRounding = false;
  /// Recomputing a value costs more than storing and loading it: exp, random
  /// numbers, an element that has to be looked for.
  bool isExpensive = false;
  /// The sum of its two operands, which are floats.
  bool isAddition = false;
  /// Whether its two operands are equal, or one is less than the other.
  bool isComparison = false;
};

PayloadFacts payloadFacts(LoopNestOpInterface op);

/// Such an op, whose payload is a view; not one for null.
bool isView(mlir::Operation *op);

} // namespace dl::graph
