// Writes graph ops, for gradients and decompositions.
//
// Every op is bound to a local before it is used as an operand: C++ does not
// fix the order in which arguments are evaluated, and the IR must not depend on
// it.
#pragma once

#include "dialects/graph/Inference.h"

namespace dl::graph {

class GraphBuilder {
public:
  GraphBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Result 0 of a new op.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...)->getResult(0);
  }

  /// A scalar that broadcasts to anything.
  mlir::Value constant(mlir::Type element, double value);
  mlir::Value constant(mlir::Value like, double value) {
    return constant(elementOf(like), value);
  }
  /// A tensor of the same type.
  mlir::Value fullLike(mlir::Value like, double value);
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim,
                   mlir::Type element);
  mlir::Value cast(mlir::Value x, mlir::Type element);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keepdim);
  /// Sums over what broadcasting had repeated: a value of the shape.
  mlir::Value sumTo(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// The same, for the gradient of an operand.
  mlir::Value sumTo(mlir::Value x, mlir::Value operand) {
    return sumTo(x, shapeOf(operand));
  }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace dl::graph
