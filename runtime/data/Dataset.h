// The items of a data set, raw as the batches carry them.
#ifndef DLRT_DATA_DATASET_H
#define DLRT_DATA_DATASET_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"
#include "runtime/data/ItemConversion.h"
#include "runtime/data/ItemSource.h"
#include "runtime/data/RandomFile.h"
#include "runtime/data/Selections.h"
#include "runtime/data/WeightedDraws.h"
#include "runtime/plan/plan_generated.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// One tensor of every item, one behind the other, or overlapping.
struct DatasetComponent {
  const uint8_t *data = nullptr; ///< null: not there, and not asked for
  uint64_t itemBytes = 0;        ///< where the data lie
  uint64_t itemStride = 0; ///< from an item to the next; 0: they do not overlap
  /// The same data to be read, where a mapping is not to be touched.
  const RandomFile *file = nullptr;
  uint64_t fileOffset = 0;
  /// Where they lie in several files: in each the items from `first` on. Of one
  /// file: none.
  struct Shard {
    uint64_t first;
    const uint8_t *data;
    const RandomFile *file;
    uint64_t fileOffset;
  };
  std::vector<Shard> shards = {};
  /// Makes the items, which lie nowhere.
  const ItemSource *source = nullptr;
  /// What the batch has in place of it.
  ItemConverter convert = nullptr;
  uint64_t elements = 0;   ///< of an item, to convert
  uint64_t batchBytes = 0; ///< of an item, converted

  uint64_t bytesInBatch() const { return convert ? batchBytes : itemBytes; }
  uint64_t offsetOf(uint64_t item) const {
    return item * (itemStride ? itemStride : itemBytes);
  }
  /// Where an item lies: mapped, and in a file, if it is to be read.
  struct Row {
    const uint8_t *data;
    const RandomFile *file;
    uint64_t offset;
  };
  Row rowOf(uint64_t item) const {
    if (shards.empty()) {
      uint64_t at = offsetOf(item);
      return {data ? data + at : nullptr, file, fileOffset + at};
    }
    auto shard = std::prev(
        std::ranges::upper_bound(shards, item, std::less<>(), &Shard::first));
    uint64_t at = offsetOf(item - shard->first);
    return {shard->data + at, shard->file, shard->fileOffset + at};
  }
};

/// One of the files of a component.
struct DataFile {
  std::string path;
  MappedFile mapped;
  const uint8_t *data; ///< of its first item
  uint64_t items;
};

/// Which files to open.
struct DataRequest {
  std::string step;                      ///< the name for messages
  std::optional<std::string> given = {}; ///< the path the user gave
  /// Where relative paths of the model are looked for first; empty: nowhere.
  std::string folder = {};
  /// By component: nobody reads it, so that it may be missing.
  std::vector<bool> unused = {};
};

inline bool isUnused(const DataRequest &request, size_t component) {
  return component < request.unused.size() && request.unused[component];
}

/// A step that reads nothing of its items, as one that draws all it needs, goes
/// over as many as there are.
inline bool usesNone(const DataRequest &request, size_t components) {
  for (size_t c = 0; c < components; ++c)
    if (!isUnused(request, c))
      return false;
  return true;
}
inline DataRequest withAll(DataRequest request) {
  request.unused.clear();
  return request;
}

/// A relative path of a model: in that folder, if it is there.
std::string pathOfModel(const std::string &path, const std::string &folder);

struct Dataset {
  uint64_t items = 0;
  /// Items that the components have; behind them the first ones come again.
  /// Only synthetic data have fewer than `items`, and parts of files more.
  uint64_t distinct = 0;
  /// Which of them are there: the first `items`, if nothing is said.
  Selections selections;
  /// Which of these an epoch has; null: each once.
  std::shared_ptr<const WeightedDraws> draws;
  std::vector<DatasetComponent> components;
  /// Made up, for a benchmark.
  bool synthetic = false;
  /// All lie in memory that is there for a while only: they are gathered when
  /// they are asked for, by who asks.
  bool atHand = false;
  /// Tells data of as many items apart, where there are no `files`.
  uint64_t fingerprint = 0;
  /// Where the data came from, for the start-up table.
  std::string source;

  // What the components point into: this data set's own, or another's, of which
  // it has a part.
  std::shared_ptr<const Dataset> whole;
  std::vector<MappedFile> files;
  std::vector<std::unique_ptr<RandomFile>> randomFiles;
  std::vector<std::string> notes; ///< what else is to be said of the data
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  std::vector<std::unique_ptr<ItemSource>> sources;

  /// Of each component that `isRead`, and is there, a hash of some bytes all
  /// over it: other data seldom have the same.
  std::vector<std::optional<uint64_t>>
  samples(const std::vector<bool> &isRead) const;

  /// The item of the components.
  uint64_t placeOf(uint64_t item) const {
    item = selections.empty() ? item : selections(item);
    return item < distinct ? item : item % distinct;
  }

  /// A component whose data lie in files, of which the plan's name is `path`,
  /// one behind the other. Of large ones rows are read and not mapped.
  Status add(DatasetComponent component, std::vector<DataFile> parts,
             const std::string &path);
};

/// Opens the files of a plan's data set, which may have any number of items:
/// all of them, whatever part of them the plan wants.
Expected<Dataset> openDataset(const fb::DatasetT &dataset,
                              const DataRequest &request);

/// Whether two data sets of a plan are items of the same files.
bool haveSameFiles(const fb::DatasetT &a, const fb::DatasetT &b);

/// The items of opened files that the plan's data set has, or draws. Refuses
/// files that are not those that the plan divides, or has weights for.
Expected<Dataset> selectItems(std::shared_ptr<const Dataset> whole,
                              const fb::DatasetT &dataset,
                              const DataRequest &request);

/// The files that a path of a data set stands for, or an error where there are
/// none that are like it.
Expected<std::vector<std::string>> dataFiles(const std::string &path);

/// The files that openDataset looks for.
std::vector<std::string> datasetPaths(const fb::DatasetT &dataset,
                                      const DataRequest &request);

/// Of a data set of .npy files or tokens, in the order of its components; empty
/// for one that is not there and not used.
Expected<std::vector<std::string>> tensorPaths(const fb::DatasetT &dataset,
                                               const DataRequest &request);

/// The kinds of openDataset.
Expected<Dataset> openPictures(const fb::DatasetT &dataset,
                               const DataRequest &request);
Expected<Dataset> openTensorFiles(const fb::DatasetT &dataset,
                                  const DataRequest &request);
Expected<Dataset> openTokens(const fb::DatasetT &dataset,
                             const DataRequest &request);
/// Where labels are used: pictures in folders that are classes of the plan,
/// some of them. Else those of any folder, and of those within.
Expected<Dataset> openImageFolder(const fb::DatasetT &dataset,
                                  const DataRequest &request);
std::string imageFolder(const fb::DatasetT &dataset,
                        const DataRequest &request);

/// Noise in place of files, for measuring: integers that index something are 0
/// or 1, bytes of pictures and floats are random. Equal on every run.
Dataset syntheticDataset(const fb::DatasetT &dataset);

} // namespace dlrt

#endif
