#include "dialects/graph/Graph.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult PhiloxOp::verify() {
  size_t words = getNumResults();
  if (words != 1 && words != 2)
    return emitOpError("an element draws one word or two, not ") << words;
  return success();
}
