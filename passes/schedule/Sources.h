// Where in the model an op comes from.
#pragma once

#include "dialects/plan/Plan.h"

namespace dl::schedule {

/// Name, module path and innermost line of the user's file.
plan::SourceAttr sourceOf(mlir::Operation *op);

/// The same of each op that this one stands for: of a bucket its
/// communications.
llvm::SmallVector<mlir::Attribute> sourcesOf(mlir::Operation *op);

/// "conv1 mnist.dl:14:17", what is known of it.
std::string describe(mlir::Location location);

/// "conv1/conv2d", or "conv2d" outside of modules.
std::string pathOf(plan::SourceAttr source);

} // namespace dl::schedule
