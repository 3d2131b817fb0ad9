#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/ModulePattern.h"
#include "dialects/graph/Payload.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Sharding.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include "passes/backward/ModelError.h"
#include "passes/precision/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dl;
using graph::LoopNestOpInterface;
using graph::StepRole;

namespace dl {
#define GEN_PASS_DEF_MIXEDPRECISION
#include "passes/precision/Passes.h.inc"
} // namespace dl

namespace {

bool isF32(Value value) { return graph::elementOf(value).isF32(); }

/// One operand, read at other indices or beside zeros.
bool isMoved(Operation *op) {
  auto loops = dyn_cast_or_null<LoopNestOpInterface>(op);
  if (!loops || op->getNumOperands() != 1 || isa<graph::AliasOpInterface>(op) ||
      isa<graph::CommunicationOpInterface>(op))
    return false;
  graph::PayloadFacts facts = graph::payloadFacts(loops);
  return facts.isView || facts.isZeroPaddedView;
}

/// A product of forward or backward.
bool isProduct(Operation *op) {
  auto loops = dyn_cast<LoopNestOpInterface>(op);
  return loops && op->getNumResults() == 1 && isF32(op->getResult(0)) &&
         !isa<graph::CommunicationOpInterface>(op) && !graph::isComposite(op) &&
         loops.getLoopNest().contraction &&
         graph::roleOf(op->getLoc()) != StepRole::Update;
}

bool isComparison(Operation *op) {
  return isa<graph::EqOp, graph::NeOp, graph::LtOp, graph::LeOp, graph::GtOp,
             graph::GeOp>(op);
}

/// A number that no element of the step is made of.
bool isConstant(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->getNumOperands() == 0;
}

/// Modules whose products stay f32.
class Kept {
public:
  explicit Kept(ArrayRef<std::string> patterns)
      : patterns(patterns), isFound(patterns.size()) {}

  bool contains(Operation *product) {
    StringRef path = graph::sourceLineOf(product->getLoc()).module;
    bool any = false;
    for (auto [pattern, found] : llvm::zip(patterns, isFound))
      if (graph::matchedPrefix(pattern, path))
        any = found = true;
    if (!any && paths.size() < 3 && !path.empty())
      paths.insert(path);
    return any;
  }

  /// What is wrong with the patterns, or nothing.
  std::string complaint() const {
    for (auto [pattern, found] : llvm::zip(patterns, isFound))
      if (!found)
        return "--f32=" + pattern + ": no product is in such a module" +
               (paths.empty()
                    ? ""
                    : "; some are in " + llvm::join(paths.getArrayRef(), ", "));
    return "";
  }

private:
  ArrayRef<std::string> patterns;
  SmallVector<bool> isFound;
  llvm::SetVector<StringRef> paths;
};

class Rounding {
public:
  Rounding(graph::StepOp step, Kept &kept)
      : step(step), kept(kept), builder(step.getContext()),
        bf16(BFloat16Type::get(step.getContext())) {}

  void run() {
    SmallVector<Operation *> products;
    for (Operation &op : step.getOps())
      if (isProduct(&op) && !kept.contains(&op))
        products.push_back(&op);
    // In program order: what an operand is made of is rounded before it is
    // looked at.
    for (Operation *product : products) {
      reader = product->getLoc();
      for (OpOperand &operand : product->getOpOperands())
        if (isF32(operand.get()))
          operand.set(rounded(operand.get()));
      if (Value result = product->getResult(0); !isOfParameter(result))
        roundForAll(result);
    }
    narrowAliases();
  }

private:
  Value cast(Value x, Type to) {
    return graph::CastOp::create(builder, x.getLoc(), x, to);
  }

  static Value narrowOf(Value value) {
    auto widening = value.getDefiningOp<graph::CastOp>();
    return widening && graph::elementOf(widening.getX()).isBF16()
               ? widening.getX()
               : Value();
  }

  /// What a product reads in place of a value. Views are of what is rounded.
  Value rounded(Value value) {
    if (narrowOf(value))
      return value;
    if (Value known = roundedOf.lookup(value))
      return known;
    Operation *def = value.getDefiningOp();
    if (isMoved(def) || isa_and_nonnull<graph::AliasOpInterface>(def)) {
      Value operand = rounded(def->getOperand(0));
      if (operand == def->getOperand(0)) // was rounded for all
        return roundedOf[value] = value;
      builder.setInsertionPointAfter(def);
      Operation *view = builder.clone(*def);
      view->setOperand(0, operand);
      return roundedOf[value] = view->getResult(0);
    }
    // Parameters and inputs are themselves for all others.
    if (def)
      return roundForAll(value);
    builder.setInsertionPointToStart(&step.getBody().front());
    Value narrow = graph::CastOp::create(builder, *reader, value, bf16);
    return roundedOf[value] = graph::CastOp::create(builder, *reader, narrow,
                                                    graph::elementOf(value));
  }

  Value roundForAll(Value value) {
    if (Value known = roundedOf.lookup(value))
      return known;
    bool isExact = isRepresentable(value);
    Operation *def = value.getDefiningOp();
    bool isProductOf = isProduct(def);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses())
      if (isExact || isProductOf || !isComparedWithOther(use))
        uses.push_back(&use);
    builder.setInsertionPointAfterValue(value);
    Value again = cast(cast(value, bf16), graph::elementOf(value));
    for (OpOperand *use : uses)
      use->set(again);
    return roundedOf[value] = again;
  }

  static bool isComparedWithOther(OpOperand &use) {
    Operation *user = use.getOwner();
    return isComparison(user) &&
           !isConstant(user->getOperand(1 - use.getOperandNumber()));
  }

  /// Each element is one of operands that are rounded, or a constant that bf16
  /// has: rounding it again changes nothing.
  static bool isRepresentable(Value value) {
    if (narrowOf(value))
      return true;
    auto op = value.getDefiningOp<LoopNestOpInterface>();
    if (!op || isa<graph::CommunicationOpInterface>(op.getOperation()))
      return false;
    graph::LoopNest nest = op.getLoopNest();
    if (nest.combine != graph::Combine::None &&
        nest.combine != graph::Combine::Max)
      return false;
    graph::PayloadBlock payload(op, nest.extents.size());
    auto chooses = [](Operation &inner) {
      if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
        auto number = dyn_cast<FloatAttr>(constant.getValue());
        return !number || number.getValue().isZero();
      }
      return isa<arith::MaximumFOp, arith::MinimumFOp, arith::SelectOp,
                 arith::CmpFOp, arith::NegFOp, math::AbsFOp>(inner);
    };
    return isF32(value) && !op->getOperands().empty() &&
           llvm::all_of(payload.block, chooses) &&
           llvm::all_of(op->getOperands(), [](Value operand) {
             return !isa<FloatType>(graph::elementOf(operand)) ||
                    isRepresentable(operand);
           });
  }

  /// The gradient of a parameter, or a part of its sum.
  bool isOfParameter(Value value) {
    auto [known, isNew] = ofParameter.try_emplace(value, false);
    if (!isNew)
      return known->second;
    bool all = !value.use_empty();
    for (Operation *user : value.getUsers()) {
      auto loops = dyn_cast<LoopNestOpInterface>(user);
      bool adds = loops && (isMoved(user) || isa<graph::CatOp>(user) ||
                            isa<graph::AliasOpInterface>(user) ||
                            graph::payloadFacts(loops).isAddition ||
                            isa<graph::SumOp>(user));
      all &= isa<graph::GradientOp>(user) ||
             user->hasTrait<OpTrait::IsTerminator>() ||
             graph::roleOf(user->getLoc()) == StepRole::Update ||
             (adds && isOfParameter(user->getResult(0)));
    }
    return ofParameter[value] = all;
  }

  /// What is widened, seen through views; null where something else is.
  Value narrowed(Value value) {
    if (Value narrow = narrowOf(value))
      return narrow;
    Operation *def = value.getDefiningOp();
    if (!isMoved(def))
      return {};
    Value operand = narrowed(def->getOperand(0));
    if (!operand)
      return {};
    if (Value known = narrowViews.lookup(value))
      return known;
    builder.setInsertionPointAfter(def);
    Operation *view = builder.clone(*def);
    view->setOperand(0, operand);
    view->getResult(0).setType(
        mlir::cast<RankedTensorType>(value.getType()).clone(bf16));
    return narrowViews[value] = view->getResult(0);
  }

  /// Other shapes of what is stored: a reshape of two bytes an element is
  /// widened, not one of four reshaped.
  void narrowAliases() {
    for (Operation &op : llvm::make_early_inc_range(step.getOps())) {
      if (!isa<graph::AliasOpInterface>(op) || op.getNumOperands() != 1)
        continue;
      Value narrow = narrowed(op.getOperand(0));
      if (!narrow)
        continue;
      Value old = op.getResult(0);
      Type wide = graph::elementOf(old);
      op.setOperand(0, narrow);
      old.setType(mlir::cast<RankedTensorType>(old.getType()).clone(bf16));
      builder.setInsertionPointAfter(&op);
      Value again = cast(old, wide);
      old.replaceAllUsesExcept(again, again.getDefiningOp());
    }
  }

  graph::StepOp step;
  Kept &kept;
  OpBuilder builder;
  std::optional<Location> reader; // of what has no line of its own
  Type bf16;
  llvm::DenseMap<Value, Value> roundedOf, narrowViews;
  llvm::DenseMap<Value, bool> ofParameter;
};

class MixedPrecisionPass
    : public dl::impl::MixedPrecisionBase<MixedPrecisionPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    graph::ProgramOp program = graph::programOf(getOperation());
    if (!program || !program.getDtype().isBF16())
      return;
    Kept kept(f32);
    for (auto step : getOperation().getOps<graph::StepOp>())
      Rounding(step, kept).run();
    if (std::string wrong = kept.complaint(); !wrong.empty()) {
      emitModelError(UnknownLoc::get(&getContext())) << wrong;
      signalPassFailure();
    }
  }
};

} // namespace
