#include "passes/backward/StepValues.h"

using namespace mlir;

namespace dl {

static func::FuncOp functionOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  return dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
}

FlatSymbolRefAttr stateOf(Value value) {
  func::FuncOp function = functionOf(value);
  if (!function)
    return {};
  unsigned number = cast<BlockArgument>(value).getArgNumber();
  return function.getArgAttrOfType<FlatSymbolRefAttr>(number, kState);
}

std::string describe(Value value) {
  if (FlatSymbolRefAttr state = stateOf(value))
    return "'" + state.getValue().str() + "'";
  if (func::FuncOp function = functionOf(value)) {
    unsigned number = cast<BlockArgument>(value).getArgNumber();
    if (auto input = function.getArgAttrOfType<IntegerAttr>(number, kInput))
      return "input " + std::to_string(input.getInt());
  }
  return "a value " + graph::typeText(value.getType());
}

Value scalarsOf(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kScalars))
      return argument;
  return {};
}

} // namespace dl
