#include "runtime/data/Dataset.h"

#include <fmt/format.h>

using namespace dlrt;

Expected<Dataset> dlrt::openDataset(const fb::DatasetT &dataset,
                                    const std::string &step,
                                    const std::optional<std::string> &given) {
  if (dataset.kind == fb::DatasetKind::MNIST)
    return openMnist(dataset, step, given);
  return openTensorFiles(dataset, step, given);
}

std::vector<std::string>
dlrt::datasetPaths(const fb::DatasetT &dataset, const std::string &step,
                   const std::optional<std::string> &given) {
  if (dataset.kind == fb::DatasetKind::MNIST)
    return mnistPaths(dataset, given);
  auto paths = tensorPaths(dataset, step, given);
  return paths ? *paths : std::vector<std::string>();
}

Status dlrt::checkItems(const fb::DatasetT &dataset, const std::string &path,
                        uint64_t items) {
  if (items == dataset.items)
    return {};
  // Without a short last batch, the steps of the plan fit any length.
  bool anyLength = dataset.kind == fb::DatasetKind::Tensor && dataset.drop_last;
  if (anyLength && items >= dataset.batch_size)
    return {};
  if (anyLength)
    return {Code::Training, fmt::format("'{}' has {} items, which do not fill "
                                        "one batch of {}",
                                        path, items, dataset.batch_size)};
  return {Code::Training,
          fmt::format("'{}' has {} items, the plan was compiled for {}", path,
                      items, dataset.items)};
}
