#include "runtime/data/Loader.h"

#include "runtime/base/Cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <sched.h>
#include <sys/resource.h>
#include <system_error>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace dlrt;

/// What a disk answers at the same time. More hardly help, and each has a slot.
static constexpr uint64_t readersOfRows = 8;

/// Reads wait for a disk where so many batches in a row were interrupted at
/// three of four rows. Now and then a thread waits for other reasons.
static constexpr unsigned waitingBatches = 8;
static constexpr uint64_t waitsPerRowIn4 = 3;

/// Looks at a batch that is not there yet before the consumer sleeps.
static constexpr int looksBeforeSleep = 500;

Loader::Loader(const Dataset &dataset, const LoaderOptions &options,
               SlotAddress address)
    : dataset(dataset), options(options), address(std::move(address)) {
  perEpoch = batchesOf(dataset.items, options.batchSize, options.dropLast,
                       options.byItem);
}

uint64_t dlrt::batchesOf(uint64_t items, uint64_t batchSize, bool dropLast,
                         bool byItem) {
  uint64_t left = dropLast ? 0 : items % batchSize;
  return items / batchSize + (byItem ? left : left != 0);
}

Status Loader::start() {
  if (perEpoch == 0)
    return {Code::Training, fmt::format("{} items do not fill a batch of {}",
                                        dataset.items, options.batchSize)};
  started = true;
  if (dataset.atHand) {
    prepare(own);
    return {};
  }
  for (const DatasetComponent &component : dataset.components)
    if (component.file) {
      bool follow = keepsOrder();
      component.file->expect(!follow);
      for (const DatasetComponent::Shard &shard : component.shards)
        shard.file->expect(!follow);
      if (!follow)
        readers = std::min<uint64_t>(readersOfRows, options.slots);
    } else if (component.source) { // as many as cores, from the start on
      readers = std::clamp<uint64_t>(coresOfProcess().size(), 1, options.slots);
      active = static_cast<uint32_t>(readers);
    }
  try {
    for (uint64_t r = 0; r < readers; ++r)
      threads.emplace_back([this, r] { threadMain(r); });
  } catch (const std::system_error &error) {
    return {Code::Unavailable,
            fmt::format("cannot start the loader's thread: {}", error.what())};
  }
  return {};
}

Loader::~Loader() {
  // Wakes the threads, which look at `stopping` first.
  stopping.store(true);
  activateAll();
  freedCount.fetch_add(1);
  freedCount.notify_all();
  filledCount.fetch_add(1);
  filledCount.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

/// The first item of a batch of an epoch.
uint64_t Loader::beginOf(uint64_t index) const {
  uint64_t full = dataset.items / options.batchSize;
  return index <= full || !options.byItem
             ? index * options.batchSize
             : full * options.batchSize + (index - full);
}

uint64_t Loader::itemsOf(uint64_t batch) const {
  uint64_t begin = beginOf(batch % perEpoch);
  uint64_t left = dataset.items - begin;
  return left < options.batchSize && options.byItem
             ? 1
             : std::min(options.batchSize, left);
}

Status Loader::ofData(Status error, uint64_t batch) const {
  auto place = error.itemOfBatch();
  if (!place || *place >= itemsOf(batch))
    return error;
  if (dataset.synthetic)
    return {error.code(),
            error.message() + "; the data are made up: --data gives others"};
  Permutation order;
  uint64_t item =
      itemAt(beginOf(batch % perEpoch) + *place, batch / perEpoch, order);
  return {error.code(),
          fmt::format("{}; that is item {} of the data, if the model has left "
                      "them in their order",
                      error.message(), item)};
}

Batch Loader::describe(uint64_t batch) const {
  uint64_t items = itemsOf(batch);
  return {static_cast<uint32_t>(batch % options.slots), items, batch / perEpoch,
          batch % perEpoch};
}

/// Why nobody would ever gather the next batch, or no error.
Status Loader::refuseToWait() const {
  if (!started)
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

Expected<Batch> Loader::gatherNext() {
  Batch batch = describe(options.firstBatch + taken);
  DLRT_TRY(gather(batch, own));
  ++taken;
  return batch;
}

Expected<Batch> Loader::next() {
  DLRT_TRY(refuseToWait());
  if (dataset.atHand)
    return gatherNext();
  uint32_t wanted = static_cast<uint32_t>(taken) + 1;
  using Clock = std::chrono::steady_clock;
  Clock::time_point began;
  for (int look = 0;; ++look) {
    uint32_t filled = filledCount.load(std::memory_order_acquire);
    if (static_cast<int32_t>(filled - wanted) >= 0) {
      if (look != 0)
        waitedSeconds +=
            std::chrono::duration<double>(Clock::now() - began).count();
      break;
    }
    if (look == 0)
      began = Clock::now();
    if (look < looksBeforeSleep) {
#if defined(__x86_64__)
      _mm_pause();
#endif
      continue;
    }
    filledCount.wait(filled, std::memory_order_acquire);
  }
  uint64_t batch = options.firstBatch + taken++;
  if (failedBatch.load(std::memory_order_acquire) <= batch) {
    std::lock_guard lock(failureLock);
    return failure;
  }
  return describe(batch);
}

void Loader::release() {
  ++released;
  freedCount.store(static_cast<uint32_t>(released), std::memory_order_release);
  // Waking costs more than a small batch: let half of the ring run empty.
  uint32_t at = active.load(std::memory_order_relaxed);
  if (released % std::max(1u, options.slots / (2 * at)) != 0)
    return;
  if (readers == 1)
    freedCount.notify_one();
  else
    freedCount.notify_all();
}

/// Whether there is something to do with the slot.
bool Loader::waitForSlot(uint64_t batch) {
  for (;;) {
    uint32_t freed = freedCount.load(std::memory_order_acquire);
    if (stopping.load(std::memory_order_relaxed))
      return false;
    if (static_cast<int32_t>(static_cast<uint32_t>(batch) - freed) <
        static_cast<int32_t>(options.slots))
      return true;
    freedCount.wait(freed, std::memory_order_acquire);
  }
}

/// Batches come in their order, whoever gathers them.
void Loader::publish(uint64_t batch) {
  for (;;) {
    uint32_t filled = filledCount.load(std::memory_order_acquire);
    if (stopping.load(std::memory_order_relaxed))
      return;
    if (filled == static_cast<uint32_t>(batch))
      break;
    filledCount.wait(filled, std::memory_order_acquire);
  }
  filledCount.store(static_cast<uint32_t>(batch) + 1,
                    std::memory_order_release);
  filledCount.notify_all();
}

/// How often this thread has waited for something.
static uint64_t waitsOfThread() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_nvcsw);
}

void Loader::prepare(Workspace &space) const {
  space.to.resize(dataset.components.size());
  space.makers.resize(dataset.components.size());
  for (size_t c = 0; c < space.makers.size(); ++c)
    if (const ItemSource *source = dataset.components[c].source)
      space.makers[c] = source->reader(options.seed);
}

void Loader::threadMain(uint64_t reader) {
  // With a core for each thread that computes there is none for this one: let
  // it take those that wait, and whole slices of time, not interrupt them.
  sched_param none = {};
  sched_setscheduler(0, SCHED_BATCH, &none);
  runOnAnyCore();
  // The others begin where reads wait for a disk; elsewhere they would only be
  // in each other's way.
  while (reader >= active.load(std::memory_order_acquire) &&
         !stopping.load(std::memory_order_relaxed))
    active.wait(1, std::memory_order_acquire);
  Workspace space;
  prepare(space);
  unsigned inARow = 0;
  for (;;) {
    uint64_t produced = taking.fetch_add(1, std::memory_order_relaxed);
    if (produced >= options.batchLimit || !waitForSlot(produced))
      return;
    Batch batch = describe(options.firstBatch + produced);
    bool watches = active.load(std::memory_order_relaxed) < readers;
    uint64_t waits = watches ? waitsOfThread() : 0;
    Status status;
    try {
      status = gather(batch, space);
    } catch (const std::bad_alloc &) {
      status = {Code::Unavailable, "no memory to read a batch"};
    }
    if (!status.ok())
      noteFailure(options.firstBatch + produced, std::move(status));
    if (watches) {
      bool waited = (waitsOfThread() - waits) * 4 >
                    batch.items / options.ranks * waitsPerRowIn4;
      inARow = waited ? inARow + 1 : 0;
      if (inARow == waitingBatches)
        activateAll();
    }
    publish(produced);
  }
}

void Loader::activateAll() {
  active.store(static_cast<uint32_t>(readers), std::memory_order_release);
  active.notify_all();
}

void Loader::noteFailure(uint64_t batch, Status status) {
  std::lock_guard lock(failureLock);
  if (batch >= failedBatch.load(std::memory_order_relaxed))
    return;
  failure = std::move(status);
  failedBatch.store(batch, std::memory_order_release);
}

static Status convertItem(const DatasetComponent &component, uint64_t item,
                          const uint8_t *from, uint8_t *to) {
  if (component.convert(from, component.elements, to))
    return {};
  return {Code::Training,
          fmt::format("item {} has a value that is too large for the model's "
                      "dtype",
                      item)};
}

/// Rows of one component by reads of a file. In the file's order, one will do.
Status Loader::readRows(const Block &part, const Batch &batch, size_t c,
                        Workspace &space) {
  const DatasetComponent &component = dataset.components[c];
  uint64_t bytes = component.itemBytes, inBatch = component.bytesInBatch();
  uint8_t *to = space.to[c];
  uint64_t begin = beginOf(batch.index) + part.begin;
  bool follow =
      keepsOrder() && part.size != 0 && begin + part.size <= dataset.items;
  if (follow && !component.convert && !component.itemStride &&
      component.shards.empty())
    return component.file->read(component.fileOffset +
                                    component.offsetOf(space.items.front()),
                                {to, part.size * bytes});
  space.row.resize(component.convert ? bytes : 0);
  for (uint64_t i = 0; i < part.size; ++i) {
    uint64_t item = space.items[i];
    uint8_t *row = component.convert ? space.row.data() : to + i * inBatch;
    const DatasetComponent::Row lies = component.rowOf(item);
    DLRT_TRY(lies.file->read(lies.offset, {row, bytes}));
    if (component.convert)
      DLRT_TRY(convertItem(component, item, row, to + i * inBatch)
                   .within(lies.file->path()));
  }
  return {};
}

Status Loader::makeRows(const Block &part, const Batch &batch, size_t c,
                        Workspace &space) {
  uint64_t bytes = dataset.components[c].itemBytes;
  for (uint64_t i = 0; i < part.size; ++i) {
    if (stopping.load(std::memory_order_relaxed))
      return {};
    DLRT_TRY(space.makers[c]->read(space.items[i], batch.epoch,
                                   space.to[c] + i * bytes));
  }
  return {};
}

void Loader::choose(const Block &part, const Batch &batch,
                    Workspace &space) const {
  uint64_t begin = beginOf(batch.index) + part.begin;
  space.items.resize(part.size);
  for (uint64_t i = 0; i < part.size; ++i)
    space.items[i] = itemAt(std::min(begin + i, dataset.items - 1), batch.epoch,
                            space.order);
}

uint64_t Loader::itemAt(uint64_t position, uint64_t epoch,
                        Permutation &order) const {
  if (dataset.draws)
    return dataset.placeOf((*dataset.draws)(options.seed, epoch, position));
  if (!options.shuffle)
    return dataset.placeOf(position);
  if (!order.is(dataset.items, options.seed, epoch))
    order.reset(dataset.items, options.seed, epoch);
  return dataset.placeOf(order(position));
}

/// Rows lie anywhere in memory, and the next one's bytes can be on their way
/// while one is copied: so many of this size keep a core's requests busy.
static uint64_t rowsAhead(uint64_t bytes) {
  return std::clamp<uint64_t>(2048 / std::max<uint64_t>(bytes, 1), 1, 16);
}

/// Behind the first bytes of a row the hardware sees where it goes.
static void prefetch(const uint8_t *row, uint64_t bytes) {
  for (uint64_t at = 0; at < std::min<uint64_t>(bytes, 1024); at += 64)
    __builtin_prefetch(row + at);
}

Status Loader::gather(const Batch &batch, Workspace &space) {
  for (uint32_t rank = 0; rank < options.ranks; ++rank)
    DLRT_TRY(gatherFor(rank, batch, space));
  return {};
}

Status Loader::gatherFor(uint32_t rank, const Batch &batch, Workspace &space) {
  uint64_t items = options.fillLast ? options.batchSize : batch.items;
  Block part = options.share ? options.share(rank, items) : Block{0, items};
  std::vector<uint8_t *> &to = space.to;
  choose(part, batch, space);
  bool anyMapped = false;
  for (size_t c = 0; c < to.size(); ++c) {
    const DatasetComponent &component = dataset.components[c];
    to[c] = address(rank, batch.slot, c);
    if (to[c] && component.file)
      DLRT_TRY(readRows(part, batch, c, space));
    if (to[c] && component.source)
      DLRT_TRY(makeRows(part, batch, c, space));
    if (component.file || !component.data)
      to[c] = nullptr; // done, or asked for by nobody
    anyMapped |= to[c] != nullptr;
  }
  if (!anyMapped)
    return {};
  for (uint64_t i = 0; i < part.size; ++i) {
    for (size_t c = 0; c < to.size(); ++c) {
      const DatasetComponent &component = dataset.components[c];
      if (!to[c])
        continue;
      uint64_t bytes = component.itemBytes;
      if (uint64_t next = i + rowsAhead(bytes); next < part.size)
        prefetch(component.rowOf(space.items[next]).data, bytes);
      uint64_t item = space.items[i];
      const uint8_t *from = component.rowOf(item).data;
      uint8_t *row = to[c] + i * component.bytesInBatch();
      if (component.convert)
        DLRT_TRY(convertItem(component, item, from, row));
      else
        std::memcpy(row, from, bytes);
    }
  }
  return {};
}
