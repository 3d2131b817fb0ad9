#pragma once
// Is a step the same each time? A plan repeats one trace of it, so that a
// number of C++ that changes from call to call, as lr in `lr *= 0.9` or what
// rand() gives, would stay what it was at the first. Therefore each step is
// traced once more, and the two traces must be identical, op by op.
#include "compiler/frontend/Trace.h"

namespace dl::frontend {

class TraceCheck {
public:
  TraceCheck(Trace &first, Trace &again);

  /// Compares what the second trace got since the last call. The first
  /// difference in words; "" where there is none.
  std::string compareOps();
  /// Of a whole step: what follows in the first, and what they return.
  std::string compareEnds();

private:
  std::string compare(mlir::Operation *first, mlir::Operation *again);
  bool isSame(mlir::Value first, mlir::Value again) const;

  Trace &first, &again;
  mlir::Operation *last = nullptr; // of the second trace, compared
  mlir::Block::iterator next;      // of the first
  llvm::DenseMap<mlir::Value, mlir::Value> firstOf;
};

} // namespace dl::frontend
