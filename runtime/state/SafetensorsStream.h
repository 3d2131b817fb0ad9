// A safetensors file that is written one tensor after the other.
#ifndef DLRT_STATE_SAFETENSORSSTREAM_H
#define DLRT_STATE_SAFETENSORSSTREAM_H

#include "runtime/base/GrowingFile.h"
#include "runtime/base/Status.h"
#include "runtime/state/Safetensors.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace dlrt {

/// The same file as writeSafetensors gives, for tensors that are not all in
/// memory at once. It has its name when `finish` has returned.
class SafetensorsStream {
public:
  using Metadata = std::map<std::string, std::string>;

  static Expected<SafetensorsStream>
  create(const std::string &path,
         std::map<std::string, SafetensorsLayout> tensors, Metadata metadata);

  /// A whole tensor; their order is free.
  Status write(const std::string &name, std::span<const uint8_t> values);
  /// Another value for an entry of the metadata, of the same length.
  Status setMetadata(const std::string &key, const std::string &value);
  Status finish();

private:
  explicit SafetensorsStream(GrowingFile file) : file(std::move(file)) {}

  GrowingFile file;
  std::map<std::string, SafetensorsLayout> tensors;
  Metadata metadata;
  uint64_t begin = 0; ///< of the first tensor
  size_t missing = 0; ///< tensors
};

} // namespace dlrt

#endif
