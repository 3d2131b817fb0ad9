#include "dialects/graph/Inference.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "passes/decode/KeptStates.h"
#include "passes/decode/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dl;

namespace dl {
#define GEN_PASS_DEF_PREPAREWEIGHTS
#include "passes/decode/Passes.h.inc"
} // namespace dl

namespace {

/// Of less, what makes it is as soon done again.
constexpr int64_t kLeastBytes = 4096;

/// Moves what one step makes of weights alone into a part that runs before it.
class Preparation {
public:
  explicit Preparation(graph::StepOp step)
      : step(step), module(step->getParentOfType<ModuleOp>()) {}

  void run() {
    findFixed();
    for (Operation &op : step.getOps())
      for (Value operand : op.getOperands())
        if (madeOf.contains(operand) && !madeOf.contains(resultOf(&op)))
          if (Value value = worthKeeping(operand))
            kept.insert(value);
    if (kept.empty())
      return;
    makeStates();
    makeInitial();
    readStates();
  }

private:
  /// Ops have one result, or none that is fixed.
  static Value resultOf(Operation *op) {
    return op->getNumResults() == 1 ? Value(op->getResult(0)) : Value();
  }

  void findFixed() {
    llvm::DenseSet<Attribute> written;
    for (OpOperand &returned : step.getReturn()->getOpOperands())
      if (FlatSymbolRefAttr state = graph::stateOf(returned))
        written.insert(state);
    SymbolTable symbols(module);
    for (BlockArgument argument : step.getArguments())
      if (FlatSymbolRefAttr name = graph::stateOf(argument);
          name && !written.contains(name)) {
        StringRef role =
            symbols.lookup<graph::StateOp>(name.getValue()).getRole();
        if (role == "parameter" || role == "buffer")
          madeOf[argument] = graph::tensorBytes(argument.getType());
      }
    for (Operation &op : step.getOps()) {
      Value result = resultOf(&op);
      if (!result || !isPure(&op))
        continue;
      // (Constants have no operands.)
      int64_t bytes = 0;
      bool isFixed = llvm::all_of(op.getOperands(), [&](Value operand) {
        auto found = madeOf.find(operand);
        bytes += found == madeOf.end() ? 0 : found->second;
        return found != madeOf.end();
      });
      if (isFixed)
        madeOf[result] = bytes;
    }
  }

  /// What of a fixed value is to be kept: of what is widened, or seen
  /// otherwise, that which is. None where it takes more room than the weights,
  /// or is one of them.
  Value worthKeeping(Value value) const {
    int64_t bytes = graph::tensorBytes(value.getType());
    for (Operation *op = value.getDefiningOp();
         op && op->getNumOperands() == 1 &&
         ((graph::isView(op) && graph::numElements(op->getOperand(0)) ==
                                    graph::numElements(value)) ||
          graph::tensorBytes(op->getOperand(0).getType()) < bytes);
         op = value.getDefiningOp()) {
      value = op->getOperand(0);
      bytes = graph::tensorBytes(value.getType());
    }
    bool isMade = value.getDefiningOp() && bytes >= kLeastBytes &&
                  bytes <= madeOf.lookup(value);
    return isMade ? value : Value();
  }

  void makeStates() {
    OpBuilder builder(step);
    for (auto [number, value] : llvm::enumerate(kept))
      states.push_back(decode::makeKeptState(builder, *step.getOf(), value,
                                             "prepared", number));
  }

  graph::PortAttr portOf(size_t number) {
    return graph::PortAttr::state(step.getContext(),
                                  states[number].getSymName());
  }

  void makeInitial() {
    llvm::SetVector<Operation *> needed;
    auto need = [&](Value value) {
      if (Operation *op = value.getDefiningOp())
        needed.insert(op);
    };
    llvm::for_each(kept, need);
    for (size_t i = 0; i < needed.size(); ++i) // it grows
      llvm::for_each(needed[i]->getOperands(), need);
    OpBuilder builder(step);
    auto initial = graph::StepOp::create(
        builder, step.getLoc(), (step.getSymName() + ".initial").str());
    initial.setOfAttr(step.getOfAttr());
    initial.setPart(graph::Part::Initial);
    IRMapping copies;
    SmallVector<graph::PortAttr> ports, resultPorts;
    for (BlockArgument argument : step.getArguments()) {
      if (llvm::none_of(argument.getUsers(),
                        [&](Operation *user) { return needed.contains(user); }))
        continue;
      copies.map(argument, initial.getBody().addArgument(argument.getType(),
                                                         argument.getLoc()));
      ports.push_back(graph::portOf(argument));
    }
    builder.setInsertionPointToStart(&initial.getBody().front());
    for (Operation &op : step.getOps())
      if (needed.contains(&op))
        builder.clone(op, copies);
    SmallVector<Value> results;
    for (auto [number, value] : llvm::enumerate(kept)) {
      results.push_back(copies.lookup(value));
      resultPorts.push_back(portOf(number));
    }
    initial.setArgPorts(ports);
    initial.setResults(results, resultPorts);
  }

  void readStates() {
    SmallVector<graph::PortAttr> ports;
    for (BlockArgument argument : step.getArguments())
      ports.push_back(graph::portOf(argument));
    for (auto [number, kept] : llvm::enumerate(kept)) {
      Value value = kept;
      value.replaceAllUsesWith(
          step.getBody().addArgument(value.getType(), value.getLoc()));
      ports.push_back(portOf(number));
    }
    step.setArgPorts(ports);
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  graph::StepOp step;
  ModuleOp module;
  /// The bytes of the weights that a fixed value is made of.
  llvm::DenseMap<Value, int64_t> madeOf;
  llvm::SetVector<Value> kept;
  SmallVector<graph::StateOp> states;
};

struct PrepareWeights : dl::impl::PrepareWeightsBase<PrepareWeights> {
  void runOnOperation() override {
    // The step for a window of tokens runs once for a text.
    SmallVector<graph::StepOp> steps;
    for (auto step : getOperation().getOps<graph::StepOp>())
      if (step->hasAttr(graph::kWindow) &&
          !step.getOf()->ends_with(graph::kWindowSuffix))
        steps.push_back(step);
    for (graph::StepOp step : steps)
      Preparation(step).run();
  }
};

} // namespace
