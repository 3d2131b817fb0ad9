// What a change of sharding is on one rank: local ops, and communication.
#pragma once

#include "dialects/graph/GraphBuilder.h"
#include "passes/partition/Mesh.h"

namespace dl::partition {

class ReshardLowering {
public:
  /// `nextOrder` counts the communications of the step, for all ranks alike.
  ReshardLowering(const Mesh &mesh, llvm::ArrayRef<int64_t> coordinates,
                  int64_t &nextOrder)
      : mesh(mesh), coordinates(coordinates), nextOrder(nextOrder) {}

  /// The part that the rank has of `op`'s result, from its part of the operand,
  /// which may lie otherwise than the op says: micro-batches are added up, or
  /// put together, by who calls.
  mlir::FailureOr<mlir::Value> lower(graph::ReshardOp op, mlir::Value part,
                                     const TensorSharding &from,
                                     const TensorSharding &to,
                                     mlir::OpBuilder &builder);

private:
  struct Part; // a value and how it lies

  void sumInParts(Part &part, unsigned dim, unsigned axis,
                  graph::Splitting kind);
  void sumInBlocks(Part &part, llvm::ArrayRef<unsigned> axes,
                   graph::Splitting kind);
  void addOther(Part &part, llvm::ArrayRef<unsigned> axes,
                graph::Splitting kind);
  void sumWhole(Part &part, llvm::ArrayRef<unsigned> axes,
                graph::Splitting kind);
  bool exchange(Part &part, unsigned from, const TensorSharding &to);
  void gather(Part &part, unsigned dim, size_t keep);
  void slice(Part &part, unsigned dim, llvm::ArrayRef<unsigned> axes);
  void keepAtOrigin(Part &part, unsigned axis);
  mlir::Value reduceMembers(graph::GraphBuilder &g, mlir::Value stacked,
                            graph::Splitting kind);
  mlir::Value nothing(graph::GraphBuilder &g, mlir::RankedTensorType type);
  mlir::Value communicate(mlir::Operation *op, llvm::StringRef why);
  int64_t block(int64_t size, llvm::ArrayRef<unsigned> axes,
                int64_t member) const;

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> coordinates;
  int64_t &nextOrder;
};

} // namespace dl::partition
