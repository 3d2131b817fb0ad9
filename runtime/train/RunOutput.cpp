#include "runtime/train/RunOutput.h"

#include "runtime/base/Cores.h"
#include "runtime/base/Numbers.h"
#include "runtime/base/Utf8.h"
#include "runtime/train/SeenData.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

using namespace dlrt;

/// Without --every ckpt, the first end of an epoch after so many seconds, or
/// any step.
static constexpr double secondsBetweenSaves = 30,
                        secondsBetweenSavesInEpoch = 600;
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
  DLRT_TRY(together.ofFirst(together.keepsFiles() ? find() : Status()));
  return together.several() ? findWithFirst() : Status();
}

/// The others go on from the checkpoint that rank 0 has found.
Status RunOutput::findWithFirst() {
  std::string own;
  if (start)
    own = fmt::format("{} {}", start->checksum(), startStep());
  auto chosen = together.ofFirst(own);
  if (!chosen)
    return chosen.takeError();
  if (together.keepsFiles() || chosen->empty())
    return {};
  size_t space = chosen->find(' ');
  uint64_t step = parseUnsigned(chosen->substr(space + 1)).value_or(0);
  std::string path = RunFolder::checkpointIn(run.folder, step);
  auto file = CheckpointFile::open(path);
  if (!file)
    return file.takeError().within(
        "a run that goes on is read by all of its processes");
  if (file->checksum() != chosen->substr(0, space))
    return {Code::Plan,
            fmt::format("{}: it is not the checkpoint that rank 0 has", path)};
  start = std::move(*file);
  return {};
}

Status RunOutput::find() {
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
  auto steps = folder->checkpointsUpTo(run.from);
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
                            ? "there is no older one"
                            : fmt::format("--from {} goes on before it",
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

/// Turns that are said anew begin with a round.
Status RunOutput::goOn(RunLength &length, std::vector<TurnWish> &turns) const {
  const CheckpointFacts &facts = start->facts;
  std::vector<std::string> names;
  for (uint32_t step : session.trainingSteps())
    names.push_back(session.plan().steps[step]->name);
  bool several = names.size() > 1;
  bool fits =
      several ? facts.cursors.size() == names.size() : facts.cursors.empty();
  for (const std::string &name : names)
    fits = fits && (!several || facts.cursors.count(name));
  if (!fits)
    return {Code::Usage, fmt::format("--plan: the run in '{}' has other "
                                     "training steps than '{}'",
                                     run.folder, session.name())};
  if (!several)
    return {};
  for (const auto &[name, at] : facts.cursors)
    length.updates[name] = at.updates;
  auto before = parseAlternate(facts.turns);
  if (!before)
    return before.takeError().within(
        RunFolder::checkpointIn(run.folder, startStep()));
  turns = run.turns.empty() ? std::move(*before) : run.turns;
  if (alternateText(turns) != facts.turns)
    return {};
  auto round = Turns::create(session.plan(), turns);
  if (!round)
    return round.takeError();
  if (facts.place >= round->length())
    return {Code::Io,
            fmt::format("{}: the place in its turns is damaged",
                        RunFolder::checkpointIn(run.folder, startStep()))};
  length.place = facts.place;
  return {};
}

static CursorFacts factsOf(const StepCursor &cursor) {
  return {cursor.updates(),   cursor.nextEpoch(), cursor.nextInEpoch(),
          cursor.dataItems(), cursor.batchSize(), cursor.accumulate()};
}

Status RunOutput::checkPosition(const StepRunner &runner) const {
  for (const auto &cursor : runner.cursors())
    DLRT_TRY(checkPosition(*cursor));
  return {};
}

Status RunOutput::checkPosition(const StepCursor &cursor) const {
  CursorFacts facts = {start->facts.step,      start->facts.epoch,
                       start->facts.batch,     start->facts.items,
                       start->facts.batchSize, start->facts.accumulate};
  if (!start->facts.cursors.empty())
    facts = start->facts.cursors.at(cursor.name());
  CursorFacts now = factsOf(cursor);
  if (facts.items != now.items)
    return {Code::Training, fmt::format("the run in '{}' has trained on {} "
                                        "items, the data have {} now",
                                        run.folder, facts.items, now.items)};
  auto elsewhere = [&](const std::string &what) -> Status {
    return {Code::Usage,
            fmt::format("--plan: {}: step {} stands at another place in the "
                        "data there; 'dlrun {} --init {}' takes the weights "
                        "and begins the data anew",
                        what, facts.updates, session.name(),
                        RunFolder::checkpointIn(run.folder, startStep()))};
  };
  if (facts.batchSize != 0 && facts.batchSize != now.batchSize)
    return elsewhere(fmt::format("the run's batches have {} items, those of "
                                 "the new plan {}",
                                 facts.batchSize, now.batchSize));
  if (facts.accumulate != 0 && facts.accumulate != now.accumulate)
    return elsewhere(fmt::format("updates of the run are {} batches, those of "
                                 "the new plan {}",
                                 facts.accumulate, now.accumulate));
  bool inPlace = facts.epoch == now.epoch && facts.batch == now.batch;
  if (!inPlace && run.otherPlan)
    return elsewhere(fmt::format("the run stands at batch {} of epoch {}, "
                                 "which is another step of the new plan",
                                 facts.batch, facts.epoch));
  if (!inPlace)
    return {Code::Io,
            fmt::format("{}: step {} is not batch {} of epoch {}",
                        RunFolder::checkpointIn(run.folder, startStep()),
                        facts.updates, facts.batch, facts.epoch)};
  return {};
}

static std::string whoMultiplies(const std::string &library) {
  return library.empty() ? "the plan's own kernels" : library;
}

/// What a resumed run was told holds for the next one, too: run.json names the
/// length of the newest process.
Status RunOutput::keepRecord(bool isOver) {
  const std::string &library = session.device().library();
  if (!folder->holdsRun()) {
    std::error_code error;
    return folder->begin({planHashText(session.planFile().checksum),
                          std::filesystem::current_path(error),
                          run.arguments,
                          run.length,
                          {},
                          library},
                         session.planFile().file.bytes());
  }
  auto record = folder->record();
  if (!record)
    return record.takeError();
  std::string length =
      isOver && !record->length.empty() ? record->length : run.length;
  bool isToldMore = !run.told.empty() && record->told != run.told;
  if (isToldMore)
    record->told = run.told;
  std::string hash = planHashText(session.planFile().checksum);
  if (record->planHash != hash) {
    record->length = length;
    record->formerPlans.push_back(std::exchange(record->planHash, hash));
    record->library = library;
    return folder->begin(*record, session.planFile().file.bytes());
  }
  if (record->length == length && record->library == library && !isToldMore)
    return {};
  if (record->library != library)
    observer.warning(fmt::format(
        "products of the run were computed by {}, and are by {} from here on: "
        "last bits are other ones than without the break",
        whoMultiplies(record->library), whoMultiplies(library)));
  record->length = length;
  record->library = library;
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

/// Resuming takes the newest; going back to an older one is the user's choice.
void RunOutput::warnOfNotFinite() const {
  if (!start || !start->facts.notFinite)
    return;
  auto good = folder->newestFinite();
  observer.warning(fmt::format(
      "NaN or infinities were among the weights or metrics of step {} when its "
      "checkpoint was written{}",
      withCommas(startStep()),
      !good ? "" : fmt::format("; --from {} goes on before that", *good)));
}

/// It is as many items, or the run would not go on: but not to the same bits.
void RunOutput::warnOfOtherData() const {
  if (auto how = otherData(start->facts.dataSamples, seenData(session)))
    observer.warning(fmt::format("the training data are not those that the run "
                                 "in '{}' has seen up to step {}{}; it goes on "
                                 "with what is there now",
                                 run.folder, withCommas(startStep()), *how));
}

Status RunOutput::restore(const StepRunner &runner) {
  if (!start)
    return {};
  DLRT_TRY(checkPosition(runner));
  warnOfOtherData();
  DLRT_TRY(restoreSettings());
  return restoreStates(session.plans(), *start,
                       RunFolder::checkpointIn(run.folder, startStep()),
                       session.device());
}

Status RunOutput::begin(bool isOver) {
  sampled = seenData(session);
  lastFlush = secondsNow();
  saveClock.restart(startStep());
  if (!together.keepsFiles())
    return {};
  if (!folder)
    DLRT_TRY(openNew());
  if (run.from)
    DLRT_TRY(setNewerAside());
  warnOfNotFinite();
  DLRT_TRY(keepRecord(isOver));
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
  if (!together.several())
    snapshot = std::make_unique<StateSnapshot>(session.plans());
  return {};
}

Status RunOutput::setNewerAside() const {
  auto old = folder->setAsideBehind(*run.from);
  if (!old)
    return old.takeError();
  if (!old->empty())
    observer.warning(fmt::format("newer checkpoints, and copies of the logs, "
                                 "are in '{}' now; from here on the run is "
                                 "resumed without --from",
                                 *old));
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
  std::string path = RunFolder::checkpointIn(run.folder, startStep());
  means.restore(start->facts.watches);
  DLRT_TRY(watch.restore(start->facts.watches).within(path));
  return plateaus.restore(start->facts.watches).within(path);
}

void RunOutput::noteLog(const Status &status) {
  if (status.ok() || !logStatus.ok())
    return;
  logStatus = status;
  observer.warning(status.message() + "; training goes on without logs");
}

void RunOutput::afterStep(StepRunner &runner, bool last) {
  double now = secondsNow();
  uint64_t updates = runner.last().updates();
  lastLogs.resize(runner.cursors().size(), now);
  double &lastLog = lastLogs[runner.lastTurn()];
  if (!log || !logStatus.ok() || options.logEvery == 0)
    return;
  means.add(runner);
  if (runner.epochEnded())
    for (const EpochMean &mean : means.take(/*leastSteps=*/1))
      noteLog(log->addEpoch({runner.stepsDone(), runner.epoch()}, mean,
                            runner.cursors().size() > 1));
  if (!reportDue(options.logEvery, updates, /*first=*/updates == 1, last,
                 /*afterPause=*/now - lastLog >= secondsBetweenLogs))
    return;
  noteLog(log->addStep(runner.lastName(), {runner.stepsDone(), runner.epoch()},
                       runner.scalars()));
  lastLog = now;
  // Whoever looks at the files while it trains wants to see them grow.
  if (now - lastFlush < 1)
    return;
  noteLog(log->flush());
  lastFlush = now;
}

void RunOutput::afterEvaluation(const Evaluation &result,
                                TrainingPosition position) {
  if (log && logStatus.ok())
    noteLog(log->addEvaluation(position, result));
}

Expected<bool> RunOutput::checkpointDue(const StepRunner &runner) {
  if (options.checkpointEvery)
    return *options.checkpointEvery != 0 &&
           runner.stepsDone() % *options.checkpointEvery == 0;
  if (!options.checkpointSeconds && runner.epochEnded())
    return together.ofFirst(saveClock.secondsSince() >= secondsBetweenSaves);
  return saveClock.isDue(runner.stepsDone(), options.checkpointSeconds.value_or(
                                                 secondsBetweenSavesInEpoch));
}

Status RunOutput::saveIfDue(StepRunner &runner) {
  auto due = checkpointDue(runner);
  if (!due)
    return due.takeError();
  if (!*due && !saved.load(std::memory_order_acquire))
    return {};
  if (Status status = endSaving(); !status.ok())
    observer.warning(status.message() + "; training goes on");
  if (!*due)
    return {};
  saveClock.restart(runner.stepsDone());
  return startSaving(runner, /*evaluationDue=*/false,
                     RunFolder::checkpointIn(run.folder, runner.stepsDone()));
}

Status RunOutput::saveBest(StepRunner &runner) {
  if (Status status = endSaving(); !status.ok())
    observer.warning(status.message() + "; training goes on");
  savedBest = watch.bestText();
  return startSaving(runner, /*evaluationDue=*/false,
                     RunFolder::bestIn(run.folder));
}

CheckpointFacts RunOutput::factsNow(const StepRunner &runner,
                                    bool evaluationDue) const {
  CheckpointFacts facts;
  facts.planHash = planHashText(session.planFile().checksum);
  facts.step = runner.stepsDone();
  CursorFacts first = factsOf(runner.first());
  facts.epoch = first.epoch;
  facts.batch = first.batch;
  facts.items = first.items;
  facts.batchSize = first.batchSize;
  facts.accumulate = first.accumulate;
  if (runner.cursors().size() > 1) {
    for (const auto &cursor : runner.cursors())
      facts.cursors[cursor->name()] = factsOf(*cursor);
    facts.turns = runner.turns().text();
    facts.place = runner.place();
  }
  facts.seed = session.options().seed;
  facts.shuffle = session.options().shuffle;
  facts.evaluationDue = evaluationDue;
  facts.dataSamples = sampled;
  for (const auto &cursor : runner.cursors())
    facts.notFinite |= firstNotFinite(cursor->scalars()) != nullptr;
  facts.logBytes = log->lengths();
  for (const SettingValue &setting : session.changedSettings())
    facts.settings[setting.name] = setting.value;
  facts.watches = watch.state();
  facts.watches.merge(plateaus.state());
  facts.watches.merge(means.state());
  return facts;
}

/// With the states of all processes. What cannot be written stands in
/// saveStatus; an error is one of the run.
Status RunOutput::collect() {
  const PlanSet &plans = session.plans();
  if (!together.keepsFiles())
    return readAlong(plans, session.device());
  auto created = CheckpointWriter::create(plans, savedPath, savedFacts);
  saveStatus = created.status();
  if (!created)
    return readAlong(plans, session.device());
  writer = std::move(*created);
  saveStatus = writer->fill(plans, session.device());
  return saveStatus.code() == Code::RankLost ? saveStatus : Status();
}

Status RunOutput::startSaving(const StepRunner &runner, bool evaluationDue,
                              const std::string &path) {
  if (!together.keepsFiles())
    return collect();
  noteLog(log->flush());
  savedFacts = factsNow(runner, evaluationDue);
  savedPath = path;
  if (together.several())
    DLRT_TRY(collect());
  else
    saveStatus = snapshot->take(session.device());
  auto work = [this, syncLogs = logStatus.ok()] {
    if (saveStatus.ok())
      saveStatus = write(syncLogs);
    writer.reset();
    saved.store(true, std::memory_order_release);
  };
  try {
    saver = std::thread([work] {
      runOnAnyCore();
      work();
    });
  } catch (const std::system_error &) {
    work(); // no thread to be had: training waits
  }
  return {};
}

Status RunOutput::write(bool syncLogs) {
  try {
    if (syncLogs)
      DLRT_TRY(log->sync());
    if (writer)
      DLRT_TRY(writer->finish());
    else
      DLRT_TRY(
          writeCheckpoint(session.plans(), savedPath, *snapshot, savedFacts));
    bool isBest = savedPath == folder->bestPath();
    return isBest || !prunes ? Status() : folder->prune(run.keep);
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

Status RunOutput::finish(StepRunner &runner, bool evaluationDue,
                         bool keepOlder) {
  if (Status status = endSaving(); !status.ok())
    observer.warning(status.message());
  prunes = !keepOlder;
  bool nothingNew = start && runner.stepsDone() == startStep() &&
                    evaluationDue == start->facts.evaluationDue;
  if (!nothingNew) {
    DLRT_TRY(
        startSaving(runner, evaluationDue,
                    RunFolder::checkpointIn(run.folder, runner.stepsDone())));
    DLRT_TRY(endSaving());
  }
  if (log && logStatus.ok())
    noteLog(log->flush());
  return logStatus;
}
