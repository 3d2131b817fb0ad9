#include "dialects/graph/StepRole.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

namespace dl::graph {

StringRef nameOf(StepRole role) {
  switch (role) {
  case StepRole::Forward:
    return "forward";
  case StepRole::Backward:
    return "backward";
  case StepRole::Update:
    return "update";
  }
  return "";
}

/// "backward linear" of a marked location, else empty.
static StringRef markOf(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  auto mark =
      fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  return mark && fused.getLocations().size() == 1 ? mark.getValue() : "";
}

Location withoutRole(Location location) {
  while (!markOf(location).empty())
    location = cast<FusedLoc>(location).getLocations().front();
  return location;
}

Location withRole(Location location, StepRole role, StringRef of) {
  // What expands an op keeps to the mark that the op has.
  if (role == StepRole::Forward || roleOf(location) == role)
    return location;
  std::string mark = nameOf(role).str();
  if (!of.empty())
    mark += " " + of.str();
  MLIRContext *context = location.getContext();
  return FusedLoc::get(context, {withoutRole(location)},
                       StringAttr::get(context, mark));
}

StepRole roleOf(Location location) {
  StringRef mark = markOf(location).split(' ').first;
  if (mark == nameOf(StepRole::Backward))
    return StepRole::Backward;
  return mark == nameOf(StepRole::Update) ? StepRole::Update
                                          : StepRole::Forward;
}

StringRef roleSource(Location location) {
  return markOf(location).split(' ').second;
}

void RoleMarker::notifyOperationInserted(Operation *op,
                                         OpBuilder::InsertPoint) {
  op->setLoc(withRole(op->getLoc(), role, of));
}

} // namespace dl::graph
