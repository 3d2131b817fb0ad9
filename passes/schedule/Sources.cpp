#include "passes/schedule/Sources.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace dl::schedule {
namespace {

struct Place {
  StringRef module;
  FileLineColLoc line;
};

/// Takes the outermost name and the first line that a location holds.
void collect(Location location, Place &place) {
  if (auto named = dyn_cast<NameLoc>(location)) {
    if (place.module.empty())
      place.module = named.getName();
    collect(named.getChildLoc(), place);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collect(call.getCallee(), place);
    if (!place.line)
      collect(call.getCaller(), place);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (!place.line)
        collect(part, place);
  } else if (auto line = dyn_cast<FileLineColLoc>(location)) {
    if (!place.line)
      place.line = line;
  }
}

std::string textOf(FileLineColLoc line) {
  return line
             ? line.getFilename().str() + ":" + std::to_string(line.getLine()) +
                   ":" + std::to_string(line.getColumn())
             : "";
}

} // namespace

plan::SourceAttr sourceOf(Operation *op) {
  Place place;
  collect(op->getLoc(), place);
  return plan::SourceAttr::get(op->getContext(), op->getName().stripDialect(),
                               place.module, textOf(place.line));
}

std::string describe(Location location) {
  Place place;
  collect(location, place);
  std::string line = textOf(place.line), module = place.module.str();
  return line.empty() || module.empty() ? module + line : module + " " + line;
}

std::string pathOf(plan::SourceAttr source) {
  std::string op = source.getOp().str();
  return source.getModule().empty() ? op : source.getModule().str() + "/" + op;
}

} // namespace dl::schedule
