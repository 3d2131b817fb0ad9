#pragma once
// What is computed once, when training begins: values that states begin with,
// made of random numbers and of what other states begin with.
#include "compiler/frontend/Trace.h"
#include "mlir/IR/Builders.h"
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
  /// Of tensors of random numbers, by Initial::draw, those that were computed
  /// with: uniform in [0, 1), or normal with deviation 1.
  std::map<int, mlir::Value> draws;
  int tensors = 0; // of random numbers, so far
  int keys = 0;    // random ops
  std::vector<ErrorFlag> errorFlags;
  llvm::DenseMap<mlir::Value, bool> isComputed; // what was asked for
};

/// InPlace.cpp: the whole with another part from `begin` on along `dim`.
mlir::Value joined(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value whole, mlir::Value part, int64_t dim,
                   int64_t begin);

} // namespace dl::frontend
