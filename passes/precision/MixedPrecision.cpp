#include "dialects/graph/DepthFirst.h"
#include "dialects/graph/FullPrecision.h"
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
#include "passes/precision/StepPrecision.h"
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

/// A product of forward or backward.
bool isProduct(Operation *op) {
  auto loops = dyn_cast<LoopNestOpInterface>(op);
  return loops && op->getNumResults() == 1 && isF32(op->getResult(0)) &&
         !isa<graph::CommunicationOpInterface>(op) && !graph::isComposite(op) &&
         loops.getLoopNest().contraction && !graph::hasFullPrecision(op) &&
         graph::roleOf(op->getLoc()) != StepRole::Update;
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
  Rounding(graph::StepOp step, const llvm::SetVector<Operation *> &products)
      : step(step), products(products), before(step, products),
        builder(step.getContext()), bf16(BFloat16Type::get(step.getContext())) {
  }

  void run() {
    // In program order: what an operand is made of is rounded before it is
    // looked at.
    for (Operation *product : products) {
      reader = product->getLoc();
      for (OpOperand &operand : product->getOpOperands())
        if (isF32(operand.get()))
          operand.set(rounded(operand.get()));
      if (Value result = product->getResult(0); !before.isOfParameter(result))
        roundForAll(result);
    }
    narrowAliases();
  }

private:
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
    if (precision::isMoved(def) ||
        isa_and_nonnull<graph::AliasOpInterface>(def)) {
      Value operand = rounded(def->getOperand(0));
      if (operand == def->getOperand(0)) // was rounded for all
        return roundedOf[value] = value;
      builder.setInsertionPointAfter(def);
      Operation *view = builder.clone(*def);
      view->setOperand(0, operand);
      return roundedOf[value] = view->getResult(0);
    }
    if (before.isNarrow(value))
      return roundForAll(value);
    // What is f32 is so for all others.
    if (def)
      builder.setInsertionPointAfter(def);
    else
      builder.setInsertionPointToStart(&step.getBody().front());
    return roundedOf[value] = roundAndWiden(value);
  }

  /// States, and what updates parameters, are never rounded.
  static bool isKeptFor(Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           graph::roleOf(user->getLoc()) == StepRole::Update;
  }

  Value roundAndWiden(Value value) {
    Location loc = value.getDefiningOp() ? value.getLoc() : *reader;
    Value narrow = graph::CastOp::create(builder, loc, value, bf16);
    return graph::CastOp::create(builder, loc, narrow, graph::elementOf(value));
  }

  Value roundForAll(Value value) {
    if (Value known = roundedOf.lookup(value))
      return known;
    bool isSeenByAll =
        products.contains(value.getDefiningOp()) || isRepresentable(value);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses())
      if (products.contains(use.getOwner()) ||
          (!isKeptFor(use.getOwner()) &&
           (isSeenByAll || !before.isCompared(use))))
        uses.push_back(&use);
    builder.setInsertionPointAfterValue(value);
    Value again = roundAndWiden(value);
    for (OpOperand *use : uses)
      use->set(again);
    return roundedOf[value] = again;
  }

  /// Each element is one of operands that are rounded, or a constant that bf16
  /// has: rounding it again changes nothing.
  bool isRepresentable(Value value) {
    graph::visitDepthFirst<Value>(
        value, [&](Value each) { return representable.contains(each); },
        [&](Value each) { return chosenFrom(each); },
        [&](Value each) {
          SmallVector<Value> from = chosenFrom(each);
          representable[each] =
              narrowOf(each) ||
              (!from.empty() && llvm::all_of(from, [&](Value v) {
                return representable.lookup(v);
              }));
        });
    return representable.lookup(value);
  }

  /// The floats that each element is one of; none where it is computed.
  SmallVector<Value> chosenFrom(Value value) const {
    SmallVector<Value> floats;
    auto op = value.getDefiningOp<LoopNestOpInterface>();
    if (!op || !isF32(value) || narrowOf(value) || !choosesElements(op))
      return floats;
    for (Value operand : op->getOperands())
      if (isa<FloatType>(graph::elementOf(operand)))
        floats.push_back(operand);
    return floats;
  }

  static bool choosesElements(LoopNestOpInterface op) {
    if (isa<graph::CommunicationOpInterface>(op.getOperation()))
      return false;
    graph::LoopNest nest = op.getLoopNest();
    if (nest.combine != graph::Combine::None &&
        nest.combine != graph::Combine::Max)
      return false;
    graph::PayloadBlock payload(op, nest.extents.size());
    return llvm::all_of(payload.block, [](Operation &inner) {
      if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
        auto number = dyn_cast<FloatAttr>(constant.getValue());
        return !number || number.getValue().isZero();
      }
      return isa<arith::MaximumFOp, arith::MinimumFOp, arith::SelectOp,
                 arith::CmpFOp, arith::NegFOp, math::AbsFOp>(inner);
    });
  }

  /// What is widened, seen through views; null where something else is.
  Value narrowed(Value value) {
    if (Value narrow = narrowOf(value))
      return narrow;
    Operation *def = value.getDefiningOp();
    if (!precision::isMoved(def))
      return {};
    if (Value known = narrowViews.lookup(value))
      return known;
    Value operand = narrowed(def->getOperand(0));
    if (!operand)
      return {};
    // (Some are sums by their name, as the gradient of a pool, and refuse it.)
    SmallVector<Type> types;
    auto infers = dyn_cast<InferTypeOpInterface>(def);
    if (!infers ||
        failed(infers.inferReturnTypes(
            def->getContext(), std::nullopt, operand, def->getAttrDictionary(),
            def->getPropertiesStorage(), def->getRegions(), types)))
      return {};
    builder.setInsertionPointAfter(def);
    Operation *view = builder.clone(*def);
    view->setOperand(0, operand);
    view->getResult(0).setType(types.front());
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
      Value again = graph::CastOp::create(builder, old.getLoc(), old, wide);
      old.replaceAllUsesExcept(again, again.getDefiningOp());
    }
  }

  graph::StepOp step;
  const llvm::SetVector<Operation *> &products;
  precision::StepPrecision before;
  OpBuilder builder;
  std::optional<Location> reader; // of what has no line of its own
  Type bf16;
  llvm::DenseMap<Value, Value> roundedOf, narrowViews;
  llvm::DenseMap<Value, bool> representable;
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
    for (auto step : getOperation().getOps<graph::StepOp>()) {
      if (step.getPart() == graph::Part::Initial)
        continue; // what training begins from
      llvm::SetVector<Operation *> products;
      for (Operation &op : step.getOps())
        if (isProduct(&op) && !kept.contains(&op))
          products.insert(&op);
      Rounding(step, products).run();
    }
    if (std::string wrong = kept.complaint(); !wrong.empty()) {
      emitModelError(UnknownLoc::get(&getContext())) << wrong;
      signalPassFailure();
    }
  }
};

} // namespace
