// insert-copies: new values of states that can be written over the old ones.
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/schedule/Passes.h"
#include "passes/schedule/PhysicalLayout.h"
#include "passes/schedule/ProgramOrder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_INSERTCOPIES
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

class CopyInserter {
public:
  CopyInserter(graph::StepOp func, SymbolTable &states)
      : func(func), states(states), terminator(func.getReturn()) {}

  void run() {
    for (BlockArgument argument : func.getArguments())
      if (FlatSymbolRefAttr symbol = graph::stateOf(argument))
        oldValues[symbol.getValue()] = argument;
    collectUpdates();
    copyReturnedArguments();
    copyStuckUpdates();
  }

private:
  /// The order of dims in which a value is stored; null is row-major.
  DenseI64ArrayAttr orderOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      FlatSymbolRefAttr symbol = graph::stateOf(argument);
      return symbol ? orderOfState(symbol) : nullptr;
    }
    return graph::storageOrder(cast<OpResult>(value));
  }

  DenseI64ArrayAttr orderOfState(FlatSymbolRefAttr symbol) {
    auto state = states.lookup<graph::StateOp>(symbol.getValue());
    return state ? state.getLayoutAttr() : nullptr;
  }

  /// Puts a kernel before the return that copies the returned value.
  void copy(OpOperand &returned, const Twine &why) {
    Value value = returned.get();
    auto type = cast<RankedTensorType>(value.getType());
    DenseI64ArrayAttr from = orderOf(value), to = from;
    if (FlatSymbolRefAttr symbol = graph::stateOf(returned))
      to = orderOfState(symbol);
    OpBuilder builder(terminator);
    auto name = "copy_" + shapeName(type) + orderName("_from", from) +
                orderName("_to", to);
    auto kernel = graph::KernelOp::create(
        builder, value.getLoc(), TypeRange(type), ValueRange(value),
        builder.getStringAttr(name), /*strategy=*/nullptr, /*tiles=*/nullptr,
        /*scratch=*/nullptr, layouts(builder, from), layouts(builder, to),
        /*inplace=*/nullptr, /*bf16_operands=*/nullptr, /*constants=*/nullptr,
        /*constant_steps=*/nullptr);
    Block &body = kernel.getBody().emplaceBlock();
    Value argument = body.addArgument(type, value.getLoc());
    builder.setInsertionPointToStart(&body);
    Value same = graph::CopyOp::create(builder, value.getLoc(), type, argument);
    graph::YieldOp::create(builder, value.getLoc(), same);
    returned.set(kernel->getResult(0));
    emitRemark(kernel.getLoc(), "copied: ") << why;
  }

  static ArrayAttr layouts(Builder &builder, DenseI64ArrayAttr order) {
    return order ? builder.getArrayAttr(order) : nullptr;
  }

  static std::string shapeName(RankedTensorType type) {
    std::string name;
    llvm::raw_string_ostream stream(name);
    for (int64_t extent : type.getShape())
      stream << extent << "x";
    stream << type.getElementType();
    return name;
  }

  static std::string orderName(StringRef prefix, DenseI64ArrayAttr order) {
    std::string name = order ? prefix.str() : "";
    for (int64_t dim : order ? order.asArrayRef() : ArrayRef<int64_t>())
      name += "_" + std::to_string(dim);
    return name;
  }

  /// Every returned state gets a kernel's result of its own.
  void collectUpdates() {
    llvm::DenseSet<Value> taken;
    for (OpOperand &returned : terminator->getOpOperands()) {
      FlatSymbolRefAttr symbol = graph::stateOf(returned);
      if (!symbol)
        continue;
      Value oldValue = oldValues.lookup(symbol.getValue());
      Value value = rootOf(returned.get());
      if (value == oldValue)
        continue;
      std::string quote = "the new value of '" + symbol.getValue().str();
      if (isa<BlockArgument>(value))
        copy(returned, quote + "' is an argument of the step");
      else if (!taken.insert(value).second)
        copy(returned, quote + "' is also that of another state");
      else if (orderOf(value) != orderOfState(symbol))
        copy(returned, quote + "' is stored in another order");
      else if (!canOverwrite(cast<OpResult>(value), oldValue))
        copy(returned,
             quote + "' cannot be written while its kernel reads the old one");
      updates.push_back({oldValue, cast<OpResult>(rootOf(returned.get())),
                         symbol.getValue()});
      operands.push_back(&returned);
    }
  }

  /// Metrics that are an argument which does not stay as it is.
  void copyReturnedArguments() {
    llvm::DenseSet<Value> updated;
    for (const StateUpdate &update : updates)
      updated.insert(update.oldValue);
    for (OpOperand &returned : terminator->getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(rootOf(returned.get()));
      if (!argument || graph::stateOf(returned))
        continue;
      if (!graph::stateOf(argument) || updated.contains(argument))
        copy(returned, "the step returns an argument as it was");
    }
  }

  /// Old values that are needed after their update: the update goes through a
  /// temporary.
  void copyStuckUpdates() {
    auto none = [](Value) { return int64_t(0); };
    auto itself = [](Value root) { return root; };
    while (true) {
      WorkOrder order =
          orderWork(func, Readers(func), updates, {none, itself, none});
      if (order.stuck.empty())
        return;
      for (unsigned index : order.stuck) {
        StateUpdate &update = updates[index];
        copy(*operands[index], "the old value of '" + update.name +
                                   "' is read together with the new one");
        update.newValue = cast<OpResult>(rootOf(operands[index]->get()));
      }
    }
  }

  graph::StepOp func;
  SymbolTable &states;
  graph::ReturnOp terminator;
  llvm::StringMap<Value> oldValues;
  SmallVector<StateUpdate> updates;
  SmallVector<OpOperand *> operands; // of the return, one for each update
};

struct InsertCopies : impl::InsertCopiesBase<InsertCopies> {
  void runOnOperation() override {
    SymbolTable states(getOperation());
    for (auto func : getOperation().getOps<graph::StepOp>())
      if (func.getOf())
        CopyInserter(func, states).run();
  }
};

} // namespace
} // namespace dl::schedule
