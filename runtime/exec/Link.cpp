#include "runtime/exec/Link.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

using namespace dlrt;

class Link::Transfer final : public Errand {
public:
  Transfer(Link &link, const Meeting &meeting) : link(link) {
    double seconds =
        link.speed.bandwidth > 0
            ? static_cast<double>(meeting.bytes) / link.speed.bandwidth
            : 0;
    busy = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(seconds));
    for (const Meeting::Member &member : meeting.members)
      ranks.push_back(member.rank);
  }

  void begin(uint32_t) override { link.begin(*this); }

  std::vector<uint32_t> ranks;
  Clock::duration busy; ///< their lines

private:
  Link &link;
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
  auto transfer = std::make_unique<Transfer>(*this, meeting);
  std::lock_guard lock(mutex);
  waiting.reserve(++errands);
  free.resize(std::max<size_t>(free.size(), transfer->ranks.back() + 1));
  return std::unique_ptr<Errand>(std::move(transfer));
}

void Link::begin(Transfer &transfer) {
  {
    std::lock_guard lock(mutex);
    Clock::time_point from = Clock::now();
    for (uint32_t rank : transfer.ranks)
      from = std::max(from, free[rank]);
    for (uint32_t rank : transfer.ranks)
      free[rank] = from + transfer.busy;
    auto latency = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(speed.latency));
    waiting.push_back({from + transfer.busy + latency, &transfer});
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
