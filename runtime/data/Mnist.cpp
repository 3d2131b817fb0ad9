#include "runtime/data/Dataset.h"
#include "runtime/data/Idx.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <unistd.h>

using namespace dlrt;

/// The file in a folder, plain or compressed; empty if it is not there.
static std::string findIn(const std::string &folder, const std::string &name) {
  for (const char *suffix : {"", ".gz"}) {
    std::string path = folder + "/" + name + suffix;
    if (access(path.c_str(), F_OK) == 0)
      return path;
  }
  return {};
}

static std::vector<std::string> foldersOf(const fb::DatasetT &dataset,
                                          const DataRequest &request) {
  if (request.given)
    return {*request.given};
  std::vector<std::string> folders;
  if (const char *data = std::getenv("DL_DATA"); data && *data)
    folders.push_back(std::string(data) + "/mnist");
  folders.push_back(
      dataset.root.empty() ? "." : pathOfModel(dataset.root, request.folder));
  return folders;
}

std::vector<std::string> dlrt::mnistPaths(const fb::DatasetT &dataset,
                                          const DataRequest &request) {
  std::vector<std::string> paths;
  std::string split = dataset.train ? "train" : "t10k";
  for (const std::string &folder : foldersOf(dataset, request))
    for (const char *name : {"-images-idx3-ubyte", "-labels-idx1-ubyte"})
      for (const char *suffix : {"", ".gz"})
        paths.push_back(folder + "/" + split + name + suffix);
  return paths;
}

static Status notFound(const std::string &step,
                       const std::vector<std::string> &folders,
                       const std::string &images, const std::string &labels) {
  std::string places;
  for (const std::string &folder : folders)
    places += fmt::format("{}'{}'", places.empty() ? "" : " and ", folder);
  return {Code::Io,
          fmt::format("no MNIST files for '{}': looked in {} for {}[.gz] and "
                      "{}[.gz]; name their folder with --data {}=FOLDER, or "
                      "set DL_DATA to a folder that holds mnist/",
                      step, places, images, labels, step)};
}

/// Images may be stored as [N,28,28] where the batch has [1,28,28].
static bool sameItem(std::vector<uint64_t> file, std::vector<uint64_t> item) {
  file.erase(file.begin());
  std::erase(file, 1);
  std::erase(item, 1);
  return file == item;
}

static Status addFile(Dataset &out, const fb::InputComponentT &component,
                      const std::string &path, unsigned rank) {
  Expected<IdxFile> idx = openIdx(path, rank);
  if (!idx)
    return idx.takeError();
  if (!sameItem(idx->shape, component.shape))
    return {Code::Training,
            fmt::format("'{}' has items of other extents ({}) than the plan "
                        "was compiled for ({})",
                        path, shapeText(idx->shape),
                        shapeText(component.shape))};
  if (out.components.empty())
    out.items = idx->shape[0];
  else if (out.items != idx->shape[0])
    return {Code::Training, fmt::format("'{}' has {} labels for {} images",
                                        path, idx->shape[0], out.items)};
  DatasetComponent added;
  added.data = idx->data;
  itemBytes(component, added.itemBytes);
  out.components.push_back(added);
  out.files.push_back(std::move(idx->file));
  out.memory.push_back(std::move(idx->memory));
  return {};
}

Expected<Dataset> dlrt::openMnist(const fb::DatasetT &dataset,
                                  const DataRequest &request) {
  std::string split = dataset.train ? "train" : "t10k";
  std::string images = split + "-images-idx3-ubyte";
  std::string labels = split + "-labels-idx1-ubyte";
  std::vector<std::string> folders = foldersOf(dataset, request);
  for (const std::string &folder : folders) {
    std::string imagePath = findIn(folder, images);
    std::string labelPath = findIn(folder, labels);
    if (imagePath.empty() && labelPath.empty())
      continue;
    bool needsLabels = !isUnused(request, 1);
    if (imagePath.empty() || (labelPath.empty() && needsLabels))
      return Status(Code::Io, fmt::format("'{}' has no {}[.gz]", folder,
                                          imagePath.empty() ? images : labels));
    Dataset out;
    out.source = "from " + folder;
    DLRT_TRY(addFile(out, *dataset.components[0], imagePath, 3));
    if (needsLabels)
      DLRT_TRY(addFile(out, *dataset.components[1], labelPath, 1));
    else
      out.components.emplace_back();
    out.distinct = out.items;
    return out;
  }
  return notFound(request.step, folders, images, labels);
}
