#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "passes/layout/Passes.h"
#include "passes/layout/StateOrders.h"

using namespace mlir;

namespace dl {

#define GEN_PASS_DEF_PLANESOUTERMOST
#include "passes/layout/Passes.h.inc"

namespace {

/// An innermost dim that is no longer leaves most of a vector empty.
constexpr int64_t kShort = 4;

enum class Read { Plane, Anything, Else };

/// How an op reads a state of this shape.
Read readingOf(Operation *op, ArrayRef<int64_t> shape) {
  if (auto slice = dyn_cast<graph::SliceOp>(op)) {
    bool isPlane = slice.getSizes().back() == 1 &&
                   slice.getSizes().drop_back() == shape.drop_back();
    return isPlane ? Read::Plane : Read::Else;
  }
  auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
  if (!loops || isa<graph::CommunicationOpInterface>(op))
    return Read::Else;
  graph::LoopNest nest = loops.getLoopNest();
  bool isElementwise = nest.combine == graph::Combine::None &&
                       !nest.isIndirect() && !graph::payloadFacts(loops).isView;
  return isElementwise ? Read::Anything : Read::Else;
}

struct PlanesOutermostPass : impl::PlanesOutermostBase<PlanesOutermostPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<bool> planes; // whether nothing else is read
    for (auto function : module.getOps<graph::StepOp>())
      for (BlockArgument argument : function.getArguments())
        if (FlatSymbolRefAttr state = graph::stateOf(argument))
          look(argument, state.getValue(), planes);
    llvm::StringMap<std::string> rowByRow =
        layout::reasonsForRows(module, layout::Views::AnyOrder);
    llvm::StringMap<layout::Order> orders;
    for (auto state : module.getOps<graph::StateOp>()) {
      StringRef name = state.getSymName();
      if (state.getRole() != "parameter" || !planes.lookup(name) ||
          rowByRow.count(name))
        continue;
      int64_t rank = cast<RankedTensorType>(state.getType()).getRank();
      layout::Order &order = orders[name];
      order.push_back(rank - 1);
      llvm::append_range(order, llvm::seq<int64_t>(rank - 1));
      emitRemark(state.getLoc())
          << name << ": stored with dim " << rank - 1
          << " outermost: each of its elements is read apart";
    }
    layout::storeInOrder(module, orders, rowByRow);
  }

private:
  static void look(Value state, StringRef name, llvm::StringMap<bool> &planes) {
    auto shape = cast<RankedTensorType>(state.getType()).getShape();
    if (shape.size() < 2 || shape.back() < 2 || shape.back() > kShort)
      return;
    for (Operation *user : state.getUsers()) {
      if (isa<graph::ReturnOp>(user))
        continue;
      Read read = readingOf(user, shape);
      if (read == Read::Else)
        planes[name] = false;
      else if (read == Read::Plane)
        planes.try_emplace(name, true);
    }
  }
};

} // namespace
} // namespace dl
