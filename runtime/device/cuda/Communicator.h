// What carries bytes to the ranks of other processes, from device to device:
// NCCL's sends and receives, which add nothing up, so that bits are those of
// ranks in one process.
#ifndef DLRT_DEVICE_CUDA_COMMUNICATOR_H
#define DLRT_DEVICE_CUDA_COMMUNICATOR_H

#include "runtime/comm/Transport.h"
#include "runtime/device/cuda/Nccl.h"

#include <string>
#include <vector>

namespace dlrt::cuda {

/// Bytes on the device that go to a rank of another process, or come from it.
struct RemoteBytes {
  Pointer at = 0;
  uint64_t bytes = 0;
  uint32_t peer = 0; ///< rank of the mesh
};

/// A communication as far as other processes take part in it. Messages between
/// two ranks are matched in their order.
struct Messages {
  std::vector<RemoteBytes> sends, receives;
  bool empty() const { return sends.empty() && receives.empty(); }
};

/// Of all ranks of the run; nothing where they are in one process. All ranks
/// start their communications in one order, and destroy their graphs of them
/// before it goes: NCCL waits for that.
class Communicator {
public:
  explicit Communicator(const Driver &cuda) : cuda(cuda) {}
  Communicator(const Communicator &) = delete;
  ~Communicator() { abort(); }

  /// All ranks call it together, in the context of their device.
  Status create(Transport &transport);
  explicit operator bool() const { return handle != nullptr; }
  /// "NCCL 2.28.9", or empty
  const std::string &name() const { return version; }

  /// Puts a communication into a stream, or into what is captured of it.
  /// `what` is for messages.
  Status start(const Messages &messages, Stream stream,
               const std::string &what) const;

  /// Returns when the event has come; `result` is the driver's. An error if
  /// the communicator has failed, which then has to be aborted: the event
  /// would never come.
  Status wait(Event event, Result &result) const;

  /// Leaves the other ranks; what is under way ends where it is.
  void abort();
  /// Leaves it to the process's end, where graphs that NCCL would wait for
  /// stay.
  void forget() { handle = nullptr; }
  /// The end of all ranks together, when nothing is under way.
  void destroy();

private:
  Status failure() const;

  const Driver &cuda;
  const nccl::Library *library = nullptr;
  nccl::Handle handle = nullptr;
  std::string version;
};

} // namespace dlrt::cuda

#endif
