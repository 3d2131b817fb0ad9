#include "passes/schedule/Sources.h"
#include "dialects/graph/SourceLine.h"

using namespace mlir;

namespace dl::schedule {

plan::SourceAttr sourceOf(Operation *op) {
  graph::SourceLine source = graph::sourceLineOf(op->getLoc());
  return plan::SourceAttr::get(op->getContext(), op->getName().stripDialect(),
                               source.module, source.lineText());
}

std::string describe(Location location) {
  graph::SourceLine source = graph::sourceLineOf(location);
  std::string line = source.lineText(), module = source.module.str();
  return line.empty() || module.empty() ? module + line : module + " " + line;
}

std::string pathOf(plan::SourceAttr source) {
  std::string op = source.getOp().str();
  return source.getModule().empty() ? op : source.getModule().str() + "/" + op;
}

} // namespace dl::schedule
