#include "runtime/plan/Container.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;
using Format = ContainerFormat;

void Checksum::add(std::span<const uint8_t> bytes) {
  constexpr uint64_t prime = 0x100000001b3u;
  size_t words = bytes.size() / 8;
  for (size_t i = 0; i < words; ++i) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + 8 * i, 8);
    hash = (hash ^ word) * prime;
  }
  for (uint8_t byte : bytes.subspan(8 * words))
    hash = (hash ^ byte) * prime;
}

template <typename Int>
static Int load(std::span<const uint8_t> file, size_t at) {
  Int value;
  std::memcpy(&value, file.data() + at, sizeof(value));
  return value;
}

static Status damaged(std::string what) {
  return {Code::Plan, "the plan is damaged: " + std::move(what)};
}

static Status checkHeader(std::span<const uint8_t> file) {
  if (file.size() < Format::headerBytes ||
      !std::equal(Format::magic, Format::magic + 8, file.begin())) {
    bool ours = file.size() >= 6 && !std::memcmp(file.data(), "DLPLAN", 6);
    return ours ? damaged(fmt::format("only {} bytes are left", file.size()))
                : Status(Code::Plan, "this is not a plan file");
  }
  uint32_t version = load<uint32_t>(file, Format::versionAt);
  if (version != Format::version)
    return {Code::Plan,
            fmt::format("the plan has format version {}, this dlrun reads "
                        "version {}; compile the model again",
                        version, Format::version)};
  uint64_t size = load<uint64_t>(file, Format::fileSizeAt);
  if (size != file.size())
    return damaged(
        fmt::format("it should have {} bytes and has {}", size, file.size()));
  Checksum checksum;
  checksum.add(file.subspan(Format::headerBytes));
  if (checksum.value() != load<uint64_t>(file, Format::checksumAt))
    return damaged("the checksum does not match");
  return {};
}

uint64_t dlrt::storedChecksum(std::span<const uint8_t> file) {
  return load<uint64_t>(file, Format::checksumAt);
}

static bool isKnownSection(uint32_t kind) {
  switch (SectionKind(kind)) {
  case SectionKind::Metadata:
  case SectionKind::Image:
  case SectionKind::CodeRecord:
    return true;
  }
  return false;
}

Expected<std::vector<SectionView>>
dlrt::readContainer(std::span<const uint8_t> file) {
  DLRT_TRY(checkHeader(file));
  uint32_t count = load<uint32_t>(file, Format::sectionCountAt);
  if (count > Format::maxSections ||
      count * Format::entryBytes > file.size() - Format::headerBytes)
    return damaged(fmt::format("a table of {} sections does not fit", count));
  std::vector<SectionView> sections;
  uint64_t end = Format::headerBytes + count * Format::entryBytes;
  for (uint32_t i = 0; i < count; ++i) {
    size_t at = Format::headerBytes + i * Format::entryBytes;
    uint32_t kind = load<uint32_t>(file, at);
    uint64_t offset = load<uint64_t>(file, at + 8);
    uint64_t size = load<uint64_t>(file, at + 16);
    if (!isKnownSection(kind))
      return damaged(fmt::format("section {} has unknown kind {}", i, kind));
    if (offset % Format::alignment != 0)
      return damaged(fmt::format("section {} is not aligned", i));
    if (offset < end || offset > file.size() || size > file.size() - offset)
      return damaged(fmt::format(
          "section {} ({} bytes at {}) overlaps another or leaves the file", i,
          size, offset));
    end = offset + size;
    sections.push_back(
        {static_cast<SectionKind>(kind), file.subspan(offset, size)});
  }
  return sections;
}
