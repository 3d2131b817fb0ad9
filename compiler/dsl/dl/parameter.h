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

  Parameter &operator+=(Operand) =
      delete ("dl: a parameter is changed by an optimizer only");
  Parameter &operator-=(Operand) =
      delete ("dl: a parameter is changed by an optimizer only");
  Parameter &operator*=(Operand) =
      delete ("dl: a parameter is changed by an optimizer only");
  Parameter &operator/=(Operand) =
      delete ("dl: a parameter is changed by an optimizer only");
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
      dl_buffer_assign(id, value.id);
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
