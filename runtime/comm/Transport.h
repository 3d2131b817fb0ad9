// What carries bytes between the processes of a run.
#ifndef DLRT_COMM_TRANSPORT_H
#define DLRT_COMM_TRANSPORT_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

/// Bytes that go to a rank or come from it. The memory stays where it is.
struct Message {
  void *bytes = nullptr;
  uint64_t size = 0;
  uint32_t peer = 0; ///< rank in the run
};

/// Messages that belong together: those of one communication of one rank.
/// Made once, started as often as wanted, one run after the other.
class Exchange {
public:
  virtual ~Exchange() = default;

  /// Whether all messages of the last start have arrived and gone. Only then
  /// may sent bytes change and received ones be read.
  virtual bool finished() const = 0;
};

/// One for each process, which is one rank. Messages between two ranks are
/// matched in the order in which their exchanges are started, so all ranks
/// must start theirs in one order; tags are a check of it. All methods may be
/// called from any thread.
class Transport {
public:
  virtual ~Transport() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;
  /// "Open MPI v4.1.4".
  virtual const std::string &library() const = 0;

  /// Makes an exchange. `done` is called when one of its runs has finished, on
  /// whatever thread finds that out: inside of `poll` or `start`, or on the
  /// transport's own thread. It must not start another exchange.
  virtual Expected<std::unique_ptr<Exchange>>
  prepare(std::span<const Message> sends, std::span<const Message> receives,
          uint64_t tag, std::function<void()> done) = 0;

  /// Starts an exchange that is not under way, and returns at once. Allocates
  /// nothing.
  virtual void start(Exchange &exchange) = 0;

  /// A thread that has nothing else to do lends itself: looks once whether
  /// something has finished.
  virtual void poll() = 0;

  /// Who polled goes to sleep, or is away for long: from now on the transport's
  /// own thread looks, until somebody polls again. So it does where nobody ever
  /// polls.
  virtual void rest() = 0;

  // Of all ranks together, which must call them in the same order, and while
  // no exchange is under way.

  /// Every rank's bytes, by rank. They may differ in length.
  virtual Expected<std::vector<std::vector<uint8_t>>>
  gather(std::span<const uint8_t> mine) = 0;
  /// The bytes of one rank to all others.
  virtual Status broadcast(uint32_t from, std::span<uint8_t> bytes) = 0;
  /// Returns when all ranks have called it.
  virtual Status barrier() = 0;

  /// Ends all processes of the run, this one with the exit code, the others as
  /// the launcher does it.
  [[noreturn]] virtual void abort(int code) = 0;
};

/// Called when a message cannot be sent or received: another rank has gone, or
/// ranks disagree. The thread that calls it cannot go on.
using TransportFailure = std::function<void(const Status &)>;

} // namespace dlrt

#endif
