// A communicator of the emulated NCCL, and its operations.
#ifndef DL_TEST_DEVICE_NCCL_COMM_H
#define DL_TEST_DEVICE_NCCL_COMM_H

#include "test/device/NcclApi.h"
#include "test/device/Peers.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace emulated::nccl {

struct Operation;

/// That ranks wait for one another before it is an error.
double secondsToWait();

struct Comm {
  Comm(int rank, int size);

  const int rank, size;
  enum class State { Active, Aborted, Destroyed };
  std::mutex mutex; ///< of all below; taken after the driver's
  State state = State::Active;
  Status asyncError = Success;
  std::string text; ///< of the error
  uint32_t started = 0;
  Operation *running = nullptr;
  std::vector<std::deque<Announcement>> arrived; ///< by rank
  std::vector<std::string> gone;                 ///< by rank: why
  std::vector<uint32_t> capturedWith;            ///< operations, by rank
  std::atomic<long> inGraphs = 0; ///< operations that a graph still has
  std::unique_ptr<Peers> peers;

  void listen();
  /// An asynchronous error: nothing of the communicator ends any more before it
  /// is aborted. With the lock.
  void fail(Status status, const std::string &why, bool tellOthers);
  /// The device lets go of what it is at. Where NCCL would never return, the
  /// process ends.
  void end(State how);
  /// The state in words; empty if it may be used.
  std::string unusable();
};

/// The sends and receives of a group: one operation of the device.
struct Operation {
  struct Range {
    char *at;
    uint64_t bytes;
  };
  struct WithPeer {
    std::vector<Range> sends, receives;
    uint32_t captured = 0; ///< see Announcement
  };

  Comm &comm;
  std::map<int, WithPeer> peers;
  bool inGraph = false;
  // Of the run at hand.
  bool underWay = false;
  uint32_t number = 0;
  std::chrono::steady_clock::time_point began;

  /// 0, or 600 as long as other ranks have not come to it.
  int run();

private:
  void start();
  bool fits(int peer, const Announcement &theirs);
  bool allHaveCome();
  void finish();
};

} // namespace emulated::nccl

#endif
