#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "passes/layout/Passes.h"

using namespace mlir;

namespace dl {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/layout/Passes.h.inc"

namespace {

/// What the uses of a state say about its innermost dim.
struct Wish {
  std::optional<int64_t> innermost;
  std::string reader;        // the op that wishes it
  std::string contradiction; // why there is no one order for all

  void add(int64_t dim, Operation *op) {
    std::string name = op->getName().stripDialect().str();
    if (innermost && *innermost != dim && contradiction.empty())
      contradiction = reader + " reads it along dim " +
                      std::to_string(*innermost) + ", " + name + " along dim " +
                      std::to_string(dim);
    innermost = dim;
    reader = name;
  }
  void refuse(const Twine &why) {
    if (contradiction.empty())
      contradiction = why.str();
  }
};

class AssignLayoutsPass : public impl::AssignLayoutsBase<AssignLayoutsPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void collect(graph::StepOp function);
  llvm::StringMap<Wish> wishes;
};

} // namespace

/// The dim of an operand along which a contraction's vectors run, if the
/// operand has it.
static std::optional<int64_t> vectorDim(const graph::LoopNest &nest,
                                        unsigned operand) {
  // Row-major results: the last dim that is not of extent one.
  unsigned last = nest.numParallel;
  while (last > 0 && nest.extents[last - 1] == 1)
    --last;
  if (last == 0)
    return std::nullopt;
  for (auto [d, expr] :
       llvm::enumerate(nest.accesses[operand].map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && dim.getPosition() == last - 1)
      return d;
  return std::nullopt;
}

void AssignLayoutsPass::collect(graph::StepOp function) {
  for (BlockArgument argument : function.getArguments()) {
    FlatSymbolRefAttr state = graph::stateOf(argument);
    if (!state)
      continue;
    Wish &wish = wishes[state.getValue()];
    for (OpOperand &use : argument.getUses()) {
      // Seen in another shape, the elements must lie in row-major order.
      if (isa<graph::AliasOpInterface>(use.getOwner()))
        wish.refuse("it is also seen in another shape");
      if (isa<graph::CommunicationOpInterface>(use.getOwner()))
        wish.refuse("ranks exchange it, row by row");
      auto loops = dyn_cast<graph::LoopNestOpInterface>(use.getOwner());
      if (!loops)
        continue;
      graph::LoopNest nest = loops.getLoopNest();
      if (!nest.contraction)
        continue;
      if (auto dim = vectorDim(nest, use.getOperandNumber()))
        wish.add(*dim, use.getOwner());
    }
    // The state itself may be viewed by the value that replaces it.
    for (OpOperand &use : argument.getUses())
      if (auto loops = dyn_cast<graph::LoopNestOpInterface>(use.getOwner());
          loops && graph::payloadFacts(loops).isView)
        wish.refuse("a view of it is read");
  }
  // A new value that comes out of a reshape, or goes into one, lies in
  // row-major order.
  auto isAlias = [](Operation *op) {
    return isa_and_nonnull<graph::AliasOpInterface>(op);
  };
  for (OpOperand &operand : function.getReturn()->getOpOperands())
    if (FlatSymbolRefAttr state = graph::stateOf(operand)) {
      if (isa_and_nonnull<graph::CommunicationOpInterface>(
              operand.get().getDefiningOp()))
        wishes[state.getValue()].refuse(
            "its new value comes from other ranks, row by row");
      if (isAlias(operand.get().getDefiningOp()))
        wishes[state.getValue()].refuse(
            "its new value is made in another shape");
      if (llvm::any_of(operand.get().getUsers(), isAlias))
        wishes[state.getValue()].refuse(
            "its new value is also seen in another shape");
    }
}

void AssignLayoutsPass::runOnOperation() {
  ModuleOp module = getOperation();
  for (auto function : module.getOps<graph::StepOp>())
    collect(function);
  auto setOrder = [](graph::StateOp state, int64_t innermost) {
    int64_t rank = cast<RankedTensorType>(state.getType()).getRank();
    SmallVector<int64_t> order;
    for (int64_t d = 0; d < rank; ++d)
      if (d != innermost)
        order.push_back(d);
    order.push_back(innermost);
    if (order.size() > 1 && innermost != rank - 1)
      state.setLayout(order);
  };
  llvm::StringMap<int64_t> chosen;
  for (auto state : module.getOps<graph::StateOp>()) {
    if (state.getRole() != "parameter")
      continue;
    Wish wish = wishes.lookup(state.getSymName());
    if (!wish.innermost)
      continue;
    int64_t last = cast<RankedTensorType>(state.getType()).getRank() - 1;
    // Stages of ZeRO exchange parts of it, and have to give equal bits.
    if (module->hasAttr(graph::kRanks))
      wish.refuse("ranks exchange parts of it, row by row");
    if (!wish.contradiction.empty()) {
      emitRemark(state.getLoc())
          << state.getSymName()
          << ": stored row by row: " << wish.contradiction;
      continue;
    }
    chosen[state.getSymName()] = *wish.innermost;
    setOrder(state, *wish.innermost);
    emitRemark(state.getLoc())
        << state.getSymName() << ": stored with dim " << *wish.innermost
        << " innermost" << (*wish.innermost == last ? ", as it is" : "")
        << ": the vectors of every product that reads it, such "
           "as "
        << wish.reader << ", run along it";
  }
  // Slots and accumulators are updated element by element with their parameter.
  for (auto state : module.getOps<graph::StateOp>())
    if (auto of = state.getOf())
      if (auto it = chosen.find(*of);
          it != chosen.end() &&
          wishes.lookup(state.getSymName()).contradiction.empty())
        setOrder(state, it->second);
}

} // namespace dl
