// A network that is not there: communications take the time of one.
#ifndef DLRT_EXEC_LINK_H
#define DLRT_EXEC_LINK_H

#include "runtime/device/Device.h"
#include "runtime/exec/Errand.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace dlrt {

/// Lets time pass, on a thread that sleeps. Each rank has a line of its own to
/// the others: what it gives and gets in a meeting takes its bytes through the
/// line's bandwidth, after those of the meetings that began before, and then
/// the latency, in which the line is free for the next.
class Link {
public:
  explicit Link(const LinkSpeed &speed) : speed(speed) {}
  ~Link();
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  Status start();
  Expected<std::unique_ptr<Errand>> errand(const Meeting &meeting);

private:
  using Clock = std::chrono::steady_clock;
  class Transfer;
  struct Waiting {
    Clock::time_point until;
    Transfer *transfer;
  };
  void begin(Transfer &transfer);
  void main();

  LinkSpeed speed;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Waiting> waiting;        ///< room for all errands
  std::vector<Clock::time_point> free; ///< each rank's line, by rank
  size_t errands = 0;
  bool stopping = false;
  std::thread thread;
};

} // namespace dlrt

#endif
