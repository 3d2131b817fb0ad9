// The ranks that run a module together, and how tensors lie on them.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/PipelineOrder.h"
#include "mlir/IR/BuiltinOps.h"

namespace dl::partition {

/// Positions of axes in the mesh.
using Axes = llvm::SmallVector<unsigned, 2>;
/// A coordinate along each axis.
using Coordinates = llvm::SmallVector<int64_t, 4>;

class Mesh {
public:
  explicit Mesh(graph::MeshOp op);

  /// Of ranks; behind them stands the time axis, if there is one.
  unsigned numAxes() const { return names.size() - (time ? 1 : 0); }
  unsigned numAll() const { return names.size(); }
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

  /// Of this name, if there is one.
  std::optional<unsigned> axis(llvm::StringRef name) const;
  mlir::ArrayAttr namesOf(llvm::ArrayRef<unsigned> axes) const;
  Axes axesOf(mlir::ArrayAttr names) const;

  /// Coordinates of rank 0, in micro-batch 0.
  Coordinates origin() const { return Coordinates(numAll(), 0); }

  std::optional<unsigned> data; ///< along which batches are divided
  Axes replicas;                ///< and along these, where ZeRO divides nothing
  /// All along which batches are divided, the slowest first.
  Axes items() const;
  /// Those along which a batch of this size is divided: all of them, or, where
  /// several do not divide it evenly, the one that leaves the fewest to a rank.
  Axes itemAxes(int64_t size) const;
  int64_t zero = 0; ///< stage of ZeRO
  /// Along which the layers of the model are divided.
  std::optional<unsigned> stages;
  /// The stages along it and their order; one where they are not divided.
  graph::Pipeline pipeline;
  /// Micro-batches: each rank does the parts along this axis itself, one after
  /// the other. Its coordinate is not one of ranks.
  std::optional<unsigned> time;
  int64_t microBatches = 1;

private:
  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<int64_t> sizes;
};

/// Of the module, or null.
graph::MeshOp meshOf(mlir::ModuleOp module);

/// One of the numbers that the index of a dim is counted by.
struct Digit {
  int64_t size;
  Axes axes; ///< along which it is divided into blocks
  bool operator==(const Digit &) const = default;
};

/// How a dim is divided: into blocks, or, where a dim was several ones, [B*T],
/// as they were, B along dp and T along cp, say.
struct DimSharding {
  /// In blocks, the slowest axis first.
  Axes axes;
  /// Or else, of parts that are no blocks: the digits, the slowest first.
  llvm::SmallVector<Digit, 0> digits;

  DimSharding() = default;
  DimSharding(Axes axes) : axes(std::move(axes)) {}
  /// Blocks where the parts are some.
  static DimSharding of(llvm::ArrayRef<Digit> digits, const Mesh &mesh);

  bool isWhole() const { return axes.empty() && digits.empty(); }
  /// Of all digits.
  Axes allAxes() const;
  bool uses(unsigned axis) const;
  void erase(unsigned axis, const Mesh &mesh);
  /// How each of several dims is divided, the slowest first, that are together
  /// this one; nothing where that cannot be said of each on its own.
  std::optional<std::vector<DimSharding>> over(llvm::ArrayRef<int64_t> sizes,
                                               const Mesh &mesh) const;
  /// Of a dim of this size: one, if it is divided into blocks.
  llvm::SmallVector<Digit> digitsOf(int64_t size) const;
  bool operator==(const DimSharding &) const = default;
};

/// See #graph.sharding.
struct TensorSharding {
  llvm::SmallVector<DimSharding, 4> dims;
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
  void erase(unsigned axis, const Mesh &mesh);
  /// Whether some dim's parts are no blocks.
  bool hasDigits() const;
  /// What it says of one axis, and of those that divide a dim before it.
  TensorSharding along(unsigned axis) const;
  bool operator==(const TensorSharding &) const = default;
};

/// How an argument of a step lies, by what shard-steps has noted on the step
/// and its states.
TensorSharding argumentSharding(mlir::BlockArgument argument, const Mesh &mesh);

/// Part of a tensor of this shape that a rank has. (Of parts that are no blocks
/// the offset is that of their first element.)
graph::Box boxOf(llvm::ArrayRef<int64_t> shape, const TensorSharding &sharding,
                 const Mesh &mesh, llvm::ArrayRef<int64_t> coordinates);

/// Axes for each factor of an op's rule, and those along which partial operands
/// make partial results.
inline constexpr llvm::StringLiteral kFactors = "graph.factors";
/// Micro-batches of a step whose batch gives them.
inline constexpr llvm::StringLiteral kMicroBatches = "graph.micro_batches";
/// Stage of the pipeline at which an op is computed and a state lies; ops
/// without one are computed wherever they are needed.
inline constexpr llvm::StringLiteral kStage = "graph.stage";
using graph::kBatchAxes;
using graph::kRanks;

} // namespace dl::partition
