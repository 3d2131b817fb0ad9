#include "runtime/api/Model.h"

#include "runtime/base/Suggest.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Memories.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/state/Parts.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Prediction.h"
#include "runtime/train/RunFolder.h"
#include "runtime/train/WeightPaths.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

using namespace dlrt;

Expected<std::unique_ptr<Model>> Model::open(const std::string &path,
                                             const Options &options) {
  Expected<LoadedPlan> loaded = readPlan(path);
  if (!loaded)
    return loaded.takeError();
  return open(std::unique_ptr<Model>(new Model()), std::move(*loaded), path,
              options);
}

Expected<std::unique_ptr<Model>> Model::open(std::span<const uint8_t> plan,
                                             const Options &options) {
  std::unique_ptr<Model> model(new Model());
  model->planBytes.resize((plan.size() + 7) / 8); // which aligns them
  if (!plan.empty())
    std::memcpy(model->planBytes.data(), plan.data(), plan.size());
  const std::string name = "the plan in memory";
  Expected<LoadedPlan> loaded =
      readPlan({reinterpret_cast<const uint8_t *>(model->planBytes.data()),
                plan.size()});
  if (!loaded)
    return loaded.takeError().within(name);
  return open(std::move(model), std::move(*loaded), name, options);
}

Expected<std::unique_ptr<Model>> Model::open(std::unique_ptr<Model> model,
                                             LoadedPlan plan,
                                             const std::string &name,
                                             const Options &options) {
  SessionOptions wanted;
  wanted.threads = options.threads;
  wanted.seed = options.seed;
  wanted.denormals = options.denormals;
  wanted.device = options.device;
  wanted.shuffle = false; // items are used in the order they are given
  auto session = Session::open(std::move(plan), name, wanted);
  if (!session)
    return session.takeError();
  model->session = std::move(*session);
  model->warn = options.warn;
  model->plateaus = Plateaus(model->session->plan());
  DLRT_TRY(model->session->initialiseStates());
  model->describe();
  model->tell(model->session->takeNotes());
  return model;
}

void Model::tell(const std::vector<std::string> &notes) const {
  if (warn)
    for (const std::string &note : notes)
      warn(note);
}

Expected<size_t> Model::findStep(const std::string &name) const {
  std::vector<std::string> names;
  std::string list;
  for (size_t s = 0; s < functions.size(); ++s) {
    if (functions[s].name == name)
      return s;
    names.push_back(functions[s].name);
    list += (s ? ", '" : "'") + functions[s].name + "'";
  }
  return Status(Code::Usage, fmt::format("the plan has no step '{}'{}; it has "
                                         "{}",
                                         name, didYouMean(name, names), list));
}

Status Model::run(size_t step, std::span<const dlrun_array> inputs,
                  uint64_t items, std::span<const dlrun_buffer> outputs) {
  if (step >= functions.size())
    return {Code::Usage,
            fmt::format("step {}: the plan has {}", step, functions.size())};
  const std::string &name = functions[step].name;
  if (session->plan().steps[step]->by_position)
    return {Code::Unavailable,
            fmt::format("'{}' generates token by token, which 'dlrun generate' "
                        "does; not in this version of the library",
                        name)};
  Expected<Dataset> data = datasetOf(step, inputs, items);
  if (!data)
    return data.takeError().within(name);
  DLRT_TRY(checkOutputs(step, items, outputs).within(name));
  DLRT_TRY(checkUpdate(step, items, outputs).within(name));
  auto number = static_cast<uint32_t>(step);
  last.reset(); // it knows the data before
  DLRT_TRY(session->setData(number, std::move(*data)));
  switch (functions[step].kind) {
  case DLRUN_TRAIN:
    return train(number, items, outputs);
  case DLRUN_EVAL:
    return evaluate(number, outputs);
  case DLRUN_PREDICT:
    return predict(number, outputs);
  }
  return {Code::Bug, "a step of no kind"};
}

/// Stores scalars; whether there are wanted tensors besides.
static bool storeScalars(const std::vector<Model::TensorFacts> &facts,
                         const std::vector<ScalarMetric> &values,
                         std::span<const dlrun_buffer> outputs) {
  bool others = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].data)
      continue;
    others |= !facts[i].shape.empty();
    for (const ScalarMetric &metric : values)
      if (facts[i].shape.empty() && metric.name == facts[i].name)
        std::memcpy(outputs[i].data, &metric.value, sizeof(double));
  }
  return others;
}

/// An update takes full batches, and a last one that the plan has a program
/// for.
Status Model::checkUpdate(size_t step, uint64_t items,
                          std::span<const dlrun_buffer> outputs) const {
  const StepFacts &facts = functions[step];
  if (facts.kind != DLRUN_TRAIN)
    return {};
  if (items > facts.updateItems)
    return {Code::Usage, fmt::format("{} items; one update takes up to {}",
                                     items, facts.updateItems)};
  uint64_t left = items % facts.batchSize;
  const fb::ProgramT *rest =
      programOf(*session->plan().steps[step], fb::ProgramKind::Short);
  bool fits = left == 0 || (rest && rest->batch_items == left);
  for (size_t i = 0; left != 0 && fits && i < outputs.size(); ++i)
    if (outputs[i].data && !facts.outputs[i].shape.empty())
      return {Code::Usage,
              fmt::format("'{}' is a tensor, which only full batches give; {} "
                          "items end in one of {}",
                          facts.outputs[i].name, items, left)};
  if (fits)
    return {};
  return {Code::Usage,
          fmt::format("{} items; the plan has programs for batches of {}{}",
                      items, facts.batchSize,
                      rest ? fmt::format(" and {}", rest->batch_items)
                           : "; a data set of another number of items, as "
                             "InputDataset's .items says, adds one for what "
                             "full batches leave over")};
}

/// Updates are done within the program that finds values out of range, and
/// batches before one that cannot be read have changed buffers.
Status Model::update(uint32_t step, uint64_t items) {
  auto cursor = StepCursor::create(*session, step);
  if (!cursor)
    return cursor.takeError();
  bool several = items > functions[step].batchSize, hasChecks = false;
  for (const auto &program : session->plan().steps[step]->programs)
    hasChecks |= !program->errors.empty();
  // (From a GPU a copy of each single batch's states would take too long.)
  bool isOnCpu = targetOf(session->plan()) == fb::Target::Cpu;
  bool copies = several || (hasChecks && isOnCpu);
  if (copies && !before)
    before.emplace(session->plans(), StateSnapshot::Of::All);
  if (copies)
    DLRT_TRY(before->take(session->device()));
  DLRT_TRY((*cursor)->start(0, 1));
  Status status = (*cursor)->run(updateCount, epochNumber);
  bool isDone = status.ok();
  if (!isDone && copies) {
    DLRT_TRY(before->restore(session->device()));
  } else if (!isDone && !(*cursor)->failedToBegin()) {
    status = {status.code(), status.message() + "; the update has been done"};
    isDone = true;
  }
  updateCount += isDone;
  last = std::move(*cursor);
  return status;
}

Status Model::train(uint32_t step, uint64_t items,
                    std::span<const dlrun_buffer> outputs) {
  const StepFacts &facts = functions[step];
  DLRT_TRY(update(step, items));
  if (!storeScalars(facts.outputs, last->scalars(), outputs))
    return {};
  auto all = last->allMetrics();
  if (!all)
    return all.takeError();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorFacts &wanted = facts.outputs[i];
    if (!outputs[i].data || wanted.shape.empty())
      continue;
    for (const MetricValues &values : *all)
      if (values.name == wanted.name && values.shape == wanted.shape)
        std::memcpy(outputs[i].data, values.data.data(), values.data.size());
  }
  return {};
}

Status Model::evaluate(uint32_t step, std::span<const dlrun_buffer> outputs) {
  auto result = dlrt::evaluate(*session, step, {updateCount, epochNumber},
                               [] { return true; });
  if (!result)
    return result.takeError();
  DLRT_TRY(session->setSettings(plateaus.see({*result}, *session)));
  storeScalars(functions[step].outputs, result->metrics, outputs);
  return {};
}

Status Model::predict(uint32_t step, std::span<const dlrun_buffer> outputs) {
  std::vector<size_t> written(functions[step].outputs.size());
  auto result = dlrt::predict(
      *session, step,
      [&](size_t tensor, std::span<const uint8_t> rows) -> Status {
        if (tensor < outputs.size() && outputs[tensor].data && !rows.empty())
          std::memcpy(static_cast<uint8_t *>(outputs[tensor].data) +
                          written[tensor],
                      rows.data(), rows.size());
        written[tensor] += rows.size();
        return {};
      },
      [] { return true; });
  return result ? Status() : result.takeError();
}

Status Model::set(const std::string &setting, double value) {
  if (!std::isfinite(value))
    return {Code::Usage, fmt::format("'{}' cannot be {}", setting, value)};
  return session->setSettings({{setting, value}});
}

Expected<double> Model::get(const std::string &setting) const {
  for (size_t i = 0; i < session->plan().settings.size(); ++i)
    if (session->setting(i).name == setting)
      return session->setting(i).value;
  return Status(Code::Usage,
                fmt::format("the plan has no setting '{}'", setting));
}

Status Model::load(const std::string &path) {
  auto sources = weightSources({{path, {}}});
  if (!sources)
    return sources.takeError();
  std::vector<std::string> warnings;
  Status status = loadWeights(session->plans(), *sources,
                              /*partial=*/false, session->device(), warnings);
  tell(warnings);
  return status;
}

Status Model::save(const std::string &path) const {
  return saveWeights(session->plans(), path, session->device());
}

Status Model::loadCheckpoint(const std::string &path) {
  auto name = checkpointFile(path);
  if (!name)
    return name.takeError();
  auto file = CheckpointFile::open(*name);
  if (!file)
    return file.takeError();
  std::vector<SettingValue> settings;
  for (const auto &[setting, value] : file->facts.settings) {
    auto known = get(setting);
    if (!known)
      return known.takeError().within(*name);
    settings.push_back({setting, value});
  }
  DLRT_TRY(restoreStates(session->plans(), *file, *name, session->device()));
  if (file->facts.planHash != planHashText(session->planFile().checksum))
    tell({fmt::format("{}: this is a checkpoint of another plan", *name)});
  DLRT_TRY(plateaus.restore(file->facts.watches).within(*name));
  session->resetSettings();
  DLRT_TRY(session->setSettings(settings));
  session->setSeed(file->facts.seed);
  updateCount = file->facts.step;
  epochNumber = file->facts.epoch;
  return {};
}

Status Model::saveCheckpoint(const std::string &path) const {
  CheckpointFacts facts;
  facts.planHash = planHashText(session->planFile().checksum);
  facts.step = updateCount;
  facts.epoch = epochNumber;
  facts.watches = plateaus.state();
  facts.seed = session->options().seed;
  for (const SettingValue &changed : session->changedSettings())
    facts.settings[changed.name] = changed.value;
  return writeCheckpoint(session->plans(), path, session->device(), facts);
}

Expected<const fb::StateT *> Model::stateOf(const std::string &name,
                                            uint64_t bytes) const {
  std::vector<std::string> names;
  for (const fb::StateT *state : statesOf(session->plans())) {
    bool isAlias = std::ranges::count(state->aliases, name) != 0;
    if (state->name != name && !isAlias) {
      names.push_back(state->name);
      continue;
    }
    if (bytes != wholeBytes(*state))
      return Status(Code::Usage,
                    fmt::format("'{}' is {} {}, which is {} bytes; {} are "
                                "given",
                                name, nameOf(state->dtype),
                                shapeText(state->shape), wholeBytes(*state),
                                bytes));
    return state;
  }
  return Status(Code::Usage, fmt::format("the plan has no state '{}'{}", name,
                                         didYouMean(name, names)));
}

Status Model::readState(const std::string &name,
                        std::span<uint8_t> into) const {
  auto state = stateOf(name, into.size());
  if (!state)
    return state.takeError();
  auto values =
      readWhole(partsOf(session->plans(), **state), session->device());
  if (!values)
    return values.takeError();
  if (!into.empty())
    std::memcpy(into.data(), values->data(), into.size());
  return {};
}

Status Model::writeState(const std::string &name,
                         std::span<const uint8_t> values) {
  auto state = stateOf(name, values.size());
  if (!state)
    return state.takeError();
  return writeWhole(partsOf(session->plans(), **state), values.data(),
                    session->device());
}
