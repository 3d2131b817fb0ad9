#include "runtime/comm/mpi/MpiTransport.h"

#include "runtime/comm/mpi/PluginInterface.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <sys/prctl.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace dlrt;

/// A worker looks between two portions of tiles, and all the time while it
/// waits. Our own thread would take the core from it: it looks only while the
/// worker rests or is away for long.
static constexpr auto pollEvery = std::chrono::microseconds(100);

namespace {

class MpiTransport;

class MpiExchange final : public Exchange {
public:
  MpiExchange(MpiTransport &transport, std::function<void()> done)
      : transport(transport), done(std::move(done)) {}
  ~MpiExchange() override;
  bool finished() const override {
    return !underWay.load(std::memory_order_acquire);
  }

  MpiTransport &transport;
  std::function<void()> done;
  DlrtMpiExchange *requests = nullptr; ///< null: nothing to send or receive
  std::atomic<bool> underWay = false;
  std::atomic<int> calls = 0; ///< of `done` that have not returned
};

/// One lock around the plug-in; whoever has it calls MPI.
class MpiTransport final : public Transport {
public:
  MpiTransport(const DlrtMpiPlugin &mpi, TransportFailure failure)
      : mpi(mpi), failure(std::move(failure)), ownRank(mpi.rank()),
        ranks(mpi.size()), name(mpi.library()) {
    active.reserve(64);
  }
  ~MpiTransport() override;

  Status startThread();

  uint32_t rank() const override { return ownRank; }
  uint32_t size() const override { return ranks; }
  const std::string &library() const override { return name; }
  Expected<std::unique_ptr<Exchange>>
  prepare(std::span<const Message> sends, std::span<const Message> receives,
          uint64_t tag, std::function<void()> done) override;
  void start(Exchange &exchange) override;
  void poll() override;
  void rest() override;
  Expected<std::vector<std::vector<uint8_t>>>
  gather(std::span<const uint8_t> mine) override;
  Status broadcast(uint32_t from, std::span<uint8_t> bytes) override;
  Status barrier() override;
  [[noreturn]] void abort(int code) override;

  void drop(MpiExchange &exchange);

private:
  void look(std::unique_lock<std::mutex> &lock);
  void threadMain();
  void check(const char *text);
  static Status status(const char *text) {
    return text ? Status(Code::RankLost, fmt::format("MPI: {}", text))
                : Status();
  }

  const DlrtMpiPlugin &mpi;
  TransportFailure failure;
  const uint32_t ownRank, ranks;
  const std::string name;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<MpiExchange *> active; ///< started, in that order
  std::atomic<size_t> activeCount = 0;
  std::atomic<bool> alone = true; ///< others do not look
  bool stopping = false;
  std::thread thread;
};

} // namespace

MpiExchange::~MpiExchange() { transport.drop(*this); }

Status MpiTransport::startThread() {
  try {
    thread = std::thread([this] { threadMain(); });
  } catch (const std::system_error &error) {
    return {Code::Unavailable,
            fmt::format("cannot start a thread for MPI: {}", error.what())};
  }
  return {};
}

MpiTransport::~MpiTransport() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
  mpi.finish();
}

void MpiTransport::check(const char *text) {
  if (!text)
    return;
  failure(status(text));
  std::abort(); // it must not have returned
}

Expected<std::unique_ptr<Exchange>>
MpiTransport::prepare(std::span<const Message> sends,
                      std::span<const Message> receives, uint64_t tag,
                      std::function<void()> done) {
  auto exchange = std::make_unique<MpiExchange>(*this, std::move(done));
  std::vector<DlrtMpiMessage> list;
  // Receives first: what arrives finds its place.
  for (const Message &message : receives)
    list.push_back({message.bytes, message.size, message.peer, 0});
  for (const Message &message : sends)
    list.push_back({message.bytes, message.size, message.peer, 1});
  std::lock_guard lock(mutex);
  DLRT_TRY(status(mpi.prepare(list.data(), static_cast<uint32_t>(list.size()),
                              tag, &exchange->requests)));
  return std::unique_ptr<Exchange>(std::move(exchange));
}

void MpiTransport::drop(MpiExchange &exchange) {
  while (exchange.calls.load(std::memory_order_acquire) != 0)
    std::this_thread::yield();
  std::lock_guard lock(mutex);
  if (exchange.requests)
    mpi.drop(exchange.requests);
}

void MpiTransport::start(Exchange &given) {
  auto &exchange = static_cast<MpiExchange &>(given);
  std::unique_lock lock(mutex);
  exchange.underWay.store(true, std::memory_order_relaxed);
  check(mpi.begin(exchange.requests));
  active.push_back(&exchange);
  activeCount.store(active.size(), std::memory_order_relaxed);
  look(lock);
  bool wake = alone.load(std::memory_order_relaxed) && !active.empty();
  lock.unlock();
  if (wake)
    changed.notify_one();
}

/// With the lock, which `done` is called without.
void MpiTransport::look(std::unique_lock<std::mutex> &lock) {
  for (size_t i = 0; i < active.size();) {
    MpiExchange &exchange = *active[i];
    int32_t finished = 0;
    check(mpi.test(exchange.requests, &finished));
    if (!finished) {
      ++i;
      continue;
    }
    active.erase(active.begin() + static_cast<ptrdiff_t>(i));
    activeCount.store(active.size(), std::memory_order_relaxed);
    exchange.calls.fetch_add(1, std::memory_order_relaxed);
    exchange.underWay.store(false, std::memory_order_release);
    lock.unlock();
    if (exchange.done)
      exchange.done();
    exchange.calls.fetch_sub(1, std::memory_order_release);
    lock.lock();
    i = 0; // others may have started and finished some
  }
}

void MpiTransport::poll() {
  if (alone.load(std::memory_order_relaxed))
    alone.store(false, std::memory_order_relaxed);
  if (activeCount.load(std::memory_order_relaxed) == 0)
    return;
  if (std::unique_lock lock(mutex, std::try_to_lock); lock.owns_lock())
    look(lock);
}

void MpiTransport::rest() {
  {
    std::lock_guard lock(mutex);
    alone.store(true, std::memory_order_relaxed);
    if (active.empty())
      return; // who starts one wakes our thread
  }
  changed.notify_one();
}

void MpiTransport::threadMain() {
  prctl(PR_SET_TIMERSLACK, 1000ul); // the default would double the pause
  std::unique_lock lock(mutex);
  while (!stopping)
    if (!alone.load(std::memory_order_relaxed) || active.empty()) {
      changed.wait(lock);
    } else {
      look(lock);
      changed.wait_for(lock, pollEvery, [this] { return stopping; });
    }
}

Expected<std::vector<std::vector<uint8_t>>>
MpiTransport::gather(std::span<const uint8_t> mine) {
  std::lock_guard lock(mutex);
  std::vector<uint64_t> sizes(ranks);
  DLRT_TRY(status(mpi.gatherSizes(mine.size(), sizes.data())));
  uint64_t total = 0;
  for (uint64_t size : sizes)
    total += size;
  std::vector<uint8_t> all(total);
  DLRT_TRY(status(mpi.gather(mine.data(), sizes.data(), all.data())));
  std::vector<std::vector<uint8_t>> parts;
  auto at = all.begin();
  for (uint64_t size : sizes) {
    parts.emplace_back(at, at + static_cast<ptrdiff_t>(size));
    at += static_cast<ptrdiff_t>(size);
  }
  return parts;
}

Status MpiTransport::broadcast(uint32_t from, std::span<uint8_t> bytes) {
  std::lock_guard lock(mutex);
  return status(mpi.broadcast(from, bytes.data(), bytes.size()));
}

Status MpiTransport::barrier() {
  std::lock_guard lock(mutex);
  return status(mpi.barrier());
}

/// Without the lock: another thread may be in the plug-in for ever.
void MpiTransport::abort(int code) {
  mpi.abort(code);
  _exit(code);
}

static std::string ownFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0)
    return ".";
  std::string text(path, static_cast<size_t>(length));
  return text.substr(0, text.rfind('/'));
}

std::vector<std::string> dlrt::mpiPluginPlaces() {
  if (const char *given = std::getenv("DLRUN_MPI_PLUGIN"); given && *given)
    return {given};
  std::string folder = ownFolder();
  return {folder + "/dlrun_mpi.so", folder + "/../lib/dlrun_mpi.so"};
}

static Status missing(const std::string &what) {
  return {Code::Unavailable,
          fmt::format("{}. Processes need an MPI library and dlrun's plug-in "
                      "for it: install MPI with its compiler "
                      "(Debian: apt install openmpi-bin libopenmpi-dev), then "
                      "build the plug-in with "
                      "runtime/comm/mpi/build.sh of dlrun's sources. Without "
                      "MPI, dlrun PLAN runs all ranks in one "
                      "process",
                      what)};
}

/// It is never closed: MPI leaves threads and handlers behind.
static Expected<void *> openPlugin() {
  std::string looked;
  for (const std::string &place : mpiPluginPlaces()) {
    looked += (looked.empty() ? "" : " and ") + place;
    if (access(place.c_str(), F_OK) != 0)
      continue;
    // Global: Open MPI's own plug-ins look for its symbols there.
    if (void *handle = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL))
      return handle;
    return missing(fmt::format("cannot open {}: {}", place, dlerror()));
  }
  return missing(fmt::format("there is no {}", looked));
}

Expected<std::unique_ptr<Transport>> dlrt::openMpi(TransportFailure failure) {
  Expected<void *> handle = openPlugin();
  if (!handle)
    return handle.takeError();
  auto entry = reinterpret_cast<DlrtMpiEntry>(dlsym(*handle, DLRT_MPI_SYMBOL));
  if (!entry || entry()->interface != DLRT_MPI_INTERFACE)
    return missing("the plug-in for MPI belongs to another version of dlrun");
  const DlrtMpiPlugin &mpi = *entry();
  if (const char *error = mpi.start())
    return Status(Code::Unavailable, fmt::format("MPI: {}", error));
  auto transport = std::make_unique<MpiTransport>(mpi, std::move(failure));
  DLRT_TRY(transport->startThread());
  return std::unique_ptr<Transport>(std::move(transport));
}
