// Passes that choose physical layouts.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/layout/Passes.h.inc"

} // namespace dl
