// What a step's values are called in messages, and the step's scalars.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/graph/StepScalars.h"
#include <string>

namespace dl {

using graph::readScalar;
using graph::StepScalar;

/// For messages: "'fc1.weight'", "input 0", "a value".
std::string describe(mlir::Value value);

} // namespace dl
