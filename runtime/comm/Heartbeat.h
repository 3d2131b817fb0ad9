// What a rank tells whoever watches the run: frames between its other words on
// stderr, which every launcher brings to where it was started.
#ifndef DLRT_COMM_HEARTBEAT_H
#define DLRT_COMM_HEARTBEAT_H

#include "runtime/base/Status.h"
#include "runtime/comm/ProcessDevice.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace dlrt {

const char *nameOf(RankPhase phase);

struct RankStatus {
  uint32_t rank = 0;
  std::string host;
  uint64_t process = 0;
  RankPhase phase = RankPhase::Start;
  uint64_t step = 0;     ///< being done, from 1
  uint64_t launches = 0; ///< programs begun, of all steps and evaluations
  bool waits = false;    ///< for messages of other ranks, with nothing to do
  std::string op;        ///< being computed or communicated
  /// Of the last frame: exit code and error.
  std::optional<int> end;
  std::string said;
};

/// "\x1e{…}\n"
std::string frameOf(const RankStatus &status);
/// On stderr, in one piece.
void sendFrame(const RankStatus &status);
/// The text between the marks; nothing if it is no frame.
std::optional<RankStatus> parseFrame(std::string_view text);

/// Takes the frames out of what the ranks wrote.
class FrameSplitter {
public:
  /// Calls `frame` for each that is complete; returns the other text.
  std::string add(std::string_view bytes,
                  const std::function<void(const RankStatus &)> &frame);

private:
  std::string open; ///< begun, not ended
};

/// Sends the rank's status now and then, from a thread of its own.
class Heartbeat {
public:
  using Fill = std::function<void(RankStatus &)>;

  /// `fill` completes what the rank is at; it is called on the other thread.
  Heartbeat(RankStatus self, std::chrono::milliseconds interval, Fill fill);
  ~Heartbeat();

  /// The last frame, with the process's exit code.
  void end(int code, const std::string &said);

private:
  void main();

  RankStatus self;
  std::chrono::milliseconds interval;
  Fill fill;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  std::thread thread;
};

} // namespace dlrt

#endif
