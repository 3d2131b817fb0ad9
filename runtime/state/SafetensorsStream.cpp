#include "runtime/state/SafetensorsStream.h"

#include <fmt/format.h>

#include <utility>

using namespace dlrt;

Expected<SafetensorsStream>
SafetensorsStream::create(const std::string &path,
                          std::map<std::string, SafetensorsLayout> tensors,
                          Metadata metadata) {
  auto file = GrowingFile::create(path);
  if (!file)
    return file.takeError();
  SafetensorsStream stream(std::move(*file));
  stream.tensors = std::move(tensors);
  stream.metadata = std::move(metadata);
  stream.begin = safetensorsHeader(stream.tensors, stream.metadata).size();
  stream.missing = stream.tensors.size();
  return stream;
}

Status SafetensorsStream::write(const std::string &name,
                                std::span<const uint8_t> values) {
  const SafetensorsLayout &tensor = tensors.at(name);
  if (values.size() != tensor.bytes)
    return {Code::Bug, fmt::format("'{}' has {} bytes, {} were to come", name,
                                   values.size(), tensor.bytes)};
  --missing;
  return file.writeAt(begin + tensor.offset, values);
}

Status SafetensorsStream::setMetadata(const std::string &key,
                                      const std::string &value) {
  std::string &own = metadata.at(key);
  if (own.size() != value.size())
    return {Code::Bug, fmt::format("'{}' cannot become longer", key)};
  own = value;
  return {};
}

Status SafetensorsStream::finish() {
  if (missing != 0)
    return {Code::Bug, fmt::format("{} tensors are missing", missing)};
  std::string header = safetensorsHeader(tensors, metadata);
  DLRT_TRY(file.writeAt(
      0, {reinterpret_cast<const uint8_t *>(header.data()), header.size()}));
  return file.finish();
}
