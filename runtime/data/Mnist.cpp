#include "runtime/data/Idx.h"
#include "runtime/data/Pictures.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

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
                                  const DataRequest &request,
                                  const std::string &folder) {
  std::vector<std::string> names = pictureFiles(dataset);
  std::string images = findIn(folder, names[0]);
  std::string labels = findIn(folder, names[1]);
  bool needsLabels = !isUnused(request, 1);
  if (images.empty() || (labels.empty() && needsLabels))
    return Status(Code::Io, fmt::format("'{}' has no {}[.gz]", folder,
                                        images.empty() ? names[0] : names[1]));
  Dataset out;
  out.source = "from " + folder;
  DLRT_TRY(addFile(out, *dataset.components[0], images, 3));
  if (needsLabels)
    DLRT_TRY(addFile(out, *dataset.components[1], labels, 1));
  else
    out.components.emplace_back();
  out.distinct = out.items;
  return out;
}
