// The items of a data set, raw as the batches carry them.
#ifndef DLRT_DATA_DATASET_H
#define DLRT_DATA_DATASET_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// One tensor of every item, item after item.
struct DatasetComponent {
  const uint8_t *data = nullptr;
  uint64_t itemBytes = 0;
};

struct Dataset {
  uint64_t items = 0;
  /// Items that really exist; behind them the first ones come again. Only
  /// synthetic data have fewer than `items`.
  uint64_t distinct = 0;
  std::vector<DatasetComponent> components;
  /// Where the data came from, for the start-up table.
  std::string source;

  // What the components point into.
  std::vector<MappedFile> files;
  std::vector<std::unique_ptr<uint8_t[]>> memory;
};

/// Opens the files of a plan's data set. `step` is the name for messages,
/// `given` the path the user gave for it.
Expected<Dataset> openDataset(const fb::DatasetT &dataset,
                              const std::string &step,
                              const std::optional<std::string> &given);

/// The files that openDataset looks for.
std::vector<std::string> datasetPaths(const fb::DatasetT &dataset,
                                      const std::string &step,
                                      const std::optional<std::string> &given);
std::vector<std::string> mnistPaths(const fb::DatasetT &dataset,
                                    const std::optional<std::string> &given);

/// Of a data set of .npy files, in the order of its components.
Expected<std::vector<std::string>>
tensorPaths(const fb::DatasetT &dataset, const std::string &step,
            const std::optional<std::string> &given);

/// The kinds of openDataset.
Expected<Dataset> openMnist(const fb::DatasetT &dataset,
                            const std::string &step,
                            const std::optional<std::string> &given);
Expected<Dataset> openTensorFiles(const fb::DatasetT &dataset,
                                  const std::string &step,
                                  const std::optional<std::string> &given);

/// Noise in place of files, for measuring: integers that index something are 0
/// or 1, bytes of pictures and floats are random. Equal on every run.
Dataset syntheticDataset(const fb::DatasetT &dataset);

/// A file's number of items must be what the plan was compiled for.
Status checkItems(const fb::DatasetT &dataset, const std::string &path,
                  uint64_t items);

} // namespace dlrt

#endif
