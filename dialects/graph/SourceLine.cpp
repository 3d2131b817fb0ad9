#include "dialects/graph/SourceLine.h"

using namespace mlir;

namespace dl::graph {

static void collect(Location location, SourceLine &source) {
  if (auto named = dyn_cast<NameLoc>(location)) {
    if (source.module.empty())
      source.module = named.getName();
    collect(named.getChildLoc(), source);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collect(call.getCallee(), source);
    if (!source.line)
      collect(call.getCaller(), source);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (!source.line)
        collect(part, source);
  } else if (auto line = dyn_cast<FileLineColLoc>(location)) {
    if (!source.line)
      source.line = line;
  }
}

std::string SourceLine::lineText() const {
  return line
             ? line.getFilename().str() + ":" + std::to_string(line.getLine()) +
                   ":" + std::to_string(line.getColumn())
             : "";
}

SourceLine sourceLineOf(Location location) {
  SourceLine source;
  collect(location, source);
  return source;
}

} // namespace dl::graph
