#include "passes/layout/StateOrders.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"

using namespace mlir;

namespace dl::layout {

static bool isAlias(Operation *op) {
  return isa_and_nonnull<graph::AliasOpInterface>(op);
}

static bool isCommunication(Operation *op) {
  return isa_and_nonnull<graph::CommunicationOpInterface>(op);
}

static std::string reasonOfUses(Value state, Views views) {
  for (Operation *user : state.getUsers()) {
    if (isAlias(user))
      return "it is also seen in another shape";
    if (isCommunication(user))
      return "ranks exchange it, row by row";
    if (views == Views::RowByRow && graph::isView(user))
      return "a view of it is read";
  }
  return "";
}

static std::string reasonOfNewValue(Value value) {
  Operation *maker = value.getDefiningOp();
  if (isCommunication(maker))
    return "its new value comes from other ranks, row by row";
  if (isAlias(maker))
    return "its new value is made in another shape";
  // (The state itself may be viewed by the value that replaces it.)
  if (graph::isView(maker))
    return "its new value is a view";
  if (llvm::any_of(value.getUsers(), isAlias))
    return "its new value is also seen in another shape";
  return "";
}

llvm::StringMap<std::string> reasonsForRows(ModuleOp module, Views views) {
  llvm::StringMap<std::string> reasons;
  auto add = [&](FlatSymbolRefAttr state, std::string reason) {
    if (state && !reason.empty())
      reasons.try_emplace(state.getValue(), std::move(reason));
  };
  for (auto function : module.getOps<graph::StepOp>()) {
    for (BlockArgument argument : function.getArguments())
      add(graph::stateOf(argument), reasonOfUses(argument, views));
    for (OpOperand &operand : function.getReturn()->getOpOperands())
      add(graph::stateOf(operand), reasonOfNewValue(operand.get()));
  }
  // Stages of ZeRO exchange parts of parameters, and have to give equal bits.
  if (module->hasAttr(graph::kRanks))
    for (auto state : module.getOps<graph::StateOp>())
      if (state.getRole() == "parameter")
        reasons.try_emplace(state.getSymName(),
                            "ranks exchange parts of it, row by row");
  return reasons;
}

static ArrayRef<int64_t> shapeOf(Type type) {
  return cast<RankedTensorType>(type).getShape();
}

Order orderWithInnermost(int64_t rank, int64_t innermost) {
  Order order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != innermost)
      order.push_back(d);
  order.push_back(innermost);
  return order;
}

void storeInOrder(ModuleOp module, const llvm::StringMap<Order> &orders,
                  const llvm::StringMap<std::string> &rowByRow) {
  llvm::StringMap<Type> types;
  for (auto state : module.getOps<graph::StateOp>())
    types[state.getSymName()] = state.getType();
  for (auto state : module.getOps<graph::StateOp>()) {
    StringRef parameter = state.getOf().value_or(state.getSymName());
    auto it = orders.find(parameter);
    // (A slot may be of another shape, such as one number for each row.)
    if (it != orders.end() && !rowByRow.count(state.getSymName()) &&
        shapeOf(state.getType()) == shapeOf(types.lookup(parameter)) &&
        !llvm::is_sorted(it->second))
      state.setLayout(it->second);
  }
}

} // namespace dl::layout
