// A tensor on the host, for the reference evaluation of ops.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include <vector>

namespace dl::graph {

/// Row-major elements: `floats` for f32 and f64 (both computed in f64), `ints`
/// for all other element types (bool: 0 and 1).
struct HostTensor {
  mlir::RankedTensorType type;
  std::vector<double> floats;
  std::vector<int64_t> ints;

  HostTensor() = default;
  explicit HostTensor(mlir::Type tensorType)
      : type(mlir::cast<mlir::RankedTensorType>(tensorType)) {
    if (isFloat())
      floats.resize(type.getNumElements());
    else
      ints.resize(type.getNumElements());
  }
  bool isFloat() const {
    return mlir::isa<mlir::FloatType>(type.getElementType());
  }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  int64_t size() const { return type.getNumElements(); }
};

} // namespace dl::graph
