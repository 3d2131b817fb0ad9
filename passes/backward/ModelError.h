// Errors that are the model's, found by a pass: dlcc exits with 1, not as for a
// bug of ours.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

namespace dl {

inline constexpr llvm::StringLiteral modelErrorMark = "the model's";

inline mlir::InFlightDiagnostic emitModelError(mlir::Location location) {
  mlir::InFlightDiagnostic error = mlir::emitError(location);
  if (mlir::Diagnostic *diagnostic = error.getUnderlyingDiagnostic())
    diagnostic->getMetadata().push_back(
        mlir::DiagnosticArgument(modelErrorMark));
  return error;
}

inline mlir::InFlightDiagnostic emitModelError(mlir::Operation *op) {
  return emitModelError(op->getLoc());
}

inline bool isModelError(mlir::Diagnostic &diagnostic) {
  return llvm::any_of(
      diagnostic.getMetadata(), [](mlir::DiagnosticArgument &argument) {
        return argument.getKind() ==
                   mlir::DiagnosticArgument::DiagnosticArgumentKind::String &&
               argument.getAsString() == modelErrorMark;
      });
}

} // namespace dl
