// verify-shardings: every op finds its operands where it needs them.
#include "dialects/graph/Inference.h"
#include "dialects/graph/Step.h"
#include "passes/partition/OpSharding.h"
#include "passes/partition/Passes.h"

namespace dl {
#define GEN_PASS_DEF_VERIFYSHARDINGS
#include "passes/partition/Passes.h.inc"
} // namespace dl

using namespace mlir;

namespace dl::partition {
namespace {

class ShardingVerifier {
public:
  ShardingVerifier(graph::StepOp step, const Mesh &mesh,
                   const SymbolTable &states)
      : step(step), mesh(mesh), states(states) {}

  LogicalResult run() {
    placeArguments();
    for (Operation &op : step.getOps())
      if (failed(verify(&op)))
        return failure();
    return success();
  }

private:
  std::optional<TensorSharding> ofState(FlatSymbolRefAttr name) {
    auto state = states.lookup<graph::StateOp>(name.getValue());
    if (state && state.getShardingAttr())
      return TensorSharding::of(state.getShardingAttr(), mesh);
    return std::nullopt;
  }

  void placeArguments() {
    for (BlockArgument argument : step.getArguments())
      shardings.try_emplace(argument, argumentSharding(argument, mesh));
  }

  InFlightDiagnostic errorAt(Operation *op, unsigned operand,
                             const TensorSharding &has) {
    return op->emitError("operand ")
           << operand << " lies on the mesh as " << has.attr(mesh) << ", ";
  }

  LogicalResult verify(Operation *op) {
    if (auto reshard = dyn_cast<graph::ReshardOp>(op)) {
      const TensorSharding &has = shardings.at(reshard.getX());
      if (!(has == TensorSharding::of(reshard.getFrom(), mesh)))
        return errorAt(op, 0, has) << "not as the reshard says";
      if (has.hasDigits() ||
          TensorSharding::of(reshard.getTo(), mesh).hasDigits())
        return op->emitError("moves what lies in no blocks; the dims that it "
                             "once had are moved");
      shardings.try_emplace(reshard.getResult(),
                            TensorSharding::of(reshard.getTo(), mesh));
      return success();
    }
    if (auto returned = dyn_cast<graph::ReturnOp>(op))
      return verifyResults(returned);
    if (auto transfer = dyn_cast<graph::TransferOp>(op)) {
      shardings.try_emplace(transfer.getResult(),
                            shardings.at(transfer.getX()));
      return success();
    }
    OpSharding sharding = OpSharding::of(op, mesh);
    if (failed(verifyDigits(op, sharding)))
      return failure();
    if (sharding.whyNotSplit() != graph::BlockReason::None)
      return op->emitError("cannot be divided so: ")
             << graph::ruleText(sharding.rule);
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      const TensorSharding &has = shardings.at(operand.get());
      TensorSharding wanted = sharding.operand(number, has);
      if (!(has == wanted))
        return errorAt(op, number, has) << "is needed as " << wanted.attr(mesh);
    }
    if (failed(verifyPartials(op, sharding)))
      return failure();
    for (OpResult result : op->getResults())
      shardings.try_emplace(result, sharding.result(result.getResultNumber()));
    return success();
  }

  /// Digits make the factor, and each axis divides one of them.
  LogicalResult verifyDigits(Operation *op, const OpSharding &sharding) {
    llvm::SmallDenseSet<unsigned> axes;
    for (auto [factor, dim] :
         llvm::zip_equal(sharding.rule.factors, sharding.factors)) {
      int64_t size = 1;
      for (const Digit &digit : dim.digitsOf(factor.size))
        size *= digit.size;
      if (size != factor.size)
        return op->emitError("digits of ")
               << size << " for a factor of " << factor.size << ": "
               << graph::ruleText(sharding.rule);
      for (unsigned axis : dim.allAxes())
        if (!axes.insert(axis).second)
          return op->emitError("the axis '")
                 << mesh.name(axis).getValue() << "' divides it twice";
    }
    return success();
  }

  /// What passes through has to be in the rule.
  LogicalResult verifyPartials(Operation *op, const OpSharding &sharding) {
    auto verify = [&](ArrayRef<unsigned> axes, Axes TensorSharding::*partial,
                      graph::Splitting kind) -> LogicalResult {
      for (unsigned axis : axes) {
        SmallVector<unsigned, 2> operands;
        for (OpOperand &operand : op->getOpOperands())
          if (llvm::is_contained(shardings.at(operand.get()).*partial, axis))
            operands.push_back(operand.getOperandNumber());
        if (llvm::none_of(
                sharding.rule.partials, [&](const graph::PartialRule &rule) {
                  return rule.kind == kind && rule.operands == operands;
                }))
          return op->emitError("is not linear in what is partial along '")
                 << mesh.name(axis).getValue() << "'";
      }
      return success();
    };
    if (failed(
            verify(sharding.sum, &TensorSharding::sum, graph::Splitting::Sum)))
      return failure();
    return verify(sharding.max, &TensorSharding::max, graph::Splitting::Max);
  }

  LogicalResult verifyResults(graph::ReturnOp returned) {
    for (OpOperand &operand : returned->getOpOperands()) {
      const TensorSharding &has = shardings.at(operand.get());
      FlatSymbolRefAttr state = graph::stateOf(operand);
      TensorSharding wanted =
          state
              ? ofState(state).value_or(TensorSharding::whole(has.dims.size()))
              : TensorSharding::whole(has.dims.size());
      if (!(has == wanted))
        return errorAt(returned, operand.getOperandNumber(), has)
               << "leaves the step as " << wanted.attr(mesh);
    }
    return success();
  }

  graph::StepOp step;
  const Mesh &mesh;
  const SymbolTable &states;
  llvm::DenseMap<Value, TensorSharding> shardings;
};

struct VerifyShardings : impl::VerifyShardingsBase<VerifyShardings> {
  void runOnOperation() override {
    graph::MeshOp op = meshOf(getOperation());
    if (!op)
      return;
    Mesh mesh(op);
    SymbolTable states(getOperation());
    for (auto step : getOperation().getOps<graph::StepOp>())
      if (failed(ShardingVerifier(step, mesh, states).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace dl::partition
