#include "runtime/data/Dataset.h"
#include "runtime/base/FilesLike.h"
#include "runtime/base/Fnv1a.h"
#include "runtime/data/Pictures.h"

#include <fmt/format.h>
#include <unistd.h>

using namespace dlrt;

/// From here on rows are read and not mapped.
static constexpr uint64_t largeFile = uint64_t(256) << 20;

Status Dataset::add(DatasetComponent component, std::vector<DataFile> parts,
                    const std::string &path) {
  uint64_t bytes = 0, first = 0;
  for (const DataFile &part : parts)
    bytes += part.mapped.bytes().size();
  for (DataFile &part : parts) {
    DatasetComponent::Shard shard = {first, part.data, nullptr, 0};
    if (bytes >= largeFile) {
      auto rows = RandomFile::open(part.path);
      if (!rows)
        return rows.takeError();
      randomFiles.push_back(std::make_unique<RandomFile>(std::move(*rows)));
      shard.file = randomFiles.back().get();
      shard.fileOffset =
          static_cast<uint64_t>(part.data - part.mapped.bytes().data());
    }
    first += part.items;
    component.shards.push_back(shard);
    files.push_back(std::move(part.mapped));
  }
  component.data = component.shards.front().data;
  component.file = component.shards.front().file;
  component.fileOffset = component.shards.front().fileOffset;
  source += (source.empty() ? "from " : ", ") + path;
  if (component.shards.size() > 1)
    source += fmt::format(" ({} files)", component.shards.size());
  else
    component.shards.clear();
  components.push_back(std::move(component));
  return {};
}

/// Of the bytes at some places all over the items of a file.
static void addSample(Fnv1a &sum, const DatasetComponent &component,
                      const uint8_t *data, uint64_t items) {
  constexpr uint64_t places = 64, bytesThere = 64;
  uint64_t all = component.offsetOf(items - 1) + component.itemBytes;
  uint64_t step = std::max(bytesThere, all / places);
  for (uint64_t at = 0; at < all; at += step)
    for (uint64_t i = at; i < std::min(all, at + bytesThere); ++i)
      sum.add(data[i]);
}

static uint64_t sampleOf(const DatasetComponent &component, uint64_t items) {
  Fnv1a sum;
  if (component.shards.empty())
    addSample(sum, component, component.data, items);
  for (size_t s = 0; s < component.shards.size(); ++s) {
    const DatasetComponent::Shard &shard = component.shards[s];
    uint64_t end =
        s + 1 < component.shards.size() ? component.shards[s + 1].first : items;
    addSample(sum, component, shard.data, end - shard.first);
  }
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

/// Beside the data that the user gave, if it is there, or where the plan says.
static std::string weightsPath(const fb::DatasetT &dataset,
                               const DataRequest &request) {
  const std::string &path = dataset.sampler->weights;
  if (request.given) {
    std::string beside =
        *request.given + "/" + path.substr(path.rfind('/') + 1);
    if (access(beside.c_str(), F_OK) == 0)
      return beside;
  }
  return pathOfModel(path, request.folder);
}

Expected<Dataset> dlrt::selectItems(std::shared_ptr<const Dataset> whole,
                                    const fb::DatasetT &dataset,
                                    const DataRequest &request) {
  Expected<Selections> made = Selections::make(dataset, whole->items);
  if (!made)
    return made.takeError();
  Dataset part;
  uint64_t there =
      made->empty() ? whole->items : dataset.selections.front()->items;
  part.items = there;
  if (dataset.sampler) {
    auto draws = WeightedDraws::read(weightsPath(dataset, request), there);
    if (!draws)
      return draws.takeError();
    part.draws = std::make_shared<const WeightedDraws>(std::move(*draws));
    part.items = dataset.items;
  }
  part.distinct = whole->distinct;
  part.selections = std::move(*made);
  part.components = whole->components;
  part.fingerprint = whole->fingerprint;
  part.source = whole->source;
  part.whole = std::move(whole);
  return part;
}

static std::vector<std::string> itemPaths(const fb::DatasetT &dataset,
                                          const DataRequest &request) {
  if (isOfPictures(dataset))
    return picturePaths(dataset, request);
  if (dataset.kind == fb::DatasetKind::ImageFolder)
    return {imageFolder(dataset, request)};
  auto paths = tensorPaths(dataset, request);
  std::vector<std::string> all;
  if (paths)
    for (const std::string &path : *paths)
      std::ranges::move(filesLike(path), std::back_inserter(all));
  return all;
}

std::vector<std::string> dlrt::datasetPaths(const fb::DatasetT &dataset,
                                            const DataRequest &request) {
  std::vector<std::string> all = itemPaths(dataset, request);
  if (dataset.sampler)
    all.push_back(weightsPath(dataset, request));
  return all;
}

Expected<std::vector<std::string>> dlrt::dataFiles(const std::string &path) {
  std::vector<std::string> files = filesLike(path);
  if (files.empty())
    return Status(Code::Io, fmt::format("no file is like '{}'; --data says "
                                        "where the data are",
                                        path));
  return files;
}

std::string dlrt::pathOfModel(const std::string &path,
                              const std::string &folder) {
  if (folder.empty() || path.starts_with('/'))
    return path;
  std::string there = folder + "/" + path;
  return areThere(there) ? there : path;
}
