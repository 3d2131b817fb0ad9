// Constants of a launch: numbers that only say which or where.
//
// Two dropouts of one shape differ in their keys, two slices in their offsets,
// the parts of a tensor on two devices in where they begin. In a kernel's body
// such a number is a constant of the launch, so that all of them are one piece
// of code:
//
//   graph.kernel %x, %scalars {constants = array<i64: 7, 12>, ...} {
//   ^bb0(%a, %s):
//     %0 = graph.slice %a {offsets = array<i64: 0, 0>, ...,
//                          launch = {offsets = array<i64: -1, 1>}}
//     %1 = graph.dropout %0, %s {key = 0, ..., launch = {key = array<i64: 0>}}
//
// `launch` says of each number which constant of the kernel is added to it: 7
// is the key, 12 the offset of dim 1; where it says -1, the code has the
// number. Ranges follow from the op, so that equal bodies take equal constants.
//
// A number that an op fills a tensor with is one, too, where many kernels
// differ in nothing else, as the times of a loop that is unrolled do: the
// constant is then the bits of its f64.
//
// Padding stays in the code: whether an element is outside is decided where
// kernels are made, and a guard that may be needed costs each element.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace dl::graph {

class FullOp;
class KernelOp;

/// On an op of ranks that run one program: how much its numbers grow with the
/// rank's coordinate along each axis of the mesh, {offsets = [element 0 along
/// axis 0, along axis 1, ..., element 1 along axis 0, ...]}. Such numbers have
/// to become constants of launches.
inline constexpr llvm::StringLiteral kRankSteps = "graph.rank_steps";

/// One number of an op's attributes, of an array the one at `element`.
struct LaunchConstant {
  llvm::StringRef attribute;
  unsigned element = 0;
  int64_t min, max, multipleOf = 1;
  /// It is added to the index of this operand's dim `element`; -1: it is a
  /// number of the payload.
  int operand = -1;
};

/// Makes constants of the numbers in a kernel's body. An operand that several
/// ops read at offsets of their own is bound once for each. An error where a
/// number that differs between ranks cannot be one.
llvm::LogicalResult liftConstants(KernelOp kernel);
/// Makes a constant of the value of a `full` of f32 or f64 in a kernel's body.
void liftValue(KernelOp kernel, FullOp full);
bool canLiftValue(FullOp full);
/// What the body of a kernel takes, by number.
llvm::SmallVector<LaunchConstant> launchConstants(KernelOp kernel);
/// The kernel's constant that a number is, if it is one.
std::optional<unsigned> constantOf(mlir::Operation *op,
                                   llvm::StringRef attribute,
                                   unsigned element = 0);
/// The number of an op outside of kernels that would be this constant.
int64_t launchNumberOf(mlir::Operation *op, const LaunchConstant &constant);
size_t numbersIn(mlir::Operation *op, llvm::StringRef attribute);
/// The op's attributes as they are in a launch.
mlir::DictionaryAttr attributesInLaunch(mlir::Operation *op,
                                        llvm::ArrayRef<int64_t> constants);
/// The same attributes with each number that may be a constant at its least:
/// what ops have in common that differ in constants only.
mlir::DictionaryAttr attributesWithoutConstants(mlir::Operation *op);

/// Payload: the number as i64.
mlir::Value launchNumber(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Operation *op, llvm::StringRef attribute,
                         int64_t number, unsigned element = 0);

} // namespace dl::graph
