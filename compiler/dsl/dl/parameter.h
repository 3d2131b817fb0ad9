#pragma once
// What optimizers change.
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

} // namespace dl
