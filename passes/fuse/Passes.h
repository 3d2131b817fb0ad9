// Passes that form kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dl {

#define GEN_PASS_DECL
#include "passes/fuse/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"

} // namespace dl
