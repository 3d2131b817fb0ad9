#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/layout/Passes.h"
#include "passes/layout/StateOrders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include <map>

using namespace mlir;

namespace dl {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/layout/Passes.h.inc"

namespace {

/// So many products that would each transpose a matrix for itself, and have no
/// more rows than this to use it for, are worth a transposed copy of it.
constexpr size_t kProductsWorthACopy = 8;
constexpr int64_t kFewRows = 64;

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
};

class AssignLayoutsPass : public impl::AssignLayoutsBase<AssignLayoutsPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void collect(graph::StepOp function);
  void copyForManyProducts(Value value, DenseI64ArrayAttr order);
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
      auto loops = dyn_cast<graph::LoopNestOpInterface>(use.getOwner());
      if (!loops)
        continue;
      graph::LoopNest nest = loops.getLoopNest();
      if (!nest.contraction)
        continue;
      if (auto dim = vectorDim(nest, use.getOperandNumber()))
        wish.add(*dim, use.getOwner());
    }
  }
}

/// A recurrent layer's matrix, say, which each time of a sequence reads again.
/// (Micro-batches do so, too, but to save memory.)
void AssignLayoutsPass::copyForManyProducts(Value value,
                                            DenseI64ArrayAttr order) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() < 2)
    return;
  int64_t innermost = order ? order.asArrayRef().back() : type.getRank() - 1;
  llvm::MapVector<int64_t, SmallVector<OpOperand *>> along;
  std::map<std::pair<int64_t, unsigned>, size_t> together;
  for (OpOperand &use : value.getUses())
    if (auto loops = dyn_cast<graph::LoopNestOpInterface>(use.getOwner())) {
      graph::LoopNest nest = loops.getLoopNest();
      auto dim = nest.contraction ? vectorDim(nest, use.getOperandNumber())
                                  : std::nullopt;
      if (dim && *dim != innermost &&
          nest.points() <= kFewRows * type.getNumElements()) {
        along[*dim].push_back(&use);
        ++together[{*dim, graph::batchPartOf(use.getOwner()->getLoc())}];
      }
    }
  OpBuilder builder(value.getContext());
  for (auto &[dim, uses] : along) {
    bool areMany = llvm::any_of(together, [&, dim = dim](auto &entry) {
      return entry.first.first == dim && entry.second >= kProductsWorthACopy;
    });
    if (!areMany)
      continue;
    builder.setInsertionPointAfterValue(value);
    Location loc =
        uses.back()->getOwner()->getLoc(); // the list begins at the last
    auto copy = graph::CopyOp::create(builder, loc, type, value);
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    llvm::erase(dims, dim);
    dims.push_back(dim);
    graph::setStorageOrder(copy->getOpResult(0),
                           builder.getDenseI64ArrayAttr(dims));
    for (OpOperand *use : uses)
      use->set(copy);
    emitRemark(loc) << "copied once with dim " << dim
                    << " innermost: " << uses.size()
                    << " products read it along that";
  }
}

void AssignLayoutsPass::runOnOperation() {
  ModuleOp module = getOperation();
  for (auto function : module.getOps<graph::StepOp>())
    collect(function);
  llvm::StringMap<std::string> rowByRow =
      layout::reasonsForRows(module, layout::Views::RowByRow);
  llvm::StringMap<layout::Order> chosen;
  for (auto state : module.getOps<graph::StateOp>()) {
    if (state.getRole() != "parameter")
      continue;
    Wish wish = wishes.lookup(state.getSymName());
    if (!wish.innermost)
      continue;
    int64_t rank = cast<RankedTensorType>(state.getType()).getRank();
    std::string reason = rowByRow.lookup(state.getSymName());
    if (reason.empty())
      reason = wish.contradiction;
    if (!reason.empty()) {
      emitRemark(state.getLoc())
          << state.getSymName() << ": stored row by row: " << reason;
      continue;
    }
    chosen[state.getSymName()] =
        layout::orderWithInnermost(rank, *wish.innermost);
    emitRemark(state.getLoc())
        << state.getSymName() << ": stored with dim " << *wish.innermost
        << " innermost" << (*wish.innermost == rank - 1 ? ", as it is" : "")
        << ": the vectors of every product that reads it, such "
           "as "
        << wish.reader << ", run along it";
  }
  layout::storeInOrder(module, chosen, rowByRow);
  SymbolTable states(module);
  for (auto function : module.getOps<graph::StepOp>()) {
    SmallVector<std::pair<Value, DenseI64ArrayAttr>> values;
    for (BlockArgument argument : function.getArguments())
      if (FlatSymbolRefAttr state = graph::stateOf(argument))
        values.emplace_back(
            argument,
            states.lookup<graph::StateOp>(state.getValue()).getLayoutAttr());
    for (auto op : function.getOps<graph::LoopNestOpInterface>())
      for (OpResult result : op->getResults())
        values.emplace_back(result, graph::storageOrder(result));
    for (auto &[value, order] : values)
      copyForManyProducts(value, order);
  }
}

} // namespace dl
