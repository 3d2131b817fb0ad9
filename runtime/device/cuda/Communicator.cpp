#include "runtime/device/cuda/Communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

using namespace dlrt;
using namespace dlrt::cuda;

Status Communicator::create(Transport &transport) {
  Expected<const nccl::Library *> opened = nccl::Library::open();
  if (!opened)
    return opened.takeError();
  library = *opened;
  nccl::UniqueId id = {};
  if (transport.rank() == 0)
    DLRT_TRY(library->check(library->uniqueId(&id), Code::Unavailable,
                            "making a communicator"));
  DLRT_TRY(
      transport.broadcast(0, {reinterpret_cast<uint8_t *>(&id), sizeof(id)}));
  nccl::Handle made = nullptr;
  DLRT_TRY(library->check(
      library->create(&made, static_cast<int>(transport.size()), id,
                      static_cast<int>(transport.rank())),
      Code::Unavailable, fmt::format("joining {} ranks", transport.size())));
  handle = made;
  version = library->name();
  return {};
}

Status Communicator::start(const Messages &messages, Stream stream,
                           const std::string &what) const {
  auto address = [](Pointer at) { return reinterpret_cast<void *>(at); };
  nccl::Status status = nccl::statusSuccess;
  DLRT_TRY(library->check(library->groupStart(), Code::RankLost, what, handle));
  // Receives first, as on processors: what arrives finds its place.
  for (const RemoteBytes &message : messages.receives)
    if (status == nccl::statusSuccess)
      status =
          library->receive(address(message.at), message.bytes, nccl::typeByte,
                           static_cast<int>(message.peer), handle, stream);
  for (const RemoteBytes &message : messages.sends)
    if (status == nccl::statusSuccess)
      status = library->send(address(message.at), message.bytes, nccl::typeByte,
                             static_cast<int>(message.peer), handle, stream);
  nccl::Status ended = library->groupEnd();
  return library->check(status == nccl::statusSuccess ? ended : status,
                        Code::RankLost, what, handle);
}

Status Communicator::failure() const {
  nccl::Status status = nccl::statusSuccess,
               asked = library->asyncError(handle, &status);
  if (asked == nccl::statusSuccess && status == nccl::statusInProgress)
    return {};
  return library->check(asked == nccl::statusSuccess ? status : asked,
                        Code::RankLost, "exchanging bytes with other ranks",
                        handle);
}

/// Looks again after a sixteenth of the time that it has waited already.
Status Communicator::wait(Event event, Result &result) const {
  if (!handle) {
    result = cuda.eventSynchronize(event);
    return {};
  }
  using namespace std::chrono;
  constexpr auto spin = microseconds(100), longest = microseconds(500);
  auto began = steady_clock::now();
  while ((result = cuda.eventQuery(event)) == notReady) {
    DLRT_TRY(failure());
    auto waited = duration_cast<microseconds>(steady_clock::now() - began);
    if (waited > spin)
      std::this_thread::sleep_for(std::min(waited / 16, longest));
  }
  return {};
}

void Communicator::abort() {
  if (handle)
    library->abort(handle);
  handle = nullptr;
}

void Communicator::destroy() {
  if (handle)
    library->destroy(handle);
  handle = nullptr;
}
