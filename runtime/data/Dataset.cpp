#include "runtime/data/Dataset.h"

#include <unistd.h>

using namespace dlrt;

Expected<Dataset> dlrt::openDataset(const fb::DatasetT &dataset,
                                    const DataRequest &request) {
  if (dataset.kind == fb::DatasetKind::MNIST)
    return openMnist(dataset, request);
  return openTensorFiles(dataset, request);
}

std::vector<std::string> dlrt::datasetPaths(const fb::DatasetT &dataset,
                                            const DataRequest &request) {
  if (dataset.kind == fb::DatasetKind::MNIST)
    return mnistPaths(dataset, request);
  auto paths = tensorPaths(dataset, request);
  return paths ? *paths : std::vector<std::string>();
}

std::string dlrt::pathOfModel(const std::string &path,
                              const std::string &folder) {
  if (folder.empty() || path.starts_with('/'))
    return path;
  std::string there = folder + "/" + path;
  return access(there.c_str(), F_OK) == 0 ? there : path;
}
