#include "runtime/base/Fnv1a.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/ImageTransforms.h"
#include "runtime/data/images/DecodeImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <unistd.h>

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
  /// Of all names, in their order, and of the labels.
  uint64_t hash(const std::vector<int64_t> &labels) const {
    Fnv1a sum;
    for (char c : all)
      sum.add(static_cast<uint8_t>(c));
    for (int64_t label : labels)
      for (int shift = 0; shift < 64; shift += 8)
        sum.add(static_cast<uint8_t>(label >> shift));
    return sum.value();
  }
  size_t unreadable = 0; ///< pictures of formats that are not read
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

/// Of folders within folders: links may lead back. dlcc has the same.
static constexpr int mostDepth = 32;

static Status cannotRead(const std::string &path, std::error_code why) {
  return {Code::Io, fmt::format("cannot read {}: {}", path, why.message())};
}

/// The pictures of a folder and of those within, folder by folder as Python's
/// sorted(os.walk()) has them.
static Status addPictures(const std::string &root, const std::string &below,
                          FileNames &names) {
  std::error_code failed;
  std::string top = below.empty() ? root : (fs::path(root) / below).native();
  std::vector<std::string> files;
  fs::recursive_directory_iterator at(
      top, fs::directory_options::follow_directory_symlink, failed);
  auto nameOf = [&](const fs::path &path) {
    return path.native().substr(root.size() + !root.ends_with('/'));
  };
  for (; !failed && at != fs::recursive_directory_iterator();
       at.increment(failed)) {
    if (at.depth() == mostDepth)
      return {Code::Training,
              fmt::format("'{}': folders within folders, {} deep; does a link "
                          "lead back?",
                          at->path().native(), mostDepth)};
    std::error_code ignored; // of a link to nothing
    if (at->is_directory(ignored))
      continue;
    std::string name = at->path().filename();
    if (isImageName(name))
      files.push_back(nameOf(at->path()));
    names.unreadable += isUnreadableImageName(name);
  }
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

static Expected<std::set<std::string>>
foldersWithin(const std::string &folder) {
  std::set<std::string> found;
  std::error_code failed, ignored;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed))
    if (at->is_directory(ignored))
      found.insert(at->path().filename());
  if (failed)
    return cannotRead(folder, failed);
  return found;
}

/// Some of them, for messages.
static std::string listed(const std::vector<std::string> &names) {
  constexpr size_t most = 10;
  std::string text;
  for (size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i ? ", " : "") + names[i];
  return names.size() > most ? text + ", ..." : text;
}

static Status unknownClass(const fb::DatasetT &dataset,
                           const std::string &folder, const std::string &name) {
  return {Code::Training,
          fmt::format("'{}/{}': the model knows no class '{}'; its {} classes "
                      "are {}",
                      folder, name, name, dataset.classes.size(),
                      listed(dataset.classes))};
}

static Status noPictures(const DataRequest &request,
                         const std::string &folder) {
  std::string where = isUnused(request, 1)
                          ? ""
                          : fmt::format(" in folders of their classes, which "
                                        "'{}' reads as labels",
                                        request.step);
  return {
      Code::Training,
      fmt::format("'{}' holds no pictures{}; JPEG, PNG, PPM and PGM are read",
                  folder, where)};
}

/// Pictures beside the folders within.
static uint64_t countLoose(const std::string &folder) {
  uint64_t count = 0;
  std::error_code failed, ignored;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed))
    count += isImageName(at->path().filename().native()) &&
             !at->is_directory(ignored);
  return count;
}

/// Where the folders within are classes, the pictures in these are the items,
/// whether labels are read or not: two steps over a folder have the same ones.
static Status addItems(const fb::DatasetT &dataset, const DataRequest &request,
                       const std::string &folder, FileNames &names,
                       std::vector<int64_t> &labels, Dataset &out) {
  auto within = foldersWithin(folder);
  if (!within)
    return within.takeError();
  std::set<std::string_view> classes(dataset.classes.begin(),
                                     dataset.classes.end());
  auto unknown = std::ranges::find_if(
      *within, [&](const auto &name) { return !classes.contains(name); });
  bool byClass =
      !isUnused(request, 1) || (unknown == within->end() && !within->empty());
  if (byClass && unknown != within->end())
    return unknownClass(dataset, folder, *unknown);
  if (!byClass) {
    DLRT_TRY(addPictures(folder, "", names));
  } else {
    std::vector<std::string> missing;
    for (size_t label = 0; label < dataset.classes.size(); ++label) {
      const std::string &name = dataset.classes[label];
      size_t before = names.size();
      if (within->contains(name))
        DLRT_TRY(addPictures(folder, name, names));
      labels.resize(names.size(), static_cast<int64_t>(label));
      if (names.size() == before)
        missing.push_back(name);
    }
    if (!missing.empty())
      out.notes.push_back(fmt::format("'{}' has no picture of {} of the {} "
                                      "classes: {}",
                                      folder, missing.size(),
                                      dataset.classes.size(), listed(missing)));
  }
  if (uint64_t loose = byClass ? countLoose(folder) : 0)
    out.notes.push_back(fmt::format("'{}': {} pictures beside the folders of "
                                    "the classes are left out",
                                    folder, loose));
  if (names.unreadable)
    out.notes.push_back(fmt::format("'{}': {} pictures of formats that are not "
                                    "read (BMP, TIFF, WebP) are left out",
                                    folder, names.unreadable));
  return names.size() == 0 ? noPictures(request, folder) : Status();
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

static Status notThere(const fb::DatasetT &dataset, const DataRequest &request,
                       const std::string &folder) {
  if (request.given)
    return {Code::Io,
            fmt::format("--data {}={}: no such folder", request.step, folder)};
  std::string besides = request.folder.empty() || folder.starts_with('/')
                            ? ""
                            : fmt::format(" in '{}' or here", request.folder);
  return {Code::Io,
          fmt::format("no folder '{}'{}, with the pictures of '{}'; --data "
                      "{}=FOLDER names another one",
                      dataset.root, besides, request.step, request.step)};
}

Expected<Dataset> dlrt::openImageFolder(const fb::DatasetT &dataset,
                                        const DataRequest &request) {
  std::string folder = imageFolder(dataset, request);
  if (access(folder.c_str(), F_OK) != 0)
    return notThere(dataset, request, folder);
  Dataset out;
  FileNames names;
  std::vector<int64_t> labels;
  DLRT_TRY(addItems(dataset, request, folder, names, labels, out));
  out.items = out.distinct = names.size();
  out.source = fmt::format("from {}", folder);
  out.fingerprint = names.hash(labels);
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
