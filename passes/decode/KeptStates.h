// States of steps that generate, which nothing else has.
#pragma once

#include "dialects/graph/Graph.h"

namespace dl::decode {

/// A state of zeros for `value`, of the step that the user calls `step`:
/// "generate.text.h.0.attn.cache.3" for number 3 of the role "cache".
graph::StateOp makeKeptState(mlir::OpBuilder &builder, llvm::StringRef step,
                             mlir::Value value, llvm::StringRef role,
                             size_t number);

} // namespace dl::decode
