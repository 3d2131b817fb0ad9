#include "test/device/NcclComm.h"

#include "test/device/NcclDriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulated::nccl {

static constexpr int notReady = 600;

double secondsToWait() {
  const char *text = getenv("DLEMU_NCCL_SECONDS");
  return text ? strtod(text, nullptr) : 60;
}

Comm::Comm(int rank, int size)
    : rank(rank), size(size), arrived(size_t(size)), gone(size_t(size)),
      capturedWith(size_t(size)), peers(std::make_unique<Peers>()) {}

void Comm::listen() {
  Peers::Events events;
  events.announced = [this](int peer, Announcement a) {
    std::lock_guard<std::mutex> lock(mutex);
    arrived[peer].push_back(std::move(a));
  };
  events.gone = [this](int peer, const std::string &why) {
    std::lock_guard<std::mutex> lock(mutex);
    if (gone[peer].empty())
      gone[peer] = "rank " + std::to_string(peer) + " " + why;
    if (why != "has left" && gone[peer].find("has left") == std::string::npos)
      fail(RemoteError, gone[peer], why == "has gone"); // as seen here first
  };
  events.idle = [this] {
    bool waitedFor = false;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (state == State::Active && !asyncError)
        for (const auto &announcements : arrived)
          waitedFor |= !announcements.empty();
    }
    if (waitedFor)
      driver().progress(false);
  };
  peers->listen(std::move(events));
}

void Comm::fail(Status status, const std::string &why, bool tellOthers) {
  if (asyncError || state != State::Active)
    return;
  asyncError = status;
  text = why;
  fprintf(stderr, "emulated NCCL: rank %d: %s\n", rank, why.c_str());
  if (tellOthers)
    peers->leave(why);
}

void Comm::end(State how) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    state = how;
    if (!asyncError)
      peers->leave(how == State::Aborted ? "I was aborted" : "");
  }
  driver().progress(true);
  peers.reset();
  if (inGraphs == 0)
    return;
  fprintf(stderr,
          "emulated NCCL: rank %d: graphs still have %ld of the communicator's "
          "operations: NCCL would wait for ever for their end\n",
          rank, inGraphs.load());
  abort();
}

std::string Comm::unusable() {
  std::lock_guard<std::mutex> lock(mutex);
  return state == State::Aborted     ? "a communicator that was aborted"
         : state == State::Destroyed ? "a communicator that was destroyed"
                                     : "";
}

namespace {

std::string textOf(const std::vector<uint64_t> &sizes) {
  std::string text;
  for (uint64_t size : sizes)
    text += (text.empty() ? "" : " + ") + std::to_string(size);
  return text.empty() ? "nothing" : text + " bytes";
}

std::vector<uint64_t> sizesOf(const std::vector<Operation::Range> &ranges) {
  std::vector<uint64_t> sizes;
  for (const Operation::Range &range : ranges)
    sizes.push_back(range.bytes);
  return sizes;
}

std::string nameOf(uint32_t operation, uint32_t captured, int rank, int other) {
  std::string text = "operation " + std::to_string(operation) + " of rank " +
                     std::to_string(rank);
  return captured == 0
             ? text
             : text + " (captured as its number " + std::to_string(captured) +
                   " with rank " + std::to_string(other) + ")";
}

} // namespace

/// The memory of the device is there while its operations run.
void Operation::start() {
  underWay = true;
  comm.running = this;
  number = ++comm.started;
  began = std::chrono::steady_clock::now();
  for (auto &[peer, with] : peers) {
    Announcement a;
    a.operation = number;
    a.captured = with.captured;
    a.sends = sizesOf(with.sends);
    a.receives = sizesOf(with.receives);
    for (const Range &range : with.sends)
      a.bytes.insert(a.bytes.end(), range.at, range.at + range.bytes);
    comm.peers->announce(peer, a);
  }
}

bool Operation::fits(int peer, const Announcement &theirs) {
  const WithPeer &mine = peers.at(peer);
  std::vector<uint64_t> sends = sizesOf(mine.sends),
                        receives = sizesOf(mine.receives);
  if (sends == theirs.receives && receives == theirs.sends &&
      mine.captured == theirs.captured)
    return true;
  comm.fail(InternalError,
            "ranks do not start their operations in one order, or do not agree "
            "about them: " +
                nameOf(number, mine.captured, comm.rank, peer) + " sends " +
                textOf(sends) + " to rank " + std::to_string(peer) +
                " and receives " + textOf(receives) + " from it; " +
                nameOf(theirs.operation, theirs.captured, peer, comm.rank) +
                ", which it meets, receives " + textOf(theirs.receives) +
                " and sends " + textOf(theirs.sends),
            true);
  return false;
}

bool Operation::allHaveCome() {
  std::string missing;
  for (auto &[peer, with] : peers) {
    if (!comm.arrived[peer].empty()) {
      if (!fits(peer, comm.arrived[peer].front()))
        return false;
      continue;
    }
    missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(peer);
    if (!comm.gone[peer].empty()) {
      comm.fail(RemoteError,
                comm.gone[peer] + ", and " +
                    nameOf(number, with.captured, comm.rank, peer) +
                    " waits for it",
                true);
      return false;
    }
  }
  std::chrono::duration<double> waited =
      std::chrono::steady_clock::now() - began;
  if (!missing.empty() && waited.count() > secondsToWait())
    comm.fail(InternalError,
              "operation " + std::to_string(number) + " of rank " +
                  std::to_string(comm.rank) + " has waited for " + missing +
                  " for " + std::to_string(int(waited.count())) + " s",
              true);
  return missing.empty();
}

void Operation::finish() {
  for (auto &[peer, with] : peers) {
    Announcement theirs = std::move(comm.arrived[peer].front());
    comm.arrived[peer].pop_front();
    const char *from = theirs.bytes.data();
    for (const Range &range : with.receives) {
      memcpy(range.at, from, range.bytes);
      from += range.bytes;
    }
  }
  underWay = false;
  comm.running = nullptr;
}

int Operation::run() {
  std::lock_guard<std::mutex> lock(comm.mutex);
  if (comm.state != Comm::State::Active) {
    underWay = false;
    return 0;
  }
  if (comm.asyncError)
    return notReady;
  if (!underWay && comm.running) {
    comm.fail(InternalError,
              "an operation starts while operation " +
                  std::to_string(comm.running->number) +
                  " of the communicator is under way: nothing orders them",
              true);
    return notReady;
  }
  if (!underWay)
    start();
  if (!allHaveCome())
    return notReady;
  finish();
  return 0;
}

} // namespace emulated::nccl
