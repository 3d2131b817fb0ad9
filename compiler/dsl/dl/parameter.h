#pragma once
// What lives from step to step.
#include "products.h"

namespace dl {

class ParameterData;
struct Complex;
namespace detail {
Tensor filling(const char *what, const Tensor &x, const Operand &value);
}

/// A trained tensor. Copying shares it: assigning one parameter to another ties
/// their weights.
class Parameter : public Tensor {
public:
  Parameter() = default;
  /// From zeros(), ones(), full(), rand(), randn(): the initial distribution;
  /// from what is computed outside of steps: its values.
  Parameter(const Tensor &initial) { id = dl_parameter(initial.id); }
  /// nn::Parameter table{dl::zeros({4, 8}), false}: a frozen one.
  template <detail::Bool T>
  Parameter(const Tensor &initial, T requires_grad) : Parameter(initial) {
    requires_grad_(requires_grad);
  }
  struct Options {
    bool requires_grad = true;
  };
  Parameter(const Tensor &initial, const Options &options)
      : Parameter(initial, options.requires_grad) {}

  /// requires_grad_(false) freezes it: no gradient, no update.
  Parameter &requires_grad_(bool value = true) {
    dl_requires_grad(id, value);
    return *this;
  }
  bool requires_grad() const { return dl_requires_grad_of(id); }

  /// p.data().add_(...): the same parameter; what is read has no gradient.
  ParameterData data() const;

  // In a training step: the value from here on, as PyTorch's methods make it
  // under no_grad(). No gradient goes through the change.
  /// Outside of steps: what it begins with, the values of a tensor or those
  /// that another parameter begins with.
  Parameter &copy_(const Tensor &value) {
    if (!dl_in_step()) {
      detail::Called called("copy_");
      dl_initial_as(place(), detail::filling("copy_", *this, value).id);
      return *this;
    }
    return become("copy_",
                  [&] { return detail::filling("copy_", *this, value); });
  }
  Parameter &add_(const Operand &other, AddOptions options = {}) {
    return become("add_", [&] { return add(other, options); });
  }
  Parameter &sub_(const Operand &other, AddOptions options = {}) {
    return become("sub_", [&] { return sub(other, options); });
  }
  Parameter &add_(const Operand &other, const Operand &alpha) {
    return add_(other, AddOptions{alpha});
  }
  Parameter &sub_(const Operand &other, const Operand &alpha) {
    return sub_(other, AddOptions{alpha});
  }
  Parameter &addcmul_(Tensor a, Tensor b, ScaledOptions options = {}) {
    return become("addcmul_", [&] { return add(a * b * options.value); });
  }
  Parameter &addcdiv_(Tensor a, Tensor b, ScaledOptions options = {}) {
    return become("addcdiv_", [&] { return add(a / b * options.value); });
  }
  template <detail::Number T> Parameter &addcmul_(Tensor a, Tensor b, T value) {
    return addcmul_(a, b, ScaledOptions{static_cast<double>(value)});
  }
  template <detail::Number T> Parameter &addcdiv_(Tensor a, Tensor b, T value) {
    return addcdiv_(a, b, ScaledOptions{static_cast<double>(value)});
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
  Parameter &clamp_(const ClampOptions &options) {
    return become("clamp_", [&] { return clamp(options); });
  }
  Parameter &lerp_(const Tensor &end, const Operand &weight) {
    return become("lerp_", [&] { return lerp(end, weight); });
  }

  // Outside of steps these say how the parameter starts, as nn::init does.
  Parameter &fill_(const Operand &value) {
    if (dl_in_step())
      return become("fill_", [&] { return mul(0) + value; });
    if (value.kind == DL_PROMOTED)
      return copy_(detail::filling("fill_", *this, value));
    return begin_as(DL_CONSTANT, number_of(value), 0);
  }
  Parameter &zero_() { return fill_(0); }
  Parameter &uniform_(double from = 0, double to = 1) {
    return dl_in_step()
               ? become("uniform_",
                        [&] { return rand_like(*this) * (to - from) + from; })
               : begin_as(DL_UNIFORM, from, to);
  }
  Parameter &normal_(double mean = 0, double std = 1) {
    return dl_in_step() ? become("normal_",
                                 [&] { return randn_like(*this) * std + mean; })
                        : begin_as(DL_NORMAL, mean, std);
  }
  Parameter &begin_as(dl_initial_kind kind, double a, double b, double low = 0,
                      double high = 0) {
    dl_parameter_initial(place(), kind, a, b, low, high);
    return *this;
  }

  Parameter &operator+=(const Operand &other) { return add_(other); }
  Parameter &operator-=(const Operand &other) { return sub_(other); }
  Parameter &operator*=(const Operand &other) { return mul_(other); }
  Parameter &operator/=(const Operand &other) { return div_(other); }

protected:
  int own = -1; // where id is a value of it: the parameter
  int place() const { return own >= 0 ? own : id; }

private:
  static double number_of(const Operand &value) {
    return value.kind == DL_FLOAT_SCALAR ? value.number
                                         : static_cast<double>(value.integer);
  }

  template <class Function>
  Parameter &become(const char *what, Function value) {
    detail::Called called(what);
    if (!dl_in_step()) { // what it begins with
      dl_initial_as(place(), value().id);
      return *this;
    }
    // Ops in between belong to the update.
    struct Change {
      Change() { dl_update_begin(-1, 0); }
      ~Change() { dl_update_end(); }
    } change;
    dl_assign(place(), value().id);
    return *this;
  }
};

class ParameterData : public Parameter {
public:
  explicit ParameterData(const Parameter &parameter) {
    own = parameter.id;
    id = dl_in_step() ? parameter.detach().id : own;
  }
  ParameterData(const ParameterData &) = default;
  ParameterData &operator=(const Tensor &value) {
    copy_(value);
    return *this;
  }
  ParameterData &operator=(const ParameterData &value) {
    copy_(value);
    return *this;
  }
};
inline ParameterData Parameter::data() const { return ParameterData(*this); }

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
  Buffer(const Tensor &initial) { id = dl_buffer(initial.id, -1); }
  Buffer(const Complex &) = delete (
      "dl: a buffer is real: keep dl::view_as_real(x), and read "
      "dl::view_as_complex(buffer)");
  Buffer &operator=(const Complex &) = delete (
      "dl: a buffer is real: keep dl::view_as_real(x), and read "
      "dl::view_as_complex(buffer)");

  /// In a training step: the value from here on, of the same shape and type.
  /// Elsewhere it makes a buffer; where a module assigns its own, one that is
  /// called outside of steps, the buffer begins with the value.
  Buffer &operator=(const Tensor &value) {
    if (defined() && dl_in_step())
      dl_assign(id, value.id);
    else
      id = dl_buffer(value.id, id);
    return *this;
  }
  Buffer &operator=(const Buffer &other) {
    if (dl_in_step())
      return *this = static_cast<const Tensor &>(other);
    id = other.id; // the same one
    return *this;
  }
  Buffer &copy_(const Tensor &value) {
    detail::Called called("copy_");
    Tensor filled = detail::filling("copy_", *this, value);
    (dl_in_step() ? dl_assign : dl_initial_as)(id, filled.id);
    return *this;
  }
  Buffer &operator+=(const Operand &other) { return become(add(other)); }
  Buffer &operator-=(const Operand &other) { return become(sub(other)); }
  Buffer &operator*=(const Operand &other) { return become(mul(other)); }
  Buffer &operator/=(const Operand &other) { return become(div(other)); }

private:
  Buffer &become(const Tensor &value) {
    if (dl_in_step() || !dl_is_state(id))
      return *this = value;
    dl_initial_as(id, value.id);
    return *this;
  }
};

namespace nn { // where PyTorch has them
using dl::Buffer;
using dl::Parameter;
} // namespace nn

namespace detail {
/// Over the numbers of parameters or buffers.
template <class Handle> class HandleIterator {
  const int *at;
  int left; // to the end; what two iterators are compared by
  mutable Handle item;

public:
  // For std::vector(first, last).
  using value_type = Handle;
  using reference = Handle &;
  using pointer = Handle *;
  using difference_type = decltype(at - at);

  /// Where a list begins that still has `left` of them.
  HandleIterator(const int *at, int left) : at(at), left(left) {}
  Handle &operator*() const {
    item.id = *at;
    return item;
  }
  HandleIterator &operator++() {
    ++at, --left;
    return *this;
  }
  HandleIterator operator++(int) {
    HandleIterator before = *this;
    ++*this;
    return before;
  }
  /// net.parameters().begin() reaches net.parameters().end(), of another list.
  bool operator==(const HandleIterator &other) const {
    return left == other.left;
  }
};
} // namespace detail

} // namespace dl
