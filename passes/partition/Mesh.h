// The ranks that run a module together, and how tensors lie on them.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"

namespace dl::partition {

/// Positions of axes in the mesh.
using Axes = llvm::SmallVector<unsigned, 2>;
/// A coordinate along each axis.
using Coordinates = llvm::SmallVector<int64_t, 4>;

class Mesh {
public:
  explicit Mesh(graph::MeshOp op);

  unsigned numAxes() const { return names.size(); }
  mlir::StringAttr name(unsigned axis) const { return names[axis]; }
  int64_t size(unsigned axis) const { return sizes[axis]; }
  int64_t ranks() const;
  /// Ranks along some axes.
  int64_t count(llvm::ArrayRef<unsigned> axes) const;
  Coordinates coordinates(int64_t rank) const;
  int64_t rankOf(llvm::ArrayRef<int64_t> coordinates) const;
  /// Number of a rank among those that differ from it along these axes, the
  /// first one the slowest.
  int64_t index(llvm::ArrayRef<unsigned> axes,
                llvm::ArrayRef<int64_t> coordinates) const;

  mlir::ArrayAttr namesOf(llvm::ArrayRef<unsigned> axes) const;
  Axes axesOf(mlir::ArrayAttr names) const;

  std::optional<unsigned> data; ///< along which batches are divided
  int64_t zero = 0;             ///< stage of ZeRO

private:
  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<int64_t> sizes;
};

/// Of the module, or null.
graph::MeshOp meshOf(mlir::ModuleOp module);

/// See #graph.sharding.
struct TensorSharding {
  llvm::SmallVector<Axes, 4> dims;
  Axes sum, max;

  static TensorSharding whole(unsigned rank) {
    TensorSharding sharding;
    sharding.dims.resize(rank);
    return sharding;
  }
  static TensorSharding of(graph::ShardingAttr attr, const Mesh &mesh);
  graph::ShardingAttr attr(const Mesh &mesh) const;

  bool isPartial() const { return !sum.empty() || !max.empty(); }
  /// The same on all ranks.
  bool isWhole() const;
  /// Whether it is split or partial along the axis.
  bool uses(unsigned axis) const;
  bool operator==(const TensorSharding &) const = default;
};

/// Part of a tensor of this shape that a rank has.
graph::Box boxOf(llvm::ArrayRef<int64_t> shape, const TensorSharding &sharding,
                 const Mesh &mesh, llvm::ArrayRef<int64_t> coordinates);

/// Axes for each factor of an op's rule, and those along which partial operands
/// make partial results.
inline constexpr llvm::StringLiteral kFactors = "graph.factors";
using graph::kBatchAxes;
using graph::kRanks;

} // namespace dl::partition
