// Ops that can be done for some rows of a large value, then for the next ones.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/Sharding.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace dl::chunk {

class ChunkRegion {
public:
  /// All that goes over the rows of a product's result along a dim, and what
  /// is between these ops.
  ChunkRegion(mlir::Operation *product, unsigned dim);

  /// Why it cannot be done row by row; empty where it can.
  llvm::StringRef whyNot() const { return why; }
  /// By this count of chunks, of which the last may have fewer rows.
  bool dividesInto(int64_t count) const;
  bool isEqualIn(int64_t count) const { return rows % count == 0; }
  bool contains(mlir::Operation *op) const { return members.contains(op); }

  /// Does everything chunk by chunk. Locations of the new ops say the number
  /// of their chunk, from `firstPart` on. Adds the products of the chunks.
  mlir::LogicalResult build(int64_t count, unsigned firstPart,
                            llvm::SmallVectorImpl<mlir::Operation *> &products);

private:
  bool isLarge(mlir::Value value) const;
  bool add(mlir::Operation *op, unsigned factor);
  bool addUser(mlir::Operation *user);
  bool addLarge();
  bool addMaker(mlir::Value value, const graph::TensorFactors &dims,
                unsigned factor);
  bool addBetween();
  bool addAll(unsigned dim);
  bool refuse(llvm::StringRef because) {
    why = because;
    return false;
  }
  bool note(mlir::Value value, const graph::TensorFactors &dims,
            unsigned factor, bool isResult);
  bool findPlace();

  mlir::LogicalResult buildChunk(int64_t index, int64_t count,
                                 mlir::OpBuilder &builder);
  void joinChunks(mlir::OpBuilder &builder);

  struct Member {
    graph::ShardingRule rule;
    unsigned factor;
  };
  mlir::Operation *product;
  int64_t elements; // of its result
  /// In the order of the block once all are known.
  llvm::MapVector<mlir::Operation *, Member> members;
  llvm::DenseMap<mlir::Value, unsigned> rowDim; // of values that have rows
  /// Of the dims' outermost factors the greatest common divisor; several sizes,
  /// [B*T] and [B], are divided alike only if chunks are equal.
  int64_t rows = 0;
  bool hasSeveralSizes = false;
  mlir::Operation *first, *last; // members
  /// Chunks come behind it; what they read and is computed later moves in front
  /// of them, what is computed before it and waits for them moves behind.
  mlir::Operation *place = nullptr;
  llvm::SmallVector<mlir::Operation *> read, waiting;
  llvm::StringRef why;

  /// Of each result of a member: what the chunks have, or the total so far.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> made;
};

} // namespace dl::chunk
