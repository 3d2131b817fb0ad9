#pragma once
// Sums of many contributions to one gradient, with fewer ops.
#include "dialects/graph/GraphBuilder.h"

namespace dl {

/// Fewer contributions than this are added one by one.
inline constexpr size_t kManyContributions = 9;

/// All that reads the value reads parts of it: contributions are one op,
/// however few they are.
bool isCutUp(mlir::Value value);

/// The sum of many contributions to a gradient, given in the order of the
/// backward pass. What a loop over the parts of a tensor makes is one op
/// instead of one an iteration:
///
///   pad(a) + pad(b) + ...             = cat(a, b, ...)
///   matmul(a, x) + matmul(b, y) + ... = matmul(cat(a, b, ..), cat(x, y, ..))
///   sum(a) + sum(b) + ...             = sum(cat(a, b, ...))
///
/// The last two by JointSumOpInterface. Without the first the gradient of n
/// parts takes n passes over the whole.
mlir::Value sumOfMany(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> backwards);

} // namespace dl
