#pragma once
// torch.optim.swa_utils: averages of weights.
#include "optimizer.h"
#include "submodules.h"

namespace dl::optim::swa_utils {

/// decay: how much of the average stays at each update, as of
/// get_ema_avg_fn(decay). Without it all updates count the same. Buffers, such
/// as what a BatchNorm has seen, are those of the model, or, with use_buffers,
/// averages, too.
struct AveragedModelOptions {
  Scalar decay = 0;
  bool use_buffers = false;
};

/// Keeps in one module the averages of another one's parameters; what
/// evaluations call is the first one. It begins as the other one does, and the
/// first update takes that one's values.
///
///   Net model, ema;
///   dl::optim::swa_utils::AveragedModel averages(ema, model, {.decay =
///   0.999});
///   ... in p.train(), after optimizer.step(): averages.update_parameters();
class AveragedModel {
  int id = dl_optimizer(0);
  Parameters averages, sources;
  nn::BufferList own, of;
  AveragedModelOptions options;

public:
  template <class Model>
  AveragedModel(Model &average, Model &model, AveragedModelOptions options = {})
      : averages(average.parameters()), sources(model.parameters()),
        own(average), of(model), options(options) {
    if (!(options.decay.known >= 0 && options.decay.known < 1))
      detail::fail(
          "AveragedModel: decay = {}; at least 0 and below 1 is wanted",
          options.decay.known);
    if (averages.size() != sources.size() || own.size() != of.size())
      detail::fail(
          "AveragedModel: {} parameters and {} buffers for the averages "
          "of {} and {}",
          averages.size(), own.size(), sources.size(), of.size());
    dl_optimizer_group(id, averages.ids(), averages.size());
    const int *source = sources.ids();
    for (const Parameter &average : averages)
      dl_initial_as(average.id, *source++);
    auto buffer = of.begin();
    for (Buffer &average : own) {
      average.copy_(*buffer);
      ++buffer;
    }
  }
  AveragedModel(const AveragedModel &) = delete;

  /// The model is the constructor's.
  void update_parameters(nn::Module &) { update_parameters(); }
  void update_parameters() {
    dl::detail::Called called("update_parameters");
    bool equal = options.decay.is_known() && options.decay.known == 0;
    Scalar share;
    {
      detail::Updating updating(id, 0);
      const int *source = sources.ids();
      for (const Parameter &average : averages)
        dl_update_by(average.id, *source++);
      Parameter parameter;
      for (Tensor now; (parameter.id = dl_update_next(&now.id)) >= 0;) {
        detail::Updated updated(parameter, now);
        Scalar count = updated.count();
        share =
            equal ? 1 / count : dl::where(count <= 1, 1.0, 1 - options.decay);
        updated.become(updated.parameter + (now - updated.parameter) * share);
      }
    }
    auto latest = of.begin();
    for (Buffer &buffer : own) {
      const Tensor &now = *latest;
      bool averaged = options.use_buffers && buffer.is_floating_point();
      buffer = averaged ? buffer + (now - buffer) * share : now;
      ++latest;
    }
  }
};

} // namespace dl::optim::swa_utils
