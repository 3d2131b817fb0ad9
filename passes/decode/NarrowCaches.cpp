#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Step.h"
#include "mlir/Pass/Pass.h"
#include "passes/decode/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dl;

namespace dl {
#define GEN_PASS_DEF_NARROWCACHES
#include "passes/decode/Passes.h.inc"
} // namespace dl

namespace {

bool isRounding(Operation *op) {
  auto cast = dyn_cast<graph::CastOp>(op);
  return cast && graph::elementOf(cast.getResult()).isBF16();
}

/// One cache, and where steps have it.
struct Cache {
  graph::StateOp state;
  SmallVector<BlockArgument> before; // of steps that take one position
  SmallVector<BlockArgument> unread; // of steps that take a window
  SmallVector<OpOperand *> after;

  /// What was there before is read to make what is left alone, and that is
  /// read by products alone, which round it.
  bool isReadRounded() const {
    return !before.empty() && graph::elementOf(before.front()).isF32() &&
           llvm::all_of(before, [&](BlockArgument was) {
             return was.hasOneUse() && isRounded(*was.user_begin());
           });
  }

  bool isRounded(Operation *left) const {
    auto isRead = [&](OpOperand &use) {
      return isRounding(use.getOwner()) || llvm::is_contained(after, &use);
    };
    return isa<graph::UpdateSliceOp>(left) &&
           llvm::all_of(left->getUses(), isRead) &&
           llvm::any_of(after, [&](OpOperand *returned) {
             return returned->get().getDefiningOp() == left;
           });
  }

  void narrow() {
    auto wide = cast<RankedTensorType>(state.getType());
    OpBuilder builder(state.getContext());
    auto type = RankedTensorType::get(wide.getShape(), builder.getBF16Type());
    state.setType(type);
    for (BlockArgument argument : unread)
      argument.setType(type);
    for (BlockArgument was : before) {
      was.setType(type);
      narrowUpdate(cast<graph::UpdateSliceOp>(*was.user_begin()));
    }
    for (OpOperand *returned : after)
      if (returned->get().getType() != type) // of a window
        returned->set(roundedBehind(returned->get()));
  }

private:
  static Value roundedBehind(Value value) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    return graph::GraphBuilder(builder, value.getLoc())
        .cast(value, builder.getBF16Type());
  }

  static void narrowUpdate(graph::UpdateSliceOp wide) {
    OpBuilder builder(wide);
    graph::GraphBuilder g(builder, wide.getLoc());
    Value slice = g.cast(wide.getSlice(), builder.getBF16Type());
    Value narrow = g.make<graph::UpdateSliceOp>(wide.getIndex(), slice,
                                                wide.getX(), wide.getDim());
    for (OpOperand &use : llvm::make_early_inc_range(wide->getUses())) {
      Operation *user = use.getOwner();
      if (!isRounding(user)) { // it is returned
        use.set(narrow);
        continue;
      }
      user->replaceAllUsesWith(ValueRange(narrow));
      user->erase();
    }
    wide->erase();
  }
};

struct NarrowCaches : dl::impl::NarrowCachesBase<NarrowCaches> {
  void runOnOperation() override {
    llvm::MapVector<Attribute, Cache> caches;
    for (auto state : getOperation().getOps<graph::StateOp>())
      if (state.getRole() == "cache")
        caches[FlatSymbolRefAttr::get(state)].state = state;
    for (auto step : getOperation().getOps<graph::StepOp>()) {
      for (BlockArgument argument : step.getArguments())
        if (auto name = graph::stateOf(argument); caches.count(name))
          (argument.use_empty() ? caches[name].unread : caches[name].before)
              .push_back(argument);
      for (OpOperand &returned : step.getReturn()->getOpOperands())
        if (auto name = graph::stateOf(returned); caches.count(name))
          caches[name].after.push_back(&returned);
    }
    for (auto &[name, cache] : caches)
      if (cache.isReadRounded())
        cache.narrow();
  }
};

} // namespace
