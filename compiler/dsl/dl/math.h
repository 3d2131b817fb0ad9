#pragma once
// Reductions, logic and the functions of several tensors.
#include "integers.h"

namespace dl {

inline Tensor Tensor::grad() const {
  Tensor result;
  result.id = dl_grad(id);
  // PyTorch's has no graph without create_graph.
  return result.defined() ? result.detach() : result;
}
inline Tensor Tensor::square() const {
  detail::Called called("square");
  return mul(*this);
}
inline Tensor Tensor::reciprocal() const {
  detail::Called called("reciprocal");
  return detail::elementwise("div", 1.0, *this);
}

namespace detail {
inline Tensor truth(const Tensor &x) {
  return x.dtype() == kBool ? x : x.ne(0);
}
} // namespace detail

inline Tensor Tensor::logical_and(Tensor other) const {
  detail::Called called("logical_and");
  Tensor a = detail::truth(*this), b = detail::truth(other);
  return detail::elementwise("logical_and", a, b);
}
inline Tensor Tensor::logical_or(Tensor other) const {
  detail::Called called("logical_or");
  Tensor a = detail::truth(*this), b = detail::truth(other);
  return detail::elementwise("logical_or", a, b);
}
inline Tensor Tensor::logical_not() const {
  detail::Called called("logical_not");
  Tensor x = detail::truth(*this);
  return detail::elementwise("logical_not", x);
}
inline Tensor logical_and(Tensor a, Tensor b) { return a.logical_and(b); }
inline Tensor logical_or(Tensor a, Tensor b) { return a.logical_or(b); }
inline Tensor logical_not(Tensor x) { return x.logical_not(); }
inline Tensor square(Tensor x) { return x.square(); }
inline Tensor reciprocal(Tensor x) { return x.reciprocal(); }

/// Elements of `a` where the condition holds, of `b` elsewhere.
inline Tensor where(Tensor condition, const Operand &a, const Operand &b) {
  detail::Called called("where");
  if (condition.is_floating_point())
    detail::fail("where: the condition holds floats, not booleans; `x != 0` "
                 "says what is meant");
  Tensor chosen = detail::truth(condition);
  return Tensor(
      detail::emit_many<1>("select", {Operand::fixed(chosen), a, b}, {}));
}

inline Tensor Tensor::where(Tensor condition, const Operand &other) const {
  return dl::where(condition, *this, other);
}
/// Keeps its dtype: the value becomes one.
inline Tensor Tensor::masked_fill(Tensor mask, const Operand &value) const {
  detail::Called called("masked_fill");
  if (is_floating_point()) {
    detail::require_finite("masked_fill", value);
    return dl::where(mask, value, *this);
  }
  if (value.kind == DL_FLOAT_SCALAR &&
      __builtin_floor(value.number) != value.number)
    detail::fail("masked_fill: the value {} is no number of a tensor of "
                 "integers",
                 value.number);
  Tensor filled = dl::where(mask, value, *this);
  return filled.to(dtype());
}
inline Tensor masked_fill(Tensor x, Tensor mask, const Operand &value) {
  return x.masked_fill(mask, value);
}

namespace detail {
/// x where it is beyond the bound, else the bound, which is chosen where both
/// are equal: x gets no gradient there. Between tensors, equal ones share it.
/// A bound that is NaN makes everything NaN.
inline Tensor bounded(const Tensor &x, const Operand &bound, bool below) {
  bool isNaN = bound.kind == DL_FLOAT_SCALAR && bound.number != bound.number;
  if (bound.kind == DL_PROMOTED || isNaN)
    return below ? x.maximum(bound) : x.minimum(bound);
  return where(below ? x.le(bound) : x.ge(bound), bound, x);
}
} // namespace detail

/// A value that equals a bound that is a number has no gradient; PyTorch 1.13
/// passes it on.
inline Tensor Tensor::clamp(const ClampOptions &options) const {
  detail::Called called("clamp");
  if (!options.min.given && !options.max.given)
    detail::fail("clamp: neither min nor max is given");
  Tensor x = *this;
  if (options.min.given)
    x = detail::bounded(x, options.min, true);
  if (options.max.given)
    x = detail::bounded(x, options.max, false);
  return x;
}
inline Tensor Tensor::clamp(const Operand &min,
                            const detail::OptionalOperand &max) const {
  ClampOptions options;
  static_cast<Operand &>(options.min) = min;
  options.min.given = true;
  options.max = max;
  return clamp(options);
}
inline Tensor clamp(Tensor x, const ClampOptions &options) {
  return x.clamp(options);
}
inline Tensor clamp(Tensor x, const Operand &min,
                    const detail::OptionalOperand &max = {}) {
  return x.clamp(min, max);
}

inline Tensor Tensor::clip(const Operand &min,
                           const detail::OptionalOperand &max) const {
  return clamp(min, max);
}
inline Tensor Tensor::clamp_min(const Operand &min) const { return clamp(min); }
inline Tensor Tensor::clamp_max(const Operand &max) const {
  ClampOptions options;
  static_cast<Operand &>(options.max) = max;
  options.max.given = true;
  return clamp(options);
}
inline Tensor clip(Tensor x, const Operand &min,
                   const detail::OptionalOperand &max = {}) {
  return x.clip(min, max);
}
inline Tensor clamp_min(Tensor x, const Operand &min) {
  return x.clamp_min(min);
}
inline Tensor clamp_max(Tensor x, const Operand &max) {
  return x.clamp_max(max);
}

namespace detail {

inline Tensor sum(const char *what, const Tensor &x, const Shape &dims,
                  bool keepdim) {
  Called called(what);
  Shape over = axes(what, x, dims);
  Tensor numbers = x.is_floating_point()
                       ? x
                       : x.to(kInt64); // as PyTorch sums integers and booleans
  return emit("sum", numbers, {{"dims", over}, {"keepdim", keepdim}});
}

inline Tensor mean(const Tensor &x, const Shape &dims, bool keepdim) {
  Called called("mean");
  Tensor floats = x.is_floating_point() ? x : x.to(kFloat);
  Shape shape = x.sizes();
  i64 count = 1;
  for (i64 dim : axes("mean", x, dims))
    count *= shape[static_cast<int>(dim)];
  return sum("mean", floats, dims, keepdim)
      .mul(1.0 / static_cast<double>(count));
}

/// Booleans and bytes are ordered as numbers.
inline Tensor ordered(const Tensor &x) {
  return x.dtype() == kBool || x.dtype() == kUInt8 ? x.to(kInt64) : x;
}
inline Tensor amax(const char *what, const Tensor &x, const Shape &dims,
                   bool keepdim) {
  Called called(what);
  Shape over = axes(what, x, dims);
  return emit("amax", ordered(x), {{"dims", over}, {"keepdim", keepdim}})
      .to(x.dtype());
}

/// What a minimum is the maximum of; twice gives x again. Of integers -1 - x:
/// the least one has no negative. Bytes and booleans become integers.
inline Tensor negated(const Tensor &x) {
  return x.is_floating_point() ? x.neg() : elementwise("sub", -1, x);
}
inline Tensor amin(const char *what, const Tensor &x, const Shape &dims,
                   bool keepdim) {
  Called called(what);
  return negated(amax(what, negated(x), dims, keepdim)).to(x.dtype());
}

inline ValuesAndIndices max(const char *what, const Tensor &x, i64 dim,
                            bool keepdim) {
  Called called(what);
  Shape shape = x.sizes();
  i64 axis = wrap(what, dim, shape.rank, shape);
  Tensor numbers = ordered(x);
  Results<2> both = emit_many<2>("max", {Operand::fixed(numbers)},
                                 {{"dim", axis}, {"keepdim", keepdim}});
  ValuesAndIndices result;
  result.values.id = both.ids[0];
  result.indices.id = both.ids[1];
  result.values = result.values.to(x.dtype());
  return result;
}

inline Tensor argmax(const char *what, const Tensor &x, i64 dim, bool keepdim) {
  Called called(what);
  Shape shape = x.sizes();
  i64 axis = wrap(what, dim, shape.rank, shape);
  return emit("argmax", ordered(x), {{"dim", axis}, {"keepdim", keepdim}});
}

} // namespace detail

inline Tensor Tensor::sum() const {
  return detail::sum("sum", *this, {}, false);
}
inline Tensor Tensor::sum(const Dims &dims, bool keepdim) const {
  return detail::sum("sum", *this, dims, keepdim);
}
inline Tensor Tensor::mean() const { return detail::mean(*this, {}, false); }
inline Tensor Tensor::mean(const Dims &dims, bool keepdim) const {
  return detail::mean(*this, dims, keepdim);
}
inline Tensor Tensor::amax(const Dims &dims, bool keepdim) const {
  return detail::amax("amax", *this, dims, keepdim);
}
inline Tensor Tensor::amin(const Dims &dims, bool keepdim) const {
  return detail::amin("amin", *this, dims, keepdim);
}
inline Tensor Tensor::max() const {
  return detail::amax("max", *this, {}, false);
}
inline Tensor Tensor::min() const {
  return detail::amin("min", *this, {}, false);
}
inline ValuesAndIndices Tensor::max(i64 dim, bool keepdim) const {
  return detail::max("max", *this, dim, keepdim);
}
inline ValuesAndIndices Tensor::min(i64 dim, bool keepdim) const {
  detail::Called called("min");
  ValuesAndIndices least =
      detail::max("min", detail::negated(*this), dim, keepdim);
  least.values = detail::negated(least.values).to(dtype());
  return least;
}
inline ValuesAndIndices Tensor::max(i64 dim, ReduceOptions options) const {
  return max(dim, options.keepdim);
}
inline ValuesAndIndices Tensor::min(i64 dim, ReduceOptions options) const {
  return min(dim, options.keepdim);
}
inline Tensor Tensor::argmax(i64 dim, bool keepdim) const {
  return detail::argmax("argmax", *this, dim, keepdim);
}
inline Tensor Tensor::argmin(i64 dim, bool keepdim) const {
  detail::Called called("argmin");
  return detail::argmax("argmin", detail::negated(*this), dim, keepdim);
}
inline Tensor Tensor::argmax() const {
  detail::Called called("argmax");
  return reshape(-1).argmax(0);
}
inline Tensor Tensor::argmin() const {
  detail::Called called("argmin");
  return reshape(-1).argmin(0);
}

} // namespace dl
