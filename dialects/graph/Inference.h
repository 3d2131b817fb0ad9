// What the rooms share: shapes in the user's words, inference and loop nests of
// elementwise ops.
#pragma once

#include "dialects/graph/Graph.h"
#include <string>

namespace dl::graph {

/// "[4,10]", "[]" for a scalar.
std::string shapeText(llvm::ArrayRef<int64_t> shape);
std::string shapeText(mlir::Type tensor);
/// "f32", "u8", "bool".
std::string elementText(mlir::Type element);
/// "i64 [4]".
std::string typeText(mlir::Type tensor);
/// "0.5", "1e-08".
std::string numberText(double number);

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
mlir::Type elementOf(mlir::Value value);
int64_t numElements(mlir::Value value);
/// The largest number where it overflows.
int64_t product(llvm::ArrayRef<int64_t> values);

using OptionalLoc = std::optional<mlir::Location>;

/// An error unless the tensor has f32 or f64 elements.
llvm::LogicalResult requireFloat(OptionalLoc loc, llvm::StringRef op,
                                 mlir::Type tensor);
/// An error unless all tensors have the same element type.
llvm::LogicalResult requireSameElement(OptionalLoc loc, llvm::StringRef op,
                                       mlir::TypeRange tensors);
/// An error unless 0 <= dim < rank.
llvm::LogicalResult requireDim(OptionalLoc loc, llvm::StringRef op, int64_t dim,
                               mlir::Type tensor);
/// An error unless `values` holds `count` numbers of at least `least`.
llvm::LogicalResult requireCount(OptionalLoc loc, llvm::StringRef op,
                                 llvm::StringRef what,
                                 llvm::ArrayRef<int64_t> values, size_t count,
                                 int64_t least);
/// The tensor type that a type attribute names, if the dialect has it.
mlir::FailureOr<mlir::RankedTensorType>
requireTensor(OptionalLoc loc, llvm::StringRef op, mlir::Type type);

enum class Domain { Any, Floats, Numbers, Integers, Bools };
enum class ElementwiseResult { Same, Bool, Selected };

/// The shape that all shapes broadcast to.
mlir::FailureOr<llvm::SmallVector<int64_t>>
inferBroadcast(OptionalLoc loc, llvm::StringRef op, mlir::TypeRange tensors);
llvm::LogicalResult inferElementwise(OptionalLoc loc, llvm::StringRef op,
                                     mlir::TypeRange tensors, Domain domain,
                                     ElementwiseResult result,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// The access of an operand that is broadcast to `shape`.
Access broadcastAccess(mlir::Value operand, llvm::ArrayRef<int64_t> shape);
/// Each element of the result from the broadcast elements of the operands.
LoopNest elementwiseNest(mlir::Operation *op);
int64_t elementwiseFlops(mlir::Operation *op);

} // namespace dl::graph
