#include "runtime/train/Training.h"

#include "runtime/base/Numbers.h"
#include "runtime/train/TraceFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

using namespace dlrt;

bool dlrt::reportDue(const std::optional<uint64_t> &every, uint64_t step,
                     bool first, bool last, bool afterPause) {
  if (every)
    return *every != 0 && step % *every == 0;
  return first || last || afterPause;
}

Status Training::prepare() {
  DLRT_TRY(observer.agree(prepareStates()));
  if (output)
    DLRT_TRY(observer.agree(
        session.together().ofFirst(output->begin(isFinished()))));
  stopIfWanted();
  if (stoppedEarly)
    observer.warning("nothing was trained: the run's --stop-when ends it where "
                     "it stands; one with more evaluations ('... in N') takes "
                     "its place and goes on");
  return {};
}

Status Training::prepareStates() {
  if (session.trainingSteps().empty())
    return {Code::Usage, fmt::format("'{}' has nothing to train; dlrun eval "
                                     "runs its evaluations",
                                     session.name())};
  auto watched =
      Watch::create(session.plan(), options.keepBest, options.stopWhen);
  if (!watched)
    return watched.takeError();
  watch = std::move(*watched);
  plateaus = Plateaus(session.plan());
  RunLength length = {options.steps, options.epochs};
  if (!options.run.folder.empty()) {
    output = std::make_unique<RunOutput>(options, session, observer, watch,
                                         plateaus);
    DLRT_TRY(output->open());
    length.done = output->startStep();
  }
  std::vector<TurnWish> turns = options.turns;
  if (output && output->goesOn())
    DLRT_TRY(output->goOn(length, turns));
  auto created = StepRunner::create(session, length, turns);
  if (!created)
    return created.takeError();
  runner = std::move(*created);
  first = runner->stepsDone() + 1;
  DLRT_TRY(checkNames(options.haltOn, metricNames()));
  // Missing files are better found now than after the first epoch.
  if (evaluates())
    for (uint32_t evaluation : session.evaluationSteps())
      DLRT_TRY(session.openData(evaluation));
  warnOfNoEvaluation();
  std::vector<std::string> warnings;
  // A run that goes on has its weights in the checkpoint; the file it began
  // with may be gone.
  if (output && output->goesOn())
    DLRT_TRY(session.awaitCheckpoint());
  else
    DLRT_TRY(session.beginStates(warnings));
  for (const std::string &note : session.takeNotes())
    observer.warning(note);
  for (const std::string &warning : warnings)
    observer.warning(warning);
  return output ? output->restore(*runner) : Status();
}

/// As --halt-on may name them.
std::vector<std::string> Training::metricNames() {
  std::vector<std::string> names;
  for (const auto &step : runner->cursors())
    for (const ScalarMetric &metric : step->scalars()) {
      if (runner->cursors().size() > 1)
        names.push_back(step->name() + "." + metric.name);
      if (std::ranges::count(names, metric.name) == 0)
        names.push_back(metric.name);
    }
  for (const std::string &name : evaluationMetrics(session.plan()))
    names.push_back(name);
  return names;
}

/// What waits for evaluations, and --every says that there are none.
void Training::warnOfNoEvaluation() {
  if (!options.evalEvery)
    return;
  uint64_t every = *options.evalEvery, done = first - 1,
           end = std::max(runner->totalSteps(), done);
  if (every != 0 && (options.steps || end / every != done / every))
    return;
  for (auto [waits, what] :
       {std::pair(!plateaus.empty(), "ReduceLROnPlateau changes"),
        std::pair(watch.keepsBest(), "--keep-best keeps"),
        std::pair(watch.mayStop(), "--stop-when ends")})
    if (waits && end > done)
      observer.warning(fmt::format("without evaluations (--every eval={}), {} "
                                   "nothing",
                                   every, what));
}

bool Training::evaluates() const {
  return options.evalEvery != 0 && runner->totalSteps() >= first;
}

bool Training::evaluationInTurn() const {
  return options.evalEvery ? runner->stepsDone() % *options.evalEvery == 0
                           : runner->epochEnded();
}

/// Where steps are counted, the last one's is the one that people wait for.
bool Training::evaluationDue() const {
  return evaluates() &&
         (evaluationInTurn() ||
          (options.steps && runner->stepsDone() == runner->totalSteps()));
}

void Training::stopIfWanted() {
  auto why = watch.reasonToStop();
  if (!why || stoppedEarly)
    return;
  stoppedEarly = true;
  observer.stoppedEarly(*why);
}

Status Training::run() {
  Status status = stepsAndEvaluations();
  if (status.ok())
    return end();
  if (halted)
    return endHalted(std::move(status));
  runner->abandon();
  // The trace shows what led up to it; weights of a failed run are not saved.
  if (!options.trace.empty()) {
    Status traced = writeTrace(session, options.trace);
    if (traced.ok())
      observer.wrote("trace", options.trace);
    else
      observer.warning(traced.message());
  }
  return intact ? keep(std::move(status)) : status;
}

/// "...; what was trained until then is kept, ..."
Status Training::withWayOn(Status why) const {
  return {why.code(),
          fmt::format("{}; what was trained until then is kept, and 'dlrun "
                      "resume {}' goes on from there",
                      why.message(), options.run.folder)};
}

/// A metric beyond its limit ends a run as any other end does, but for the exit
/// code: limits say "good enough", too.
Status Training::endHalted(Status why) {
  Status ended = end();
  if (!ended.ok())
    observer.warning(ended.message());
  return output && ended.ok() ? withWayOn(std::move(why)) : why;
}

/// Data that cannot be read take nothing of what was trained before.
Status Training::keep(Status why) {
  // Other ranks may not know yet that this one has failed.
  bool hasNew = runner->stepsDone() >= first;
  if (!output || !hasNew || session.together().several())
    return why;
  Status kept = output->finish(*runner, evaluationLeft);
  if (!kept.ok()) {
    observer.warning(kept.message());
    return why;
  }
  return withWayOn(std::move(why));
}

Status Training::stepsAndEvaluations() {
  if (output && output->evaluationDue())
    DLRT_TRY(evaluateAll());
  while (runner->stepsDone() < runner->totalSteps() && !stopped &&
         !stoppedEarly)
    DLRT_TRY(step());
  return {};
}

/// Steps behind the next one that may be begun with it: none from which on
/// somebody looks at the weights.
uint64_t Training::mayRunAhead() const {
  if (stopping)
    return 0;
  if (!options.haltOn.empty() && !options.saveMetrics.empty())
    return 0; // those of the step that halts are wanted
  if (haveLimits(options.haltOn))
    return 0; // its weights are
  uint64_t done = runner->stepsDone(), end = runner->totalSteps();
  auto endAtNext = [&](uint64_t every) {
    if (every != 0)
      end = std::min(end, (done / every + 1) * every);
  };
  uint64_t perEpoch = runner->first().perEpoch();
  if (evaluates())
    endAtNext(options.evalEvery.value_or(perEpoch));
  if (output)
    endAtNext(options.checkpointEvery.value_or(perEpoch));
  return end - std::min(end, done + 1);
}

Status Training::step() {
  Status ran = runner->run(mayRunAhead());
  intact = runner->failedToBegin();
  DLRT_TRY(std::move(ran));
  // What has been begun is run to its end.
  stopping |= observer.wantsToStop();
  stopped = stopping && runner->begun() == 0;
  auto [halt, isNumber] = checkHalts();
  halted = isNumber;
  bool last =
      stopped || !halt.ok() || runner->stepsDone() == runner->totalSteps();
  if (halt.ok())
    warnOfNotFinite();
  Status told = observer.stepDone(*runner, last);
  if (output)
    output->afterStep(*runner, last);
  if (halted) {
    evaluationLeft = evaluationDue();
    DLRT_TRY(keepMetrics(/*ofLast=*/true));
  } else if (!halt.ok()) {
    saveMetricsOfHalt(/*kept=*/false);
  }
  DLRT_TRY(std::move(halt));
  DLRT_TRY(std::move(told));
  bool wanted = evaluationDue(), evaluates = !stopped && wanted;
  evaluationLeft = wanted && !evaluates;
  // An evaluation runs over the memory in which the metrics stand.
  DLRT_TRY(keepMetrics(last || evaluates));
  if (evaluates) {
    Status evaluated = evaluateAll();
    if (!evaluated.ok() && !halted)
      saveMetricsOfHalt(/*kept=*/true);
    DLRT_TRY(std::move(evaluated));
  }
  if (output && !stopped && !last)
    DLRT_TRY(output->saveIfDue(*runner));
  return {};
}

Halt Training::checkHalts() {
  const std::string &name = runner->lastName();
  return checkHalt(options.haltOn, runner->scalars(), runner->stepsDone(),
                   name.empty() ? name : name + ".", /*bare=*/true);
}

/// Of several training steps each one's last is kept, and which is the last
/// shows when training ends.
Status Training::keepMetrics(bool ofLast) {
  bool several = runner->cursors().size() > 1;
  if (options.saveMetrics.empty() || !(ofLast || several))
    return {};
  auto all = runner->last().allMetrics();
  if (!all)
    return all.takeError();
  for (MetricValues &values : *all)
    if (several)
      values.name = runner->lastName() + "." + values.name;
  metrics[runner->lastName()] = std::move(*all);
  return {};
}

/// Once, and not if the user has said which of them shall stop the run: such
/// a run seldom recovers.
void Training::warnOfNotFinite() {
  if (warned || namesNotFinite(options.haltOn))
    return;
  const ScalarMetric *metric = firstNotFinite(runner->scalars());
  if (!metric)
    return;
  warned = true;
  const std::string &step = runner->lastName();
  auto kept = output ? output->newestFinite() : std::nullopt;
  observer.warning(fmt::format(
      "step {}: {}{} is {}; training goes on (--halt-on nan,inf stops there, "
      "--detect-anomaly says where it begins){}",
      withCommas(runner->stepsDone()), step.empty() ? step : step + ".",
      metric->name, metricText(*metric),
      kept ? fmt::format(", and the checkpoint of step {} is kept",
                         withCommas(*kept))
           : ""));
}

Status Training::evaluateAll() {
  TrainingPosition position = {runner->stepsDone(), runner->epoch()};
  std::vector<Evaluation> results;
  for (uint32_t index : session.evaluationSteps()) {
    auto result = evaluate(session, index, position,
                           [this] { return !observer.wantsToStop(); });
    if (!result) {
      intact = evaluationLeft = true;
      return result.takeError();
    }
    stopped = observer.wantsToStop();
    evaluationLeft = !result->complete;
    if (evaluationLeft)
      return {};
    observer.evaluated(*result, position);
    results.push_back(std::move(*result));
  }
  return judge(results, position);
}

/// A resumed run does all of them again if one is missing.
Status Training::judge(const std::vector<Evaluation> &results,
                       TrainingPosition position) {
  for (const Evaluation &result : results)
    if (output)
      output->afterEvaluation(result, position);
  Halt halt;
  for (const Evaluation &result : results)
    if (halt.status.ok())
      halt = checkHalt(options.haltOn, result.metrics, position.step,
                       result.name + ".");
  halted = halt.isNumber;
  if (!halt.status.ok() && !halted) { // NaN of an evaluation alone
    intact = evaluationLeft = true;
    return halt.status;
  }
  // One that is there because the run ends is none of the run that goes on.
  const bool inTurn = evaluationInTurn();
  watch.see(results, position.step, inTurn);
  if (inTurn)
    DLRT_TRY(reduceRates(results));
  if (output && watch.isBest())
    DLRT_TRY(output->saveBest(*runner));
  DLRT_TRY(std::move(halt.status));
  stopIfWanted();
  return {};
}

Status Training::reduceRates(const std::vector<Evaluation> &results) {
  auto changed = plateaus.see(results, session);
  for (const SettingValue &one : changed)
    observer.settingChanged(one);
  return session.setSettings(changed);
}

/// The checkpoint comes last: a run that is killed before goes on with an
/// older one and writes the other files again.
Status Training::end() {
  Status saved = saveFiles();
  if (!output)
    return saved;
  // Where a run has gone beyond a limit, those before may be the better ones.
  Status finished =
      output->finish(*runner, evaluationLeft, /*keepOlder=*/halted);
  return saved.ok() ? std::move(finished) : std::move(saved);
}

Status Training::saveKeptMetrics() {
  std::vector<MetricValues> all;
  for (auto &[step, values] : metrics)
    std::ranges::move(values, std::back_inserter(all));
  DLRT_TRY(saveMetrics(all, options.saveMetrics));
  observer.wrote("metrics", options.saveMetrics);
  return {};
}

/// They may show why.
void Training::saveMetricsOfHalt(bool kept) {
  if (options.saveMetrics.empty())
    return;
  Status saved = kept ? Status() : keepMetrics(/*ofLast=*/true);
  if (saved.ok())
    saved = saveKeptMetrics();
  if (!saved.ok())
    observer.warning(saved.message());
}

Status Training::saveFiles() {
  if (!options.saveFinal.empty()) {
    const PlanSet &plans = session.plans();
    DLRT_TRY(session.together().keepsFiles()
                 ? saveWeights(plans, options.saveFinal, session.device())
                 : readWeightsAlong(plans, session.device()));
    observer.wrote("weights", options.saveFinal);
  }
  bool trained = runner->stepsDone() >= first;
  if (!options.saveMetrics.empty() && !trained)
    observer.warning(fmt::format("--save-metrics {}: nothing was written, for "
                                 "no step was left to train",
                                 options.saveMetrics));
  if (!options.saveMetrics.empty() && trained)
    DLRT_TRY(saveKeptMetrics());
  if (options.trace.empty())
    return {};
  DLRT_TRY(writeTrace(session, options.trace));
  observer.wrote("trace", options.trace);
  return {};
}
