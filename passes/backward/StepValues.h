// What a step's values are called in messages, the step's scalars, and how
// another step comes to such values.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/graph/StepScalars.h"
#include "mlir/IR/IRMapping.h"
#include <string>

namespace dl {

using graph::readScalar;
using graph::StepScalar;

/// For messages: "'fc1.weight'", "input 0", "a value".
std::string describe(mlir::Value value);

/// Makes `wanted` known in another step, at `body`: computed again there, from
/// what is known already and from arguments, each of which `addArgument` gives
/// the step when it is first needed.
void computeAgain(mlir::Value wanted, mlir::OpBuilder &body,
                  mlir::IRMapping &known,
                  llvm::function_ref<mlir::Value(mlir::Value)> addArgument);

} // namespace dl
