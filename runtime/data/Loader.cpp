#include "runtime/data/Loader.h"

#include "runtime/data/Permutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace dlrt;

/// Looks at a batch that is not there yet before the consumer sleeps.
static constexpr int looksBeforeSleep = 500;

Loader::Loader(const Dataset &dataset, const LoaderOptions &options,
               SlotAddress address)
    : dataset(dataset), options(options), address(std::move(address)) {
  targets.resize(dataset.components.size());
  perEpoch = batchesOf(dataset.items, options.batchSize, options.dropLast);
}

uint64_t dlrt::batchesOf(uint64_t items, uint64_t batchSize, bool dropLast) {
  bool shortOne = !dropLast && items % batchSize != 0;
  return items / batchSize + (shortOne ? 1 : 0);
}

Status Loader::start() {
  if (perEpoch == 0)
    return {Code::Training, fmt::format("{} items do not fill a batch of {}",
                                        dataset.items, options.batchSize)};
  try {
    thread = std::thread([this] { threadMain(); });
  } catch (const std::system_error &error) {
    return {Code::Unavailable,
            fmt::format("cannot start the loader's thread: {}", error.what())};
  }
  return {};
}

Loader::~Loader() {
  stopping.store(true);
  freedCount.fetch_add(1); // wakes the thread, which looks at `stopping` first
  freedCount.notify_one();
  if (thread.joinable())
    thread.join();
}

uint64_t Loader::itemsOf(uint64_t batch) const {
  uint64_t begin = batch % perEpoch * options.batchSize;
  return std::min(options.batchSize, dataset.items - begin);
}

Batch Loader::describe(uint64_t batch) const {
  uint64_t items = itemsOf(batch);
  return {static_cast<uint32_t>(batch % options.slots), items, batch / perEpoch,
          batch % perEpoch};
}

/// Why nobody would ever gather the next batch, or no error.
Status Loader::refuseToWait() const {
  if (!thread.joinable())
    return {Code::Bug, "a batch is asked for before the loader has started"};
  if (taken == options.batchLimit)
    return {Code::Bug,
            fmt::format("batch {} is asked for, the loader ends after {}",
                        taken + 1, options.batchLimit)};
  if (taken - released == options.slots)
    return {Code::Bug, fmt::format("batch {} is asked for while all {} slots "
                                   "are in use",
                                   taken + 1, options.slots)};
  return {};
}

Expected<Batch> Loader::next() {
  DLRT_TRY(refuseToWait());
  uint32_t wanted = static_cast<uint32_t>(taken) + 1;
  for (int look = 0;; ++look) {
    uint32_t filled = filledCount.load(std::memory_order_acquire);
    if (static_cast<int32_t>(filled - wanted) >= 0)
      break;
    if (look < looksBeforeSleep) {
#if defined(__x86_64__)
      _mm_pause();
#endif
      continue;
    }
    filledCount.wait(filled, std::memory_order_acquire);
  }
  return describe(options.firstBatch + taken++);
}

void Loader::release() {
  ++released;
  freedCount.store(static_cast<uint32_t>(released), std::memory_order_release);
  // Waking costs more than a small batch: let half of the ring run empty.
  if (released % std::max(1u, options.slots / 2) == 0)
    freedCount.notify_one();
}

void Loader::threadMain() {
  for (uint64_t produced = 0; produced < options.batchLimit; ++produced) {
    for (;;) {
      uint32_t freed = freedCount.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_relaxed))
        return;
      if (static_cast<uint32_t>(produced) - freed < options.slots)
        break;
      freedCount.wait(freed, std::memory_order_acquire);
    }
    uint64_t batch = options.firstBatch + produced;
    gather(describe(batch));
    filledCount.store(static_cast<uint32_t>(produced) + 1,
                      std::memory_order_release);
    filledCount.notify_one();
  }
}

void Loader::gather(const Batch &batch) {
  for (uint32_t rank = 0; rank < options.ranks; ++rank)
    gatherFor(rank, batch);
}

void Loader::gatherFor(uint32_t rank, const Batch &batch) {
  Block part =
      options.share ? options.share(rank, batch.items) : Block{0, batch.items};
  std::vector<uint8_t *> &to = targets;
  bool wanted = false;
  for (size_t c = 0; c < to.size(); ++c) {
    to[c] = address(rank, batch.slot, c);
    wanted |= to[c] != nullptr;
  }
  if (!wanted)
    return;
  uint64_t begin = batch.index * options.batchSize + part.begin;
  Permutation order(dataset.items, options.seed, batch.epoch);
  for (uint64_t i = 0; i < part.size; ++i) {
    uint64_t item = options.shuffle ? order(begin + i) : begin + i;
    if (item >= dataset.distinct)
      item %= dataset.distinct;
    for (size_t c = 0; c < to.size(); ++c) {
      const DatasetComponent &component = dataset.components[c];
      if (to[c])
        std::memcpy(to[c] + i * component.itemBytes,
                    component.data + item * component.itemBytes,
                    component.itemBytes);
    }
  }
}
