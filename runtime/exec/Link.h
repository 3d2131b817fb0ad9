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

/// Lets time pass, on a thread that sleeps.
class Link {
public:
  explicit Link(const LinkSpeed &speed) : speed(speed) {}
  ~Link();
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  Status start();
  /// An errand that takes as long as the largest share of the meeting.
  Expected<std::unique_ptr<Errand>> errand(const Meeting &meeting);

private:
  using Clock = std::chrono::steady_clock;
  class Transfer;
  struct Waiting {
    Clock::time_point until;
    Transfer *transfer;
  };
  void add(const Waiting &waiting);
  void main();

  LinkSpeed speed;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Waiting> waiting; ///< room for all errands
  size_t errands = 0;
  bool stopping = false;
  std::thread thread;
};

} // namespace dlrt

#endif
