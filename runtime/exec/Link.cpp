#include "runtime/exec/Link.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

using namespace dlrt;

class Link::Transfer final : public Errand {
public:
  Transfer(Link &link, Clock::duration time) : link(link), time(time) {}

  void begin(uint32_t) override { link.add({Clock::now() + time, this}); }

private:
  Link &link;
  Clock::duration time;
};

Status Link::start() {
  try {
    thread = std::thread([this] { main(); });
  } catch (const std::system_error &error) {
    return {Code::Unavailable,
            fmt::format("cannot start the link's thread: {}", error.what())};
  }
  return {};
}

Link::~Link() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

Expected<std::unique_ptr<Errand>> Link::errand(const Meeting &meeting) {
  double seconds = speed.latency;
  if (speed.bandwidth > 0)
    seconds += static_cast<double>(meeting.bytes) / speed.bandwidth;
  std::lock_guard lock(mutex);
  waiting.reserve(++errands);
  return std::unique_ptr<Errand>(
      new Transfer(*this, std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(seconds))));
}

void Link::add(const Waiting &next) {
  {
    std::lock_guard lock(mutex);
    waiting.push_back(next);
  }
  changed.notify_all();
}

void Link::main() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    auto first = std::min_element(
        waiting.begin(), waiting.end(),
        [](const Waiting &a, const Waiting &b) { return a.until < b.until; });
    if (first == waiting.end()) {
      changed.wait(lock);
    } else if (first->until > Clock::now()) {
      changed.wait_until(lock, Clock::time_point(first->until));
    } else {
      Transfer *transfer = first->transfer;
      waiting.erase(first);
      lock.unlock();
      transfer->ended();
      lock.lock();
    }
  }
}
