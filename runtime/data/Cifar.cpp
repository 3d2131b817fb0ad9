#include "runtime/data/Pictures.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <cstring>
#include <unistd.h>

using namespace dlrt;

Expected<Dataset> dlrt::openCifar(const fb::DatasetT &dataset,
                                  const std::string &folder) {
  bool isFine = dataset.kind == fb::DatasetKind::CIFAR100;
  uint64_t image, labelsOfImage = isFine ? 2 : 1; // the last one is the class
  itemBytes(*dataset.components[0], image);
  uint64_t record = labelsOfImage + image;
  Dataset out;
  std::vector<MappedFile> files;
  for (const std::string &name : pictureFiles(dataset)) {
    std::string path = folder + "/" + name;
    if (access(path.c_str(), F_OK) != 0)
      return Status(Code::Io, fmt::format("'{}' has no {}", folder, name));
    Expected<MappedFile> file = MappedFile::open(path);
    if (!file)
      return file.takeError();
    uint64_t bytes = file->bytes().size();
    if (bytes == 0 || bytes % record != 0)
      return Status(Code::Training,
                    fmt::format("'{}' is no file of CIFAR-{}'s binary version: "
                                "its {} bytes are not records of {}",
                                path, isFine ? 100 : 10, bytes, record));
    out.items += bytes / record;
    files.push_back(std::move(*file));
  }
  // Apart from one another, as a batch has them.
  auto images = std::make_unique_for_overwrite<uint8_t[]>(out.items * image);
  auto labels = std::make_unique_for_overwrite<uint8_t[]>(out.items);
  uint64_t item = 0;
  for (const MappedFile &file : files)
    for (uint64_t at = 0; at < file.bytes().size(); at += record, ++item) {
      const uint8_t *pixels = file.bytes().data() + at + labelsOfImage;
      labels[item] = pixels[-1];
      std::memcpy(images.get() + item * image, pixels, image);
    }
  out.source = "from " + folder;
  out.distinct = out.items;
  for (auto *memory : {&images, &labels}) {
    DatasetComponent added;
    added.data = memory->get();
    added.itemBytes = memory == &images ? image : 1;
    out.components.push_back(added);
    out.memory.push_back(std::move(*memory));
  }
  return out;
}
