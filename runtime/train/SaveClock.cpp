#include "runtime/train/SaveClock.h"

#include "runtime/base/Numbers.h"

#include <algorithm>
#include <string>

using namespace dlrt;

void SaveClock::restart(uint64_t step) {
  begin = Clock::now();
  first = step;
  nextLook = step + 1;
}

double SaveClock::secondsSince() const {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Expected<bool> SaveClock::isDue(uint64_t step, double seconds) {
  if (!together.several())
    return secondsSince() >= seconds;
  if (step < nextLook)
    return false;
  double gone = std::max(secondsSince(), 1e-9);
  double stepsLeft =
      (seconds - gone) / gone * static_cast<double>(step - first);
  auto ahead = static_cast<uint64_t>(std::clamp(stepsLeft / 2, 1.0, 1e9));
  // 0: now.
  auto answer = together.ofFirst(std::to_string(gone >= seconds ? 0 : ahead));
  if (!answer)
    return answer.takeError();
  uint64_t wait = parseUnsigned(*answer).value_or(0);
  nextLook = step + std::max<uint64_t>(wait, 1);
  return wait == 0;
}
