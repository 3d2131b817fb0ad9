#include "runtime/train/Session.h"

#include "runtime/base/Suggest.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/state/Checkpoint.h"
#include "runtime/state/StateInit.h"
#include "runtime/train/WeightPaths.h"

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
  session->resetSettings();
  DLRT_TRY(session->setSettings(options.settings));
  return session;
}

Status Session::openDevice() {
  uint32_t all = loaded.mesh.ranks();
  if (settings.wantedRanks && *settings.wantedRanks != all)
    return {Code::Plan,
            fmt::format("--ranks {}: the plan is for {}; it runs with --ranks "
                        "{} or without",
                        *settings.wantedRanks,
                        all == 1 ? "one rank"
                                 : fmt::format("a mesh of {}, which is {} "
                                               "ranks",
                                               loaded.mesh.text(), all),
                        all)};
  DeviceOptions options = {settings.threads,
                           settings.isa,
                           settings.trace,
                           settings.checks,
                           settings.ranks.value_or(Ranks{0, all, all}),
                           settings.link};
  options.ownKernels = settings.ownKernels;
  options.denormals = settings.denormals;
  Expected<std::unique_ptr<Device>> device = settings.device(loaded, options);
  if (!device)
    return device.takeError();
  machine = std::move(*device);
  if (machine->ranks() != all)
    return {Code::Bug, fmt::format("the device answers for {} of {} ranks",
                                   machine->ranks(), all)};
  notes.insert(notes.end(), machine->notes().begin(), machine->notes().end());
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

static Expected<size_t> settingIndex(const fb::PlanT &plan,
                                     const std::string &name) {
  std::vector<std::string> names;
  std::string list, sameEnd;
  for (size_t i = 0; i < plan.settings.size(); ++i) {
    const std::string &known = plan.settings[i]->name;
    if (known == name)
      return i;
    names.push_back(known);
    list += (list.empty() ? "" : ", ") + known;
    if (sameEnd.empty() &&
        (known.ends_with("." + name) || name.ends_with("." + known)))
      sameEnd = known;
  }
  if (names.empty())
    return Status(Code::Usage,
                  fmt::format("--set {}: the plan has no settings", name));
  return Status(Code::Usage,
                fmt::format("--set {}: the plan has no such setting{}; it has "
                            "{}",
                            name,
                            sameEnd.empty()
                                ? didYouMean(name, names)
                                : "; did you mean '" + sameEnd + "'?",
                            list));
}

/// What optimizers refuse where a model says it, as PyTorch's do, if the value
/// is so. Only their settings have names that begin so.
static const char *missedRange(const SettingValue &given) {
  if (!given.name.starts_with("optim"))
    return nullptr;
  std::string last = given.name.substr(given.name.rfind('.') + 1);
  if (last == "beta1" || last == "beta2")
    return given.value >= 0 && given.value < 1 ? nullptr
                                               : "at least 0 and below 1";
  for (const char *size : {"lr", "eps", "weight_decay", "momentum", "lr_decay",
                           "momentum_decay", "alpha", "rho"})
    if (last == size)
      return given.value >= 0 ? nullptr : "at least 0";
  return nullptr;
}

std::vector<uint32_t> Session::trainingSteps() const {
  std::vector<uint32_t> found;
  for (uint32_t s = 0; s < plan().steps.size(); ++s)
    if (plan().steps[s]->training)
      found.push_back(s);
  return found;
}

std::vector<uint32_t> Session::evaluationSteps() const {
  std::vector<uint32_t> found;
  for (uint32_t s = 0; s < plan().steps.size(); ++s)
    if (!plan().steps[s]->training && !plan().steps[s]->predicts)
      found.push_back(s);
  return found;
}

std::vector<uint32_t> Session::predictionSteps() const {
  std::vector<uint32_t> found;
  for (uint32_t s = 0; s < plan().steps.size(); ++s)
    if (plan().steps[s]->predicts && plan().steps[s]->window == 0)
      found.push_back(s);
  return found;
}

std::vector<uint32_t> Session::generationSteps() const {
  std::vector<uint32_t> found;
  for (uint32_t s = 0; s < plan().steps.size(); ++s)
    if (plan().steps[s]->window != 0)
      found.push_back(s);
  return found;
}

/// A tensor that an evaluation returns would get lost.
static Status checkReported(const fb::StepT &step) {
  for (const auto &metric : fullProgram(step).metrics)
    if (!metric->shape.empty())
      return {Code::Training,
              fmt::format("'{}': '{}' is a tensor {}; an evaluation reports "
                          "numbers, and p.predict() in the model writes "
                          "tensors",
                          displayName(step), metric->name,
                          shapeText(metric->shape))};
  return {};
}

Status Session::openData(uint32_t step) {
  if (datasets.count(step))
    return {};
  const fb::StepT &description = *plan().steps[step];
  const fb::DatasetT &dataset = *plan().datasets[description.dataset];
  if (!description.training && !description.predicts)
    DLRT_TRY(checkReported(description));
  DataRequest request = requestOf(step);
  if (settings.synthetic && !request.given) {
    datasets[step] = std::make_unique<Dataset>(syntheticDataset(dataset));
    return {};
  }
  auto whole = filesOf(dataset, request);
  if (!whole)
    return whole.takeError();
  Expected<Dataset> selected = selectItems(std::move(*whole), dataset, request);
  if (!selected)
    return selected.takeError().within(fmt::format("'{}'", request.step));
  datasets[step] = std::make_unique<Dataset>(std::move(*selected));
  return keepIfFitting(step);
}

Expected<std::shared_ptr<const Dataset>>
Session::filesOf(const fb::DatasetT &dataset, const DataRequest &request) {
  for (const OpenFiles &open : openFiles)
    if (haveSameFiles(*open.dataset, dataset) &&
        open.request.given == request.given &&
        open.request.unused == request.unused)
      return open.whole;
  Expected<Dataset> opened = openDataset(dataset, request);
  if (!opened)
    return opened.takeError();
  // Training and evaluation may have the same file.
  for (const std::string &note : opened->notes)
    if (std::ranges::find(notes, note) == notes.end())
      notes.push_back(note);
  openFiles.push_back(
      {&dataset, request, std::make_shared<const Dataset>(std::move(*opened))});
  return openFiles.back().whole;
}

Status Session::keepIfFitting(uint32_t step) {
  Status fits = checkLength(step);
  if (!fits.ok())
    datasets.erase(step);
  return fits;
}

Status Session::setData(uint32_t step, Dataset data) {
  const fb::StepT &description = *plan().steps[step];
  if (!description.training && !description.predicts)
    DLRT_TRY(checkReported(description));
  datasets[step] = std::make_unique<Dataset>(std::move(data));
  return keepIfFitting(step);
}

std::vector<bool> Session::readComponents(uint32_t number) const {
  const fb::StepT &step = *plan().steps[number];
  std::vector<bool> read(plan().datasets[step.dataset]->components.size());
  for (const auto &one : loaded.plans) // stages read data of their own
    for (const auto &program : one->steps[number]->programs)
      for (const auto &command : program->commands)
        for (const Access &access : accessesOf(*one, *command)) {
          const fb::BufferT &buffer = *one->buffers[access.range.buffer()];
          if (buffer.space == fb::Space::Input)
            read[buffer.offset] = true;
        }
  return read;
}

DataRequest Session::requestOf(uint32_t step) const {
  const fb::StepT &description = *plan().steps[step];
  DataRequest request;
  request.step = displayName(description);
  auto given = givenData.find(request.step);
  request.given =
      given != givenData.end() ? std::optional(given->second) : givenForAll;
  size_t slash = planName.rfind('/');
  request.folder = !settings.modelFolder.empty() ? settings.modelFolder
                   : slash == std::string::npos  ? ""
                                                 : planName.substr(0, slash);
  if (description.predicts) // which often does without labels
    request.unused = readComponents(step);
  request.unused.flip();
  return request;
}

std::vector<std::string> Session::dataPaths(uint32_t step) const {
  return datasetPaths(*plan().datasets[plan().steps[step]->dataset],
                      requestOf(step));
}

bool Session::dropsLast(uint32_t step) const {
  const fb::StepT &description = *plan().steps[step];
  auto data = datasets.find(step);
  // Measured and predicted is all there is; who hands items over means all of
  // them, too.
  if (!description.training || (data != datasets.end() && data->second->atHand))
    return false;
  return plan().datasets[description.dataset]->drop_last || settings.dropLast;
}

/// Items that full batches leave over, and that no program takes together.
uint64_t Session::itemsLeft(uint32_t step) const {
  const fb::StepT &description = *plan().steps[step];
  const fb::ProgramT *rest = programOf(description, fb::ProgramKind::Short);
  uint64_t left =
      datasets.at(step)->items % fullProgram(description).batch_items;
  return dropsLast(step) || (rest && rest->batch_items == left) ? 0 : left;
}

/// As dlcc expects of one core.
static double secondsOf(const fb::ProgramT &program) {
  double seconds = 0;
  for (const auto &command : program.commands)
    seconds += command->seconds;
  return seconds;
}

bool Session::fillsLast(uint32_t step) const {
  const fb::StepT &description = *plan().steps[step];
  const fb::ProgramT *item = programOf(description, fb::ProgramKind::Item);
  uint64_t left = itemsLeft(step);
  return left != 0 && description.predicts && item &&
         secondsOf(fullProgram(description)) <
             static_cast<double>(left) * secondsOf(*item);
}

bool Session::runsItems(uint32_t step) const {
  return itemsLeft(step) != 0 && !fillsLast(step) &&
         programOf(*plan().steps[step], fb::ProgramKind::Item);
}

fb::ProgramKind Session::kindOf(uint32_t step, uint64_t items) const {
  const fb::StepT &description = *plan().steps[step];
  if (items != fullProgram(description).batch_items && fillsLast(step))
    return fb::ProgramKind::Full;
  if (items != fullProgram(description).batch_items && runsItems(step))
    return fb::ProgramKind::Item;
  return kindOfBatch(description, items);
}

uint64_t Session::fullBatches(uint32_t step) const {
  return datasets.at(step)->items /
         fullProgram(*plan().steps[step]).batch_items;
}

/// The programs of a step take batches of one or two sizes, and single items
/// where it neither trains nor mixes them.
Status Session::checkLength(uint32_t step) const {
  const fb::StepT &description = *plan().steps[step];
  uint64_t items = datasets.at(step)->items;
  uint64_t batch = fullProgram(description).batch_items;
  const fb::ProgramT *rest = programOf(description, fb::ProgramKind::Short);
  uint64_t left = items % batch;
  if (items < batch && dropsLast(step))
    return {Code::Training,
            fmt::format("'{}': {} items do not fill a batch of {}, and shorter "
                        "ones are left out",
                        displayName(description), items, batch)};
  if (left == 0 || dropsLast(step) || (rest && rest->batch_items == left) ||
      runsItems(step) || fillsLast(step))
    return {};
  std::string sizes = rest ? fmt::format("{} and {}", batch, rest->batch_items)
                           : std::to_string(batch);
  return {Code::Training,
          fmt::format(
              "'{}': {} items end in a batch of {}, and the plan, "
              "compiled for {} items, has programs for batches of {}; "
              "{}{}compile the model again with these data",
              displayName(description), items, left,
              plan().datasets[description.dataset]->items, sizes,
              description.mixes.empty()
                  ? ""
                  : "items cannot run one by one: " + description.mixes + "; ",
              description.training ? "--drop-last leaves that batch out, or "
                                   : "")};
}

uint64_t Session::batchesPerEpoch(uint32_t step) const {
  const fb::DatasetT &dataset = *plan().datasets[plan().steps[step]->dataset];
  return batchesOf(datasets.at(step)->items, dataset.batch_size,
                   dropsLast(step), runsItems(step));
}

std::unique_ptr<Loader> Session::makeLoader(uint32_t step, uint64_t batchLimit,
                                            uint64_t firstBatch) const {
  const fb::DatasetT &dataset = *plan().datasets[plan().steps[step]->dataset];
  LoaderOptions options;
  options.batchSize = dataset.batch_size;
  options.dropLast = dropsLast(step);
  options.byItem = runsItems(step);
  options.fillLast = fillsLast(step);
  options.shuffle =
      dataset.shuffle && settings.shuffle && plan().steps[step]->training;
  options.seed = settings.seed;
  options.slots = machine->inputSlots(step);
  options.batchLimit = batchLimit;
  options.firstBatch = firstBatch;
  options.ranks = loaded.mesh.ranks();
  options.share = [this, step](uint32_t rank, uint64_t items) {
    const fb::StepT &own = *loaded.of(rank).steps[step];
    return itemsOf(loaded.mesh, *programOf(own, kindOf(step, items)), rank);
  };
  return std::make_unique<Loader>(
      *datasets.at(step), options,
      [device = machine.get(), step](uint32_t rank, uint32_t slot,
                                     size_t component) {
        return device->inputAddress({step, slot, component, rank});
      });
}

Status Session::initialiseStates() {
  DLRT_TRY(drawInitialValues([](const auto &) { return false; }));
  return computeInitialValues();
}

Status Session::beginStates(std::vector<std::string> &warnings) {
  if (settings.init.empty())
    return initialiseStates();
  auto sources = weightSources(settings.init);
  if (!sources)
    return sources.takeError();
  auto files =
      WeightFiles::open(loaded, *sources, settings.initPartial, warnings);
  if (!files)
    return files.takeError();
  // (What is computed is made of what others would begin with.)
  bool needsAll = hasComputedStates();
  DLRT_TRY(drawInitialValues([&](const fb::StateT &state) {
    return !needsAll && (*files)->have(state.name);
  }));
  DLRT_TRY(computeInitialValues());
  return (*files)->load(*machine, warnings);
}

Status Session::awaitCheckpoint() { return drawInitialValues(isKept); }

Status Session::drawInitialValues(const IsGiven &isGiven) {
  std::vector<uint8_t> bytes;
  bool hasZeros = machine->beginsAtZero() && !std::exchange(hasBegun, true);
  for (uint32_t rank = 0; rank < machine->ranks(); ++rank) {
    const fb::PlanT &own = loaded.of(rank);
    for (const auto &state : own.states) {
      bool isThere = hasZeros && beginsAsZeros(*state);
      if (isThere || isGiven(*state))
        continue;
      bytes.resize(own.buffers[state->buffer]->bytes);
      initialiseState(
          *state, boxOf(loaded.mesh, state->shape, state->split, rank),
          settings.seed, bytes.data(), bytes.size(), settings.threads);
      DLRT_TRY(machine->write({state->buffer, 0, rank}, bytes));
    }
  }
  return {};
}

bool Session::hasComputedStates() const {
  return std::ranges::any_of(plan().steps, [](const auto &step) {
    return step->window == 0 && programOf(*step, fb::ProgramKind::Initial);
  });
}

/// What is made of random numbers, and of what other states begin with.
Status Session::computeInitialValues() {
  for (uint32_t s = 0; s < plan().steps.size(); ++s)
    if (plan().steps[s]->window == 0)
      DLRT_TRY(runInitial(s));
  return {};
}

Status Session::runInitial(uint32_t step) {
  if (!programOf(*plan().steps[step], fb::ProgramKind::Initial))
    return {};
  Launch run;
  run.step = step;
  run.kind = fb::ProgramKind::Initial;
  run.scalars[0] = static_cast<int64_t>(settings.seed);
  return machine->wait(machine->submit(run)).status();
}

void Session::resetSettings() {
  settingValues.clear();
  for (const auto &setting : plan().settings) {
    machine->setSetting(settingValues.size(), setting->value);
    settingValues.push_back(setting->value);
  }
}

Status Session::setSettings(const std::vector<SettingValue> &values) {
  std::vector<size_t> places;
  for (const SettingValue &given : values) {
    auto place = settingIndex(plan(), given.name);
    if (!place)
      return place.takeError();
    if (const char *range = missedRange(given))
      return {Code::Usage, fmt::format("--set {}={}: {} is wanted", given.name,
                                       given.value, range)};
    places.push_back(*place);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    settingValues[places[i]] = values[i].value;
    machine->setSetting(places[i], values[i].value);
  }
  return {};
}

std::vector<SettingValue> Session::changedSettings() const {
  std::vector<SettingValue> changed;
  for (size_t i = 0; i < settingValues.size(); ++i)
    if (settingValues[i] != plan().settings[i]->value)
      changed.push_back({plan().settings[i]->name, settingValues[i]});
  return changed;
}
