#pragma once
// What dl_main() fills in: the steps of the program and its settings.
#include "subsets.h"

namespace dl {

struct Metric {
  const char *name;
  Operand value;
};

/// Named tensors that a step returns: {{"loss", loss}, {"accuracy", accuracy}}.
class Metrics {
  int id = dl_metrics();

public:
  Metrics() = default;
  Metrics(list<Metric> metrics) {
    for (const Metric &metric : metrics)
      add(metric.name, metric.value);
  }
  void add(const char *name, const Operand &value) {
    dl_metric(id, name, &value);
  }
  int handle() const { return id; }
};

/// What p.arg() gives for a word: `if (kind == "relu")` compares its letters.
class Word {
  const char *text;

public:
  explicit constexpr Word(const char *text) : text(text) {}
  constexpr operator const char *() const { return text; }
  friend bool operator==(const Word &a, const char *b) {
    return detail::equal(a.text, b);
  }
  friend bool operator==(const Word &a, const Word &b) {
    return detail::equal(a.text, b.text);
  }
};

class Program {
  template <class Function>
  static void trace(const char *name, const data::Dataset &dataset, int kind,
                    Function &step) {
    nn::detail::walk_unmet();
    for (int round = 0; dl_step_begin(name, dataset.id, kind, round); ++round) {
      ++detail::step_calls;
      Batch raw;
      for (int i = 0; i < dl_dataset_components(dataset.id); ++i) {
        Tensor input;
        input.id = dl_step_input(i);
        raw.push_back(input);
      }
      Batch batch = dataset.decode(dataset, raw);
      if constexpr (__is_same(decltype(step(batch)), void)) {
        step(batch);
        dl_step_end(dl_metrics());
      } else {
        Metrics metrics = step(batch);
        dl_step_end(metrics.handle());
      }
    }
  }

public:
  /// A training step, run on each batch.
  template <class Function>
    requires requires(Function &step, Batch batch) { step(batch); }
  void train(const data::Dataset &dataset, Function step) {
    trace("train", dataset, DL_TRAINING, step);
  }
  /// One of several training steps, which take turns: dlrun --alternate.
  template <class Function>
    requires requires(Function &step, Batch batch) { step(batch); }
  void train(const char *name, const data::Dataset &dataset, Function step) {
    trace(name, dataset, DL_TRAINING, step);
  }
  /// What happens after each epoch: scheduler.step().
  template <class Function> void each_epoch(Function function) {
    dl_epoch_begin();
    function();
    dl_epoch_end();
  }
  /// In a training step: how many epochs have gone before, in arithmetic as a
  /// setting: auto beta = dl::minimum(1.0, p.epoch() / 10.0).
  Scalar epoch() const { return Scalar::from(dl_number_of(DL_OF_EPOCH)); }
  /// How many updates, of all training steps.
  Scalar step() const { return Scalar::from(dl_number_of(DL_OF_STEP)); }
  /// An evaluation, run on all batches after each epoch.
  template <class Function>
    requires requires(Function &step, Batch batch) { step(batch); }
  void eval(const char *name, const data::Dataset &dataset, Function step) {
    trace(name, dataset, DL_EVALUATION, step);
  }
  /// What `dlrun predict` writes: the tensors that the function returns, for
  /// all items, in the order of the data. Their first dimension is the batch's;
  /// one that is returned alone has the prediction's name.
  template <class Function>
    requires requires(Function &step, Batch batch) { step(batch); }
  void predict(const char *name, const data::Dataset &dataset, Function step) {
    static_assert(!__is_same(decltype(step(Batch())), void),
                  "dl: p.predict: the function returns the tensors to write");
    auto returns = [&](Batch batch) -> Metrics {
      if constexpr (__is_same(decltype(step(batch)), Metrics)) {
        return step(batch);
      } else {
        Metrics alone;
        alone.add(name, step(batch));
        return alone;
      }
    };
    trace(name, dataset, DL_PREDICTION, returns);
  }
  /// What `dlrun generate` goes on with tokens by: of a window of them, [1, L],
  /// the first tensor of the data set and all that may be read, the function
  /// makes the logits of the tokens that follow each, [1, L, V]. It is compiled
  /// for a token at a time: what attention needs of earlier ones is kept (a
  /// cache of keys and values), if all else is done position by position.
  template <class Function>
    requires requires(Function &step, Batch batch) { step(batch); }
  void generate(const char *name, const data::Dataset &dataset, Function step) {
    constexpr bool gives_logits = __is_same(decltype(step(Batch())), Tensor);
    static_assert(gives_logits,
                  "dl: p.generate: the function returns logits, a dl::Tensor");
    if constexpr (gives_logits) {
      auto returns = [&](Batch batch) -> Metrics {
        return {{name, step(batch)}};
      };
      trace(name, data::DataLoader(dataset, {.batch_size = 1}), DL_GENERATION,
            returns);
    }
  }

  /// A number that dlrun --set name=value changes without compiling: for an
  /// optimizer's lr, momentum, betas, weight_decay, for clip_grad_norm_ and in
  /// arithmetic. It has no value yet, so no `if`, shape or double can take it.
  Scalar setting(const char *name, double standard, const char *help = "") {
    return Scalar::from(dl_setting(name, standard, help), standard);
  }

  // Compiled in: dlcc -D name=value. Listed by dlcc model.dl --help.
  i64 arg(const char *name, i64 standard, const char *help = "") {
    return dl_arg_int(name, standard, help);
  }
  i64 arg(const char *name, int standard, const char *help = "") {
    return dl_arg_int(name, standard, help);
  }
  double arg(const char *name, double standard, const char *help = "") {
    return dl_arg_float(name, standard, help);
  }
  bool arg(const char *name, bool standard, const char *help = "") {
    return dl_arg_bool(name, standard, help);
  }
  Word arg(const char *name, const char *standard, const char *help = "") {
    return Word(dl_arg_string(name, standard, help));
  }
};

} // namespace dl
