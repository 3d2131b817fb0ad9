#pragma once
// torch.optim.swa_utils: averages of weights.
#include "optimizer.h"

namespace dl::optim::swa_utils {

/// decay: how much of the average stays at each update, as of
/// get_ema_avg_fn(decay). Without it all updates count the same.
struct AveragedModelOptions {
  Scalar decay = 0;
};

/// Keeps in one module the averages of another one's parameters, from their
/// values at the first update on; what evaluations call is the first one.
///
///   Net model, ema;
///   dl::optim::swa_utils::AveragedModel averages(ema, model, {.decay =
///   0.999});
///   ... in p.train(), after optimizer.step(): averages.update_parameters();
class AveragedModel {
  int id = dl_optimizer();
  Parameters averages, sources;
  AveragedModelOptions options;

public:
  template <class Model>
  AveragedModel(Model &average, Model &model, AveragedModelOptions options = {})
      : averages(average.parameters()), sources(model.parameters()),
        options(options) {
    if (!(options.decay.known >= 0 && options.decay.known < 1))
      detail::fail(
          "AveragedModel: decay = {}; at least 0 and below 1 is wanted",
          options.decay.known);
    if (averages.size() != sources.size())
      detail::fail("AveragedModel: {} parameters for the averages of {}",
                   averages.size(), sources.size());
    dl_optimizer_group(id, averages.begin(), averages.size());
  }
  AveragedModel(const AveragedModel &) = delete;

  void update_parameters() {
    dl::detail::Called called("update_parameters");
    const int *source = sources.begin();
    for (int average : averages)
      dl_set_grad(average, *source++);
    bool equal = options.decay.is_known() && options.decay.known == 0;
    detail::Updating updating(id, 0);
    Parameter parameter;
    for (Tensor now; (parameter.id = dl_update_next(&now.id)) >= 0;) {
      detail::Updated updated(parameter, now);
      Scalar count = updated.count();
      Scalar share =
          equal ? 1 / count : dl::where(count <= 1, 1.0, 1 - options.decay);
      updated.become(updated.parameter + (now - updated.parameter) * share);
    }
  }
};

} // namespace dl::optim::swa_utils
