#include "runtime/data/Dataset.h"
#include "runtime/data/ImageTransforms.h"
#include "runtime/data/images/DecodeImage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

using namespace dlrt;
namespace fs = std::filesystem;

namespace {

/// Paths below a folder. There may be millions.
class FileNames {
public:
  void add(const std::string &name) {
    begins.push_back(all.size());
    all.append(name.c_str(), name.size() + 1);
  }
  size_t size() const { return begins.size(); }
  const char *operator[](size_t i) const { return all.data() + begins[i]; }

private:
  std::string all;
  std::vector<size_t> begins;
};

class ImageFiles : public ItemSource {
public:
  ImageFiles(const fb::DatasetT &dataset, std::string folder, FileNames names)
      : folder(std::move(folder)), names(std::move(names)) {
    for (const auto &transform : dataset.transforms)
      transforms.push_back(std::make_unique<fb::ImageTransformT>(*transform));
    const std::vector<uint64_t> &shape = dataset.components.front()->shape;
    height = shape[1], width = shape[2];
  }
  std::unique_ptr<ItemReader> reader(uint64_t seed) const override;

  const std::string folder;
  const FileNames names;
  std::vector<std::unique_ptr<fb::ImageTransformT>> transforms;
  uint64_t height = 0, width = 0; ///< behind the transforms
};

class ImageReader : public ItemReader {
public:
  ImageReader(const ImageFiles &files, uint64_t seed)
      : files(files), seed(seed) {}

  Status read(uint64_t item, uint64_t epoch, uint8_t *to) override {
    std::string path = files.folder + "/" + files.names[item];
    Expected<MappedFile> file = MappedFile::open(path);
    if (!file)
      return file.takeError();
    DLRT_TRY(decodeImage(file->bytes(), image).within(path));
    DLRT_TRY(transforms.apply(files.transforms, {seed, epoch, item}, image)
                 .within(path));
    if (image.height != files.height || image.width != files.width)
      return {Code::Bug, path + ": its size is not the batch's"};
    toPlanes(image, to);
    return {};
  }

private:
  const ImageFiles &files;
  uint64_t seed;
  Image image;
  ImageTransforms transforms;
};

std::unique_ptr<ItemReader> ImageFiles::reader(uint64_t seed) const {
  return std::make_unique<ImageReader>(*this, seed);
}

} // namespace

static Status cannotRead(const std::string &path, std::error_code why) {
  return {Code::Io, fmt::format("cannot read {}: {}", path, why.message())};
}

/// The pictures of a folder and of those within, folder by folder as Python's
/// sorted(os.walk()) has them.
static Status addPictures(const std::string &root, const std::string &below,
                          FileNames &names) {
  std::error_code failed;
  std::string top = below.empty() ? root : root + "/" + below;
  std::vector<std::string> folders = {below}, files;
  fs::recursive_directory_iterator at(
      top, fs::directory_options::follow_directory_symlink, failed);
  auto nameOf = [&](const fs::path &path) {
    return path.native().substr(root.size() + 1);
  };
  for (; !failed && at != fs::recursive_directory_iterator();
       at.increment(failed))
    if (at->is_directory(failed))
      folders.push_back(nameOf(at->path()));
    else if (isImageName(at->path().filename().native()))
      files.push_back(nameOf(at->path()));
  if (failed)
    return cannotRead(top, failed);
  auto folderOf = [](const std::string &file) {
    size_t slash = file.rfind('/');
    return std::string_view(file).substr(0, slash == file.npos ? 0 : slash);
  };
  std::ranges::sort(files, [&](const std::string &a, const std::string &b) {
    auto left = folderOf(a), right = folderOf(b);
    return left != right ? left < right : a < b;
  });
  for (const std::string &file : files)
    names.add(file);
  return {};
}

/// The folders within, sorted, and whether one of them is no class of the plan.
static Expected<std::vector<std::string>>
classFolders(const fb::DatasetT &dataset, const std::string &folder) {
  std::vector<std::string> found;
  std::error_code failed;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed))
    if (at->is_directory())
      found.push_back(at->path().filename());
  if (failed)
    return cannotRead(folder, failed);
  std::ranges::sort(found);
  for (const std::string &name : found)
    if (std::ranges::find(dataset.classes, name) == dataset.classes.end()) {
      constexpr size_t most = 10;
      std::vector<std::string> first(
          dataset.classes.begin(),
          dataset.classes.begin() +
              static_cast<ptrdiff_t>(std::min(most, dataset.classes.size())));
      return Status(Code::Training,
                    fmt::format("'{}/{}': the model knows no class '{}'; its "
                                "{} classes are {}{}",
                                folder, name, name, dataset.classes.size(),
                                fmt::join(first, ", "),
                                dataset.classes.size() > most ? ", ..." : ""));
    }
  return found;
}

static void addLabels(Dataset &out, const std::vector<int64_t> &labels) {
  DatasetComponent added;
  added.itemBytes = sizeof(int64_t);
  auto memory = std::make_unique<uint8_t[]>(labels.size() * sizeof(int64_t));
  std::memcpy(memory.get(), labels.data(), labels.size() * sizeof(int64_t));
  added.data = memory.get();
  out.memory.push_back(std::move(memory));
  out.components.push_back(added);
}

Expected<Dataset> dlrt::openImageFolder(const fb::DatasetT &dataset,
                                        const DataRequest &request) {
  std::string folder = imageFolder(dataset, request);
  FileNames names;
  std::vector<int64_t> labels;
  if (isUnused(request, 1)) {
    DLRT_TRY(addPictures(folder, "", names));
  } else {
    auto classes = classFolders(dataset, folder);
    if (!classes)
      return classes.takeError();
    for (const std::string &name : *classes) {
      DLRT_TRY(addPictures(folder, name, names));
      labels.resize(names.size(), std::ranges::find(dataset.classes, name) -
                                      dataset.classes.begin());
    }
  }
  if (names.size() == 0)
    return Status(
        Code::Training,
        fmt::format("'{}' holds no pictures{}; JPEG, PNG, PPM and PGM "
                    "are read",
                    folder,
                    isUnused(request, 1) ? ""
                                         : " in folders of their "
                                           "classes"));
  Dataset out;
  out.items = out.distinct = names.size();
  out.source = fmt::format("from {}", folder);
  DatasetComponent pictures;
  pictures.itemBytes = 1;
  for (uint64_t extent : dataset.components.front()->shape)
    pictures.itemBytes *= extent;
  out.sources.push_back(
      std::make_unique<ImageFiles>(dataset, folder, std::move(names)));
  pictures.source = out.sources.back().get();
  out.components.push_back(pictures);
  if (isUnused(request, 1))
    out.components.emplace_back();
  else
    addLabels(out, labels);
  return out;
}

std::string dlrt::imageFolder(const fb::DatasetT &dataset,
                              const DataRequest &request) {
  std::string folder = request.given
                           ? *request.given
                           : pathOfModel(dataset.root, request.folder);
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.pop_back();
  return folder;
}
