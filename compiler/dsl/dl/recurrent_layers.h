#pragma once
// Recurrent layers, and one step of each.
#include "recurrent.h"

namespace dl::nn {

namespace detail {
/// The last states of all layers as one tensor.
class LastStates {
  Tensor *states;
  int count;

public:
  explicit LastStates(int count)
      : states(new Tensor[static_cast<unsigned>(count)]), count(count) {}
  LastStates(const LastStates &) = delete;
  ~LastStates() { delete[] states; }
  Tensor &operator[](int index) { return states[index]; }
  Tensor together() const {
    TensorList all;
    for (int i = 0; i < count; ++i)
      all.push_back(states[i]);
    return stack(all);
  }
};

/// Layers whose state is h alone.
class HiddenModule : public RecurrentModule {
  /// h of the next time, or the first one.
  virtual Tensor next(const RecurrentWeights &w, const Tensor &x,
                      const Tensor &h) const = 0;

  RecurrentResult through(const Tensor &input, const Tensor &lengths,
                          const Tensor &h0) const {
    LastStates h(layers * directions);
    Tensor output =
        run(input, lengths,
            [&](const RecurrentWeights &w, const Tensor &x, int index,
                bool first, const Tensor &there) {
              Tensor before =
                  first ? initial(h0, index, hidden_size) : h[index];
              return h[index] = kept(there, next(w, x, before), before);
            });
    return {output, h.together()};
  }

protected:
  using RecurrentModule::RecurrentModule;

public:
  RecurrentResult forward(Tensor input, Tensor h0 = {}) {
    auto [output, h] = through(time_first(input), {}, h0);
    return {time_first(output), h};
  }
  PackedRecurrentResult forward(const utils::rnn::PackedSequence &input,
                                Tensor h0 = {}) {
    auto [output, h] = through(input.data, input.lengths, h0);
    return {{output, input.lengths}, h};
  }
};
} // namespace detail

/// Elman's: h' = tanh(W_ih x + b_ih + W_hh h + b_hh).
class RNN : public detail::HiddenModule {
  bool relu = false;

public:
  RNN() : HiddenModule("RNN") {}
  RNN(i64 input_size, i64 hidden_size, const RNNOptions &o = {})
      : HiddenModule("RNN") {
    this->input_size = input_size, this->hidden_size = hidden_size;
    make(1, o);
    relu = detail::equal(o.nonlinearity, "relu");
    if (!relu && !detail::equal(o.nonlinearity, "tanh"))
      detail::fail("RNN: nonlinearity \"{}\" is unknown; \"tanh\" and \"relu\" "
                   "are",
                   o.nonlinearity);
  }
  /// The number of layers by position: nn::RNN(32, 64, 2, {.batch_first =
  /// true}).
  RNN(i64 input_size, i64 hidden_size, i64 num_layers, RNNOptions o = {})
      : RNN(input_size, hidden_size, (o.num_layers = num_layers, o)) {}

private:
  Tensor next(const detail::RecurrentWeights &w, const Tensor &x,
              const Tensor &h) const override {
    return w.rnn(x, h, relu);
  }
};

/// Hochreiter and Schmidhuber 1997, with gates in the order input, forget,
/// cell, output.
class LSTM : public detail::RecurrentModule {
public:
  LSTM() : RecurrentModule("LSTM") {}
  LSTM(i64 input_size, i64 hidden_size, const LSTMOptions &o = {})
      : RecurrentModule("LSTM") {
    this->input_size = input_size, this->hidden_size = hidden_size;
    if (o.proj_size < 0 || (o.proj_size && o.proj_size >= hidden_size))
      detail::fail("LSTM: proj_size = {}; less than hidden_size = {} is wanted",
                   o.proj_size, hidden_size);
    proj_size = o.proj_size;
    make(4, o);
  }
  /// The number of layers by position: nn::LSTM(32, 64, 2, {.batch_first =
  /// true}).
  LSTM(i64 input_size, i64 hidden_size, i64 num_layers, LSTMOptions o = {})
      : LSTM(input_size, hidden_size, (o.num_layers = num_layers, o)) {}
  LSTMResult operator()(Tensor input, const LSTMState &before = {}) {
    detail::Scope scope(*this);
    return forward(input, before);
  }
  PackedLSTMResult operator()(const utils::rnn::PackedSequence &input,
                              const LSTMState &before = {}) {
    detail::Scope scope(*this);
    return forward(input, before);
  }
  LSTMResult operator()(Tensor input, const detail::TupleOfStates auto &both) {
    return (*this)(input, LSTMState{get<0>(both), get<1>(both)});
  }
  template <detail::Given T, class... More>
  LSTMResult operator()(Tensor input, const T &h0, const More &...) =
      delete ("dl: an LSTM's state is h0 and c0 in braces: lstm(x, {h0, c0})");
  LSTMResult forward(Tensor input, const LSTMState &before = {}) {
    auto [output, state] = through(time_first(input), {}, before);
    return {time_first(output), state};
  }
  PackedLSTMResult forward(const utils::rnn::PackedSequence &input,
                           const LSTMState &before = {}) {
    auto [output, state] = through(input.data, input.lengths, before);
    return {{output, input.lengths}, state};
  }

private:
  LSTMResult through(const Tensor &input, const Tensor &lengths,
                     const LSTMState &initials) {
    detail::LastStates h(layers * directions), c(layers * directions);
    Tensor output = run(input, lengths,
                        [&](const detail::RecurrentWeights &w, const Tensor &x,
                            int index, bool first, const Tensor &there) {
                          LSTMState before{h[index], c[index]};
                          if (first)
                            before = {initial(initials.h, index, output_size()),
                                      initial(initials.c, index, hidden_size)};
                          LSTMState state = w.lstm(x, before);
                          c[index] = detail::kept(there, state.c, before.c);
                          return h[index] =
                                     detail::kept(there, state.h, before.h);
                        });
    return {output, {h.together(), c.together()}};
  }
};

/// Cho et al. 2014, with gates in the order reset, update, new.
class GRU : public detail::HiddenModule {
public:
  GRU() : HiddenModule("GRU") {}
  GRU(i64 input_size, i64 hidden_size, const GRUOptions &o = {})
      : HiddenModule("GRU") {
    this->input_size = input_size, this->hidden_size = hidden_size;
    make(3, o);
  }
  /// The number of layers by position: nn::GRU(32, 64, 2, {.batch_first =
  /// true}).
  GRU(i64 input_size, i64 hidden_size, i64 num_layers, GRUOptions o = {})
      : GRU(input_size, hidden_size, (o.num_layers = num_layers, o)) {}

private:
  Tensor next(const detail::RecurrentWeights &w, const Tensor &x,
              const Tensor &h) const override {
    return w.gru(x, h);
  }
};

namespace detail {
class RecurrentCell : public Module {
protected:
  RecurrentWeights weights() const {
    return {weight_ih, weight_hh, bias_ih, bias_hh, /*alone=*/true};
  }
  /// Products of the inputs [N, input_size] with the weights.
  Tensor from_input(const Tensor &x) const {
    return functional::linear(x, weight_ih, bias_ih);
  }

public:
  i64 input_size = 0, hidden_size = 0;
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

  RecurrentCell() = default;
  RecurrentCell(const char *what, i64 input_size, i64 hidden_size, i64 gates,
                bool bias)
      : input_size(input_size), hidden_size(hidden_size) {
    at_least_one(what, "input_size", input_size);
    at_least_one(what, "hidden_size", hidden_size);
    RecurrentWeights made;
    made.make(input_size, hidden_size, gates, bias);
    weight_ih = made.weight_ih, weight_hh = made.weight_hh;
    bias_ih = made.bias_ih, bias_hh = made.bias_hh;
  }
};
} // namespace detail

struct RNNCellOptions {
  bool bias = true;
  const char *nonlinearity = "tanh";
};
class RNNCell : public detail::RecurrentCell {
  bool relu = false;

public:
  RNNCell() = default;
  RNNCell(i64 input_size, i64 hidden_size, RNNCellOptions o = {})
      : RecurrentCell("RNNCell", input_size, hidden_size, 1, o.bias),
        relu(detail::equal(o.nonlinearity, "relu")) {}
  /// [N, hidden_size]; without h, after zeros.
  Tensor forward(Tensor x, Tensor h = {}) {
    return weights().rnn(from_input(x), h, relu);
  }
};

class LSTMCell : public detail::RecurrentCell {
public:
  LSTMCell() = default;
  LSTMCell(i64 input_size, i64 hidden_size, LinearOptions o = {})
      : RecurrentCell("LSTMCell", input_size, hidden_size, 4, o.bias) {}
  /// auto [h, c] = cell(x, {h, c});
  LSTMState operator()(Tensor x, const LSTMState &before = {}) {
    detail::Scope scope(*this);
    return forward(x, before);
  }
  LSTMState operator()(Tensor x, const detail::TupleOfStates auto &both) {
    return (*this)(x, LSTMState{get<0>(both), get<1>(both)});
  }
  template <detail::Given T, class... More>
  LSTMState operator()(Tensor x, const T &h0, const More &...) =
      delete ("dl: an LSTMCell's state is h and c in braces: cell(x, {h, c})");
  LSTMState forward(Tensor x, const LSTMState &before = {}) {
    return weights().lstm(from_input(x), before);
  }
};

class GRUCell : public detail::RecurrentCell {
public:
  GRUCell() = default;
  GRUCell(i64 input_size, i64 hidden_size, LinearOptions o = {})
      : RecurrentCell("GRUCell", input_size, hidden_size, 3, o.bias) {}
  Tensor forward(Tensor x, Tensor h = {}) {
    return weights().gru(from_input(x), h);
  }
};

} // namespace dl::nn
