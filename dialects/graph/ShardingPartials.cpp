// Which operands may be partial sums or maxima: the payload is linear in them,
// or commutes with the maximum.

#include "dialects/graph/Payload.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dl::graph {
namespace {

/// How a scalar of the payload depends on the operands that are partial.
enum class Dependence {
  None,    ///< not at all
  Zero,    ///< the constant 0
  Follows, ///< f(a + b) = f(a) + f(b), or f(max(a, b)) = max(f(a), f(b))
  Other,
};

class PayloadWalk {
public:
  PayloadWalk(Splitting kind, Block &payload, ArrayRef<Value> partial)
      : isSum(kind == Splitting::Sum) {
    for (Value argument : payload.getArguments())
      known[argument] = llvm::is_contained(partial, argument)
                            ? Dependence::Follows
                            : Dependence::None;
    for (Operation &op : payload) {
      Dependence dependence = isSum ? ofSum(op) : ofMax(op);
      for (Value result : op.getResults())
        known[result] = dependence;
    }
  }

  Dependence of(Value value) const { return known.lookup(value); }

private:
  static bool isConstant(Dependence d) {
    return d == Dependence::None || d == Dependence::Zero;
  }
  bool constant(Operation &op, unsigned operand) const {
    return isConstant(of(op.getOperand(operand)));
  }
  /// The sum of nothing and something is something, the maximum of a constant
  /// with itself is the constant.
  bool follows(Operation &op, unsigned operand) const {
    Dependence d = of(op.getOperand(operand));
    return d == Dependence::Follows || d == Dependence::Zero ||
           (!isSum && d == Dependence::None);
  }
  std::optional<Dependence> ofConstants(Operation &op) const {
    if (!llvm::all_of(op.getOperands(),
                      [&](Value v) { return isConstant(of(v)); }))
      return std::nullopt;
    if (matchPattern(&op, m_Zero()) || matchPattern(&op, m_AnyZeroFloat()))
      return Dependence::Zero;
    return Dependence::None;
  }
  static Dependence followsIf(bool condition) {
    return condition ? Dependence::Follows : Dependence::Other;
  }

  Dependence ofSum(Operation &op) const {
    if (std::optional<Dependence> d = ofConstants(op))
      return *d;
    if (isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp>(op))
      return followsIf(follows(op, 0) && follows(op, 1));
    if (isa<arith::MulFOp, arith::MulIOp>(op))
      return followsIf((follows(op, 0) && constant(op, 1)) ||
                       (constant(op, 0) && follows(op, 1)));
    if (isa<arith::DivFOp>(op))
      return followsIf(follows(op, 0) && constant(op, 1));
    if (isa<arith::SelectOp>(op))
      return followsIf(constant(op, 0) && follows(op, 1) && follows(op, 2));
    // (Parts of a sum are added up before it is rounded to fewer bits.)
    if (isa<arith::TruncFOp>(op) && op.getResult(0).getType().isBF16())
      return Dependence::Other;
    if (isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
            arith::ExtSIOp, arith::TruncIOp>(op))
      return followsIf(follows(op, 0));
    return Dependence::Other;
  }

  /// Only what rises everywhere, as computed and not just as a function: log
  /// rises, but parts of a maximum may be negative; erf rises, but its
  /// approximation does not.
  Dependence ofMax(Operation &op) const {
    if (std::optional<Dependence> d = ofConstants(op))
      return *d;
    if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
      return followsIf(follows(op, 0) && follows(op, 1));
    if (isa<arith::AddFOp, arith::AddIOp>(op))
      return followsIf((follows(op, 0) && constant(op, 1)) ||
                       (constant(op, 0) && follows(op, 1)));
    if (isa<arith::SubFOp, arith::SubIOp>(op))
      return followsIf(follows(op, 0) && constant(op, 1));
    if (isa<arith::SelectOp>(op))
      return followsIf(constant(op, 0) && follows(op, 1) && follows(op, 2));
    if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp,
            math::ExpOp, math::TanhOp, math::FloorOp>(op))
      return followsIf(follows(op, 0));
    return Dependence::Other;
  }

  bool isSum;
  llvm::DenseMap<Value, Dependence> known;
};

bool mayBePartial(Value tensor) {
  Type element = elementOf(tensor);
  return isa<FloatType>(element) || element.isSignlessInteger(32) ||
         element.isSignlessInteger(64);
}

/// Whether the nest around the payload keeps what the payload does.
bool nestFollows(const LoopNest &nest, Splitting kind,
                 ArrayRef<unsigned> operands) {
  if (nest.combine == Combine::Scan) { // sums, and a recurrence of what it adds
    bool isLinear =
        nest.scan->kind == Scan::Sum ||
        (nest.scan->kind == Scan::Linear && operands == ArrayRef<unsigned>{1});
    return isLinear && kind == Splitting::Sum;
  }
  if (nest.combine == Combine::Order ||
      (kind == Splitting::Sum && nest.combine == Combine::Max))
    return false;
  if (kind == Splitting::Max &&
      (nest.combine == Combine::Sum || nest.yieldsIndex))
    return false;
  return llvm::all_of(operands, [&](unsigned operand) {
    std::optional<double> outside = nest.accesses[operand].outside;
    // What is its own sum: 0 and the infinities.
    return kind == Splitting::Max || !outside ||
           *outside + *outside == *outside;
  });
}

/// Operand sets to try: all of few operands, else each one and all together.
SmallVector<SmallVector<unsigned, 2>> operandSets(unsigned count) {
  SmallVector<SmallVector<unsigned, 2>> sets;
  if (count <= 4) {
    for (unsigned mask = 1; mask < 1u << count; ++mask) {
      sets.emplace_back();
      for (unsigned i = 0; i < count; ++i)
        if (mask >> i & 1)
          sets.back().push_back(i);
    }
    return sets;
  }
  for (unsigned i = 0; i < count; ++i)
    sets.push_back({i});
  sets.push_back(llvm::to_vector<2>(llvm::seq<unsigned>(count)));
  return sets;
}

} // namespace

SmallVector<PartialRule, 2> derivePartialRules(Operation *op) {
  auto nested = cast<LoopNestOpInterface>(op);
  LoopNest nest = nested.getLoopNest();
  PayloadBlock payload(nested, nest.extents.size());
  SmallVector<Value> scalars(payload.scalars());
  ArrayRef<Value> values = payload.results;

  SmallVector<PartialRule, 2> rules;
  if (!llvm::all_of(op->getResults(), mayBePartial))
    return rules;
  for (const auto &set : operandSets(op->getNumOperands())) {
    SmallVector<Value> partial;
    for (unsigned i : set)
      partial.push_back(scalars[i]);
    // The step's scalars are read past the payload's operands.
    if (!llvm::all_of(set, [&](unsigned i) {
          bool read =
              !scalars[i].use_empty() || llvm::is_contained(values, scalars[i]);
          return mayBePartial(op->getOperand(i)) && read;
        }))
      continue;
    for (Splitting kind : {Splitting::Sum, Splitting::Max}) {
      PayloadWalk walk(kind, payload.block, partial);
      if (nestFollows(nest, kind, set) && llvm::all_of(values, [&](Value v) {
            return walk.of(v) == Dependence::Follows;
          }))
        rules.push_back({set, kind});
    }
  }
  return rules;
}

} // namespace dl::graph
