// How the tensors of one step lie on the mesh, decided op by op.
#pragma once

#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "passes/partition/OpSharding.h"
#include "passes/partition/StateShardings.h"

namespace dl::partition {

class StepSharder {
public:
  StepSharder(graph::StepOp step, const Mesh &mesh, StateShardings &states)
      : step(step), mesh(mesh), states(states),
        inUpdate(step.getPart() == graph::Part::Update) {}

  /// Notes on each op how it is divided, and writes graph.reshard.
  void run();

private:
  Axes batchAxes(int64_t items);
  void placeArguments();
  void readInstead(mlir::Value value, llvm::function_ref<mlir::Value()> make);
  void placeAccumulators(mlir::Operation *op);
  void place(mlir::Operation *op);
  void place(graph::GradientOp gradient);
  bool joinSums(mlir::Operation *op);
  bool placeInParts(mlir::Operation *op);
  void keepItemsDivided(mlir::Operation *op,
                        llvm::ArrayRef<TensorSharding> operands);
  void place(graph::ShardOp shard);
  void placeResults(graph::ReturnOp returned);
  OpSharding decide(mlir::Operation *op);
  void passPartials(mlir::Operation *op, OpSharding &sharding);
  void divideAsPlaced(mlir::Operation *op, OpSharding &sharding);
  void divideAsOperands(mlir::Operation *op, OpSharding &sharding);
  bool isBetterWhole(mlir::OpOperand &operand, const graph::ShardingRule &rule,
                     const graph::DimFactors &factors) const;
  bool feedsNormsOnly(mlir::Operation *op) const;

  // StepReshards.cpp
  mlir::Value in(mlir::Value value, const TensorSharding &wanted);
  mlir::Value reshard(mlir::Value value, const TensorSharding &to);
  mlir::Value reshardDigits(mlir::Value value, const TensorSharding &to);
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                       const TensorSharding &as);
  mlir::Value madeInParts(mlir::Value value, const TensorSharding &to);
  TensorSharding wholeInTime(TensorSharding sharding) const;
  mlir::Value summed(mlir::Value value, const TensorSharding &to);
  void addInParts(mlir::OpOperand &operand);
  mlir::Value addedForAll(mlir::Value value);

  TensorSharding of(mlir::Value value) const { return shardings.at(value); }
  auto known() const {
    return [this](mlir::Value value) {
      auto it = shardings.find(value);
      return it == shardings.end() ? nullptr : &it->second;
    };
  }
  /// Without the parts of a parameter that only the update works on.
  TensorSharding proposal(mlir::Value value) const;
  /// What has to do with the new value of a state: it needs gradients, or an
  /// optimizer makes it of the old value alone, as weight decay does.
  bool isUpdate(mlir::Operation *op) const;

  graph::StepOp step;
  const Mesh &mesh;
  StateShardings &states;
  bool inUpdate;
  mlir::Operation *current = nullptr;
  bool waitsUntilEnd = false; // of a metric or an error flag
  llvm::DenseMap<mlir::Value, TensorSharding> shardings;
  /// By what is wanted of it; of a parameter that ZeRO divides one forward and
  /// one backward: between them nobody has it in whole.
  using Wanted = std::pair<mlir::Attribute, graph::StepRole>;
  llvm::DenseMap<std::pair<mlir::Value, Wanted>, mlir::Value> resharded;
  /// Parameters that the user has placed, and views of them.
  llvm::DenseSet<mlir::Value> placed;
  /// Parameters that ZeRO divides.
  llvm::DenseSet<mlir::Value> stored;
  /// How the operands of numbered graph.shard lay.
  llvm::DenseMap<uint64_t, TensorSharding> before;
  /// Accumulators whose sharding the first gradient decides.
  llvm::DenseMap<mlir::Value, llvm::StringRef> open;
  /// Ops that depend on a gradient.
  llvm::DenseSet<mlir::Operation *> updates;
  /// Gradients whose sum over ranks is there in parts as well.
  llvm::DenseMap<mlir::Value, mlir::Value> inParts;
};

} // namespace dl::partition
