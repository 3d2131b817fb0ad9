#pragma once
// Gradients with respect to any tensor, and gradients of gradients, as
// torch.autograd has them.
#include "lists.h"
#include "reductions.h"

namespace dl {

inline void Tensor::backward(const Tensor &gradient) const {
  detail::Called called("backward");
  if (sizes() != gradient.sizes())
    detail::fail("backward: a gradient {} for a tensor {}", gradient.sizes(),
                 sizes());
  (*this * gradient.detach()).sum().backward();
}

inline Tensor Tensor::requires_grad_(bool value) const {
  dl_requires_grad(id, value);
  return *this;
}

/// What is computed while there is one is a constant to losses that use it, as
/// if each tensor were detached:
///
///   dl::Tensor target;
///   {
///     dl::NoGradGuard no_grad;
///     target = reward + 0.99 * q_target(next).amax(1);
///   }
struct NoGradGuard {
  NoGradGuard() { dl_gradients_off(1); }
  ~NoGradGuard() { dl_gradients_off(-1); }
  NoGradGuard(const NoGradGuard &) = delete;
};

namespace autograd {

struct GradOptions {
  /// Weights of the elements of outputs that are no scalar.
  Tensor grad_outputs = {};
  /// (A graph is there until the step ends.)
  bool retain_graph = true;
  /// Losses that use the gradients differentiate through them.
  bool create_graph = false;
  /// An input that the outputs do not depend on gives a tensor that is not
  /// defined, PyTorch's None; else it is an error.
  bool allow_unused = false;
};

/// The gradients of a single element, of the shapes of the inputs, which may be
/// what the step got, what it computed, or parameters:
///
///   auto du = dl::autograd::grad(u.sum(), x, {.create_graph = true})[0];
inline TensorList grad(Tensor outputs, const TensorList &inputs,
                       const GradOptions &o = {}) {
  detail::Called called("autograd::grad");
  if (o.grad_outputs.defined()) {
    if (outputs.sizes() != o.grad_outputs.sizes())
      detail::fail("autograd::grad: grad_outputs {} for outputs {}",
                   o.grad_outputs.sizes(), outputs.sizes());
    outputs = (outputs * detail::stationary(o.grad_outputs)).sum();
  }
  if (outputs.numel() != 1)
    detail::fail("autograd::grad: outputs {} are no scalar; {.grad_outputs = "
                 "dl::ones_like(y)} gives the gradient of their sum",
                 outputs.sizes());
  int count = inputs.size();
  int *ids = new int[static_cast<unsigned>(2 * count)], *made = ids + count;
  for (int i = 0; i < count; ++i)
    ids[i] = inputs[i].id;
  dl_gradients(outputs.id, ids, count, o.allow_unused, made);
  TensorList gradients;
  for (int i = 0; i < count; ++i) {
    Tensor gradient;
    gradient.id = made[i];
    gradients.push_back(
        o.create_graph || !gradient.defined() ? gradient : gradient.detach());
  }
  delete[] ids;
  return gradients;
}

inline TensorList grad(const Tensor &outputs, const Tensor &input,
                       const GradOptions &o = {}) {
  return grad(outputs, TensorList{input}, o);
}

/// Weights of the elements of outputs by position, as in
/// grad(u, x, dl::ones_like(u), {.create_graph = true}).
inline TensorList grad(const Tensor &outputs, const TensorList &inputs,
                       const detail::Given auto &grad_outputs,
                       GradOptions o = {}) {
  o.grad_outputs = grad_outputs;
  return grad(outputs, inputs, o);
}
inline TensorList grad(const Tensor &outputs, const Tensor &input,
                       const detail::Given auto &grad_outputs,
                       GradOptions o = {}) {
  return grad(outputs, TensorList{input}, grad_outputs, o);
}

/// By position, as C++ programs have them: grad({u}, {x}, {ones_like(u)},
/// /*retain_graph=*/true, /*create_graph=*/true), of several outputs the sum.
template <detail::Bool T>
TensorList grad(const TensorList &outputs, const TensorList &inputs,
                const TensorList &grad_outputs, T retain_graph,
                bool create_graph = false, bool allow_unused = false) {
  detail::Called called("autograd::grad");
  if (grad_outputs.size() && grad_outputs.size() != outputs.size())
    detail::fail("autograd::grad: {} grad_outputs for {} outputs",
                 grad_outputs.size(), outputs.size());
  Tensor sum;
  for (int i = 0; i < outputs.size(); ++i) {
    Tensor weight = grad_outputs.size() ? grad_outputs[i] : Tensor();
    if (!weight.defined() && outputs[i].numel() != 1)
      detail::fail("autograd::grad: output {}, {}, is no scalar and has no "
                   "grad_outputs",
                   i, outputs[i].sizes());
    if (weight.defined() && weight.sizes() != outputs[i].sizes())
      detail::fail("autograd::grad: grad_outputs {} for outputs {}",
                   weight.sizes(), outputs[i].sizes());
    Tensor part = (weight.defined() ? outputs[i] * detail::stationary(weight)
                                    : outputs[i])
                      .sum();
    sum = sum.defined() ? sum + part : part;
  }
  if (!sum.defined())
    detail::fail("autograd::grad: there are no outputs");
  return grad(sum, inputs,
              {.retain_graph = bool(retain_graph),
               .create_graph = create_graph,
               .allow_unused = allow_unused});
}

using tensor_list = TensorList;

} // namespace autograd
} // namespace dl
