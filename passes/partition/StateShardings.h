// How states lie between steps.
#pragma once

#include "passes/partition/Mesh.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace dl::partition {

class StateShardings {
public:
  /// Of fewer than `splitFrom` elements ZeRO divides nothing.
  StateShardings(mlir::ModuleOp module, const Mesh &mesh, int64_t splitFrom);

  /// Null: an accumulator that no step has written so far.
  const TensorSharding *of(llvm::StringRef name) const;
  void set(llvm::StringRef name, const TensorSharding &sharding) {
    known[name] = sharding;
  }
  bool isParameter(llvm::StringRef name) const;
  /// A parameter whose place the user has said.
  bool isPlaced(llvm::StringRef name) const { return placed.contains(name); }
  /// Without what ZeRO divides.
  TensorSharding base(graph::StateOp state) const;
  TensorSharding baseOf(llvm::StringRef name, mlir::Type type) const;
  /// Also split along the data axis, if that is worth it: the first dim that
  /// divides evenly, else the first in which nobody's part is empty.
  TensorSharding divide(mlir::Type type, const TensorSharding &sharding) const;

  /// Notes on the states how they lie.
  void record(mlir::ModuleOp module) const;

private:
  const Mesh &mesh;
  int64_t splitFrom;
  llvm::StringMap<TensorSharding> known;
  llvm::StringMap<graph::StateOp> states;
  llvm::StringSet<> placed;
};

} // namespace dl::partition
