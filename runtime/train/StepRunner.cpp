#include "runtime/train/StepRunner.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

static uint64_t saturatingProduct(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? ~uint64_t(0) : product;
}

Expected<std::unique_ptr<StepRunner>>
StepRunner::create(Session &session, const RunLength &length,
                   const std::vector<TurnWish> &wishes) {
  auto turns = Turns::create(session.plan(), wishes);
  if (!turns)
    return turns.takeError();
  std::unique_ptr<StepRunner> runner(new StepRunner(std::move(*turns)));
  for (uint32_t step : runner->schedule.steps()) {
    auto cursor = StepCursor::create(session, step);
    if (!cursor)
      return cursor.takeError();
    runner->steps.push_back(std::move(*cursor));
  }
  DLRT_TRY(runner->setDone(length));
  return runner;
}

Status StepRunner::setDone(const RunLength &length) {
  done = length.done;
  nextPlace = length.place;
  std::vector<uint64_t> updates = {done};
  if (steps.size() > 1) {
    updates.clear();
    for (const auto &each : steps) {
      auto found = length.updates.find(each->name());
      updates.push_back(found == length.updates.end() ? 0 : found->second);
    }
  }
  uint64_t perEpoch = first().perEpoch();
  currentEpoch = updates[0] == 0 ? 0 : (updates[0] - 1) / perEpoch;
  uint64_t left;
  if (length.steps) {
    total = *length.steps;
    left = total - std::min(total, done);
  } else {
    uint64_t wanted = saturatingProduct(length.epochs, perEpoch);
    left = wanted < updates[0]
               ? 0
               : schedule.untilFirstHasDone(wanted - updates[0], nextPlace);
    total = done + std::min(left, ~done);
  }
  for (size_t i = 0; i < steps.size(); ++i)
    DLRT_TRY(
        steps[i]->start(updates[i], schedule.updatesOf(i, nextPlace, left)));
  return {};
}

Status StepRunner::run(uint64_t ahead) {
  turn = schedule.turnAt(nextPlace);
  uint64_t before = first().updates();
  if (turn == 0)
    currentEpoch = before / first().perEpoch();
  // Whose turn comes next may stand in the same memory.
  Status status =
      steps[turn]->run(done, currentEpoch, steps.size() == 1 ? ahead : 0);
  if (!status.ok())
    status = std::move(status).within(
        lastName().empty()
            ? fmt::format("step {}", done + 1)
            : fmt::format("step {}, '{}'", done + 1, lastName()));
  if (failedToBegin())
    return status;
  nextPlace = (nextPlace + 1) % schedule.length();
  ++done;
  return status;
}

bool StepRunner::epochEnded() const {
  return schedule.turnAt(nextPlace) == 0 &&
         first().updates() % first().perEpoch() == 0;
}

double StepRunner::waitedForData() const {
  double seconds = 0;
  for (const auto &each : steps)
    seconds += each->waitedForData();
  return seconds;
}
