#include "passes/schedule/Sources.h"
#include "dialects/graph/Place.h"

using namespace mlir;

namespace dl::schedule {

plan::SourceAttr sourceOf(Operation *op) {
  graph::Place place = graph::placeOf(op->getLoc());
  return plan::SourceAttr::get(op->getContext(), op->getName().stripDialect(),
                               place.module, place.lineText());
}

std::string describe(Location location) {
  graph::Place place = graph::placeOf(location);
  std::string line = place.lineText(), module = place.module.str();
  return line.empty() || module.empty() ? module + line : module + " " + line;
}

std::string pathOf(plan::SourceAttr source) {
  std::string op = source.getOp().str();
  return source.getModule().empty() ? op : source.getModule().str() + "/" + op;
}

} // namespace dl::schedule
