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

namespace {

/// What the location of an op says about it: "backward linear #2 @1".
struct Mark {
  StringRef role, of, checkpoint, batchPart;

  explicit Mark(Location location) {
    SmallVector<StringRef, 4> words;
    textOf(location).split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef word : words) {
      if (word.starts_with("#"))
        checkpoint = word;
      else if (word.starts_with("@"))
        batchPart = word;
      else
        (role.empty() ? role : of) = word;
    }
  }

  Location on(Location location) const {
    std::string text = role.str();
    for (StringRef word : {of, checkpoint, batchPart})
      if (!word.empty())
        text += " " + word.str();
    MLIRContext *context = location.getContext();
    return FusedLoc::get(context, {withoutRole(location)},
                         StringAttr::get(context, text));
  }

  /// Empty where there is no mark.
  static StringRef textOf(Location location) {
    auto fused = dyn_cast<FusedLoc>(location);
    auto text = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata())
                      : StringAttr();
    return text && fused.getLocations().size() == 1 ? text.getValue() : "";
  }
};

} // namespace

Location withoutRole(Location location) {
  while (!Mark::textOf(location).empty())
    location = cast<FusedLoc>(location).getLocations().front();
  return location;
}

Location withRole(Location location, StepRole role, StringRef of) {
  // What expands an op keeps to the mark that the op has.
  if (role == StepRole::Forward || roleOf(location) == role)
    return location;
  Mark mark(location);
  mark.role = nameOf(role);
  mark.of = of;
  return mark.on(location);
}

StepRole roleOf(Location location) {
  StringRef role = Mark(location).role;
  if (role == nameOf(StepRole::Backward))
    return StepRole::Backward;
  return role == nameOf(StepRole::Update) ? StepRole::Update
                                          : StepRole::Forward;
}

StringRef roleSource(Location location) { return Mark(location).of; }

/// A word of a mark and the number in it.
static Location withNumber(Location location, StringRef Mark::*word, char sign,
                           unsigned number) {
  std::string text = sign + std::to_string(number);
  Mark mark(location);
  mark.role = nameOf(roleOf(location));
  mark.*word = text;
  return mark.on(location);
}
static unsigned numberIn(StringRef word) {
  unsigned number = 0;
  return word.drop_front(!word.empty()).getAsInteger(10, number) ? 0 : number;
}

Location withCheckpoint(Location location, unsigned checkpoint) {
  return withNumber(location, &Mark::checkpoint, '#', checkpoint);
}
unsigned checkpointOf(Location location) {
  return numberIn(Mark(location).checkpoint);
}

Location withBatchPart(Location location, unsigned number) {
  return withNumber(location, &Mark::batchPart, '@', number);
}
unsigned batchPartOf(Location location) {
  return numberIn(Mark(location).batchPart);
}

void RoleMarker::notifyOperationInserted(Operation *op,
                                         OpBuilder::InsertPoint) {
  op->setLoc(withRole(op->getLoc(), role, of));
}

} // namespace dl::graph
