#include "runtime/train/Session.h"

#include "runtime/base/Suggest.h"
#include "runtime/state/StateInit.h"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>

using namespace dlrt;

std::string dlrt::displayName(const fb::StepT &step) {
  constexpr std::string_view prefix = "eval.";
  if (!step.training && step.name.starts_with(prefix) &&
      step.name.size() > prefix.size())
    return step.name.substr(prefix.size());
  return step.name;
}

Expected<std::unique_ptr<Session>>
Session::open(const std::string &planPath, const SessionOptions &options) {
  Expected<LoadedPlan> loaded = readPlan(planPath);
  if (!loaded)
    return loaded.takeError();
  return open(std::move(*loaded), planPath, options);
}

Expected<std::unique_ptr<Session>>
Session::open(LoadedPlan loaded, const std::string &name,
              const SessionOptions &options) {
  std::unique_ptr<Session> session(new Session());
  session->planName = name;
  session->settings = options;
  session->loaded = std::move(loaded);
  DLRT_TRY(session->resolveData());
  DLRT_TRY(session->openDevice().within(name));
  return session;
}

Status Session::openDevice() {
  Expected<std::unique_ptr<Device>> device =
      settings.device(loaded, {settings.threads, settings.isa, settings.trace,
                               settings.checks});
  if (!device)
    return device.takeError();
  machine = std::move(*device);
  const Ranks &ranks = settings.ranks;
  if (ranks.count != machine->ranks() || ranks.total != 1)
    return {Code::Unavailable,
            fmt::format("{} of {} ranks on this device: not in this version",
                        ranks.count, ranks.total)};
  return {};
}

Status Session::resolveData() {
  std::vector<std::string> names;
  for (const auto &step : plan().steps)
    names.push_back(displayName(*step));
  for (const std::string &argument : settings.data) {
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (equals != std::string::npos && known)
      givenData[name] = argument.substr(equals + 1);
    else if (equals == std::string::npos || access(argument.c_str(), F_OK) == 0)
      givenForAll = argument;
    else
      return {Code::Usage,
              fmt::format("--data {}: the plan has no step '{}'{}", argument,
                          name, didYouMean(name, names))};
  }
  return {};
}

std::optional<uint32_t> Session::trainingStep() const {
  for (uint32_t s = 0; s < plan().steps.size(); ++s)
    if (plan().steps[s]->training)
      return s;
  return std::nullopt;
}

std::vector<uint32_t> Session::evaluationSteps() const {
  std::vector<uint32_t> found;
  for (uint32_t s = 0; s < plan().steps.size(); ++s)
    if (!plan().steps[s]->training)
      found.push_back(s);
  return found;
}

Status Session::openData(uint32_t step) {
  if (datasets.count(step))
    return {};
  const fb::StepT &description = *plan().steps[step];
  const fb::DatasetT &dataset = *plan().datasets[description.dataset];
  std::string name = displayName(description);
  auto given = givenData.find(name);
  bool named = given != givenData.end();
  if (settings.synthetic && !named && !givenForAll) {
    datasets[step] = std::make_unique<Dataset>(syntheticDataset(dataset));
    return {};
  }
  Expected<Dataset> opened = openDataset(
      dataset, name, named ? std::optional(given->second) : givenForAll);
  if (!opened)
    return opened.takeError();
  datasets[step] = std::make_unique<Dataset>(std::move(*opened));
  return {};
}

uint64_t Session::batchesPerEpoch(uint32_t step) const {
  const fb::DatasetT &dataset = *plan().datasets[plan().steps[step]->dataset];
  return batchesOf(datasets.at(step)->items, dataset.batch_size,
                   dataset.drop_last);
}

std::unique_ptr<Loader> Session::makeLoader(uint32_t step, uint64_t batchLimit,
                                            uint64_t firstBatch) const {
  const fb::DatasetT &dataset = *plan().datasets[plan().steps[step]->dataset];
  LoaderOptions options;
  options.batchSize = dataset.batch_size;
  options.dropLast = dataset.drop_last;
  options.shuffle = dataset.shuffle && settings.shuffle;
  options.seed = settings.seed;
  options.slots = machine->inputSlots(step);
  options.batchLimit = batchLimit;
  options.firstBatch = firstBatch;
  options.rank = settings.ranks.first;
  options.ranks = settings.ranks.total;
  return std::make_unique<Loader>(
      *datasets.at(step), options,
      [device = machine.get(), step](uint32_t slot, size_t component) {
        return device->inputAddress({step, slot, component});
      });
}

Status Session::initialiseStates() {
  std::vector<uint8_t> bytes;
  for (const auto &state : plan().states) {
    bytes.resize(plan().buffers[state->buffer]->bytes);
    initialiseState(*state, settings.seed, bytes.data(), bytes.size());
    DLRT_TRY(machine->write({state->buffer}, bytes));
  }
  return {};
}

Status Session::loadInitialWeights(std::vector<std::string> &warnings) {
  if (settings.init.empty())
    return {};
  return loadWeights(plan(), settings.init, *machine, warnings);
}
