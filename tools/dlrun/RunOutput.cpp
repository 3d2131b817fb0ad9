#include "tools/dlrun/RunOutput.h"

#include "runtime/base/Utf8.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Progress.h"
#include "tools/dlrun/StartTable.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <system_error>

using namespace dlrun;
using namespace dlrt;

/// Without --every ckpt=N, the first end of an epoch after so many seconds.
static constexpr double secondsBetweenSaves = 30;
static constexpr double secondsBetweenLogs = 0.1;

RunOutput::~RunOutput() {
  if (saver.joinable())
    saver.join();
}

Status RunOutput::open() {
  DLRT_TRY(checkRecordable());
  std::error_code error;
  if (!std::filesystem::is_directory(options.out, error))
    return {};
  auto opened = RunFolder::open(options.out, /*create=*/false);
  if (!opened)
    return opened.takeError();
  folder = std::move(*opened);
  if (!folder->holdsRun())
    return checkFree();
  if (options.command != Command::Resume && !options.resumeAuto)
    return {Code::Usage, fmt::format("--out {}: it holds a run; 'dlrun resume "
                                     "{}' goes on with it, another folder "
                                     "begins a new one",
                                     options.out, options.out)};
  auto record = folder->record();
  if (!record)
    return record.takeError();
  std::string hash = planHashText(session.planFile().checksum);
  if (record->planHash != hash)
    return {Code::Plan,
            fmt::format("'{}' is not the plan of the run in '{}' "
                        "(hash {}, the run's is {})",
                        options.plan, folder->path(), hash, record->planHash)};
  auto steps = folder->checkpoints();
  if (!steps)
    return steps.takeError();
  if (steps->empty()) {
    warn(fmt::format("'{}' has no checkpoint yet: the run starts again",
                     folder->path()));
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
  DLRT_TRY(checkFits(file->facts, path));
  start = std::move(*file);
  return {};
}

/// run.json must give the same bytes back, and JSON is UTF-8.
Status RunOutput::checkRecordable() const {
  std::error_code error;
  std::string folder = std::filesystem::current_path(error);
  if (!isUtf8(folder))
    return {Code::Usage, fmt::format("--out {}: the working directory '{}' is "
                                     "not UTF-8, so that the run's record "
                                     "could not name it",
                                     options.out, folder)};
  for (const std::string &argument : options.arguments)
    if (!isUtf8(argument))
      return {Code::Usage, fmt::format("--out {}: the argument '{}' is not "
                                       "UTF-8, so that the run's record could "
                                       "not name it",
                                       options.out, argument)};
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
                      options.out, name)};
}

Status RunOutput::checkFits(const CheckpointFacts &facts,
                            const std::string &path) const {
  std::string hash = planHashText(session.planFile().checksum);
  if (facts.planHash != hash)
    return {Code::Plan, fmt::format("{}: the checkpoint was written by another "
                                    "plan (hash {}, this one's is {})",
                                    path, facts.planHash, hash)};
  if (facts.seed != options.seed)
    return {Code::Usage, fmt::format("--seed {}: the run in '{}' has seed {}",
                                     options.seed, folder->path(), facts.seed)};
  if (facts.shuffle == options.noShuffle)
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
  if (facts.epoch != runner.nextEpoch() || facts.batch != runner.nextInEpoch())
    return {Code::Io, fmt::format("{}: step {} is not batch {} of epoch {}",
                                  folder->checkpointPath(facts.step),
                                  facts.step, facts.batch, facts.epoch)};
  return {};
}

/// run.json names the length of the newest process: what a resumed run was told
/// holds for the next one, too.
Status RunOutput::keepRecord() {
  std::string length = lengthOption(options);
  if (!folder->holdsRun()) {
    std::error_code error;
    return folder->begin({planHashText(session.planFile().checksum),
                          std::filesystem::current_path(error),
                          options.arguments, length},
                         session.planFile().file.bytes());
  }
  auto record = folder->record();
  if (!record)
    return record.takeError();
  if (record->length == length)
    return {};
  record->length = length;
  return folder->rewrite(*record);
}

/// There was no folder when this process looked for one; another one may have
/// made it since.
Status RunOutput::openNew() {
  auto created = RunFolder::open(options.out, /*create=*/true);
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
    DLRT_TRY(restoreStates(session.plan(), *start,
                           folder->checkpointPath(startStep()),
                           session.device()));
  }
  if (!folder)
    DLRT_TRY(openNew());
  DLRT_TRY(keepRecord());
  DLRT_TRY(folder->prepare());
  std::vector<std::string> warnings;
  auto opened = ScalarLog::open(folder->path(), session.plan(),
                                start ? start->facts.logBytes
                                      : std::map<std::string, uint64_t>(),
                                warnings);
  if (!opened)
    return opened.takeError();
  log = std::move(*opened);
  for (const std::string &warning : warnings)
    warn(warning);
  snapshot = std::make_unique<StateSnapshot>(session.plan());
  lastSave = secondsSinceStart();
  return {};
}

void RunOutput::noteLog(const Status &status) {
  if (status.ok() || !logStatus.ok())
    return;
  logStatus = status;
  warn(status.message() + "; training goes on without logs");
}

void RunOutput::afterStep(StepRunner &runner, bool last) {
  double now = secondsSinceStart();
  uint64_t step = runner.stepsDone();
  if (!logStatus.ok() ||
      !reportDue(options, step, /*first=*/step == 1, last,
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
  return runner.epochEnded() &&
         secondsSinceStart() - lastSave >= secondsBetweenSaves;
}

void RunOutput::saveIfDue(StepRunner &runner) {
  bool due = checkpointDue(runner);
  if (!due && !saved.load(std::memory_order_acquire))
    return;
  if (Status status = endSaving(); !status.ok())
    warn(status.message() + "; training goes on");
  if (due)
    startSaving(runner, /*evaluationDue=*/false);
}

void RunOutput::startSaving(const StepRunner &runner, bool evaluationDue) {
  noteLog(log->flush());
  CheckpointFacts facts;
  facts.planHash = planHashText(session.planFile().checksum);
  facts.step = runner.stepsDone();
  facts.epoch = runner.nextEpoch();
  facts.batch = runner.nextInEpoch();
  facts.items = session.dataset(*session.trainingStep()).items;
  facts.seed = options.seed;
  facts.shuffle = !options.noShuffle;
  facts.evaluationDue = evaluationDue;
  facts.logBytes = log->lengths();
  savedFacts = std::move(facts);
  saveStatus = snapshot->take(session.device());
  lastSave = secondsSinceStart();
  auto work = [this, syncLogs = logStatus.ok()] {
    if (saveStatus.ok())
      saveStatus = write(savedFacts, syncLogs);
    saved.store(true, std::memory_order_release);
  };
  try {
    saver = std::thread(work);
  } catch (const std::system_error &) {
    work(); // no thread to be had: training waits
  }
}

Status RunOutput::write(const CheckpointFacts &facts, bool syncLogs) const {
  try {
    if (syncLogs)
      DLRT_TRY(log->sync());
    DLRT_TRY(writeCheckpoint(session.plan(), folder->checkpointPath(facts.step),
                             *snapshot, facts));
    return folder->prune(options.keep);
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
  if (saveStatus.ok() && options.json)
    Event("checkpoint")
        .field("step", savedFacts.step)
        .field("epoch", savedFacts.epoch)
        .field("path", folder->checkpointPath(savedFacts.step))
        .send();
  return saveStatus;
}

Status RunOutput::finish(StepRunner &runner, bool evaluationDue) {
  if (Status status = endSaving(); !status.ok())
    warn(status.message());
  bool nothingNew = start && runner.stepsDone() == startStep() &&
                    evaluationDue == start->facts.evaluationDue;
  if (!nothingNew) {
    startSaving(runner, evaluationDue);
    DLRT_TRY(endSaving());
  }
  if (logStatus.ok())
    noteLog(log->flush());
  return logStatus;
}
