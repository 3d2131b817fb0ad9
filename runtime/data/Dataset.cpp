#include "runtime/data/Dataset.h"
#include "runtime/base/Fnv1a.h"
#include "runtime/data/Pictures.h"

#include <algorithm>
#include <unistd.h>

using namespace dlrt;

/// From here on rows are read and not mapped.
static constexpr uint64_t largeFile = uint64_t(256) << 20;

Status Dataset::add(DatasetComponent component, MappedFile file,
                    const std::string &path) {
  if (file.bytes().size() >= largeFile) {
    auto rows = RandomFile::open(path);
    if (!rows)
      return rows.takeError();
    randomFiles.push_back(std::make_unique<RandomFile>(std::move(*rows)));
    component.file = randomFiles.back().get();
    component.fileOffset =
        static_cast<uint64_t>(component.data - file.bytes().data());
  }
  components.push_back(component);
  source += (source.empty() ? "from " : ", ") + path;
  files.push_back(std::move(file));
  return {};
}

/// Of the bytes at some places all over a component.
static uint64_t sampleOf(const DatasetComponent &component, uint64_t items) {
  constexpr uint64_t places = 64, bytesThere = 64;
  Fnv1a sum;
  uint64_t all = component.offsetOf(items - 1) + component.itemBytes;
  uint64_t step = std::max(bytesThere, all / places);
  for (uint64_t at = 0; at < all; at += step)
    for (uint64_t i = at; i < std::min(all, at + bytesThere); ++i)
      sum.add(component.data[i]);
  return sum.value();
}

std::vector<std::optional<uint64_t>>
Dataset::samples(const std::vector<bool> &isRead) const {
  std::vector<std::optional<uint64_t>> hashes;
  for (size_t c = 0; c < components.size(); ++c) {
    const DatasetComponent &component = components[c];
    auto &hash = hashes.emplace_back();
    if (c >= isRead.size() || !isRead[c])
      continue;
    if (component.data && distinct != 0)
      hash = sampleOf(component, distinct);
    else if (component.source && fingerprint)
      hash = fingerprint;
  }
  return hashes;
}

Expected<Dataset> dlrt::openDataset(const fb::DatasetT &dataset,
                                    const DataRequest &request) {
  if (isOfPictures(dataset))
    return openPictures(dataset, request);
  if (dataset.kind == fb::DatasetKind::ImageFolder)
    return openImageFolder(dataset, request);
  if (dataset.kind == fb::DatasetKind::Tokens)
    return openTokens(dataset, request);
  return openTensorFiles(dataset, request);
}

bool dlrt::haveSameFiles(const fb::DatasetT &a, const fb::DatasetT &b) {
  auto sameComponent = [](const auto &one, const auto &other) {
    return one->dtype == other->dtype && one->shape == other->shape;
  };
  auto sameTransform = [](const auto &one, const auto &other) {
    return one->kind == other->kind && one->height == other->height &&
           one->width == other->width && one->numbers == other->numbers;
  };
  return a.kind == b.kind && a.root == b.root && a.paths == b.paths &&
         a.train == b.train && a.stride == b.stride && a.classes == b.classes &&
         std::ranges::equal(a.components, b.components, sameComponent) &&
         std::ranges::equal(a.transforms, b.transforms, sameTransform);
}

Expected<Dataset> dlrt::selectItems(std::shared_ptr<const Dataset> whole,
                                    const fb::DatasetT &dataset) {
  Expected<Selections> made = Selections::make(dataset, whole->items);
  if (!made)
    return made.takeError();
  Dataset part;
  part.items = made->empty() ? whole->items : dataset.items;
  part.distinct = whole->distinct;
  part.selections = std::move(*made);
  part.components = whole->components;
  part.fingerprint = whole->fingerprint;
  part.source = whole->source;
  part.whole = std::move(whole);
  return part;
}

std::vector<std::string> dlrt::datasetPaths(const fb::DatasetT &dataset,
                                            const DataRequest &request) {
  if (isOfPictures(dataset))
    return picturePaths(dataset, request);
  if (dataset.kind == fb::DatasetKind::ImageFolder)
    return {imageFolder(dataset, request)};
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
