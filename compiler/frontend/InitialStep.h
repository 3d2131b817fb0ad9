#pragma once
// What is computed once, when training begins: values that states begin with,
// made of random numbers and of what other states begin with.
#include "compiler/frontend/Trace.h"
#include <map>
#include <vector>

namespace dl::frontend {

/// Its ops stand among what is computed outside of steps, whose block has
/// arguments for what is known only then.
struct InitialStep {
  mlir::Value scalars; // null: no random number is drawn
  /// What a state begins with before anything is computed, how often that had
  /// changed when it was read (-1: it was not), and where that was.
  struct Begun {
    mlir::Value value;
    int changes = -1;
    std::vector<Frame> read = {};
  };
  std::map<int, Begun> begun; // by parameter
  /// Of tensors that were made of random numbers: uniform in [0, 1), or normal
  /// with deviation 1.
  std::map<int, mlir::Value> draws;
  int drawn = 0;              // tensors of random numbers, so far
  std::map<int, int> firstOf; // the state that begins with each of them first
  int keys = 0;               // random ops
  std::vector<ErrorFlag> errorFlags;
  llvm::DenseMap<mlir::Value, bool> isPartOf; // of the step, what was asked for
};

} // namespace dl::frontend
