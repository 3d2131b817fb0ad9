// Gathers batches ahead of the steps that use them.
#ifndef DLRT_DATA_LOADER_H
#define DLRT_DATA_LOADER_H

#include "runtime/base/Status.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/Permutation.h"
#include "runtime/plan/Mesh.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dlrt {

struct LoaderOptions {
  uint64_t batchSize = 1;
  bool dropLast = false;
  bool byItem = false;   ///< what full batches leave over comes one by one
  bool fillLast = false; ///< the last batch is as long as others: its last item
                         ///< comes again
  bool shuffle = false;
  uint64_t seed = 0;
  uint32_t slots = 2;
  uint64_t firstBatch = 0; ///< counted over all epochs: where to start
  uint64_t batchLimit = ~uint64_t(0); ///< how many to gather
  uint32_t ranks = 1;                 ///< to gather for
  /// What a rank has of a batch of so many items; none: all of it.
  std::function<Block(uint32_t rank, uint64_t items)> share;
};

/// Batches of an epoch.
uint64_t batchesOf(uint64_t items, uint64_t batchSize, bool dropLast,
                   bool byItem = false);

struct Batch {
  uint32_t slot = 0;
  uint64_t items = 0; ///< of all ranks
  uint64_t epoch = 0;
  uint64_t index = 0; ///< within its epoch
};

/// A thread fills the slots of a ring in turn, over the border of epochs; where
/// reads of single rows wait for a disk or items are made, several do, each
/// whole batches. What a batch holds follows from its number alone, and a
/// rank's part of it from the rank. Items that are at hand need no thread:
/// next() gathers them.
class Loader {
public:
  /// Where a component of a rank's part of a slot's batch goes; null: nowhere.
  using SlotAddress =
      std::function<uint8_t *(uint32_t rank, uint32_t slot, size_t component)>;

  Loader(const Dataset &dataset, const LoaderOptions &options,
         SlotAddress address);
  ~Loader();
  Loader(const Loader &) = delete;
  Loader &operator=(const Loader &) = delete;

  /// Refuses options that give no batch, and a system without threads.
  Status start();

  uint64_t batchesPerEpoch() const { return perEpoch; }
  /// Items of the batch with that number.
  uint64_t itemsOf(uint64_t batch) const;

  /// An error of one of the items of a batch says which of the data it is.
  Status ofData(Status error, uint64_t batch) const;

  /// The next batch, waiting for it if need be. It stays valid until it is
  /// released. An error where nobody would ever gather it: before the start,
  /// past the limit, or while no slot is free.
  Expected<Batch> next();
  /// How long next() has waited, in seconds.
  double waited() const { return waitedSeconds; }
  /// Gives the oldest batch's slot back.
  void release();

private:
  Expected<Batch> gatherNext();
  void threadMain(uint64_t reader);
  void activateAll();
  bool waitForSlot(uint64_t batch);
  void publish(uint64_t batch);
  Status refuseToWait() const;
  /// What a reader needs besides.
  struct Workspace {
    std::vector<uint8_t *> to; ///< by component; null: not wanted
    std::vector<uint8_t> row;  ///< before it is converted
    /// By component: of those that make their items.
    std::vector<std::unique_ptr<ItemReader>> makers;
    Permutation order; ///< of the last batch's epoch
    std::vector<uint64_t> items;
  };
  void prepare(Workspace &space) const;
  /// Which items a part of a batch has, in `space.items`.
  void choose(const Block &part, const Batch &batch, Workspace &space) const;
  /// What comes at a position of an epoch; `order` may be that of another one.
  uint64_t itemAt(uint64_t position, uint64_t epoch, Permutation &order) const;
  /// Items follow one another as they do in the files.
  bool keepsOrder() const {
    return !options.shuffle && !dataset.draws && dataset.selections.keepOrder();
  }
  Status gather(const Batch &batch, Workspace &space);
  Status gatherFor(uint32_t rank, const Batch &batch, Workspace &space);
  Status readRows(const Block &part, const Batch &batch, size_t component,
                  Workspace &space);
  Status makeRows(const Block &part, const Batch &batch, size_t component,
                  Workspace &space);
  void noteFailure(uint64_t batch, Status status);
  Batch describe(uint64_t batch) const;
  uint64_t beginOf(uint64_t index) const;

  const Dataset &dataset;
  LoaderOptions options;
  SlotAddress address;
  uint64_t perEpoch = 0;
  bool started = false;
  Workspace own; ///< of next(), where it gathers

  uint64_t taken = 0;    ///< by the consumer
  uint64_t released = 0; ///< by the consumer
  double waitedSeconds = 0;
  // Published counts, modulo 2^32.
  alignas(64) std::atomic<uint32_t> filledCount = 0;
  alignas(64) std::atomic<uint32_t> freedCount = 0;
  std::atomic<bool> stopping = false;
  uint64_t readers = 1;
  std::atomic<uint32_t> active = 1; ///< of the readers
  std::atomic<uint64_t> taking = 0; ///< the next batch that nobody gathers
  std::vector<std::thread> threads;
  std::mutex failureLock;
  std::atomic<uint64_t> failedBatch = ~uint64_t(0); ///< the first one
  Status failure;
};

} // namespace dlrt

#endif
