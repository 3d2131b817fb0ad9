#include "runtime/data/Dataset.h"
#include "runtime/data/Npy.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

using namespace dlrt;

static std::string baseName(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

/// The files: the plan's, or the same names in the folder the user gave, or
/// the comma-separated files he gave, of those in use at least.
Expected<std::vector<std::string>>
dlrt::tensorPaths(const fb::DatasetT &dataset, const DataRequest &request) {
  std::vector<std::string> paths;
  if (!request.given) {
    for (const std::string &path : dataset.paths)
      paths.push_back(pathOfModel(path, request.folder));
    return paths;
  }
  const std::string &given = *request.given;
  struct stat info;
  if (stat(given.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    for (const std::string &path : dataset.paths)
      paths.push_back(given + "/" + baseName(path));
    return paths;
  }
  if (dataset.paths.size() == 1 && stat(given.c_str(), &info) == 0)
    return std::vector<std::string>{given}; // with commas in its name, too
  for (size_t at = 0; at <= given.size();) {
    size_t end = std::min(given.find(',', at), given.size());
    paths.push_back(given.substr(at, end - at));
    at = end + 1;
  }
  size_t used = 0;
  for (size_t c = 0; c < dataset.paths.size(); ++c)
    used += !isUnused(request, c);
  if (paths.size() == used && used < dataset.paths.size())
    for (size_t c = 0; c < dataset.paths.size(); ++c)
      if (isUnused(request, c))
        paths.insert(paths.begin() + static_cast<ptrdiff_t>(c), "");
  bool looksLikeFolder = paths.size() == 1 && dataset.paths.size() > 1 &&
                         given.find_first_of("*?") == std::string::npos;
  if (looksLikeFolder && access(given.c_str(), F_OK) != 0)
    return Status(Code::Io, fmt::format("--data {}={}: no such folder",
                                        request.step, given));
  if (paths.size() != dataset.paths.size())
    return Status(Code::Usage,
                  fmt::format("--data {}={}: {} files, the data set has {}",
                              request.step, given, paths.size(),
                              dataset.paths.size()));
  return paths;
}

static const char *numpyName(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::F32:
    return "float32";
  case fb::DType::F64:
    return "float64";
  case fb::DType::I64:
    return "int64";
  case fb::DType::I32:
    return "int32";
  case fb::DType::U8:
    return "uint8";
  case fb::DType::Bool:
    return "bool_";
  case fb::DType::BF16: // no input has it
    break;
  }
  return "float32";
}

static Status checkItems(const NpyArray &array,
                         const fb::InputComponentT &component,
                         const std::string &path) {
  std::vector<uint64_t> item(array.shape.begin() + 1, array.shape.end());
  bool fits = dtypeOf(array.element) == component.dtype ||
              itemConverter(array.element, component.dtype);
  if (fits && item == component.shape)
    return {};
  std::string remedy;
  if (item == component.shape)
    remedy =
        fmt::format("; save x.astype(numpy.{})", numpyName(component.dtype));
  return {Code::Training,
          fmt::format("'{}' has items {} {}, the plan was compiled for {} {}{}",
                      path, nameOf(array.element), shapeText(item),
                      nameOf(component.dtype), shapeText(component.shape),
                      remedy)};
}

/// What stands between the file's elements and the batch's.
static void setConversion(Dataset &out, DatasetComponent &added,
                          const NpyArray &array,
                          const fb::InputComponentT &component,
                          const std::string &path) {
  itemBytes(component, added.itemBytes);
  if (dtypeOf(array.element) == component.dtype)
    return;
  added.convert = itemConverter(array.element, component.dtype);
  added.batchBytes = added.itemBytes;
  added.elements = added.batchBytes / sizeOf(component.dtype);
  added.itemBytes = added.elements * sizeOf(array.element);
  out.notes.push_back(fmt::format("'{}' is {}, the model's data are {}: each "
                                  "value is converted as it is read",
                                  path, nameOf(array.element),
                                  nameOf(component.dtype)));
}

/// Of as many files as another component has, each has the items of its
/// counterpart, or two of them are mixed up.
static Status checkShards(const Dataset &out,
                          const std::vector<DataFile> &files) {
  for (const DatasetComponent &other : out.components) {
    if (other.shards.size() != files.size())
      continue;
    uint64_t first = 0;
    for (size_t f = 0; f < files.size(); first += files[f++].items)
      if (other.shards[f].first != first)
        return {Code::Training,
                fmt::format("'{}' has {} items, the file beside it {}",
                            files[f - 1].path, files[f - 1].items,
                            other.shards[f].first - other.shards[f - 1].first)};
  }
  return {};
}

/// The arrays of a component, one behind the other.
static Status addArrays(Dataset &out, const fb::InputComponentT &component,
                        const std::string &path) {
  auto paths = dataFiles(path);
  if (!paths)
    return paths.takeError();
  DatasetComponent added;
  std::vector<DataFile> files;
  std::optional<FileElement> element;
  uint64_t items = 0;
  for (const std::string &one : *paths) {
    Expected<MappedFile> file = MappedFile::open(one);
    if (!file)
      return {file.status().code(), file.status().message() +
                                        "; --data says where the data are: a "
                                        "folder, or FILE.npy,..."};
    Expected<NpyArray> array = parseNpy(file->bytes());
    if (!array)
      return array.takeError().within(one);
    if (array->shape.empty())
      return {Code::Training, fmt::format("'{}' is a single number", one)};
    if (element.value_or(array->element) != array->element)
      return {Code::Training, fmt::format("'{}' holds {}, '{}' before it {}",
                                          one, nameOf(array->element),
                                          paths->front(), nameOf(*element))};
    DLRT_TRY(checkItems(*array, component, one));
    if (!element)
      setConversion(out, added, *array, component, path);
    element = array->element;
    if (array->shape[0] == 0)
      return {Code::Training, fmt::format("'{}' has no items", one)};
    items += array->shape[0];
    files.push_back(
        {one, std::move(*file), array->data.data(), array->shape[0]});
  }
  if (out.items != 0 && items != out.items)
    return {Code::Training,
            fmt::format("'{}' has {} items, the file before it {}", path, items,
                        out.items)};
  out.items = items;
  DLRT_TRY(checkShards(out, files));
  return out.add(std::move(added), std::move(files), path);
}

Expected<Dataset> dlrt::openTensorFiles(const fb::DatasetT &dataset,
                                        const DataRequest &request) {
  if (usesNone(request, dataset.components.size()))
    return openTensorFiles(dataset, withAll(request));
  auto paths = tensorPaths(dataset, request);
  if (!paths)
    return paths.takeError();
  Dataset out;
  for (size_t c = 0; c < dataset.components.size(); ++c)
    if (isUnused(request, c))
      out.components.emplace_back();
    else
      DLRT_TRY(addArrays(out, *dataset.components[c], (*paths)[c]));
  out.distinct = out.items;
  return out;
}
