// From the IR to the boxes of a picture.
#pragma once

#include "compiler/pictures/Picture.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace dl::pictures {

/// The names of the steps of a module, in its order: "train", "test".
std::vector<std::string> stepNames(mlir::ModuleOp module);

/// A step op by op, once gradients are written out. With `tidy`, a parameter
/// that is only seen in another shape is no box of its own.
std::optional<Picture> describeOps(mlir::ModuleOp module, llvm::StringRef step,
                                   bool tidy);

/// A step kernel by kernel, once kernels are formed.
std::optional<Picture> describeKernels(mlir::ModuleOp module,
                                       llvm::StringRef step);

} // namespace dl::pictures
