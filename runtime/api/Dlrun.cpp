// The functions of dlrun.h: errors become numbers and a text.
#include "runtime/api/Model.h"
#include "runtime/base/Cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

using namespace dlrt;

struct dlrun_model {
  std::unique_ptr<Model> model;
};

static thread_local std::string lastError;

static dlrun_status refuse(Status status) {
  lastError = status.message();
  return static_cast<dlrun_status>(status.code());
}

static_assert(DLRUN_WRONG_DATA == int(Code::Training) &&
              DLRUN_WRONG_USE == int(Code::Usage) &&
              DLRUN_UNAVAILABLE == int(Code::Unavailable) &&
              DLRUN_WRONG_FILE == int(Code::Io) &&
              DLRUN_WRONG_PLAN == int(Code::Plan) &&
              DLRUN_RANK_LOST == int(Code::RankLost) &&
              DLRUN_BUG == int(Code::Bug));

/// No exception reaches the caller, who may be no C++.
template <typename Body> static dlrun_status guarded(Body body) {
  try {
    Status status = body();
    return status.ok() ? DLRUN_OK : refuse(std::move(status));
  } catch (const std::bad_alloc &) {
    return refuse({Code::Unavailable, "out of memory"});
  } catch (const std::exception &error) {
    return refuse({Code::Bug, fmt::format("unexpected: {}", error.what())});
  } catch (...) {
    return refuse({Code::Usage, "a function of the caller has thrown"});
  }
}

static Status missing(const char *what) {
  return {Code::Usage, fmt::format("{} is a null pointer", what)};
}

/// Structs may be those of an older header, or of a newer one that has nothing
/// to say in what it has more. Fields are of 8 bytes, or padded.
template <typename Struct>
static Status readStruct(const Struct *given, Struct &all) {
  size_t size = given->size, known = std::min(size, sizeof(all)) / 8 * 8;
  bool isReadable = size >= sizeof(size_t) && size < 4096;
  auto *bytes = reinterpret_cast<const uint8_t *>(given);
  for (size_t at = sizeof(all); isReadable && at < size; ++at)
    isReadable = bytes[at] == 0;
  if (!isReadable)
    return {Code::Usage, fmt::format("the size of the options is {}; {} is "
                                     "wanted",
                                     size, sizeof(all))};
  std::memcpy(&all, given, known);
  return {};
}

/// What an older header knows of it.
template <typename Struct> static Status writeStruct(Struct all, Struct *info) {
  if (!info)
    return missing("the place for the facts");
  size_t size = info->size;
  if (size < sizeof(size_t) || size >= 4096)
    return {Code::Usage, fmt::format("the size of the facts is {}; {} is "
                                     "wanted",
                                     size, sizeof(all))};
  all.size = size;
  std::memcpy(info, &all, std::min(size, sizeof(all)) / 8 * 8);
  return {};
}

static Expected<Model::Options> optionsOf(const dlrun_options *given) {
  dlrun_options all = {};
  if (given)
    DLRT_TRY(readStruct(given, all));
  Model::Options options;
  options.threads = all.threads
                        ? all.threads
                        : static_cast<unsigned>(coresOfProcess().size());
  options.seed = all.seed;
  options.denormals = all.flush_denormals ? Denormals::Flush : Denormals::Keep;
  if (all.warn)
    options.warn = [all](const std::string &text) {
      all.warn(all.warn_context, text.c_str());
    };
  return options;
}

template <typename Open>
static dlrun_status openModel(const dlrun_options *given, dlrun_model **model,
                              Open open) {
  return guarded([&]() -> Status {
    if (!model)
      return missing("the place for the model");
    *model = nullptr;
    Expected<Model::Options> options = optionsOf(given);
    if (!options)
      return options.takeError();
    Expected<std::unique_ptr<Model>> opened = open(*options);
    if (!opened)
      return opened.takeError();
    *model = new dlrun_model{std::move(*opened)};
    return {};
  });
}

static dlrun_status show(const std::vector<Model::TensorFacts> &all,
                         size_t index, const char *what,
                         dlrun_tensor_info *info) {
  return guarded([&]() -> Status {
    if (index >= all.size())
      return {Code::Usage,
              fmt::format("{} {}: there are {}", what, index, all.size())};
    const Model::TensorFacts &facts = all[index];
    return writeStruct({sizeof(*info), facts.name.c_str(), facts.dtype,
                        facts.role, facts.perItem, facts.shape.size(),
                        facts.shape.data()},
                       info);
  });
}

/// Runs `body` with the model, if there is one.
template <typename Body>
static dlrun_status with(const dlrun_model *model, Body body) {
  return guarded([&]() -> Status {
    return model ? body(*model->model) : missing("the model");
  });
}

static Status noStep(const dlrun_model *model, size_t step) {
  return model ? Status(Code::Usage, fmt::format("step {}: there are {}", step,
                                                 model->model->steps().size()))
               : missing("the model");
}

extern "C" {

const char *dlrun_error(void) { return lastError.c_str(); }
const char *dlrun_version(void) { return DLRUN_VERSION; }

dlrun_status dlrun_open(const char *plan, const dlrun_options *options,
                        dlrun_model **model) {
  return openModel(options, model, [&](const Model::Options &wanted) {
    return plan ? Model::open(plan, wanted) : missing("the plan's path");
  });
}

dlrun_status dlrun_open_bytes(const void *plan, size_t bytes,
                              const dlrun_options *options,
                              dlrun_model **model) {
  return openModel(options, model, [&](const Model::Options &wanted) {
    return plan ? Model::open({static_cast<const uint8_t *>(plan), bytes},
                              wanted)
                : missing("the plan");
  });
}

void dlrun_close(dlrun_model *model) { delete model; }

size_t dlrun_step_count(const dlrun_model *model) {
  return model ? model->model->steps().size() : 0;
}

dlrun_status dlrun_get_step(const dlrun_model *model, size_t step,
                            dlrun_step_info *info) {
  return with(model, [&](Model &held) -> Status {
    if (step >= held.steps().size())
      return noStep(model, step);
    const Model::StepFacts &facts = held.steps()[step];
    return writeStruct({sizeof(*info), facts.name.c_str(), facts.kind,
                        facts.batchSize, facts.updateItems, facts.inputs.size(),
                        facts.outputs.size()},
                       info);
  });
}

dlrun_status dlrun_find_step(const dlrun_model *model, const char *name,
                             size_t *step) {
  return with(model, [&](Model &held) -> Status {
    if (!name || !step)
      return missing(name ? "the place for the step" : "the step's name");
    Expected<size_t> found = held.findStep(name);
    if (!found)
      return found.takeError();
    *step = *found;
    return {};
  });
}

dlrun_status dlrun_get_input(const dlrun_model *model, size_t step,
                             size_t input, dlrun_tensor_info *info) {
  if (!model || step >= model->model->steps().size())
    return refuse(noStep(model, step));
  return show(model->model->steps()[step].inputs, input, "input", info);
}

dlrun_status dlrun_get_output(const dlrun_model *model, size_t step,
                              size_t output, dlrun_tensor_info *info) {
  if (!model || step >= model->model->steps().size())
    return refuse(noStep(model, step));
  return show(model->model->steps()[step].outputs, output, "output", info);
}

dlrun_status dlrun_run(dlrun_model *model, size_t step,
                       const dlrun_array *inputs, size_t inputCount,
                       size_t items, const dlrun_buffer *outputs,
                       size_t outputCount) {
  return with(model, [&](Model &held) -> Status {
    if ((!inputs && inputCount) || (!outputs && outputCount))
      return missing(!inputs && inputCount ? "the array of inputs"
                                           : "the array of outputs");
    return held.run(step, {inputs, inputCount}, items, {outputs, outputCount});
  });
}

dlrun_status dlrun_set_epoch(dlrun_model *model, uint64_t epoch) {
  return with(model, [&](Model &held) -> Status {
    held.setEpoch(epoch);
    return {};
  });
}

uint64_t dlrun_epoch(const dlrun_model *model) {
  return model ? model->model->epoch() : 0;
}

uint64_t dlrun_updates(const dlrun_model *model) {
  return model ? model->model->updates() : 0;
}

dlrun_status dlrun_set_setting(dlrun_model *model, const char *setting,
                               double value) {
  return with(model, [&](Model &held) {
    return setting ? held.set(setting, value) : missing("the setting's name");
  });
}

dlrun_status dlrun_get_setting(const dlrun_model *model, const char *setting,
                               double *value) {
  return with(model, [&](Model &held) -> Status {
    if (!setting || !value)
      return missing(setting ? "the place for the value"
                             : "the setting's name");
    Expected<double> found = held.get(setting);
    if (!found)
      return found.takeError();
    *value = *found;
    return {};
  });
}

dlrun_status dlrun_load_weights(dlrun_model *model, const char *path) {
  return with(model, [&](Model &held) {
    return path ? held.load(path) : missing("the path");
  });
}

dlrun_status dlrun_save_weights(const dlrun_model *model, const char *path) {
  return with(model, [&](Model &held) {
    return path ? held.save(path) : missing("the path");
  });
}

dlrun_status dlrun_load_checkpoint(dlrun_model *model, const char *path) {
  return with(model, [&](Model &held) {
    return path ? held.loadCheckpoint(path) : missing("the path");
  });
}

dlrun_status dlrun_save_checkpoint(const dlrun_model *model, const char *path) {
  return with(model, [&](Model &held) {
    return path ? held.saveCheckpoint(path) : missing("the path");
  });
}

size_t dlrun_state_count(const dlrun_model *model) {
  return model ? model->model->states().size() : 0;
}

dlrun_status dlrun_get_state(const dlrun_model *model, size_t state,
                             dlrun_tensor_info *info) {
  return model ? show(model->model->states(), state, "state", info)
               : refuse(missing("the model"));
}

dlrun_status dlrun_read_state(const dlrun_model *model, const char *name,
                              void *values, size_t bytes) {
  return with(model, [&](Model &held) {
    return name && values
               ? held.readState(name, {static_cast<uint8_t *>(values), bytes})
               : missing(name ? "the place for the values" : "the name");
  });
}

dlrun_status dlrun_write_state(dlrun_model *model, const char *name,
                               const void *values, size_t bytes) {
  return with(model, [&](Model &held) {
    return name && values
               ? held.writeState(name,
                                 {static_cast<const uint8_t *>(values), bytes})
               : missing(name ? "the values" : "the name");
  });
}

} // extern "C"
