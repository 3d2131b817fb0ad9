#include "runtime/train/TraceGather.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <type_traits>
#include <unistd.h>

using namespace dlrt;

static constexpr uint64_t traceMark = 0x31454341525444u; // "DTRACE1"
static constexpr int clockRounds = 9;

ProcessTrace dlrt::traceOf(const Trace &trace, uint32_t rank) {
  ProcessTrace out;
  out.rank = rank;
  for (const auto &thread : trace.threads) {
    auto &events = out.threads.emplace_back();
    thread.forEach([&](const TraceEvent &event) { events.push_back(event); });
    out.dropped += thread.dropped();
  }
  trace.runs.forEach(
      [&](const TraceLaunch &launch) { out.runs.push_back(launch); });
  return out;
}

namespace {

struct Packer {
  std::vector<uint8_t> bytes;

  template <typename Entry> void add(const Entry &entry) {
    static_assert(std::is_trivially_copyable_v<Entry>);
    const auto *raw = reinterpret_cast<const uint8_t *>(&entry);
    bytes.insert(bytes.end(), raw, raw + sizeof(entry));
  }
  template <typename Entry> void addAll(const std::vector<Entry> &entries) {
    add<uint64_t>(entries.size());
    for (const Entry &entry : entries)
      add(entry);
  }
};

struct Unpacker {
  std::span<const uint8_t> left;
  bool good = true;

  template <typename Entry> void take(Entry &entry) {
    good = good && left.size() >= sizeof(entry);
    if (!good)
      return;
    std::memcpy(&entry, left.data(), sizeof(entry));
    left = left.subspan(sizeof(entry));
  }
  template <typename Entry> void takeAll(std::vector<Entry> &entries) {
    uint64_t count = 0;
    take(count);
    good = good && count <= left.size() / sizeof(Entry);
    if (!good)
      return;
    entries.resize(count);
    for (Entry &entry : entries)
      take(entry);
  }
};

} // namespace

std::vector<uint8_t> dlrt::packTrace(const ProcessTrace &trace) {
  Packer packer;
  packer.add(traceMark);
  packer.add(trace.rank);
  packer.add(trace.dropped);
  packer.addAll(trace.runs);
  packer.add<uint64_t>(trace.threads.size());
  for (const auto &events : trace.threads)
    packer.addAll(events);
  return std::move(packer.bytes);
}

Expected<ProcessTrace> dlrt::unpackTrace(std::span<const uint8_t> bytes) {
  Unpacker from{bytes};
  ProcessTrace trace;
  uint64_t mark = 0, threads = 0;
  from.take(mark);
  from.take(trace.rank);
  from.take(trace.dropped);
  from.takeAll(trace.runs);
  from.take(threads);
  for (uint64_t t = 0; from.good && t < threads; ++t)
    from.takeAll(trace.threads.emplace_back());
  if (!from.good || mark != traceMark || !from.left.empty())
    return Status(Code::Bug, "these bytes are no trace");
  return trace;
}

/// Hosts that run since the same start have the same monotonic clock.
static std::vector<uint8_t> clockName() {
  std::vector<uint8_t> name(64);
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, name.data(), name.size());
  if (fd >= 0)
    close(fd);
  name.resize(static_cast<size_t>(std::max<ssize_t>(length, 0)));
  return name;
}

/// What to add to this rank's clock to get rank 0's.
static Expected<int64_t> clockOffset(Transport &transport) {
  auto names = transport.gather(clockName());
  if (!names)
    return names.takeError();
  bool one = std::all_of(names->begin(), names->end(), [&](const auto &name) {
    return !name.empty() && name == names->front();
  });
  if (one)
    return 0;
  std::vector<int64_t> offsets;
  for (int round = 0; round < clockRounds; ++round) {
    DLRT_TRY(transport.barrier());
    uint64_t own = traceClock();
    uint64_t first = own;
    DLRT_TRY(transport.broadcast(
        0, {reinterpret_cast<uint8_t *>(&first), sizeof(first)}));
    offsets.push_back(static_cast<int64_t>(first - own));
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets[clockRounds / 2];
}

static void shift(ProcessTrace &trace, int64_t offset) {
  auto move = [&](auto &entry) {
    entry.begin += static_cast<uint64_t>(offset);
    entry.end += static_cast<uint64_t>(offset);
  };
  for (auto &events : trace.threads)
    for (TraceEvent &event : events)
      move(event);
  for (TraceLaunch &launch : trace.runs)
    move(launch);
}

Expected<std::vector<ProcessTrace>> dlrt::gatherTraces(Transport &transport,
                                                       ProcessTrace own) {
  auto offset = clockOffset(transport);
  if (!offset)
    return offset.takeError();
  shift(own, *offset);
  std::vector<ProcessTrace> all;
  bool keeps = transport.rank() == 0;
  if (keeps)
    all.push_back(own);
  for (uint32_t rank = 1; rank < transport.size(); ++rank) {
    std::vector<uint8_t> bytes;
    if (rank == transport.rank())
      bytes = packTrace(own);
    uint64_t size = bytes.size();
    DLRT_TRY(transport.broadcast(
        rank, {reinterpret_cast<uint8_t *>(&size), sizeof(size)}));
    bytes.resize(size);
    DLRT_TRY(transport.broadcast(rank, bytes));
    if (!keeps)
      continue;
    auto trace = unpackTrace(bytes);
    if (!trace)
      return trace.takeError();
    all.push_back(std::move(*trace));
  }
  return all;
}
