// Weight files: https://github.com/huggingface/safetensors
#ifndef DLRT_STATE_SAFETENSORS_H
#define DLRT_STATE_SAFETENSORS_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

struct SafetensorsEntry {
  std::string dtype; ///< as in the file: "F32", "BF16"
  std::vector<uint64_t> shape;
  std::span<const uint8_t> data; ///< row-major, little-endian
};

/// A mapped weight file, checked whole: known dtypes, sizes that agree with the
/// shapes, no holes and no overlaps.
struct SafetensorsFile {
  MappedFile file;
  std::map<std::string, SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;

  static Expected<SafetensorsFile> open(const std::string &path);
};

/// The tensors described by the bytes of a file, and its metadata if wanted.
Expected<std::map<std::string, SafetensorsEntry>>
parseSafetensors(std::span<const uint8_t> bytes,
                 std::map<std::string, std::string> *metadata = nullptr);

/// A tensor of a file that is still to be written.
struct SafetensorsLayout {
  std::string dtype;
  std::vector<uint64_t> shape;
  uint64_t bytes = 0;
  uint64_t offset = 0; ///< behind the header, set by safetensorsHeader
};

/// The file's beginning, up to the first tensor. The largest dtypes come first,
/// then the order is that of the names.
std::string
safetensorsHeader(std::map<std::string, SafetensorsLayout> &tensors,
                  const std::map<std::string, std::string> &metadata);

/// Writes tensors and metadata atomically: the largest dtypes first, then by
/// name, so that equal tensors give equal files.
Status
writeSafetensors(const std::string &path,
                 const std::map<std::string, SafetensorsEntry> &tensors,
                 const std::map<std::string, std::string> &metadata = {});

/// Bytes of an element; 0 for a dtype this reader does not know.
uint64_t safetensorsElementBytes(const std::string &dtype);

} // namespace dlrt

#endif
