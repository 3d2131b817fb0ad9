// The container of a plan file: header, section table, 4096-aligned sections.
// FORMAT.md describes it byte by byte.
#ifndef DLRT_PLAN_CONTAINER_H
#define DLRT_PLAN_CONTAINER_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dlrt {

enum class SectionKind : uint32_t {
  Metadata = 1,
  Image = 2,
  CodeRecord = 4,
};

struct ContainerFormat {
  static constexpr uint8_t magic[8] = {'D', 'L', 'P', 'L', 'A', 'N', 0, 1};
  static constexpr uint32_t version = 24;
  static constexpr size_t versionAt = 8;
  static constexpr size_t sectionCountAt = 12;
  static constexpr size_t fileSizeAt = 16;
  static constexpr size_t checksumAt = 24;
  static constexpr size_t headerBytes = 32; ///< the section table follows
  static constexpr size_t entryBytes = 24;
  static constexpr size_t alignment = 4096;
  static constexpr size_t maxSections = 1024;
};

struct SectionView {
  SectionKind kind;
  std::span<const uint8_t> bytes;
};

/// FNV-1a, 64 bits wide, over little-endian 8-byte words; the last bytes that
/// fill no word are taken one by one.
class Checksum {
public:
  /// All but the last call must give a multiple of 8 bytes.
  void add(std::span<const uint8_t> bytes);
  uint64_t value() const { return hash; }

private:
  uint64_t hash = 0xcbf29ce484222325u;
};

/// Checks header, checksum and section table; the views point into `file`.
Expected<std::vector<SectionView>> readContainer(std::span<const uint8_t> file);

/// The checksum in the header of a file that readContainer accepted.
uint64_t storedChecksum(std::span<const uint8_t> file);

} // namespace dlrt

#endif
