// The sharding rule of an op with a loop nest.
//
// Iteration dims are factors. One that an access divides ("d1 floordiv 4") is
// two: d1 = 4 * q + r. A dim of an operand whose index is, say, 6 * q + 2 * y +
// k has the factors q, y, k if they fill it exactly; where that ends, what is
// left of the dim is a factor that cannot be split, and neither can those in
// the rest of the index.

#include "dialects/graph/Payload.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace dl::graph {
namespace {

/// A sum of variables times coefficients, and a constant.
struct Form {
  SmallVector<int64_t> coefficients;
  int64_t constant = 0;

  explicit Form(size_t variables) : coefficients(variables) {}
};

class NestRule {
public:
  explicit NestRule(LoopNestOpInterface op)
      : op(op), nest(op.getLoopNest()), payload(op, nest.extents.size()),
        indices(payload.indices()) {}

  ShardingRule derive() {
    findDivisors();
    createFactors();
    for (auto [access, operand] : llvm::zip(nest.accesses, op->getOperands()))
      rule.operands.push_back(operandFactors(access, shapeOf(operand)));
    TensorFactors result(dims.begin(), dims.begin() + nest.numParallel);
    rule.results.assign(op->getNumResults(), result);
    blockRepeated();
    blockUnread();
    return std::move(rule);
  }

private:
  void findDivisors();
  void noteDivisor(AffineExpr dividend, AffineExpr divisor);
  void createFactors();
  bool dependsOnRemainderOnly(unsigned dim) const;
  TensorFactors operandFactors(const Access &access, ArrayRef<int64_t> shape);
  DimFactors dimFactors(AffineExpr index, int64_t size);
  std::optional<Form> formOf(AffineExpr expr) const;
  std::pair<int64_t, int64_t> rangeOf(const Form &form) const;
  void blockAll(AffineExpr expr, BlockReason reason);
  void blockRepeated();
  void blockUnread();

  int64_t sizeOf(unsigned factor) const { return rule.factors[factor].size; }

  LoopNestOpInterface op;
  LoopNest nest;
  PayloadBlock payload;
  SmallVector<Value> indices;
  /// For each iteration dim: by what accesses or the payload divide it; 1 where
  /// they do not.
  SmallVector<int64_t> divisors;
  /// Factors of each iteration dim.
  SmallVector<DimFactors> dims;
  ShardingRule rule;
};

void NestRule::noteDivisor(AffineExpr dividend, AffineExpr divisor) {
  auto constant = dyn_cast<AffineConstantExpr>(divisor);
  if (!constant)
    return;
  for (unsigned i = 0; i < divisors.size(); ++i) {
    if (!dividend.isFunctionOfDim(i))
      continue;
    int64_t value = constant.getValue(), &known = divisors[i];
    if (known != 1 && known != value)
      known = 0; // Divided by different numbers: left whole.
    else if (nest.extents[i] % value == 0)
      known = value;
  }
}

static std::optional<int64_t> remainderDivisor(Operation *user, Value index) {
  APInt divisor;
  if (isa<arith::RemUIOp>(user) && user->getOperand(0) == index &&
      matchPattern(user->getOperand(1), m_ConstantInt(&divisor)))
    return divisor.getSExtValue();
  return std::nullopt;
}

void NestRule::findDivisors() {
  divisors.assign(nest.extents.size(), 1);
  auto visit = [&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && (expr.getKind() == AffineExprKind::FloorDiv ||
                   expr.getKind() == AffineExprKind::Mod))
      noteDivisor(binary.getLHS(), binary.getRHS());
  };
  for (const Access &access : nest.accesses) {
    for (AffineExpr index : access.map.getResults())
      index.walk(visit);
    for (AffineExpr guard : access.guards)
      guard.walk(visit);
  }
  for (auto [i, index] : llvm::enumerate(indices))
    for (Operation *user : index.getUsers())
      if (std::optional<int64_t> divisor = remainderDivisor(user, index))
        noteDivisor(getAffineDimExpr(i, op->getContext()),
                    getAffineConstantExpr(*divisor, op->getContext()));
}

bool NestRule::dependsOnRemainderOnly(unsigned dim) const {
  return llvm::all_of(indices[dim].getUsers(), [&](Operation *user) {
    std::optional<int64_t> divisor = remainderDivisor(user, indices[dim]);
    return divisor && *divisor == divisors[dim];
  });
}

void NestRule::createFactors() {
  Splitting combined =
      nest.combine == Combine::Max ? Splitting::Max : Splitting::Sum;
  for (auto [i, extent] : llvm::enumerate(nest.extents)) {
    dims.emplace_back();
    DimFactors &factors = dims.back();
    Splitting splitting = i < nest.numParallel ? Splitting::Parallel : combined;
    int64_t divisor = std::max<int64_t>(divisors[i], 1);
    int64_t quotient = extent / divisor;
    if (quotient != 1)
      factors.push_back(rule.add(quotient, splitting));
    if (divisor != 1)
      factors.push_back(rule.add(divisor, splitting));
    for (unsigned factor : factors) {
      bool inner = divisor != 1 && factor == factors.back();
      if (!indices[i].use_empty() && (inner || !dependsOnRemainderOnly(i)))
        rule.block(factor, BlockReason::IndexInPayload);
      bool merges = nest.yieldsIndex && splitting != Splitting::Parallel;
      if (nest.ordered)
        merges |= i == nest.ordered->at || i == nest.ordered->over;
      if (nest.scan)
        merges |= i == nest.scan->at || i == nest.scan->over;
      if (merges)
        rule.block(factor, BlockReason::IndexMerge);
    }
  }
}

std::pair<int64_t, int64_t> NestRule::rangeOf(const Form &form) const {
  int64_t low = form.constant, high = form.constant;
  for (auto [i, coefficient] : llvm::enumerate(form.coefficients)) {
    int64_t reach = coefficient * (sizeOf(i) - 1);
    low += std::min<int64_t>(reach, 0);
    high += std::max<int64_t>(reach, 0);
  }
  return {low, high};
}

/// Nothing where the expression is not a sum, however its dims are split.
std::optional<Form> NestRule::formOf(AffineExpr expr) const {
  // A form has a coefficient for each factor that stems from an iteration dim.
  size_t variables = 0;
  for (const DimFactors &factors : dims)
    variables += factors.size();
  Form form(variables);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form.constant = constant.getValue();
    return form;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t stride = 1;
    for (unsigned factor : llvm::reverse(dims[dim.getPosition()])) {
      form.coefficients[factor] = stride;
      stride *= sizeOf(factor);
    }
    return form;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Form> left = formOf(binary.getLHS());
  std::optional<Form> right = formOf(binary.getRHS());
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    form.constant = left->constant + right->constant;
    for (size_t i = 0; i < variables; ++i)
      form.coefficients[i] = left->coefficients[i] + right->coefficients[i];
    return form;
  }
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!divisor)
    return std::nullopt;
  int64_t by = divisor.getValue();
  if (expr.getKind() == AffineExprKind::Mul) {
    form.constant = left->constant * by;
    for (size_t i = 0; i < variables; ++i)
      form.coefficients[i] = left->coefficients[i] * by;
    return form;
  }
  if (by <= 0 || expr.getKind() == AffineExprKind::CeilDiv)
    return std::nullopt;
  // by * quotient + rest, where the rest stays within [0, by).
  Form quotient(variables), rest(variables);
  for (size_t i = 0; i < variables; ++i) {
    int64_t coefficient = left->coefficients[i];
    if (coefficient % by == 0)
      quotient.coefficients[i] = coefficient / by;
    else
      rest.coefficients[i] = coefficient;
  }
  quotient.constant = llvm::divideFloorSigned(left->constant, by);
  rest.constant = left->constant - quotient.constant * by;
  auto [low, high] = rangeOf(rest);
  if (low < 0 || high >= by)
    return std::nullopt;
  return expr.getKind() == AffineExprKind::FloorDiv ? quotient : rest;
}

void NestRule::blockAll(AffineExpr expr, BlockReason reason) {
  for (auto [i, factors] : llvm::enumerate(dims))
    if (expr.isFunctionOfDim(i))
      for (unsigned factor : factors)
        rule.block(factor, reason);
}

DimFactors NestRule::dimFactors(AffineExpr index, int64_t size) {
  DimFactors factors;
  std::optional<Form> form = formOf(index);
  if (!form) {
    blockAll(index, BlockReason::WindowHalo);
    if (size != 1)
      factors.push_back(rule.addBlocked(size, BlockReason::WindowHalo));
    return factors;
  }
  // From the outermost variable on, as long as each fills the dim.
  auto left = [&] { return llvm::max_element(form->coefficients); };
  while (!form->coefficients.empty() && *left() > 0) {
    unsigned outer = left() - form->coefficients.begin();
    int64_t stride = *left();
    if (size != stride * sizeOf(outer))
      break;
    Form rest = *form;
    rest.coefficients[outer] = 0;
    auto [low, high] = rangeOf(rest);
    if (low < 0 || high >= stride)
      break;
    factors.push_back(outer);
    size = stride;
    *form = rest;
  }
  size_t unmatched =
      llvm::count_if(form->coefficients, [](int64_t c) { return c != 0; });
  BlockReason reason = unmatched > 1    ? BlockReason::WindowHalo
                       : unmatched == 1 ? BlockReason::Shifted
                                        : BlockReason::Skipped;
  for (auto [i, coefficient] : llvm::enumerate(form->coefficients))
    if (coefficient != 0)
      rule.block(i, reason);
  if (size != 1)
    factors.push_back(rule.addBlocked(size, reason));
  return factors;
}

TensorFactors NestRule::operandFactors(const Access &access,
                                       ArrayRef<int64_t> shape) {
  TensorFactors factors;
  for (auto [index, size] : llvm::zip(access.map.getResults(), shape))
    factors.push_back(dimFactors(index, size));
  for (AffineExpr guard : access.guards) {
    std::optional<Form> form = formOf(guard);
    if (!form)
      blockAll(guard, BlockReason::Shifted);
    else
      for (auto [i, coefficient] : llvm::enumerate(form->coefficients))
        if (coefficient != 0)
          rule.block(i, BlockReason::Shifted);
  }
  return factors;
}

/// A diagonal: both dims would have to be split.
void NestRule::blockRepeated() {
  for (const TensorFactors &tensor : rule.operands) {
    SmallVector<int> uses(rule.factors.size());
    for (const DimFactors &dim : tensor)
      for (unsigned factor : dim)
        if (++uses[factor] > 1)
          rule.block(factor, BlockReason::Shifted);
  }
}

/// The local op takes the extents of its sums from its operands.
void NestRule::blockUnread() {
  for (const DimFactors &factors : ArrayRef(dims).drop_front(nest.numParallel))
    for (unsigned factor : factors) {
      bool read = llvm::any_of(rule.operands, [&](const TensorFactors &tensor) {
        return llvm::any_of(tensor, [&](const DimFactors &dim) {
          return llvm::is_contained(dim, factor);
        });
      });
      if (!read)
        rule.block(factor, BlockReason::Skipped);
    }
}

} // namespace

ShardingRule deriveShardingRule(Operation *op) {
  ShardingRule rule = NestRule(cast<LoopNestOpInterface>(op)).derive();
  rule.partials = derivePartialRules(op);
  return rule;
}

} // namespace dl::graph
