// Loop variables as affine dims, and affine expressions over them as C++ text.
//
// All arithmetic is unsigned and may wrap: what is smaller than zero is larger
// than every extent, so that one comparison finds what lies outside, and an
// address is right where the element is inside.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace dl::cuda {

class IndexText {
public:
  /// `wide`: an index may reach 2^31 (`BlockKernel::isWide`).
  IndexText(mlir::MLIRContext *context, bool wide)
      : context(context), wide(wide) {}

  /// A variable with values in [lo, hi]; the constant where they are equal.
  mlir::AffineExpr addDim(std::string name, int64_t lo, int64_t hi);
  mlir::AffineExpr constant(int64_t value) const;

  std::string text(mlir::AffineExpr expr) const;
  /// Bounds over all iterations, inclusive.
  std::pair<int64_t, int64_t> range(mlir::AffineExpr expr) const;
  /// "unsigned" or "unsigned long long".
  llvm::StringRef type() const;
  std::string number(int64_t value) const;

private:
  struct Dim {
    std::string name;
    int64_t lo, hi;
  };
  /// `tight`: as an operand of a multiplication.
  std::string text(mlir::AffineExpr expr, bool tight) const;

  mlir::MLIRContext *context;
  bool wide;
  llvm::SmallVector<Dim, 16> dims;
};

} // namespace dl::cuda
