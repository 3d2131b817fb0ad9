#pragma once
// Derivatives of functions, as torch.autograd.functional and torch.func have
// them.
#include "autograd.h"
#include "create.h"

namespace dl {

namespace detail {
template <class F>
concept FunctionOfTensor = requires(F &function, const Tensor &x) {
  static_cast<Tensor>(function(x));
};
/// The argument of a function, apart from what else uses it.
inline Tensor argument(const Tensor &x) { return copied(x); }
/// Zeros where the outputs do not depend on the input.
inline Tensor derivative(const Tensor &scalar, const Tensor &x, bool graph) {
  Tensor result = autograd::grad(
      scalar, x, {.create_graph = graph, .allow_unused = true})[0];
  return result.defined() ? result : zeros_like(x);
}
/// Of each element of y, one after the other.
inline Tensor derivatives(const char *what, const Tensor &y, const Tensor &x,
                          bool graph) {
  constexpr i64 kMost = 4096;
  Shape shape = y.sizes();
  if (y.numel() > kMost || shape.rank + x.dim() > Shape::kMaxRank)
    fail("{}: outputs {} of inputs {}; up to {} outputs and {} dims are "
         "wanted, for each output has a backward pass of its own",
         what, shape, x.sizes(), kMost, Shape::kMaxRank);
  Tensor flat = y.reshape(-1);
  TensorList rows;
  for (i64 i = 0; i < y.numel(); ++i)
    rows.push_back(derivative(flat[i], x, graph));
  for (i64 size : x.sizes())
    shape.push_back(size);
  return stack(rows).reshape(shape);
}
inline Tensor scalar_of(const char *what, const Tensor &y) {
  if (y.numel() != 1)
    fail("{}: the function gives {}; one element is wanted", what, y.sizes());
  return y.reshape({});
}
} // namespace detail

namespace autograd::functional {

struct DerivativeOptions {
  bool create_graph = false;
};

/// [..., ...]: the derivative of each output by each input.
template <detail::FunctionOfTensor F>
Tensor jacobian(F &&function, const Tensor &inputs,
                DerivativeOptions options = {}) {
  detail::Called called("jacobian");
  Tensor x = detail::argument(inputs);
  return detail::derivatives("jacobian", function(x), x, options.create_graph);
}
/// The second derivatives of a scalar.
template <detail::FunctionOfTensor F>
Tensor hessian(F &&function, const Tensor &inputs,
               DerivativeOptions options = {}) {
  detail::Called called("hessian");
  Tensor x = detail::argument(inputs);
  Tensor slope =
      detail::derivative(detail::scalar_of("hessian", function(x)), x, true);
  return detail::derivatives("hessian", slope, x, options.create_graph);
}
/// auto [y, product] = vjp(f, x, v): v times the Jacobian.
template <detail::FunctionOfTensor F>
Tensors<2> vjp(F &&function, const Tensor &inputs, const Tensor &v,
               DerivativeOptions options = {}) {
  detail::Called called("vjp");
  Tensor x = detail::argument(inputs), y = function(x);
  return {y, detail::derivative((y * v).sum(), x, options.create_graph)};
}
/// auto [y, product] = jvp(f, x, v): the Jacobian times v, by two passes
/// backward (Townsend, "A new trick for calculating Jacobian vector products",
/// 2017).
template <detail::FunctionOfTensor F>
Tensors<2> jvp(F &&function, const Tensor &inputs, const Tensor &v,
               DerivativeOptions options = {}) {
  detail::Called called("jvp");
  Tensor x = detail::argument(inputs), y = function(x), u = zeros_like(y);
  Tensor slope = detail::derivative((y * u).sum(), x, true);
  return {y, detail::derivative((slope * v).sum(), u, options.create_graph)};
}
/// auto [y, product] = hvp(f, x, v): the Hessian of a scalar times v.
template <detail::FunctionOfTensor F>
Tensors<2> hvp(F &&function, const Tensor &inputs, const Tensor &v,
               DerivativeOptions options = {}) {
  detail::Called called("hvp");
  Tensor x = detail::argument(inputs), y = function(x);
  Tensor slope = detail::derivative(detail::scalar_of("hvp", y), x, true);
  return {y, detail::derivative((slope * v).sum(), x, options.create_graph)};
}
/// A Hessian is symmetric: hvp.
template <detail::FunctionOfTensor F>
Tensors<2> vhp(F &&function, const Tensor &inputs, const Tensor &v,
               DerivativeOptions options = {}) {
  return hvp(static_cast<F &&>(function), inputs, v, options);
}

} // namespace autograd::functional

/// Functions of functions: auto slope = dl::func::grad(f); slope(x). Losses
/// differentiate through what they give.
namespace func {

template <detail::FunctionOfTensor F> auto grad(F function) {
  return [function](const Tensor &inputs) mutable {
    detail::Called called("func::grad");
    Tensor x = detail::argument(inputs);
    return detail::derivative(detail::scalar_of("func::grad", function(x)), x,
                              true);
  };
}
template <detail::FunctionOfTensor F> auto jacrev(F function) {
  return [function](const Tensor &inputs) mutable {
    return autograd::functional::jacobian(function, inputs,
                                          {.create_graph = true});
  };
}
template <detail::FunctionOfTensor F> auto jacfwd(F function) {
  return jacrev(function);
}
template <detail::FunctionOfTensor F> auto hessian(F function) {
  return [function](const Tensor &inputs) mutable {
    return autograd::functional::hessian(function, inputs,
                                         {.create_graph = true});
  };
}

} // namespace func

} // namespace dl
