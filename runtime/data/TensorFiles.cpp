#include "runtime/data/Dataset.h"
#include "runtime/data/Npy.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

using namespace dlrt;

static std::string baseName(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

/// The files: the plan's, or the same names in the folder the user gave, or
/// the comma-separated files he gave.
Expected<std::vector<std::string>>
dlrt::tensorPaths(const fb::DatasetT &dataset, const std::string &step,
                  const std::optional<std::string> &given) {
  if (!given)
    return dataset.paths;
  std::vector<std::string> paths;
  struct stat info;
  if (stat(given->c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    for (const std::string &path : dataset.paths)
      paths.push_back(*given + "/" + baseName(path));
    return paths;
  }
  for (size_t at = 0; at <= given->size();) {
    size_t end = std::min(given->find(',', at), given->size());
    paths.push_back(given->substr(at, end - at));
    at = end + 1;
  }
  bool looksLikeFolder = paths.size() == 1 && dataset.paths.size() > 1;
  if (looksLikeFolder && access(given->c_str(), F_OK) != 0)
    return Status(Code::Io,
                  fmt::format("--data {}={}: no such folder", step, *given));
  if (paths.size() != dataset.paths.size())
    return Status(Code::Usage,
                  fmt::format("--data {}={}: {} files, the data set has {}",
                              step, *given, paths.size(),
                              dataset.paths.size()));
  return paths;
}

static Status addArray(Dataset &out, const fb::DatasetT &dataset,
                       const fb::InputComponentT &component,
                       const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  Expected<NpyArray> array = parseNpy(file->bytes());
  if (!array)
    return array.takeError().within(path);
  if (array->shape.empty())
    return {Code::Training, fmt::format("'{}' is a single number", path)};
  std::vector<uint64_t> item(array->shape.begin() + 1, array->shape.end());
  if (array->dtype != component.dtype || item != component.shape)
    return {Code::Training,
            fmt::format("'{}' has items {} {}, the plan was compiled for {} {}",
                        path, nameOf(array->dtype), shapeText(item),
                        nameOf(component.dtype), shapeText(component.shape))};
  uint64_t items = array->shape[0];
  if (!out.components.empty() && items != out.items)
    return {Code::Training,
            fmt::format("'{}' has {} items, the file before it {}", path, items,
                        out.items)};
  DLRT_TRY(checkItems(dataset, path, items));
  out.items = items;
  DatasetComponent added;
  added.data = array->data.data();
  itemBytes(component, added.itemBytes);
  out.components.push_back(added);
  out.source += (out.source.empty() ? "from " : ", ") + path;
  out.files.push_back(std::move(*file));
  return {};
}

Expected<Dataset>
dlrt::openTensorFiles(const fb::DatasetT &dataset, const std::string &step,
                      const std::optional<std::string> &given) {
  auto paths = tensorPaths(dataset, step, given);
  if (!paths)
    return paths.takeError();
  Dataset out;
  for (size_t c = 0; c < dataset.components.size(); ++c)
    DLRT_TRY(addArray(out, dataset, *dataset.components[c], (*paths)[c]));
  out.distinct = out.items;
  return out;
}
