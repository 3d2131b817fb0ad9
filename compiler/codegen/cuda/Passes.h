// Passes on kernels for GPUs.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/plan/MachineOption.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "compiler/codegen/cuda/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/codegen/cuda/Passes.h.inc"

} // namespace dl
