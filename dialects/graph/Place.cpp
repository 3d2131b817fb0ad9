#include "dialects/graph/Place.h"

using namespace mlir;

namespace dl::graph {

static void collect(Location location, Place &place) {
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

std::string Place::lineText() const {
  return line
             ? line.getFilename().str() + ":" + std::to_string(line.getLine()) +
                   ":" + std::to_string(line.getColumn())
             : "";
}

Place placeOf(Location location) {
  Place place;
  collect(location, place);
  return place;
}

} // namespace dl::graph
