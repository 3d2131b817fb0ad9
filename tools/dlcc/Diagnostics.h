// Diagnostics of the compiler in the form of those of the front end.
#pragma once

#include "mlir/IR/Diagnostics.h"

namespace dl::dlcc {

/// "mnist.dl:14:9: error: ..." with module path, source line and call stack.
std::string renderDiagnostic(mlir::Diagnostic &diagnostic);

} // namespace dl::dlcc
