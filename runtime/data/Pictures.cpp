#include "runtime/data/Pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

using namespace dlrt;

/// Files of records, each a label or two and a picture.
static bool isCifar(const fb::DatasetT &dataset) {
  return dataset.kind == fb::DatasetKind::CIFAR10 ||
         dataset.kind == fb::DatasetKind::CIFAR100;
}

bool dlrt::isOfPictures(const fb::DatasetT &dataset) {
  return dataset.kind == fb::DatasetKind::MNIST ||
         dataset.kind == fb::DatasetKind::FashionMNIST ||
         dataset.kind == fb::DatasetKind::KMNIST || isCifar(dataset);
}

/// Below $DL_DATA.
static const char *folderName(fb::DatasetKind kind) {
  switch (kind) {
  case fb::DatasetKind::FashionMNIST:
    return "fashion-mnist";
  case fb::DatasetKind::CIFAR10:
    return "cifar-10-batches-bin"; // as the archive has it
  case fb::DatasetKind::CIFAR100:
    return "cifar-100-binary";
  case fb::DatasetKind::KMNIST:
    return "kmnist";
  default:
    return "mnist";
  }
}

static std::vector<std::string> foldersOf(const fb::DatasetT &dataset,
                                          const DataRequest &request) {
  if (request.given)
    return {*request.given};
  std::vector<std::string> folders;
  if (const char *data = std::getenv("DL_DATA"); data && *data)
    folders.push_back(fmt::format("{}/{}", data, folderName(dataset.kind)));
  folders.push_back(
      dataset.root.empty() ? "." : pathOfModel(dataset.root, request.folder));
  return folders;
}

std::vector<std::string> dlrt::pictureFiles(const fb::DatasetT &dataset) {
  if (!isCifar(dataset)) {
    std::string split = dataset.train ? "train" : "t10k";
    return {split + "-images-idx3-ubyte", split + "-labels-idx1-ubyte"};
  }
  if (dataset.kind == fb::DatasetKind::CIFAR100)
    return {dataset.train ? "train.bin" : "test.bin"};
  if (!dataset.train)
    return {"test_batch.bin"};
  std::vector<std::string> files;
  for (int part = 1; part <= 5; ++part)
    files.push_back(fmt::format("data_batch_{}.bin", part));
  return files;
}

static std::vector<const char *> suffixes(const fb::DatasetT &dataset) {
  if (isCifar(dataset))
    return {""};
  return {"", ".gz"};
}

std::vector<std::string> dlrt::picturePaths(const fb::DatasetT &dataset,
                                            const DataRequest &request) {
  std::vector<std::string> paths;
  for (const std::string &folder : foldersOf(dataset, request))
    for (const std::string &file : pictureFiles(dataset))
      for (const char *suffix : suffixes(dataset))
        paths.push_back(folder + "/" + file + suffix);
  return paths;
}

static Status notFound(const fb::DatasetT &dataset, const std::string &step,
                       const std::vector<std::string> &folders) {
  std::string places, files;
  for (const std::string &folder : folders)
    places += fmt::format("{}'{}'", places.empty() ? "" : " and ", folder);
  std::vector<std::string> names = pictureFiles(dataset);
  const char *suffix = suffixes(dataset).size() > 1 ? "[.gz]" : "";
  for (size_t i = 0; i < names.size(); ++i) {
    const char *between = i + 1 < names.size() ? ", " : " and ";
    files += fmt::format("{}{}{}", i == 0 ? "" : between, names[i], suffix);
  }
  return {Code::Io,
          fmt::format("no {} files for '{}': looked in {} for {}; name their "
                      "folder with --data {}=FOLDER, or set DL_DATA to a "
                      "folder that holds {}/",
                      fb::EnumNameDatasetKind(dataset.kind), step, places,
                      files, step, folderName(dataset.kind))};
}

Expected<Dataset> dlrt::openPictures(const fb::DatasetT &dataset,
                                     const DataRequest &request) {
  std::vector<std::string> folders = foldersOf(dataset, request);
  for (const std::string &folder : folders) {
    bool anyThere = false;
    for (const std::string &file : pictureFiles(dataset))
      for (const char *suffix : suffixes(dataset))
        anyThere |= access((folder + "/" + file + suffix).c_str(), F_OK) == 0;
    if (anyThere)
      return isCifar(dataset) ? openCifar(dataset, folder)
                              : openMnist(dataset, request, folder);
  }
  return notFound(dataset, request.step, folders);
}
