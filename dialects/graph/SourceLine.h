// What a location says to a user: the module and the line of the model.
#pragma once

#include "mlir/IR/Location.h"
#include <string>

namespace dl::graph {

struct SourceLine {
  llvm::StringRef module; // "h.0.attn", empty outside of modules
  mlir::FileLineColLoc line;

  /// "mnist.dl:14:17", empty if it is not known.
  std::string lineText() const;
};

/// The outermost module name and the innermost line that a location holds.
SourceLine sourceLineOf(mlir::Location location);

} // namespace dl::graph
