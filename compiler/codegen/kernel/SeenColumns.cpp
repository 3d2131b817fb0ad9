#include "compiler/codegen/kernel/SeenColumns.h"
#include "compiler/codegen/kernel/IndexRange.h"
#include "compiler/codegen/kernel/PayloadCache.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <map>
#include <set>

using namespace mlir;

namespace dl::kernel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What is known of a number: that it is a constant, or an index.
struct Known {
  std::optional<double> number = {};
  AffineExpr index = {};

  bool is(double constant) const { return number && *number == constant; }
};

/// How far columns may be from their row: column - row.
struct Distance {
  int64_t least = std::numeric_limits<int32_t>::min();
  int64_t most = std::numeric_limits<int32_t>::max();
};

/// Values of a kernel's ops at a row and a column that are so far apart.
class Values {
public:
  Values(const BoundKernel &kernel, PayloadCache &payloads, unsigned row,
         Distance distance)
      : kernel(kernel), payloads(payloads), row(row), distance(distance) {}

  /// Nothing of the columns is in what a stage, or a sum beside it, adds up.
  bool addsNothing(Operation *total, ArrayRef<AffineExpr> dims) {
    const graph::LoopNest &nest = kernel.nest(total);
    SmallVector<Known> operands = operandsOf(total, dims);
    if (nest.contraction)
      return llvm::any_of(operands,
                          [](const Known &factor) { return factor.is(0); });
    Known added = payload(total, dims, operands, 0);
    return added.is(nest.combine == graph::Combine::Max ? -kInfinity : 0);
  }

  /// Distances from which on, or up to which, a comparison may be the same.
  std::set<int64_t> turns;

private:
  Known valueOf(Value value, ArrayRef<AffineExpr> index) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return {}; // in memory
    Operation *op = result.getOwner();
    if (kernel.nest(op).combine != graph::Combine::None)
      return {};
    MLIRContext *context = op->getContext();
    auto key = std::make_pair(
        value.getAsOpaquePointer(),
        AffineMap::get(256, 0, index, context).getAsOpaquePointer());
    if (auto it = known.find(key); it != known.end())
      return it->second;
    return known[key] = payload(op, index, operandsOf(op, index),
                                result.getResultNumber());
  }

  SmallVector<Known> operandsOf(Operation *op, ArrayRef<AffineExpr> dims) {
    SmallVector<Known> operands;
    for (auto [operand, access] :
         llvm::zip(op->getOperands(), kernel.nest(op).accesses))
      operands.push_back(access.outside || access.indirect ||
                                 !access.guards.empty()
                             ? Known()
                             : valueOf(operand, accessAt(access, dims)));
    return operands;
  }

  Known payload(Operation *op, ArrayRef<AffineExpr> dims,
                ArrayRef<Known> operands, unsigned result) {
    auto loops = cast<graph::LoopNestOpInterface>(op);
    const graph::PayloadBlock &made = payloads.get(loops);
    auto &block = const_cast<Block &>(made.block); // MLIR's are not const
    scalars.clear();
    auto arguments = ValueRange(block.getArguments());
    for (auto [scalar, operand] : llvm::zip(arguments, operands))
      scalars[scalar] = operand;
    for (auto [number, index] : llvm::zip(arguments.drop_front(operands.size()),
                                          kernel.payloadIndices(loops, dims)))
      scalars[number] = {std::nullopt, index};
    for (Operation &step : block)
      if (step.getNumResults() == 1)
        scalars[step.getResult(0)] = stepOf(&step);
    return scalars.lookup(made.results[result]);
  }

  Known of(Value scalar) const { return scalars.lookup(scalar); }

  Known stepOf(Operation *step) {
    return llvm::TypeSwitch<Operation *, Known>(step)
        .Case([&](arith::ConstantOp op) -> Known {
          if (auto number = dyn_cast<FloatAttr>(op.getValue()))
            return {number.getValueAsDouble()};
          APInt integer = cast<IntegerAttr>(op.getValue()).getValue();
          if (integer.getBitWidth() == 1)
            return {integer.getBoolValue() ? 1.0 : 0.0};
          return indexIn(
              op.getType(),
              getAffineConstantExpr(integer.getSExtValue(), op.getContext()));
        })
        .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp,
              arith::ExtFOp, arith::TruncFOp>(
            [&](auto op) { return keptBy(op); })
        .Case([&](arith::UIToFPOp op) -> Known { // truth
          return {of(op.getIn()).number};
        })
        .Case([&](arith::CmpFOp op) { return compared(op); })
        .Case([&](arith::AddIOp op) {
          return indexOf(op, [](auto a, auto b) { return a + b; });
        })
        .Case([&](arith::SubIOp op) {
          return indexOf(op, [](auto a, auto b) { return a - b; });
        })
        .Case([&](arith::CmpIOp op) { return compared(op); })
        .Case([&](arith::SelectOp op) { return selected(op); })
        .Case([&](arith::AndIOp op) { return both(op, 0); })
        .Case([&](arith::OrIOp op) { return both(op, 1); })
        .Case([&](arith::XOrIOp op) -> Known {
          Known lhs = of(op.getLhs()), rhs = of(op.getRhs());
          if (!lhs.number || !rhs.number)
            return {};
          return {*lhs.number != *rhs.number ? 1.0 : 0.0};
        })
        .Case([&](arith::AddFOp op) { return shifted(op, 1); })
        .Case([&](arith::SubFOp op) { return shifted(op, -1); })
        .Case([&](arith::MulFOp op) -> Known {
          Known lhs = of(op.getLhs()), rhs = of(op.getRhs());
          if (lhs.is(0) || rhs.is(0))
            return {0.0};
          if (!lhs.number || !rhs.number)
            return {};
          return {*lhs.number * *rhs.number};
        })
        .Case([&](arith::DivFOp op) -> Known {
          return of(op.getLhs()).is(0) ? Known{0.0} : Known();
        })
        .Case([&](math::ExpOp op) -> Known {
          return of(op.getOperand()).is(-kInfinity) ? Known{0.0} : Known();
        })
        .Default([](Operation *) { return Known(); });
  }

  /// Indices, truth, 0 and infinity are the same in any type.
  template <typename Op> Known keptBy(Op op) const {
    Known x = of(op->getOperand(0));
    if (x.index)
      return indexIn(op.getType(), x.index);
    if (x.number && *x.number != 0 && *x.number != 1 &&
        std::isfinite(*x.number))
      return {};
    return x;
  }

  template <typename Op, typename Fn> Known indexOf(Op op, Fn combine) const {
    AffineExpr lhs = of(op.getLhs()).index, rhs = of(op.getRhs()).index;
    if (!lhs || !rhs)
      return {};
    return indexIn(op.getType(), simplified(combine(lhs, rhs)));
  }

  /// Unless it may wrap: columns further on would have the same number.
  Known indexIn(Type type, AffineExpr index) const {
    bool hasSymbols = false; // where a slice begins
    index.walk(
        [&](AffineExpr part) { hasSymbols |= isa<AffineSymbolExpr>(part); });
    if (hasSymbols)
      return {};
    constexpr int64_t kLargest = int64_t(1) << 40; // sums of some fit, too
    int64_t most = type.isInteger(32)                     ? int64_t(1) << 31
                   : type.isInteger(64) || type.isIndex() ? kLargest
                                                          : 0;
    auto [low, high] = rangeOf(index, [&](unsigned dim) {
      int64_t extent = dim < kernel.grid().size() ? kernel.grid()[dim].extent
                                                  : int64_t(1) << 31;
      return std::make_pair(int64_t(0), extent - 1);
    });
    return -most <= low && high < most ? Known{std::nullopt, index} : Known();
  }

  /// -inf stays -inf, whatever is added to a hidden score or taken away: its
  /// row's largest, say.
  template <typename Op> Known shifted(Op op, double sign) const {
    Known lhs = of(op.getLhs()), rhs = of(op.getRhs());
    if (lhs.number && rhs.number)
      return {*lhs.number + sign * *rhs.number};
    bool isHidden = lhs.is(-kInfinity) || (sign > 0 && rhs.is(-kInfinity));
    return isHidden ? Known{-kInfinity} : Known();
  }

  /// `deciding` is the truth that decides, whatever the other one is.
  template <typename Op> Known both(Op op, double deciding) const {
    Known lhs = of(op.getLhs()), rhs = of(op.getRhs());
    if (lhs.is(deciding) || rhs.is(deciding))
      return {deciding};
    return lhs.number && rhs.number ? Known{1 - deciding} : Known();
  }

  Known selected(arith::SelectOp op) const {
    Known condition = of(op.getCondition());
    Known yes = of(op.getTrueValue()), no = of(op.getFalseValue());
    if (condition.number)
      return *condition.number != 0 ? yes : no;
    return yes.number && no.number == yes.number ? yes : Known();
  }

  /// Of a distance, times 1 or -1, and a constant.
  Known compared(arith::CmpIOp op) {
    AffineExpr lhs = of(op.getLhs()).index, rhs = of(op.getRhs()).index;
    if (!lhs || !rhs)
      return {};
    MLIRContext *context = op.getContext();
    AffineExpr apart = getAffineDimExpr(*kernel.streamed(), context) -
                       getAffineDimExpr(row, context);
    for (int64_t sign : {1, -1}) {
      auto rest =
          dyn_cast<AffineConstantExpr>(simplified(lhs - rhs - apart * sign));
      if (!rest)
        continue;
      int64_t turn = -sign * rest.getValue(); // where both are equal
      turns.insert({turn - 1, turn, turn + 1});
      int64_t a = sign * distance.least + rest.getValue(),
              b = sign * distance.most + rest.getValue();
      return compared(op.getPredicate(), std::min(a, b), std::max(a, b));
    }
    return {};
  }

  Known compared(arith::CmpFOp op) const {
    Known lhs = of(op.getLhs()), rhs = of(op.getRhs());
    if (!lhs.number || !rhs.number)
      return {};
    auto order = [](double number) { return APFloat(number); };
    return {arith::applyCmpPredicate(op.getPredicate(), order(*lhs.number),
                                     order(*rhs.number))
                ? 1.0
                : 0.0};
  }

  /// A difference between two bounds, with 0.
  static Known compared(arith::CmpIPredicate predicate, int64_t low,
                        int64_t high) {
    auto decided = [](bool isTrue, bool isFalse) -> Known {
      if (isTrue || isFalse)
        return {isTrue ? 1.0 : 0.0};
      return {};
    };
    bool isNever = low > 0 || high < 0;
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      return decided(high < 0, low >= 0);
    case arith::CmpIPredicate::sle:
      return decided(high <= 0, low > 0);
    case arith::CmpIPredicate::sgt:
      return decided(low > 0, high <= 0);
    case arith::CmpIPredicate::sge:
      return decided(low >= 0, high < 0);
    case arith::CmpIPredicate::eq:
      return decided(false, isNever);
    case arith::CmpIPredicate::ne:
      return decided(isNever, false);
    default:
      return {};
    }
  }

  const BoundKernel &kernel;
  PayloadCache &payloads;
  unsigned row;
  Distance distance;
  llvm::DenseMap<Value, Known> scalars; // of the payload at hand
  std::map<std::pair<const void *, const void *>, Known> known;
};

/// The loops of a stage over the grid, those that it has alone behind it.
SmallVector<AffineExpr> dimsOf(const BoundKernel &kernel, const Stage &stage) {
  SmallVector<AffineExpr> dims;
  for (auto [number, part] : llvm::enumerate(kernel.parts(stage))) {
    bool isGrid = part.grid && part.step == 1;
    dims.push_back(
        getAffineDimExpr(isGrid ? *part.grid : kernel.grid().size() + number,
                         kernel.op()->getContext()));
  }
  return dims;
}

class Search {
public:
  Search(const BoundKernel &kernel, ArrayRef<size_t> stages)
      : kernel(kernel), stages(stages) {}

  SeenColumns seen() {
    for (unsigned row = 0; row < *kernel.streamed(); ++row) {
      if (!kernel.grid()[row].canCut)
        continue;
      SeenColumns found{row};
      std::set<int64_t> turns = turnsOf(row);
      // From the nearest distance on that hides all.
      for (int64_t turn : turns)
        if (!found.last && hides(row, {.least = turn}))
          found.last = turn - 1;
      for (int64_t turn : llvm::reverse(turns))
        if (!found.first && hides(row, {.most = turn}))
          found.first = turn + 1;
      if (found.first || found.last)
        return found;
    }
    return {};
  }

private:
  std::set<int64_t> turnsOf(unsigned row) {
    Values values(kernel, payloads, row, {});
    forEachTotal([&](Operation *total, ArrayRef<AffineExpr> dims) {
      values.addsNothing(total, dims);
      return true;
    });
    return values.turns;
  }

  bool hides(unsigned row, Distance distance) {
    Values values(kernel, payloads, row, distance);
    return forEachTotal([&](Operation *total, ArrayRef<AffineExpr> dims) {
      return values.addsNothing(total, dims);
    });
  }

  /// Whether it holds of all that adds columns up; false where something is
  /// left of each.
  bool forEachTotal(
      llvm::function_ref<bool(Operation *, ArrayRef<AffineExpr>)> holds) {
    for (size_t number : stages) {
      const Stage &stage = kernel.stages()[number];
      if (!kernel.isTotal(stage)) {
        if (llvm::any_of(stage.results(), [&](OpResult result) {
              return kernel.isPlaced(result) &&
                     kernel.placement(result).kind == Placement::Result;
            }))
          return false;
        continue;
      }
      SmallVector<AffineExpr> dims = dimsOf(kernel, stage);
      SmallVector<Operation *> ops{stage.op};
      llvm::append_range(ops, stage.sumsBeside);
      if (!llvm::all_of(ops, [&](Operation *op) { return holds(op, dims); }))
        return false;
    }
    return true;
  }

  const BoundKernel &kernel;
  ArrayRef<size_t> stages;
  PayloadCache payloads;
};
} // namespace

SeenColumns SeenColumns::of(const BoundKernel &kernel,
                            ArrayRef<size_t> stages) {
  return Search(kernel, stages).seen();
}

std::pair<int64_t, int64_t> SeenColumns::blocks(int64_t begin, int64_t end,
                                                int64_t size,
                                                int64_t count) const {
  int64_t from = 0, to = count;
  if (first)
    from = std::clamp<int64_t>(begin + *first, 0, count * size - 1) / size;
  if (last)
    to = std::clamp<int64_t>(end - 1 + *last, 0, count * size - 1) / size + 1;
  return {std::min(from, to - 1), to};
}

} // namespace dl::kernel
