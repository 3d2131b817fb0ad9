#pragma once
// Recurrent layers. The loop over time is unrolled in the graph; what does not
// depend on the step before, the product with the inputs, is one op for all
// times.
#include "loss_layers.h"
#include "packed_sequences.h"

namespace dl::nn {

/// nonlinearity: "tanh" or "relu".
struct RNNOptions {
  i64 num_layers = 1;
  const char *nonlinearity = "tanh";
  bool bias = true, batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
};
struct LSTMOptions {
  i64 num_layers = 1;
  bool bias = true, batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  i64 proj_size = 0;
};
struct GRUOptions {
  i64 num_layers = 1;
  bool bias = true, batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
};

/// The hidden state and the cell state of an LSTM.
struct LSTMState {
  Tensor h, c;
  DL_TIED((h, c), Tensor &, Tensor &)
};
namespace detail {
/// std::make_tuple(h, c), as C++ programs hand it over.
template <class T>
concept TupleOfStates = requires(const T &both) {
  get<0>(both).sizes();
  get<1>(both).sizes();
} && !__is_same(T, LSTMState);
} // namespace detail
/// auto [output, h] = gru(x);
struct RecurrentResult {
  Tensor output, h;
  DL_TIED((output, h), Tensor &, Tensor &)
};
/// auto [output, state] = lstm(x); with state.h and state.c.
struct LSTMResult {
  Tensor output;
  LSTMState state;
  DL_TIED((output, state), Tensor &, LSTMState &)
};

/// The same of sequences that were packed.
struct PackedRecurrentResult {
  utils::rnn::PackedSequence output;
  Tensor h;
  DL_TIED((output, h), utils::rnn::PackedSequence &, Tensor &)
};
struct PackedLSTMResult {
  utils::rnn::PackedSequence output;
  LSTMState state;
  DL_TIED((output, state), utils::rnn::PackedSequence &, LSTMState &)
};

namespace detail {

/// A state where its sequence, `there`, has this time, the one before where it
/// has ended; without `there` all have all times.
inline Tensor kept(const Tensor &there, const Tensor &now,
                   const Tensor &before) {
  if (!there.defined())
    return now;
  return before.defined() ? dl::where(there, now, before)
                          : dl::where(there, now, 0.0);
}

/// The weights of one layer in one direction, and its step. The products with
/// the inputs come in, with their bias, if that is all that is done with it.
struct RecurrentWeights {
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;
  /// No other step reads weight_hh. Its gradient without a state is zeros then,
  /// as PyTorch has it: weights decay, momentum goes on.
  bool alone = false;
  /// Of an LSTM whose output is less than its cell: [proj_size, hidden_size].
  Parameter weight_hr{};

  void make(i64 input_size, i64 hidden_size, i64 gates, bool bias,
            i64 proj_size = 0) {
    i64 output_size = proj_size ? proj_size : hidden_size;
    weight_ih = fan_in_uniform({gates * hidden_size, input_size}, hidden_size);
    weight_hh = fan_in_uniform({gates * hidden_size, output_size}, hidden_size);
    if (proj_size)
      weight_hr = fan_in_uniform({proj_size, hidden_size}, hidden_size);
    if (!bias)
      return;
    bias_ih = fan_in_uniform({gates * hidden_size}, hidden_size);
    bias_hh = fan_in_uniform({gates * hidden_size}, hidden_size);
  }
  /// The state, or zeros where it has to be there; or nothing.
  Tensor state(const Tensor &input, const Tensor &h) const {
    if (h.defined() || !alone)
      return h;
    Shape size = input.sizes();
    size[size.size() - 1] = weight_hh.size(1);
    return zeros(size);
  }
  /// With both biases.
  Tensor sum(const Tensor &input, const Tensor &before) const {
    Tensor z = bias_hh.defined() ? input + bias_hh : input;
    Tensor h = state(input, before);
    return h.defined() ? z + functional::linear(h, weight_hh) : z;
  }
  Tensor rnn(const Tensor &input, const Tensor &h, bool relu) const {
    Tensor z = sum(input, h);
    return relu ? z.relu() : z.tanh();
  }
  LSTMState lstm(const Tensor &input, const LSTMState &before) const {
    TensorList gates = sum(input, before.h).chunk(4, -1);
    Tensor c = gates[0].sigmoid() * gates[2].tanh();
    if (before.c.defined())
      c = gates[1].sigmoid() * before.c + c;
    Tensor h = gates[3].sigmoid() * c.tanh();
    return {weight_hr.defined() ? functional::linear(h, weight_hr) : h, c};
  }
  Tensor gru(const Tensor &input, const Tensor &before) const {
    Tensor h = state(input, before);
    TensorList in = input.chunk(3, -1);
    Tensor from_h;
    if (h.defined())
      from_h = functional::linear(h, weight_hh, bias_hh);
    else if (bias_hh.defined())
      from_h = bias_hh;
    if (!from_h.defined())
      return (1.0 - in[1].sigmoid()) * in[2].tanh();
    TensorList old = from_h.chunk(3, -1);
    Tensor reset = (in[0] + old[0]).sigmoid(),
           keep = (in[1] + old[1]).sigmoid();
    Tensor next = (1.0 - keep) * (in[2] + reset * old[2]).tanh();
    return h.defined() ? next + keep * h : next;
  }
};

/// Layers of both directions, with PyTorch's names: weight_ih_l0,
/// bias_hh_l1_reverse.
class RecurrentModule : public Module {
  RecurrentWeights *weights = nullptr;

  void take(RecurrentModule &other) {
    what = other.what, weights = other.weights, layers = other.layers;
    directions = other.directions, input_size = other.input_size;
    hidden_size = other.hidden_size, batch_first = other.batch_first;
    proj_size = other.proj_size;
    dropout = other.dropout, add_biases = other.add_biases;
    other.weights = nullptr;
    other.layers = 0;
  }

protected:
  const char *what;
  int layers = 0, directions = 1;
  bool batch_first = false;
  bool add_biases = true; ///< only their sum is used, unlike in a GRU
  double dropout = 0;

  explicit RecurrentModule(const char *what) : what(what) {}
  template <class Options> void make(i64 gates, const Options &o) {
    at_least_one(what, "input_size", input_size);
    at_least_one(what, "hidden_size", hidden_size);
    at_least_one(what, "num_layers", o.num_layers);
    layers = static_cast<int>(o.num_layers);
    directions = o.bidirectional ? 2 : 1;
    add_biases = gates != 3;
    batch_first = o.batch_first;
    dropout = o.dropout;
    weights = new RecurrentWeights[static_cast<unsigned>(layers * directions)];
    for (int i = 0; i < layers * directions; ++i)
      weights[i].make(i < directions ? input_size : directions * output_size(),
                      hidden_size, gates, o.bias, proj_size);
  }

  i64 output_size() const { return proj_size ? proj_size : hidden_size; }
  /// Time goes first inside: the steps of a sequence lie beside each other, and
  /// what all of them need or give is one block of memory.
  Tensor time_first(const Tensor &x) const {
    return batch_first && x.dim() == 3 ? x.transpose(0, 1) : x;
  }
  /// Runs all layers over x [time, N, features]: step(weights, input [N, gates
  /// * H], index of layer and direction, first, which sequences are there)
  /// gives h of the next time.
  template <class Step>
  Tensor run(Tensor x, const Tensor &lengths, Step step) const {
    Called called(what);
    if (x.dim() != 3 || x.size(2) != input_size)
      fail("{}: an input {} of {} features is wanted, got {}", what,
           batch_first ? "[batch,time,features]" : "[time,batch,features]",
           input_size, time_first(x).sizes());
    Tensor has_time; // [time, N, 1]
    TensorList there;
    if (lengths.defined()) {
      has_time = lengths.reshape({1, -1, 1})
                     .gt(arange(x.size(0)).reshape({x.size(0), 1, 1}));
      there = has_time.unbind(0);
    }
    for (int layer = 0; layer < layers; ++layer) {
      if (layer)
        x = functional::dropout(x, dropout);
      Tensor outputs[2];
      for (int d = 0; d < directions; ++d) {
        int index = layer * directions + d;
        RecurrentWeights w = weights[index];
        Tensor bias = w.bias_ih;
        if (add_biases && w.bias_hh.defined()) {
          bias = w.bias_ih + w.bias_hh; // once, and not at each time
          w.bias_hh = {};
        }
        Tensor inputs = functional::linear(x, w.weight_ih, bias);
        TensorList times = inputs.unbind(0), hs;
        int count = times.size();
        w.alone = count == 1;
        for (int i = 0; i < count; ++i) {
          int t = d ? count - 1 - i : i;
          hs.push_back(step(w, times[t], index, i == 0,
                            lengths.defined() ? there[t] : Tensor()));
        }
        if (d) {
          TensorList turned;
          for (int i = count; i-- > 0;)
            turned.push_back(hs[i]);
          hs = turned;
        }
        outputs[d] = stack(hs, 0);
      }
      x = directions == 2 ? cat({outputs[0], outputs[1]}, -1) : outputs[0];
      if (lengths.defined())
        x = dl::where(has_time, x, 0.0);
    }
    return x;
  }
  /// The state that a layer begins with: [layers * directions, N, size].
  Tensor initial(const Tensor &states, int index, i64 size) const {
    if (!states.defined())
      return {};
    if (states.dim() != 3 || states.size(0) != layers * directions ||
        states.size(2) != size)
      fail("{}: a state is [{},batch,{}], got {}", what, layers * directions,
           size, states.sizes());
    return states.select(0, index);
  }

public:
  i64 input_size = 0, hidden_size = 0, proj_size = 0;

  RecurrentModule(RecurrentModule &&other) noexcept
      : Module(static_cast<Module &&>(other)) {
    take(other);
  }
  RecurrentModule &operator=(RecurrentModule &&other) noexcept {
    if (this != &other) {
      delete[] weights;
      take(other);
    }
    return *this;
  }
  ~RecurrentModule() { delete[] weights; }

  void visit_members(Visitor &visitor) override {
    const char *kinds[] = {"weight_ih_l", "weight_hh_l", "bias_ih_l",
                           "bias_hh_l", "weight_hr_l"};
    for (int i = 0; i < layers * directions; ++i) {
      Parameter *members[] = {&weights[i].weight_ih, &weights[i].weight_hh,
                              &weights[i].bias_ih, &weights[i].bias_hh,
                              &weights[i].weight_hr};
      for (int k = 0; k < 5; ++k) {
        char name[40], *end = name;
        IndexName number(i / directions);
        for (const char *part :
             {kinds[k], number.c_str(), i % directions ? "_reverse" : ""})
          for (; *part; ++part)
            *end++ = *part;
        *end = 0;
        visitor.parameter(name, *members[k]);
      }
    }
  }
};

} // namespace detail

} // namespace dl::nn
