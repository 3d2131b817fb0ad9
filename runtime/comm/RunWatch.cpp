#include "runtime/comm/RunWatch.h"

#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;

static constexpr size_t stepsKept = 64;
static constexpr double leastLimit = 10, stepsOfLimit = 20;

/// Ends that a signal asked for: no rank is to blame.
static bool isStop(int code) {
  return code == 75 || code == 130 || code == 143;
}

void RunWatch::noteStep(const Rank &before, const RankStatus &status,
                        double now) {
  if (status.rank != 0 || !before.last || status.step <= before.last->step ||
      before.last->step == 0)
    return;
  auto seconds =
      static_cast<float>((now - before.stepped) /
                         static_cast<double>(status.step - before.last->step));
  if (steps.size() < stepsKept)
    steps.push_back(seconds);
  else
    steps[nextStep++ % stepsKept] = seconds;
}

void RunWatch::note(const RankStatus &status, double now) {
  if (status.rank >= ranks.size())
    return; // another run's, or damaged
  Rank &rank = ranks[status.rank];
  noteStep(rank, status, now);
  if (!rank.last || rank.last->launches != status.launches ||
      rank.last->phase != status.phase)
    rank.advanced = now;
  if (!rank.last || rank.last->step != status.step)
    rank.stepped = now;
  rank.heard = now;
  rank.last = status;
  if (!status.end || *status.end == 0 || isStop(*status.end))
    return;
  // One that has lost another may hear of it before that one can speak.
  constexpr int lost = static_cast<int>(Code::RankLost);
  if (!firstEnd || (*ranks[*firstEnd].last->end == lost && *status.end != lost))
    firstEnd = status.rank;
}

double RunWatch::median() const {
  if (steps.empty())
    return 0;
  std::vector<float> sorted = steps;
  auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return static_cast<double>(*middle);
}

double RunWatch::limit() const {
  return given > 0 ? given : std::max(leastLimit, stepsOfLimit * median());
}

std::string RunWatch::nameOf(uint32_t rank) const {
  const auto &last = ranks[rank].last;
  if (!last)
    return fmt::format("rank {}", rank);
  return fmt::format("rank {} (host {}, process {})", rank, last->host,
                     last->process);
}

/// A kernel's first ops, of which it may have many.
static std::string fewOf(const std::string &ops) {
  constexpr size_t most = 160;
  if (ops.size() <= most)
    return ops;
  size_t end = ops.rfind(", ", most);
  return end == std::string::npos ? ops : ops.substr(0, end) + " and more";
}

std::string RunWatch::placeOf(uint32_t rank) const {
  const auto &last = ranks[rank].last;
  if (!last)
    return "before it said anything";
  switch (last->phase) {
  case RankPhase::Start:
    return "while it made itself ready";
  case RankPhase::Files:
    return fmt::format("while it wrote files after step {}", last->step);
  case RankPhase::Steps:
  case RankPhase::End:
    break;
  }
  return fmt::format("in step {}{}", last->step,
                     last->op.empty() ? "" : ", at " + fewOf(last->op));
}

std::optional<std::string> RunWatch::hang(double now) const {
  const double most = limit();
  // Before all have begun, the launcher is still at work.
  for (const Rank &rank : ranks)
    if (!rank.last)
      return std::nullopt;
  std::optional<uint32_t> silent, stuck;
  bool alive = false, allStand = true, busyElsewhere = false;
  double longest = 0;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const Rank &rank = ranks[r];
    if (rank.last->end)
      continue;
    alive = true;
    double silence = now - rank.heard;
    if (silence > most / 2 && silence > longest) {
      silent = r;
      longest = silence;
    }
    busyElsewhere |= rank.last->phase != RankPhase::Steps && silence < 2;
    allStand &= now - rank.advanced > most;
    if (!rank.last->waits && !stuck)
      stuck = r;
  }
  if (silent && longest > most)
    return fmt::format("{} has not answered for {} since it was seen {}: it is "
                       "stopped, or its host is gone",
                       nameOf(*silent), humanSeconds(longest),
                       placeOf(*silent));
  if (!alive || !allStand || busyElsewhere || silent)
    return std::nullopt;
  if (stuck)
    return fmt::format("{} has made no progress for {} {}; the others wait for "
                       "it",
                       nameOf(*stuck), humanSeconds(most), placeOf(*stuck));
  return fmt::format("all ranks have waited for messages for {}; rank 0 {}",
                     humanSeconds(most), placeOf(0));
}

/// The number behind `word`, from `from` on.
static std::optional<uint64_t>
numberAfter(std::string_view text, std::string_view word, size_t from = 0) {
  size_t at = text.find(word, from);
  if (at == std::string_view::npos)
    return std::nullopt;
  at += word.size();
  size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9')
    ++end;
  return parseUnsigned(text.substr(at, end - at));
}

/// Open MPI: "mpirun noticed that process rank 1 with PID 4711 on node b exited
/// on signal 9 (Killed)." MPICH: "PID 4711 RUNNING AT b" and "EXIT CODE: 9".
/// Slurm: "srun: error: b: task 1: Killed".
void RunWatch::launcherSaid(std::string_view text) {
  if (named)
    return;
  auto rank = numberAfter(text, "process rank ");
  if (!rank)
    rank = numberAfter(text, ": task ");
  if (rank && *rank < ranks.size()) {
    named = static_cast<uint32_t>(*rank);
    if (auto signal = numberAfter(text, "on signal "); signal && *signal < 65)
      deathWords = fmt::format("was killed by signal {} ({})", *signal,
                               strsignal(static_cast<int>(*signal)));
    return;
  }
  auto process = numberAfter(text, " PID ");
  if (!process || text.find("RUNNING AT") == std::string_view::npos)
    return;
  for (uint32_t r = 0; r < ranks.size(); ++r)
    if (ranks[r].last && ranks[r].last->process == *process)
      named = r;
}

/// Whom the launcher named; else the one that was not heard for longest.
std::optional<uint32_t> RunWatch::deadRank() const {
  if (named)
    return named;
  std::optional<uint32_t> found;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    const Rank &rank = ranks[r];
    if (rank.last && !rank.last->end &&
        (!found || rank.heard < ranks[*found].heard))
      found = r;
  }
  return found;
}

RunWatch::Ending RunWatch::ending(int launcherCode) const {
  bool allEnded = true, heard = false;
  int code = launcherCode;
  for (const Rank &rank : ranks) {
    allEnded &= rank.last && rank.last->end;
    heard |= rank.last.has_value();
  }
  constexpr int lost = static_cast<int>(Code::RankLost);
  if (firstEnd && *ranks[*firstEnd].last->end != lost)
    return {*ranks[*firstEnd].last->end, ""};
  if (allEnded && !firstEnd)
    return {*ranks[0].last->end, ""};
  if (!heard && !named)
    return {code, ""}; // it has not started them
  auto dead = deadRank();
  if (!dead)
    return {lost, "the launcher has ended before its ranks"};
  return {lost, fmt::format("{} {} {}", nameOf(*dead),
                            deathWords.empty() ? "died" : deathWords,
                            placeOf(*dead))};
}
