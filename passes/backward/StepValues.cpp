#include "passes/backward/StepValues.h"

using namespace mlir;

namespace dl {

std::string describe(Value value) {
  if (FlatSymbolRefAttr state = graph::stateOf(value))
    return "'" + state.getValue().str() + "'";
  if (graph::PortAttr port = graph::portOf(value))
    if (std::optional<int64_t> input = port.asInput())
      return "input " + std::to_string(*input);
  return "a value " + graph::typeText(value.getType());
}

} // namespace dl
