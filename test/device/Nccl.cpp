// libnccl.so.2 for emulated devices, each of a process of its own: sends and
// receives of bytes, issued into the caller's stream, so that they are
// captured, ordered and late like everything else there. An operation ends when
// all ranks that it names have come to theirs. What NCCL would answer with
// other bytes or by waiting for ever is an error here, which names it: ranks
// that start their operations in different orders or disagree about sizes,
// ranks or devices, operations of one communicator that nothing orders, groups
// that are not closed, calls after the end. Variables, besides those of the
// driver:
//   DLEMU_NCCL_SECONDS  that ranks wait for others, 60
//   DLEMU_NCCL_VERSION  that it says it is
#include "test/device/NcclComm.h"
#include "test/device/NcclDriver.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/random.h>
#include <type_traits>
#include <utility>

namespace emulated::nccl {

const DriverCalls &driver() {
  static const DriverCalls found = [] {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    DriverCalls calls;
    auto find = [&](auto &call, const char *name) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(
          dlsym(library, name));
    };
    find(calls.enter, "dlemuEnter");
    find(calls.holds, "dlemuHolds");
    find(calls.issue, "dlemuIssue");
    find(calls.captures, "dlemuCaptures");
    find(calls.device, "dlemuDevice");
    find(calls.progress, "dlemuProgress");
    return calls;
  }();
  return found;
}

namespace {

thread_local std::string lastError;

Status refuse(Status status, const char *format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  lastError = text;
  fprintf(stderr, "emulated NCCL: %s\n", text);
  return status;
}

/// A group that is open on a thread.
struct Group {
  int depth = 0;
  Comm *comm = nullptr;
  void *stream = nullptr;
  std::map<int, Operation::WithPeer> peers;
  Status wrong = Success;
};
thread_local Group group;

Status add(Comm *comm, bool isSend, void *at, size_t count, int type, int peer,
           void *stream) {
  if (std::string why = comm->unusable(); !why.empty())
    return refuse(InvalidArgument, "%s with %s",
                  isSend ? "ncclSend" : "ncclRecv", why.c_str());
  if (type != Int8 && type != Uint8)
    return refuse(InvalidArgument, "data of type %d", type);
  if (peer < 0 || peer >= comm->size || peer == comm->rank)
    return refuse(InvalidArgument, "rank %d has no rank %d beside it of %d",
                  comm->rank, peer, comm->size);
  if (count == 0 || !driver().holds(reinterpret_cast<uintptr_t>(at), count))
    return refuse(InvalidArgument, "%zu bytes that are not the device's",
                  count);
  if ((group.comm && group.comm != comm) ||
      (group.comm && group.stream != stream))
    return refuse(InvalidUsage, "a group of several communicators or streams");
  group.comm = comm;
  group.stream = stream;
  Operation::WithPeer &with = group.peers[peer];
  (isSend ? with.sends : with.receives)
      .push_back({static_cast<char *>(at), count});
  return Success;
}

void releaseOperation(void *data) {
  auto *operation = static_cast<Operation *>(data);
  if (operation->inGraph)
    --operation->comm.inGraphs;
  delete operation;
}

/// What the group has gathered becomes one operation.
Status close() {
  Group closed = std::exchange(group, {});
  if (closed.wrong || !closed.comm)
    return closed.wrong;
  Comm &comm = *closed.comm;
  auto *operation = new Operation{comm, std::move(closed.peers)};
  operation->inGraph = driver().captures(closed.stream);
  if (operation->inGraph) {
    ++comm.inGraphs;
    std::lock_guard<std::mutex> lock(comm.mutex);
    for (auto &[peer, with] : operation->peers)
      with.captured = ++comm.capturedWith[peer];
  }
  int result = driver().issue(
      closed.stream,
      [](void *data) { return static_cast<Operation *>(data)->run(); },
      releaseOperation, operation);
  return result ? refuse(SystemError, "the driver says %d", result) : Success;
}

Status message(Comm *comm, bool isSend, void *at, size_t count, int type,
               int peer, void *stream) {
  bool alone = group.depth == 0;
  Status status = add(comm, isSend, at, count, type, peer, stream);
  if (!group.wrong)
    group.wrong = status;
  return alone ? close() : status;
}

} // namespace
} // namespace emulated::nccl

using namespace emulated::nccl;

#define DLEMU_LIBRARY extern "C" __attribute__((visibility("default")))
/// Its call is counted, and an error that DLEMU_FAIL asks for returned.
#define DLEMU_CALLED(name)                                                     \
  if (int refused = driver().enter(#name))                                     \
  return refuse(Status(refused), #name " was made to fail")

DLEMU_LIBRARY Status ncclGetVersion(int *version) {
  const char *given = getenv("DLEMU_NCCL_VERSION");
  return *version = given ? atoi(given) : 22809, Success;
}

DLEMU_LIBRARY const char *ncclGetErrorString(Status status) {
  switch (status) {
  case Success:
    return "no error";
  case SystemError:
    return "unhandled system error";
  case InternalError:
    return "internal error";
  case InvalidArgument:
    return "invalid argument";
  case InvalidUsage:
    return "invalid usage";
  case RemoteError:
    return "remote process exited or there was a network error";
  }
  return "unknown result code";
}

DLEMU_LIBRARY const char *ncclGetLastError(Comm *comm) {
  if (comm) {
    std::lock_guard<std::mutex> lock(comm->mutex);
    if (comm->asyncError)
      lastError = comm->text;
  }
  return lastError.c_str();
}

DLEMU_LIBRARY Status ncclGetUniqueId(UniqueId *id) {
  DLEMU_CALLED(ncclGetUniqueId);
  if (getrandom(id, sizeof(*id), 0) != ssize_t(sizeof(*id)))
    return SystemError;
  return Success;
}

DLEMU_LIBRARY Status ncclCommInitRank(Comm **comm, int size, UniqueId id,
                                      int rank) {
  DLEMU_CALLED(ncclCommInitRank);
  if (size < 1 || rank < 0 || rank >= size || group.depth != 0)
    return refuse(InvalidArgument, "rank %d of %d, or a group is open", rank,
                  size);
  int device = driver().device();
  if (device < 0)
    return refuse(InvalidUsage, "the thread has entered no device");
  auto made = std::make_unique<Comm>(rank, size);
  std::string why;
  if (!made->peers->meet(id, rank, size, device, secondsToWait(), why))
    return refuse(InvalidUsage, "rank %d: %s", rank, why.c_str());
  made->listen();
  *comm = made.release();
  return Success;
}

/// It is never deleted: a call after its end is to be found.
static Status endOf(Comm *comm, Comm::State how, const char *name) {
  if (std::string why = comm->unusable(); !why.empty())
    return refuse(InvalidArgument, "%s of %s", name, why.c_str());
  if (group.depth != 0)
    return refuse(InvalidUsage, "%s while a group is open", name);
  comm->end(how);
  return Success;
}

DLEMU_LIBRARY Status ncclCommDestroy(Comm *comm) {
  DLEMU_CALLED(ncclCommDestroy);
  return endOf(comm, Comm::State::Destroyed, "ncclCommDestroy");
}

DLEMU_LIBRARY Status ncclCommAbort(Comm *comm) {
  driver().enter("ncclCommAbort"); // counted, and works in any case
  return endOf(comm, Comm::State::Aborted, "ncclCommAbort");
}

DLEMU_LIBRARY Status ncclCommGetAsyncError(Comm *comm, Status *error) {
  if (std::string why = comm->unusable(); !why.empty())
    return refuse(InvalidArgument, "ncclCommGetAsyncError of %s", why.c_str());
  std::lock_guard<std::mutex> lock(comm->mutex);
  return *error = comm->asyncError, Success;
}

DLEMU_LIBRARY Status ncclGroupStart() {
  DLEMU_CALLED(ncclGroupStart);
  return ++group.depth, Success;
}

DLEMU_LIBRARY Status ncclGroupEnd() {
  if (group.depth == 0)
    return refuse(InvalidUsage, "ncclGroupEnd, and no group is open");
  if (int refused = driver().enter("ncclGroupEnd")) {
    group = {}; // it is closed in any case
    return refuse(Status(refused), "ncclGroupEnd was made to fail");
  }
  return --group.depth == 0 ? close() : Success;
}

DLEMU_LIBRARY Status ncclSend(void *from, size_t count, int type, int peer,
                              Comm *comm, void *stream) {
  DLEMU_CALLED(ncclSend);
  return message(comm, true, from, count, type, peer, stream);
}

DLEMU_LIBRARY Status ncclRecv(void *to, size_t count, int type, int peer,
                              Comm *comm, void *stream) {
  DLEMU_CALLED(ncclRecv);
  return message(comm, false, to, count, type, peer, stream);
}
