#include "passes/schedule/Sources.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/StepRole.h"

using namespace mlir;

namespace dl::schedule {

static plan::SourceAttr sourceAt(Operation *op, Location place) {
  graph::SourceLine source = graph::sourceLineOf(place);
  return plan::SourceAttr::get(op->getContext(), op->getName().stripDialect(),
                               source.module, source.lineText());
}

plan::SourceAttr sourceOf(Operation *op) { return sourceAt(op, op->getLoc()); }

SmallVector<Attribute> sourcesOf(Operation *op) {
  auto places = dyn_cast<FusedLoc>(graph::withoutRole(op->getLoc()));
  if (!isa<graph::BucketOp>(op) || !places)
    return {sourceOf(op)};
  SmallVector<Attribute> sources;
  for (Location place : places.getLocations())
    sources.push_back(sourceAt(op, place));
  return sources;
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
