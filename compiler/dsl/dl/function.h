#pragma once
// Functions whose backward the program writes, as torch::autograd::Function.
#include "autograd.h"
#include "scalar.h"

namespace dl::autograd {

/// What forward() leaves for backward().
class AutogradContext {
  TensorList saved, constants;

public:
  /// Up to 16 numbers by their names, settings and what follows from them, too.
  class SavedNumbers {
    struct Entry {
      const char *name;
      Scalar value;
    };
    Entry entries[16];
    int count = 0;

  public:
    class Number {
      SavedNumbers &all;
      const char *name;

    public:
      Number(SavedNumbers &all, const char *name) : all(all), name(name) {}
      Number &operator=(Scalar value) {
        all.set(name, value);
        return *this;
      }
      Scalar toScalar() const { return all.get(name); }
      double toDouble() const {
        if (!toScalar().is_known())
          detail::fail("saved_data: \"{}\" is known when the plan runs; "
                       "toScalar() gives it",
                       name);
        return toScalar().known;
      }
      i64 toInt() const { return static_cast<i64>(toDouble()); }
      bool toBool() const { return toDouble() != 0; }
    };
    Number operator[](const char *name) { return {*this, name}; }

  private:
    void set(const char *name, Scalar value) {
      for (int i = 0; i < count; ++i)
        if (detail::equal(entries[i].name, name)) {
          entries[i].value = value;
          return;
        }
      if (count == 16)
        detail::fail("saved_data: it holds 16 numbers");
      entries[count++] = {name, value};
    }
    Scalar get(const char *name) const {
      for (int i = 0; i < count; ++i)
        if (detail::equal(entries[i].name, name))
          return entries[i].value;
      detail::fail("saved_data: forward() left no \"{}\"", name);
    }
  };
  SavedNumbers saved_data;

  void save_for_backward(const TensorList &tensors) { saved = tensors; }
  const TensorList &get_saved_variables() const { return saved; }
  /// Outputs, of floats, that are constants to what uses them.
  void mark_non_differentiable(const TensorList &outputs) {
    constants = outputs;
  }

private:
  template <class> friend struct Function;

  bool isDifferentiable(const Tensor &output) const {
    for (const Tensor &constant : constants)
      if (constant.id == output.id)
        return false;
    return output.is_floating_point();
  }
};

/// A function with a backward of its own:
///
///   struct ReverseGradient : dl::autograd::Function<ReverseGradient> {
///     static dl::Tensor forward(dl::autograd::AutogradContext *ctx,
///                               dl::Tensor x, double alpha) {
///       ctx->saved_data["alpha"] = alpha;
///       return x;
///     }
///     static dl::TensorList backward(dl::autograd::AutogradContext *ctx,
///                                    dl::TensorList grads) {
///       return {grads[0] * -ctx->saved_data["alpha"].toDouble(), {}};
///     }
///   };
///   auto y = ReverseGradient::apply(x, 0.1);
///
/// forward() gives a tensor, dl::Tensors or a list of tensors; backward() gets
/// the gradient of each, zeros where the loss does not depend on it, nothing
/// where it has none. It gives one for each argument of forward(), dl::Tensor()
/// for numbers and what needs none. What forward() uses without its being an
/// argument is a constant. backward() is traced where apply() is called, used
/// or not, and may be differentiated itself.
template <class F> struct Function {
  template <class... A> static auto apply(A &&...arguments) {
    AutogradContext ctx;
    // As they are now: what is changed in place later is another value.
    TensorList inputs, outputs, stands;
    (append(inputs, arguments), ...);
    auto made = F::forward(&ctx, arguments...);
    TensorList gradients;
    bool isConstant = true;
    for (const Tensor &output : listed(made)) {
      bool isDifferentiable = ctx.isDifferentiable(output);
      Tensor stand;
      if (isDifferentiable)
        stand = detail::emit("output_gradient", output);
      outputs.push_back(detail::copied(output));
      stands.push_back(stand);
      gradients.push_back(isDifferentiable ? detail::copied(stand) : stand);
      isConstant &= !isDifferentiable;
    }
    connect(outputs, stands, inputs,
            isConstant ? TensorList()
                       : TensorList(F::backward(&ctx, gradients)));
    return inPlaceOf(made, outputs);
  }

private:
  static TensorList listed(const Tensor &x) { return {x}; }
  static TensorList listed(const TensorList &all) { return all; }
  template <int N> static TensorList listed(const Tensors<N> &all) {
    return all;
  }
  static Tensor inPlaceOf(const Tensor &, const TensorList &outputs) {
    return outputs[0];
  }
  static TensorList inPlaceOf(const TensorList &, const TensorList &outputs) {
    return outputs;
  }
  template <int N>
  static Tensors<N> inPlaceOf(const Tensors<N> &, const TensorList &outputs) {
    return detail::named<N>("apply", outputs);
  }

  template <class T> static void append(TensorList &inputs, const T &argument) {
    if constexpr (__is_base_of(Tensor, T))
      inputs.push_back(argument.defined() ? detail::copied(argument)
                                          : Tensor());
    else if constexpr (requires { TensorList(argument); })
      for (const Tensor &tensor : TensorList(argument))
        append(inputs, tensor);
    else
      inputs.push_back(Tensor());
  }

  /// Puts outputs that have `found` as the gradients of `inputs` in place of
  /// those that forward() made.
  static void connect(TensorList &outputs, const TensorList &stands,
                      const TensorList &inputs, const TensorList &found) {
    detail::Called called("autograd::Function");
    TensorList operands, flowing;
    for (int i = 0; i < outputs.size(); ++i)
      if (stands[i].defined())
        operands.push_back(outputs[i]);
    int count = operands.size();
    for (const Tensor &stand : stands)
      if (stand.defined())
        operands.push_back(stand);
    int given = found.size(); // PyTorch, too, drops more that are none
    while (given > inputs.size() && !found[given - 1].defined())
      --given;
    if (count != 0 && given != inputs.size())
      detail::fail("autograd::Function: backward() gives {} of {} gradients; "
                   "one for each argument of forward() is wanted, "
                   "dl::Tensor() where there is none",
                   found.size(), inputs.size());
    for (int i = 0; i < given; ++i) {
      if (!found[i].defined())
        continue;
      if (!inputs[i].defined())
        detail::fail("autograd::Function: backward() gives a gradient of "
                     "argument {} of forward(), which is no tensor; "
                     "dl::Tensor() is wanted",
                     i);
      operands.push_back(inputs[i]);
      flowing.push_back(found[i]);
    }
    for (const Tensor &gradient : flowing)
      operands.push_back(gradient);
    TensorList connected = emit(operands, count);
    for (int i = 0, next = 0; i < outputs.size(); ++i)
      if (stands[i].defined())
        outputs[i] = connected[next++];
      else if (outputs[i].is_floating_point())
        outputs[i] = outputs[i].detach();
  }

  static TensorList emit(const TensorList &operands, int outputs) {
    if (outputs == 0)
      return {};
    auto *values = new dl_operand[static_cast<unsigned>(operands.size())];
    for (int i = 0; i < operands.size(); ++i)
      values[i] = detail::Operand::fixed(operands[i]);
    auto *made = new int[static_cast<unsigned>(outputs)];
    detail::Attr count("num_outputs", outputs);
    dl_emit("custom_gradient", values, operands.size(), &count, 1, made,
            outputs);
    TensorList results;
    for (int i = 0; i < outputs; ++i) {
      Tensor result;
      result.id = made[i];
      results.push_back(result);
    }
    delete[] made;
    delete[] values;
    return results;
  }
};

} // namespace dl::autograd
