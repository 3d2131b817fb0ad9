#pragma once
// Reductions, logic and the functions of several tensors.
#include "shape.h"

namespace dl {

inline Tensor Tensor::grad() const {
  Tensor result;
  result.id = dl_grad(id);
  return result;
}
inline Tensor Tensor::reciprocal() const {
  return detail::elementwise("div", 1.0, *this);
}

namespace detail {
inline Tensor truth(const Tensor &x) {
  return x.dtype() == kBool ? x : x.ne(0);
}
} // namespace detail

inline Tensor Tensor::logical_and(Tensor other) const {
  Tensor a = detail::truth(*this), b = detail::truth(other);
  return detail::elementwise("logical_and", a, b);
}
inline Tensor Tensor::logical_or(Tensor other) const {
  Tensor a = detail::truth(*this), b = detail::truth(other);
  return detail::elementwise("logical_or", a, b);
}
inline Tensor Tensor::logical_not() const {
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
  Tensor chosen = detail::truth(condition);
  return Tensor(
      detail::emit_many<1>("select", {Operand::fixed(chosen), a, b}, {}));
}

namespace detail {

inline Tensor sum(const char *what, const Tensor &x, const Shape &dims,
                  bool keepdim) {
  Shape over = axes(what, x, dims);
  Tensor numbers = x.is_floating_point()
                       ? x
                       : x.to(kInt64); // as PyTorch sums integers and booleans
  return emit("sum", numbers, {{"dims", over}, {"keepdim", keepdim}});
}

inline Tensor mean(const Tensor &x, const Shape &dims, bool keepdim) {
  Tensor floats = x.is_floating_point() ? x : x.to(kFloat);
  Shape shape = x.sizes();
  i64 count = 1;
  for (i64 dim : axes("mean", x, dims))
    count *= shape[static_cast<int>(dim)];
  return sum("mean", floats, dims, keepdim)
      .mul(1.0 / static_cast<double>(count));
}

inline Tensor amax(const char *what, const Tensor &x, const Shape &dims,
                   bool keepdim) {
  return emit("amax", x, {{"dims", axes(what, x, dims)}, {"keepdim", keepdim}});
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
inline Tensor Tensor::max() const {
  return detail::amax("max", *this, {}, false);
}

inline ValuesAndIndices Tensor::max(i64 dim, bool keepdim) const {
  Shape shape = sizes();
  i64 axis = detail::wrap("max", dim, shape.rank, shape);
  detail::Results<2> both = detail::emit_many<2>(
      "max", {Operand::fixed(*this)}, {{"dim", axis}, {"keepdim", keepdim}});
  ValuesAndIndices result;
  result.values.id = both.ids[0];
  result.indices.id = both.ids[1];
  return result;
}
inline ValuesAndIndices Tensor::max(i64 dim, ReduceOptions options) const {
  return max(dim, options.keepdim);
}

inline Tensor Tensor::argmax(i64 dim, bool keepdim) const {
  Shape shape = sizes();
  i64 axis = detail::wrap("argmax", dim, shape.rank, shape);
  return detail::emit("argmax", *this, {{"dim", axis}, {"keepdim", keepdim}});
}
inline Tensor Tensor::argmax() const { return reshape({-1}).argmax(0); }

inline Tensor Tensor::softmax(i64 dim) const {
  Shape shape = sizes();
  return detail::emit(
      "softmax", *this,
      {{"dim", detail::wrap("softmax", dim, shape.rank, shape)}});
}
inline Tensor Tensor::log_softmax(i64 dim) const {
  Shape shape = sizes();
  return detail::emit(
      "log_softmax", *this,
      {{"dim", detail::wrap("log_softmax", dim, shape.rank, shape)}});
}

inline Tensor sum(Tensor x) { return x.sum(); }
inline Tensor sum(Tensor x, const Dims &dims, bool keepdim = false) {
  return x.sum(dims, keepdim);
}
inline Tensor sum(Tensor x, const Dims &dims, ReduceOptions options) {
  return x.sum(dims, options);
}
inline Tensor mean(Tensor x) { return x.mean(); }
inline Tensor mean(Tensor x, const Dims &dims, bool keepdim = false) {
  return x.mean(dims, keepdim);
}
inline Tensor mean(Tensor x, const Dims &dims, ReduceOptions options) {
  return x.mean(dims, options);
}
inline Tensor amax(Tensor x, const Dims &dims, bool keepdim = false) {
  return x.amax(dims, keepdim);
}
inline Tensor amax(Tensor x, const Dims &dims, ReduceOptions options) {
  return x.amax(dims, options);
}
inline Tensor max(Tensor x) { return x.max(); }
inline ValuesAndIndices max(Tensor x, i64 dim, bool keepdim = false) {
  return x.max(dim, keepdim);
}
inline ValuesAndIndices max(Tensor x, i64 dim, ReduceOptions options) {
  return x.max(dim, options);
}
inline Tensor argmax(Tensor x) { return x.argmax(); }
inline Tensor argmax(Tensor x, i64 dim, bool keepdim = false) {
  return x.argmax(dim, keepdim);
}
inline Tensor argmax(Tensor x, i64 dim, ReduceOptions options) {
  return x.argmax(dim, options);
}
inline Tensor softmax(Tensor x, i64 dim) { return x.softmax(dim); }
inline Tensor log_softmax(Tensor x, i64 dim) { return x.log_softmax(dim); }

} // namespace dl
