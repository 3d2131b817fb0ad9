#include "compiler/pictures/StepParts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"

using namespace mlir;

namespace dl::pictures {

StepFunctions findStep(ModuleOp module, StringRef name) {
  StepFunctions found;
  for (auto function : module.getOps<graph::StepOp>()) {
    bool isUpdate = function.getPart() == graph::Part::Update;
    bool byItem = function->hasAttr(graph::kForItem) ||
                  (isUpdate && !function.getTraining());
    if (function.getOf() != name || function.getIsShort() || byItem ||
        function.getPart() == graph::Part::Initial)
      continue;
    (isUpdate ? found.update : found.step) = function;
  }
  return found;
}

StringRef stateOfArgument(Value value) {
  FlatSymbolRefAttr state = graph::stateOf(value);
  return state ? state.getValue() : "";
}

StringRef stateOfResult(OpOperand &returned) {
  FlatSymbolRefAttr state = graph::stateOf(returned);
  return state ? state.getValue() : "";
}

bool isSplat(Operation *op) { return isa_and_nonnull<graph::FullOp>(op); }

StepParts::StepParts(graph::StepOp function) {
  bool inUpdate = function.getPart() == graph::Part::Update;
  for (BlockArgument argument : function.getArguments())
    values[argument] = Part::Input;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto kernel = dyn_cast<graph::KernelOp>(op))
      classifyKernel(kernel, inUpdate);
    else
      classify(&op, inUpdate);
  }
  pullIntoUpdate(function);
}

Part StepParts::of(Value value) const {
  auto known = values.find(value);
  return known == values.end() ? of(value.getDefiningOp()) : known->second;
}

/// By the mark on its location. What the user computes from gradients has none
/// and belongs to the update; so does what starts from a new parameter only if
/// no loss depends on it, which the gradients of that loss tell.
void StepParts::classify(Operation *op, bool inUpdate) {
  Part part = Part::Forward;
  graph::StepRole role = graph::roleOf(op->getLoc());
  if (inUpdate || role == graph::StepRole::Update ||
      isa<graph::OptimizerOpInterface>(op))
    part = Part::Update;
  else if (role == graph::StepRole::Backward)
    part = Part::Backward;
  else
    for (Value operand : op->getOperands()) {
      Part from = of(operand);
      Operation *def = operand.getDefiningOp();
      bool isNewState =
          isa_and_nonnull<graph::OptimizerOpInterface>(def) ||
          (def && graph::roleOf(def->getLoc()) == graph::StepRole::Update);
      if (from == Part::Backward || (from == Part::Update && !isNewState))
        part = Part::Update;
    }
  parts[op] = part;
  for (Value result : op->getResults())
    values[result] = part;
}

void StepParts::classifyKernel(graph::KernelOp kernel, bool inUpdate) {
  Block &body = kernel.getBody().front();
  bool readsGradients = false, anyBackward = false, anyUpdate = false,
       anyForwardResult = false;
  for (auto [argument, operand] :
       llvm::zip(body.getArguments(), kernel.getOperands())) {
    values[argument] = of(operand);
    Operation *def = operand.getDefiningOp();
    readsGradients |=
        def && of(def) != Part::Forward && of(operand) == Part::Backward;
  }
  for (Operation &op : body.without_terminator()) {
    classify(&op, inUpdate);
    anyBackward |= !isSplat(&op) && of(&op) == Part::Backward;
    anyUpdate |= of(&op) == Part::Update;
  }
  auto yield = cast<graph::YieldOp>(body.getTerminator());
  for (auto [result, value] :
       llvm::zip(kernel.getResults(), yield.getValues())) {
    values[result] = of(value);
    anyForwardResult |= of(value) == Part::Forward || of(value) == Part::Input;
  }
  // Where forward and backward meet, the kernel is the turn of the step.
  parts[kernel] = inUpdate                              ? Part::Update
                  : anyForwardResult && !readsGradients ? Part::Forward
                  : anyBackward                         ? Part::Backward
                  : readsGradients || anyUpdate         ? Part::Update
                                                        : Part::Forward;
}

/// What only the update reads belongs to it: a rate, the number of items.
void StepParts::pullIntoUpdate(graph::StepOp function) {
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    if (op.getUsers().empty() || of(&op) != Part::Forward ||
        op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (llvm::all_of(op.getUsers(), [&](Operation *user) {
          return !user->hasTrait<OpTrait::IsTerminator>() &&
                 of(user) == Part::Update;
        })) {
      parts[&op] = Part::Update;
      for (Value result : op.getResults())
        values[result] = Part::Update;
    }
  }
}

} // namespace dl::pictures
