#pragma once
// What lives from step to step.
#include "products.h"

namespace dl {

/// A trained tensor. Copying shares it: assigning one parameter to another ties
/// their weights.
class Parameter : public Tensor {
public:
  Parameter() = default;
  /// From zeros(), ones(), full(), rand(), randn(): the initial distribution.
  Parameter(const Tensor &initial) { id = dl_parameter(initial.id); }

  /// requires_grad_(false) freezes it: no gradient, no update.
  Parameter &requires_grad_(bool value = true) {
    dl_requires_grad(id, value);
    return *this;
  }
  bool requires_grad() const { return dl_requires_grad_of(id); }

  /// The parameter: what is below needs no no_grad(), so w.data().clamp_(a, b)
  /// is w.clamp_(a, b).
  Parameter &data() { return *this; }

  // Outside of steps: what it begins with, as of nn::init.
  Parameter &normal_(double mean = 0, double std = 1) {
    dl_parameter_initial(id, DL_NORMAL, mean, std, 0, 0);
    return *this;
  }
  Parameter &uniform_(double from = 0, double to = 1) {
    dl_parameter_initial(id, DL_UNIFORM, from, to, 0, 0);
    return *this;
  }

  // In a training step: the value from here on, as PyTorch's methods make it
  // under no_grad(). No gradient goes through the change. The first three give,
  // outside of steps, what it begins with.
  Parameter &copy_(const Tensor &value) {
    if (dl_in_step())
      return become("copy_", [&] { return value; });
    dl_initial_as(id, value.id);
    return *this;
  }
  Parameter &fill_(const Operand &value) {
    if (dl_in_step())
      return become("fill_", [&] { return mul(0) + value; });
    detail::Called called("fill_");
    if (value.kind == DL_PROMOTED)
      detail::fail(
          "the value is a tensor; outside of steps a number is wanted");
    dl_parameter_initial(id, DL_CONSTANT,
                         value.kind == DL_FLOAT_SCALAR
                             ? value.number
                             : static_cast<double>(value.integer),
                         0, 0, 0);
    return *this;
  }
  Parameter &zero_() { return fill_(0); }
  Parameter &add_(const Operand &other) {
    return become("add_", [&] { return add(other); });
  }
  Parameter &sub_(const Operand &other) {
    return become("sub_", [&] { return sub(other); });
  }
  Parameter &mul_(const Operand &other) {
    return become("mul_", [&] { return mul(other); });
  }
  Parameter &div_(const Operand &other) {
    return become("div_", [&] { return div(other); });
  }
  Parameter &clamp_(const Operand &min,
                    const detail::OptionalOperand &max = {}) {
    return become("clamp_", [&] { return clamp(min, max); });
  }
  Parameter &lerp_(const Tensor &end, const Operand &weight) {
    return become("lerp_", [&] { return lerp(end, weight); });
  }
  Parameter &operator+=(const Operand &other) { return add_(other); }
  Parameter &operator-=(const Operand &other) { return sub_(other); }
  Parameter &operator*=(const Operand &other) { return mul_(other); }
  Parameter &operator/=(const Operand &other) { return div_(other); }

private:
  template <class Function>
  Parameter &become(const char *what, Function value) {
    detail::Called called(what);
    // Ops in between belong to the update.
    struct Change {
      Change() { dl_update_begin(-1, 0); }
      ~Change() { dl_update_end(); }
    } change;
    dl_assign(id, value().id);
    return *this;
  }
};

/// A tensor that steps assign and no optimizer changes: running statistics,
/// averaged weights, counters. A member of a module is saved under its name, as
/// PyTorch's buffers are. Of any element type; no gradient reaches it.
///
///   dl::Buffer mean = dl::zeros({10});
///   ... in p.train(): mean = 0.9 * mean + 0.1 * x.mean(0);
class Buffer : public Tensor {
public:
  Buffer() = default;
  Buffer(const Buffer &) = default;
  /// From zeros(), ones(), full(), rand(), randn(): the initial distribution.
  Buffer(const Tensor &initial) { id = dl_buffer(initial.id); }

  /// In a training step: the value from here on, of the same shape and type.
  /// Elsewhere it makes a buffer.
  Buffer &operator=(const Tensor &value) {
    if (defined() && dl_in_step())
      dl_assign(id, value.id);
    else
      id = dl_buffer(value.id);
    return *this;
  }
  Buffer &operator=(const Buffer &other) {
    if (dl_in_step())
      return *this = static_cast<const Tensor &>(other);
    id = other.id; // the same one
    return *this;
  }
  Buffer &operator+=(const Operand &other) { return *this = add(other); }
  Buffer &operator-=(const Operand &other) { return *this = sub(other); }
  Buffer &operator*=(const Operand &other) { return *this = mul(other); }
  Buffer &operator/=(const Operand &other) { return *this = div(other); }
};

} // namespace dl
