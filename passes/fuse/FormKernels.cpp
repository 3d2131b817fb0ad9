#include "dialects/graph/Bf16Values.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "mlir/IR/IRMapping.h"
#include "passes/fuse/AlikeKernels.h"
#include "passes/fuse/KernelGroups.h"
#include "passes/fuse/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace dl {

#define GEN_PASS_DEF_FORMKERNELS
#include "passes/fuse/Passes.h.inc"

namespace {

class FormKernelsPass : public impl::FormKernelsBase<FormKernelsPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void formIn(graph::StepOp function);
  graph::KernelOp build(OpBuilder &builder, const KernelOps &ops,
                        ArrayRef<Value> outputs, IRMapping &values);
  DenseI64ArrayAttr layoutOf(Value value) const;
  void setLayouts(graph::KernelOp kernel);
  void setInplace(graph::KernelOp kernel);
  bool diesWith(Value operand, OpResult result);
  void setBf16Operands(graph::KernelOp kernel);
  void setName(graph::KernelOp kernel);

  llvm::DenseMap<StringAttr, DenseI64ArrayAttr> stateLayouts;
  /// What the step in work returns as the new value of a state.
  llvm::DenseMap<Value, FlatSymbolRefAttr> returnedStates;
};

} // namespace

void FormKernelsPass::runOnOperation() {
  for (auto state : getOperation().getOps<graph::StateOp>())
    stateLayouts[state.getSymNameAttr()] = state.getLayoutAttr();
  for (auto function : getOperation().getOps<graph::StepOp>())
    formIn(function);
  // What later phases rely on.
  getOperation().walk([&](graph::StepOp function) {
    for (Operation &op : function.getBody().front().without_terminator())
      if (!isa<graph::KernelOp, graph::AliasOpInterface,
               graph::CommunicationOpInterface>(op)) {
        op.emitOpError("is not part of a kernel after form-kernels");
        signalPassFailure();
      }
  });
}

void FormKernelsPass::formIn(graph::StepOp function) {
  Block &body = function.getBody().front();
  KernelGroups groups(function, fuse, machine);
  llvm::SetVector<Operation *> old;
  for (Operation &op : body.without_terminator())
    old.insert(&op);

  OpBuilder builder(body.getTerminator());
  IRMapping values;
  // An alias follows the kernel that makes what it views.
  auto aliasUsers = [&](Value made) {
    SmallVector<Operation *> open;
    auto openUsers = [&](Value value) {
      SmallVector<Operation *> users(value.getUsers());
      llvm::append_range(open, llvm::reverse(users));
    };
    openUsers(made);
    while (!open.empty()) {
      Operation *user = open.pop_back_val();
      if (!isa<graph::AliasOpInterface>(user) || !old.contains(user) ||
          values.contains(user->getResult(0)))
        continue;
      builder.clone(*user, values);
      openUsers(user->getResult(0));
    }
  };
  SmallVector<Value> arguments(body.getArguments());
  for (Value argument : arguments)
    aliasUsers(argument);
  for (const KernelOps &ops : groups.kernels()) {
    if (isa<graph::CommunicationOpInterface>(ops.ops.front())) {
      builder.clone(*ops.ops.front(), values);
      for (Value received : ops.ops.front()->getResults())
        aliasUsers(received);
      continue;
    }
    SmallVector<Value> outputs;
    for (Operation *op : ops.ops)
      for (Value result : op->getResults())
        if (ops.own.contains(op) && groups.isRead(result, ops))
          outputs.push_back(result);
    build(builder, ops, outputs, values);
    for (Value output : outputs)
      aliasUsers(output);
  }
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    operand.set(values.lookupOrDefault(operand.get()));
  for (Operation *op : llvm::reverse(old))
    op->erase();
  returnedStates.clear();
  for (OpOperand &returned : body.getTerminator()->getOpOperands())
    if (FlatSymbolRefAttr state = graph::stateOf(returned))
      returnedStates.try_emplace(returned.get(), state);
  for (auto kernel : body.getOps<graph::KernelOp>()) {
    setInplace(kernel);
    if (failed(graph::liftConstants(kernel))) // may bind operands once more
      signalPassFailure();
    setLayouts(kernel);
    setBf16Operands(kernel);
  }
  shareCodeOfAlikeKernels(body);
  for (auto kernel : body.getOps<graph::KernelOp>())
    setName(kernel);
}

/// The ops as one kernel at the end of the function; its results take the place
/// of `outputs` in `values`.
graph::KernelOp FormKernelsPass::build(OpBuilder &builder, const KernelOps &ops,
                                       ArrayRef<Value> outputs,
                                       IRMapping &values) {
  llvm::SetVector<Value> inputs;
  llvm::DenseSet<Operation *> inside(ops.ops.begin(), ops.ops.end());
  for (Operation *op : ops.ops)
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()))
        inputs.insert(operand);
  SmallVector<Value> operands;
  SmallVector<Location> locations;
  for (Value input : inputs) {
    operands.push_back(values.lookupOrDefault(input));
    locations.push_back(input.getLoc());
  }
  // The kernel is known by its last heavy op, where an error would point.
  Operation *anchor = ops.ops.back();
  for (Operation *op : ops.ops)
    if (ops.own.contains(op) &&
        cast<graph::LoopNestOpInterface>(op).getLoopNest().contraction)
      anchor = op;
  OperationState state(anchor->getLoc(), graph::KernelOp::getOperationName());
  state.addOperands(operands);
  for (Value output : outputs)
    state.addTypes(output.getType());
  state.addAttribute("name", builder.getStringAttr("unnamed"));
  state.addRegion();
  auto kernel = cast<graph::KernelOp>(builder.create(state));
  Block *block = &kernel.getBody().emplaceBlock();
  block->addArguments(ValueRange(operands).getTypes(), locations);

  IRMapping inner;
  for (auto [input, argument] : llvm::zip(inputs, block->getArguments()))
    inner.map(input, argument);
  OpBuilder bodyBuilder = OpBuilder::atBlockEnd(block);
  for (Operation *op : ops.ops) {
    Operation *copy = bodyBuilder.clone(*op, inner);
    copy->removeAttr(graph::kMadeAgain);
    copy->removeAttr(graph::kRecomputed);
    copy->removeAttr(graph::kChained);
    if (copy->removeAttr(graph::kLibraryCall) &&
        cast<graph::LoopNestOpInterface>(op).getLoopNest().contraction)
      copy->setAttr(graph::kLibraryCall, builder.getUnitAttr());
  }
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(inner.lookup(output));
  graph::YieldOp::create(bodyBuilder, anchor->getLoc(), yielded);

  for (auto [output, result] : llvm::zip(outputs, kernel.getResults()))
    values.map(output, result);
  return kernel;
}

/// Storage order of a value of the function: that of the state it is, or what
/// the op says that makes it.
DenseI64ArrayAttr FormKernelsPass::layoutOf(Value value) const {
  if (auto alias = value.getDefiningOp<graph::AliasOpInterface>())
    return graph::isBatchInnermost(layoutOf(graph::rootOf(value)))
               ? graph::batchInnermost(cast<RankedTensorType>(value.getType()))
               : DenseI64ArrayAttr();
  if (auto kernel = value.getDefiningOp<graph::KernelOp>()) {
    auto yield = cast<graph::YieldOp>(kernel.getBody().front().getTerminator());
    Value yielded = yield.getOperand(cast<OpResult>(value).getResultNumber());
    if (auto made = dyn_cast<OpResult>(yielded))
      if (DenseI64ArrayAttr order = graph::storageOrder(made))
        return order;
  }
  // (An old value may be returned as the new one of another state.)
  FlatSymbolRefAttr state = graph::stateOf(value);
  if (!state)
    state = returnedStates.lookup(value);
  return state ? stateLayouts.lookup(state.getAttr()) : DenseI64ArrayAttr();
}

void FormKernelsPass::setLayouts(graph::KernelOp kernel) {
  Builder builder(kernel.getContext());
  auto layouts = [&](ValueRange values) {
    SmallVector<Attribute> list;
    bool any = false;
    for (Value value : values) {
      DenseI64ArrayAttr order = layoutOf(value);
      any |= bool(order);
      list.push_back(order ? Attribute(order) : builder.getUnitAttr());
    }
    return any ? builder.getArrayAttr(list) : ArrayAttr();
  };
  if (ArrayAttr operands = layouts(kernel.getOperands()))
    kernel.setOperandLayoutsAttr(operands);
  if (ArrayAttr results = layouts(kernel.getResults()))
    kernel.setResultLayoutsAttr(results);
}

/// All reads of a block argument, followed through inlined ops, are at the
/// index of the result itself. `alone`: and no other result comes from them,
/// nor none at all: threads of a GPU may be at other elements of that one.
static bool isReadInPlace(Value argument, Value result, bool alone) {
  Operation *maker = result.getDefiningOp();
  bool isMadeFromIt = false;
  SmallVector<Value> open{argument};
  llvm::DenseSet<Operation *> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<graph::YieldOp>(user)) {
        if (alone)
          return false;
        continue;
      }
      isMadeFromIt |= user == maker;
      // Computed behind the result, from what would be the new value then.
      if (user != maker && maker->isBeforeInBlock(user))
        return false;
      auto nest = cast<graph::LoopNestOpInterface>(user).getLoopNest();
      if (nest.combine != graph::Combine::None ||
          user->getResult(0).getType() != result.getType())
        return false;
      for (auto [operand, access] :
           llvm::zip(user->getOperands(), nest.accesses))
        if (operand == value && (!access.map.isIdentity() || access.outside))
          return false;
      // The maker has read the old value; what else is computed from that must
      // stand before the maker.
      if (user != maker && seen.insert(user).second)
        open.push_back(user->getResult(0));
    }
  }
  return isMadeFromIt || !alone;
}

static size_t numProducts(graph::KernelOp kernel) {
  return llvm::count_if(kernel.getBody().front().without_terminator(),
                        [](Operation &op) {
                          auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
                          return loops && loops.getLoopNest().contraction;
                        });
}

/// A new value goes where an old one is, if every element is read only before
/// the same element is written: of a state, or of a kernel that no other one
/// reads, as gradients that grow from micro-batch to micro-batch.
void FormKernelsPass::setInplace(graph::KernelOp kernel) {
  auto yield = cast<graph::YieldOp>(kernel.getBody().front().getTerminator());
  SmallVector<int64_t> inplace(kernel.getNumResults(), -1);
  bool mayStream = machine.chainRows > 0 && numProducts(kernel) > 1;
  for (OpResult result : kernel.getResults()) {
    FlatSymbolRefAttr state = returnedStates.lookup(result);
    // (What columns pass by more than once has to stay as it is.)
    if (mayStream && !state)
      continue;
    int64_t &chosen = inplace[result.getResultNumber()];
    for (auto [i, operand] : llvm::enumerate(kernel.getOperands())) {
      if (state ? graph::stateOf(operand) != state
                : chosen >= 0 || llvm::is_contained(inplace, int64_t(i)) ||
                      !diesWith(operand, result))
        continue;
      if (isReadInPlace(kernel.getBody().front().getArgument(i),
                        yield.getOperand(result.getResultNumber()),
                        /*alone=*/!state))
        chosen = i;
      if (state && chosen == int64_t(i))
        emitRemark(kernel.getLoc())
            << state.getValue()
            << ": written in place: each element is read only "
               "before the same element is written";
    }
  }
  if (llvm::any_of(inplace, [](int64_t i) { return i >= 0; }))
    kernel.setInplace(inplace);
}

/// Whether nobody reads the operand but who makes the result, and both are
/// stored alike.
bool FormKernelsPass::diesWith(Value operand, OpResult result) {
  return operand.getDefiningOp<graph::KernelOp>() && operand.hasOneUse() &&
         operand.getType() == result.getType() &&
         layoutOf(operand) == layoutOf(result);
}

/// Those that a product reads, itself or through views.
void FormKernelsPass::setBf16Operands(graph::KernelOp kernel) {
  llvm::SmallSet<int64_t, 4> found;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!cast<graph::LoopNestOpInterface>(op).getLoopNest().contraction)
      continue;
    for (Value operand : op.getOperands()) {
      auto isSeenThrough = [](Operation *op) {
        if (!op)
          return false;
        auto facts = graph::payloadFacts(cast<graph::LoopNestOpInterface>(op));
        return facts.isView || facts.isZeroPaddedView;
      };
      while (isSeenThrough(operand.getDefiningOp()))
        operand = operand.getDefiningOp()->getOperand(0);
      auto argument = dyn_cast<BlockArgument>(operand);
      if (argument && graph::elementOf(argument).isF32() &&
          graph::holdsBf16(kernel.getOperand(argument.getArgNumber())))
        found.insert(argument.getArgNumber());
    }
  }
  SmallVector<int64_t> numbers(found.begin(), found.end());
  llvm::sort(numbers);
  if (!numbers.empty())
    kernel.setBf16Operands(numbers);
}

/// It is no more than an operand of the others: a setting, a slice.
static bool readsAtOffset(Operation *op) {
  auto taker = dyn_cast<graph::LaunchConstantsOpInterface>(op);
  return taker && llvm::any_of(taker.getLaunchConstants(),
                               [](const graph::LaunchConstant &constant) {
                                 return constant.operand >= 0;
                               });
}

/// Named by what it does, and by a hash of its body: equal kernels share code,
/// whatever their constants are.
void FormKernelsPass::setName(graph::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  DenseI64ArrayAttr constants = kernel.getConstantsAttr();
  DenseI64ArrayAttr steps = kernel.getConstantStepsAttr();
  kernel.removeConstantsAttr();
  kernel.removeConstantStepsAttr();
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(1 << 30).useLocalScope().assumeVerified();
  kernel->print(stream, flags);
  if (constants)
    kernel.setConstantsAttr(constants);
  if (steps)
    kernel.setConstantStepsAttr(steps);
  SmallVector<StringRef> words;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    StringRef word = op.getName().stripDialect();
    if (words.size() < 4 && !llvm::is_contained(words, word) &&
        op.getNumOperands() > 0 && !readsAtOffset(&op) &&
        !graph::payloadFacts(cast<graph::LoopNestOpInterface>(op)).isView)
      words.push_back(word);
  }
  std::string name = llvm::join(words, "_");
  if (name.empty())
    name = "copy";
  kernel.setName(
      name + "_" +
      llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, 16));
}

} // namespace dl
