#include "dialects/graph/Graph.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/saved/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dl;
using graph::StepRole;

namespace dl {
#define GEN_PASS_DEF_RECOMPUTECHECKPOINTS
#include "passes/saved/Passes.h.inc"
} // namespace dl

namespace {

/// The ops of one checkpoint in a step, in its order.
struct Checkpoint {
  llvm::SetVector<Operation *> forward;
  llvm::SetVector<Operation *> gradients;
};

class Recomputing {
public:
  Recomputing(Checkpoint &checkpoint, int64_t leastBytes)
      : checkpoint(checkpoint), leastBytes(leastBytes) {}

  /// Bytes that are no longer kept.
  int64_t run() {
    choose();
    Operation *first = nullptr;
    for (Operation *gradient : checkpoint.gradients)
      for (Value operand : gradient->getOperands())
        if (isRecomputed(operand)) {
          first = first ? first : gradient;
          need(operand.getDefiningOp());
        }
    if (!first)
      return 0;
    OpBuilder builder(first);
    IRMapping copies;
    int64_t bytes = 0;
    for (Operation *op : checkpoint.forward) {
      if (!needed.contains(op))
        continue;
      Operation *copy = builder.clone(*op, copies);
      copy->setLoc(graph::withRole(op->getLoc(), StepRole::Backward,
                                   op->getName().stripDialect()));
      copy->setAttr(graph::kRecomputed, builder.getUnitAttr());
      for (auto [value, again] :
           llvm::zip(op->getResults(), copy->getResults()))
        value.replaceUsesWithIf(again, [&](OpOperand &use) {
          if (!checkpoint.gradients.contains(use.getOwner()) ||
              !isRecomputed(value))
            return false;
          bytes += seen.insert(value).second
                       ? graph::tensorBytes(value.getType())
                       : 0;
          return true;
        });
    }
    return bytes;
  }

  size_t numOps() const { return needed.size(); }

private:
  bool isRecomputed(Value value) const { return recomputed.contains(value); }

  /// Values that nobody else in the backward reads, the large ones. And a
  /// maximum, the values of a topk: one of the values that another kernel makes
  /// again, whose last bits may be others then. What is compared with these has
  /// to be one of them: for the gradient of a maximum, which asks which values
  /// are equal to it, or a mask.
  void choose() {
    findCompared();
    for (Operation *op : checkpoint.forward) {
      bool isOfRecomputed = llvm::any_of(op->getOperands(), [&](Value operand) {
        return isRecomputed(operand);
      });
      for (Value value : op->getResults()) {
        bool isOne = isOfRecomputed && compared.contains(value);
        bool isLarge = op->getNumOperands() > 0 && !isTotal(op) &&
                       graph::tensorBytes(value.getType()) >= leastBytes;
        if (isOne || (isLarge && !isReadElsewhere(value)))
          recomputed.insert(value);
      }
    }
  }

  /// A maximum or a sum of many, which takes little memory beside them: what
  /// is made again of its row does not wait for it.
  static bool isTotal(Operation *op) {
    constexpr int64_t kMany = 32;
    auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
    if (!loops || graph::isComposite(op))
      return false;
    graph::LoopNest nest = loops.getLoopNest();
    return (nest.combine == graph::Combine::Sum ||
            nest.combine == graph::Combine::Max) &&
           !nest.contraction && !nest.isSequential() &&
           nest.points() >= kMany * graph::numElements(op->getResult(0));
  }

  bool isReadElsewhere(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>() ||
             (graph::roleOf(user->getLoc()) != StepRole::Forward &&
              !checkpoint.gradients.contains(user));
    });
  }

  /// Operands of comparisons, and what these are made of, but for sums.
  void findCompared() {
    auto visit = [&](Operation *op) {
      auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
      bool isSum = loops && loops.getLoopNest().combine == graph::Combine::Sum;
      bool compares = loops && graph::payloadFacts(loops).isComparison;
      bool isSeen = compares ||
                    (!isSum && llvm::any_of(op->getResults(), [&](Value value) {
                      return compared.contains(value);
                    }));
      if (isSeen)
        compared.insert(op->operand_begin(), op->operand_end());
    };
    for (Operation *op : llvm::reverse(checkpoint.gradients))
      visit(op);
    for (Operation *op : llvm::reverse(checkpoint.forward))
      visit(op);
  }

  void need(Operation *op) {
    SmallVector<Operation *> open{op};
    while (!open.empty()) {
      Operation *next = open.pop_back_val();
      if (!needed.insert(next).second)
        continue;
      for (Value operand : next->getOperands())
        if (isRecomputed(operand))
          open.push_back(operand.getDefiningOp());
    }
  }

  Checkpoint &checkpoint;
  int64_t leastBytes;
  llvm::DenseSet<Operation *> needed;
  llvm::DenseSet<Value> recomputed, compared;
  llvm::DenseSet<Value> seen;
};

struct RecomputeCheckpoints
    : dl::impl::RecomputeCheckpointsBase<RecomputeCheckpoints> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<unsigned, Checkpoint> checkpoints;
    for (Operation &op :
         getOperation().getBody().front().without_terminator()) {
      StepRole role = graph::roleOf(op.getLoc());
      unsigned number = graph::checkpointOf(op.getLoc());
      if (number == 0 || role == StepRole::Update)
        continue;
      Checkpoint &checkpoint = checkpoints[number];
      (role == StepRole::Forward ? checkpoint.forward : checkpoint.gradients)
          .insert(&op);
    }
    for (auto &[number, checkpoint] : checkpoints) {
      if (checkpoint.forward.empty())
        continue;
      Recomputing recomputing(checkpoint, leastBytes);
      int64_t bytes = recomputing.run();
      if (bytes > 0)
        emitRemark(checkpoint.forward.front()->getLoc())
            << "checkpoint: " << recomputing.numOps()
            << " ops are computed again in the backward, instead of " << bytes
            << " bytes kept";
    }
  }
};

} // namespace
