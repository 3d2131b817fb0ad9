#pragma once
// Lines of the model as MLIR has them.
#include "compiler/frontend/Message.h"
#include "mlir/IR/Location.h"

namespace dl::frontend {

/// The innermost line; unknown without any.
inline mlir::Location locationOf(llvm::ArrayRef<Frame> frames,
                                 mlir::MLIRContext *context) {
  if (frames.empty())
    return mlir::UnknownLoc::get(context);
  return mlir::FileLineColLoc::get(context, frames.front().file,
                                   frames.front().line, frames.front().column);
}

} // namespace dl::frontend
