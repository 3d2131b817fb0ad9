#include "runtime/train/RunOutput.h"

#include "runtime/base/Utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

using namespace dlrt;

/// Without --every ckpt=N, the first end of an epoch after so many seconds.
static constexpr double secondsBetweenSaves = 30;
static constexpr double secondsBetweenLogs = 0.1;

static double secondsNow() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

RunOutput::~RunOutput() {
  if (saver.joinable())
    saver.join();
}

Status RunOutput::open() {
  DLRT_TRY(checkRecordable());
  std::error_code error;
  if (!std::filesystem::is_directory(run.folder, error))
    return {};
  auto opened = RunFolder::open(run.folder, /*create=*/false);
  if (!opened)
    return opened.takeError();
  folder = std::move(*opened);
  if (!folder->holdsRun())
    return checkFree();
  if (!run.goesOn)
    return {Code::Usage, fmt::format("--out {}: it holds a run; 'dlrun resume "
                                     "{}' goes on with it, another folder "
                                     "begins a new one",
                                     run.folder, run.folder)};
  auto record = folder->record();
  if (!record)
    return record.takeError();
  DLRT_TRY(checkPlan(*record));
  auto steps = folder->checkpoints();
  if (!steps)
    return steps.takeError();
  if (steps->empty()) {
    observer.warning(fmt::format(
        "'{}' has no checkpoint yet: the run starts again", folder->path()));
    return {};
  }
  std::string path = folder->checkpointPath(steps->back());
  auto file = CheckpointFile::open(path);
  if (!file)
    return {Code::Io,
            fmt::format("{}; {}", file.takeError().message(),
                        steps->size() == 1
                            ? "there is no other one"
                            : fmt::format("remove it to go on from step {}",
                                          (*steps)[steps->size() - 2]))};
  DLRT_TRY(checkFits(file->facts, *record, path));
  start = std::move(*file);
  return {};
}

Status RunOutput::checkPlan(const RunRecord &record) const {
  std::string hash = planHashText(session.planFile().checksum);
  if (record.planHash == hash || run.otherPlan)
    return {};
  return {Code::Plan,
          fmt::format("'{}' is not the plan of the run in '{}' (hash {}, the "
                      "run's is {}); 'dlrun resume {} --plan {}' goes on under "
                      "it if it has the same states",
                      session.name(), folder->path(), hash, record.planHash,
                      folder->path(), session.name())};
}

/// run.json must give the same bytes back, and JSON is UTF-8.
Status RunOutput::checkRecordable() const {
  std::error_code error;
  std::string folder = std::filesystem::current_path(error);
  if (!isUtf8(folder))
    return {Code::Usage, fmt::format("--out {}: the working directory '{}' is "
                                     "not UTF-8, so that the run's record "
                                     "could not name it",
                                     run.folder, folder)};
  for (const std::string &argument : run.arguments)
    if (!isUtf8(argument))
      return {Code::Usage, fmt::format("--out {}: the argument '{}' is not "
                                       "UTF-8, so that the run's record could "
                                       "not name it",
                                       run.folder, argument)};
  return {};
}

/// The folder holds no run: what it holds instead must not be lost.
Status RunOutput::checkFree() const {
  std::string name = folder->inTheWay(session.planFile().file.bytes());
  if (name.empty())
    return {};
  return {Code::Usage,
          fmt::format("--out {}: it holds '{}', but no run (run.json); a run "
                      "would replace that, so name a new or an empty folder",
                      run.folder, name)};
}

Status RunOutput::checkFits(const CheckpointFacts &facts,
                            const RunRecord &record,
                            const std::string &path) const {
  std::string hash = planHashText(session.planFile().checksum);
  bool known = facts.planHash == hash ||
               std::ranges::count(record.formerPlans, facts.planHash) != 0;
  if (!known && !run.otherPlan)
    return {Code::Plan, fmt::format("{}: the checkpoint was written by another "
                                    "plan (hash {}, this one's is {})",
                                    path, facts.planHash, hash)};
  if (facts.seed != session.options().seed)
    return {Code::Usage,
            fmt::format("--seed {}: the run in '{}' has seed {}",
                        session.options().seed, folder->path(), facts.seed)};
  if (facts.shuffle != session.options().shuffle)
    return {Code::Usage,
            fmt::format("--no-shuffle: the run in '{}' was "
                        "started with{} it",
                        folder->path(), facts.shuffle ? "out" : "")};
  return {};
}

Status RunOutput::checkPosition(const StepRunner &runner) const {
  const CheckpointFacts &facts = start->facts;
  uint64_t items = session.dataset(*session.trainingStep()).items;
  if (facts.items != items)
    return {Code::Training, fmt::format("the run in '{}' has trained on {} "
                                        "items, the data have {} now",
                                        folder->path(), facts.items, items)};
  bool inPlace =
      facts.epoch == runner.nextEpoch() && facts.batch == runner.nextInEpoch();
  if (!inPlace && run.otherPlan)
    return {Code::Usage,
            fmt::format("--plan: the run stands at batch {} of epoch {}, which "
                        "is not step {} of the new plan; its batches have "
                        "another size or number",
                        facts.batch, facts.epoch, facts.step)};
  if (!inPlace)
    return {Code::Io, fmt::format("{}: step {} is not batch {} of epoch {}",
                                  folder->checkpointPath(facts.step),
                                  facts.step, facts.batch, facts.epoch)};
  return {};
}

/// run.json names the length of the newest process: what a resumed run was told
/// holds for the next one, too.
Status RunOutput::keepRecord() {
  if (!folder->holdsRun()) {
    std::error_code error;
    return folder->begin({planHashText(session.planFile().checksum),
                          std::filesystem::current_path(error), run.arguments,
                          run.length},
                         session.planFile().file.bytes());
  }
  auto record = folder->record();
  if (!record)
    return record.takeError();
  std::string hash = planHashText(session.planFile().checksum);
  if (record->planHash != hash) {
    record->length = run.length;
    record->formerPlans.push_back(std::exchange(record->planHash, hash));
    return folder->begin(*record, session.planFile().file.bytes());
  }
  if (record->length == run.length)
    return {};
  record->length = run.length;
  return folder->rewrite(*record);
}

/// There was no folder when this process looked for one; another one may have
/// made it since.
Status RunOutput::openNew() {
  auto created = RunFolder::open(run.folder, /*create=*/true);
  if (!created)
    return created.takeError();
  folder = std::move(*created);
  if (folder->holdsRun())
    return {Code::Io, fmt::format("'{}': another dlrun has begun a run in this "
                                  "folder meanwhile",
                                  folder->path())};
  return checkFree();
}

Status RunOutput::begin(const StepRunner &runner) {
  if (start) {
    DLRT_TRY(checkPosition(runner));
    DLRT_TRY(restoreSettings());
    DLRT_TRY(restoreStates(session.plans(), *start,
                           folder->checkpointPath(startStep()),
                           session.device()));
  }
  if (!folder)
    DLRT_TRY(openNew());
  DLRT_TRY(keepRecord());
  DLRT_TRY(folder->prepare());
  std::vector<std::string> warnings;
  std::map<std::string, uint64_t> lengths;
  if (start && ScalarLog::fits(folder->path(), session.plan()))
    lengths = start->facts.logBytes;
  auto opened =
      ScalarLog::open(folder->path(), session.plan(), lengths, warnings);
  if (!opened)
    return opened.takeError();
  log = std::move(*opened);
  for (const std::string &warning : warnings)
    observer.warning(warning);
  snapshot = std::make_unique<StateSnapshot>(session.plans());
  lastLog = lastFlush = lastSave = secondsNow();
  return {};
}

/// The run goes on with the values that it had, but for those said anew.
Status RunOutput::restoreSettings() {
  std::vector<SettingValue> values;
  for (const auto &[name, value] : start->facts.settings)
    values.push_back({name, value});
  values.insert(values.end(), run.settings.begin(), run.settings.end());
  session.resetSettings();
  DLRT_TRY(session.setSettings(values));
  return watch.restore(start->facts.watches)
      .within(folder->checkpointPath(startStep()));
}

void RunOutput::noteLog(const Status &status) {
  if (status.ok() || !logStatus.ok())
    return;
  logStatus = status;
  observer.warning(status.message() + "; training goes on without logs");
}

void RunOutput::afterStep(StepRunner &runner, bool last) {
  double now = secondsNow();
  uint64_t step = runner.stepsDone();
  if (!logStatus.ok() ||
      !reportDue(options.logEvery, step, /*first=*/step == 1, last,
                 /*afterPause=*/now - lastLog >= secondsBetweenLogs))
    return;
  noteLog(log->addStep({step, runner.epoch()}, runner.scalars()));
  lastLog = now;
  // Whoever looks at the files while it trains wants to see them grow.
  if (now - lastFlush < 1)
    return;
  noteLog(log->flush());
  lastFlush = now;
}

void RunOutput::afterEvaluation(const Evaluation &result,
                                TrainingPosition position) {
  if (logStatus.ok())
    noteLog(log->addEvaluation(position, result));
}

bool RunOutput::checkpointDue(const StepRunner &runner) const {
  if (options.checkpointEvery)
    return *options.checkpointEvery != 0 &&
           runner.stepsDone() % *options.checkpointEvery == 0;
  return runner.epochEnded() && secondsNow() - lastSave >= secondsBetweenSaves;
}

void RunOutput::saveIfDue(StepRunner &runner) {
  bool due = checkpointDue(runner);
  if (!due && !saved.load(std::memory_order_acquire))
    return;
  if (Status status = endSaving(); !status.ok())
    observer.warning(status.message() + "; training goes on");
  if (due)
    startSaving(runner, /*evaluationDue=*/false,
                folder->checkpointPath(runner.stepsDone()));
}

void RunOutput::saveBest(StepRunner &runner) {
  if (Status status = endSaving(); !status.ok())
    observer.warning(status.message() + "; training goes on");
  savedBest = watch.bestText();
  startSaving(runner, /*evaluationDue=*/false, folder->bestPath());
}

void RunOutput::startSaving(const StepRunner &runner, bool evaluationDue,
                            const std::string &path) {
  noteLog(log->flush());
  CheckpointFacts facts;
  facts.planHash = planHashText(session.planFile().checksum);
  facts.step = runner.stepsDone();
  facts.epoch = runner.nextEpoch();
  facts.batch = runner.nextInEpoch();
  facts.items = session.dataset(*session.trainingStep()).items;
  facts.seed = session.options().seed;
  facts.shuffle = session.options().shuffle;
  facts.evaluationDue = evaluationDue;
  facts.logBytes = log->lengths();
  for (const SettingValue &setting : session.changedSettings())
    facts.settings[setting.name] = setting.value;
  facts.watches = watch.state();
  savedFacts = std::move(facts);
  savedPath = path;
  saveStatus = snapshot->take(session.device());
  lastSave = secondsNow();
  auto work = [this, syncLogs = logStatus.ok()] {
    if (saveStatus.ok())
      saveStatus = write(savedFacts, savedPath, syncLogs);
    saved.store(true, std::memory_order_release);
  };
  try {
    saver = std::thread(work);
  } catch (const std::system_error &) {
    work(); // no thread to be had: training waits
  }
}

Status RunOutput::write(const CheckpointFacts &facts, const std::string &path,
                        bool syncLogs) const {
  try {
    if (syncLogs)
      DLRT_TRY(log->sync());
    DLRT_TRY(writeCheckpoint(session.plans(), path, *snapshot, facts));
    return path == folder->bestPath() ? Status() : folder->prune(run.keep);
  } catch (const std::exception &error) {
    return {Code::Unavailable,
            fmt::format("cannot write a checkpoint: {}", error.what())};
  }
}

Status RunOutput::endSaving() {
  if (saver.joinable())
    saver.join();
  if (!saved.exchange(false))
    return {};
  if (saveStatus.ok())
    observer.saved(savedFacts, savedPath);
  if (saveStatus.ok() && savedPath == folder->bestPath())
    observer.wrote(fmt::format("the best weights ({})", savedBest), savedPath);
  return saveStatus;
}

Status RunOutput::finish(StepRunner &runner, bool evaluationDue) {
  if (Status status = endSaving(); !status.ok())
    observer.warning(status.message());
  bool nothingNew = start && runner.stepsDone() == startStep() &&
                    evaluationDue == start->facts.evaluationDue;
  if (!nothingNew) {
    startSaving(runner, evaluationDue,
                folder->checkpointPath(runner.stepsDone()));
    DLRT_TRY(endSaving());
  }
  if (logStatus.ok())
    noteLog(log->flush());
  return logStatus;
}
