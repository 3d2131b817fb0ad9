#include "tools/dlrun/Progress.h"

#include "runtime/base/Numbers.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

std::string dlrun::metricForPeople(double value) {
  double size = std::fabs(value);
  if (!std::isfinite(value))
    return shortest(value);
  if (size != 0 && (size < 1e-3 || size >= 1e6))
    return fmt::format("{:.3e}", value);
  return fmt::format("{:.4f}", value);
}

std::string dlrun::metricsForPeople(const std::vector<ScalarMetric> &metrics,
                                    const char *separator) {
  std::string text;
  for (const ScalarMetric &metric : metrics)
    text += fmt::format("{}{} {}", text.empty() ? "" : separator, metric.name,
                        metricForPeople(metric.value));
  return text;
}

std::string dlrun::countForPeople(double count) {
  const char *units[] = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  while (count >= 999.5 && unit + 1 < std::size(units)) {
    count /= 1000;
    ++unit;
  }
  int digits = count < 99.95 && unit != 0 ? 1 : 0;
  return fmt::format("{:.{}f}{}", count, digits, units[unit]);
}

Progress::Progress(const Options &options, uint64_t totalSteps,
                   uint64_t doneBefore)
    : options(options), total(totalSteps), doneBefore(doneBefore),
      stepsAtReport(doneBefore) {
  mode = options.json            ? Mode::Json
         : options.quiet         ? Mode::None
         : isatty(STDERR_FILENO) ? Mode::Terminal
                                 : Mode::File;
  interval = mode == Mode::File ? 1.0 : 0.1;
  begin = lastReport = secondsSinceStart();
  lastMeans = begin - interval; // the first epoch is told
}

/// Each training step has its own rhythm, but for the one line of a terminal.
bool Progress::due(StepRunner &runner, double now, bool last) {
  lastReports.resize(runner.cursors().size(), begin);
  double before =
      mode == Mode::Terminal ? lastReport : lastReports[runner.lastTurn()];
  bool pause = now - before >= interval;
  bool first = runner.stepsDone() == doneBefore + 1;
  if (!reportDue(options.logEvery, runner.last().updates(), first, last, pause))
    return false;
  // Nobody can read a line that changes more often.
  return mode != Mode::Terminal || first || last || pause;
}

void Progress::afterStep(StepRunner &runner, bool last) {
  if (mode == Mode::None)
    return;
  items += runner.lastItems();
  means.add(runner);
  double now = secondsSinceStart();
  if (due(runner, now, last))
    report(runner, now);
  if (runner.epochEnded())
    afterEpoch(runner.stepsDone(), runner.epoch(), now, last);
}

void Progress::report(StepRunner &runner, double now) {
  if (mode == Mode::Json) {
    Event event("step");
    if (!runner.lastName().empty())
      event.field("name", runner.lastName());
    event.field("step", runner.stepsDone())
        .field("epoch", runner.epoch())
        .field("seconds", now)
        .metrics(runner.scalars())
        .send();
  } else if (mode == Mode::File) {
    writeStderr(line(runner, now) + "\n");
  } else {
    std::string text = line(runner, now);
    winsize size = {};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
      text.resize(std::min<size_t>(text.size(), size.ws_col - 1));
    writeStderr("\r" + text + "\x1b[K");
    lineShown = true;
  }
  lastReport = lastReports[runner.lastTurn()] = now;
  leftOut = 0;
  stepsAtReport = runner.stepsDone();
  itemsAtReport = items;
}

void Progress::afterEpoch(uint64_t step, uint64_t epoch, double now,
                          bool last) {
  bool isText = mode != Mode::Json;
  bool isDue = !isText || last || now - lastMeans >= interval;
  if (options.logEvery == 0 || !isDue)
    return means.clear();
  std::vector<EpochMean> ended = means.take(/*leastSteps=*/2);
  if (ended.empty())
    return;
  lastMeans = now;
  clearLine();
  for (const EpochMean &mean : ended)
    if (isText)
      writeStderr(fmt::format("{}: {} (epoch {}, mean of {} steps)\n",
                              mean.name, metricsForPeople(mean.metrics, ", "),
                              epoch, withCommas(mean.steps)));
    else
      Event("epoch")
          .field("name", mean.name)
          .field("step", step)
          .field("epoch", epoch)
          .field("seconds", now)
          .field("mean_of_steps", mean.steps)
          .metrics(mean.metrics)
          .send();
}

void Progress::leaveOut(double seconds) { leftOut += seconds; }

void Progress::clearLine() {
  if (lineShown)
    writeStderr("\r\x1b[K");
  lineShown = false;
}

std::string Progress::line(StepRunner &runner, double now) const {
  uint64_t step = runner.stepsDone();
  double seconds = std::max(now - lastReport - leftOut, 1e-9);
  double perStep = seconds / static_cast<double>(step - stepsAtReport);
  double rate = static_cast<double>(items - itemsAtReport) / seconds;
  double left = (now - begin) / static_cast<double>(step - doneBefore) *
                static_cast<double>(total - step);
  std::string metrics = metricsForPeople(runner.scalars(), " | ");
  if (!runner.lastName().empty())
    metrics = runner.lastName() + (metrics.empty() ? "" : ": " + metrics);
  return fmt::format(
      "step {:>{}}/{} | epoch {} | {}{}{} ms | {} items/s | eta {}", step,
      std::to_string(total).size(), total, runner.epoch(), metrics,
      metrics.empty() ? "" : " | ",
      perStep < 1 ? fmt::format("{:.3g}", perStep * 1e3)
                  : fmt::format("{:.0f}", perStep * 1e3),
      countForPeople(rate), humanSeconds(left));
}
