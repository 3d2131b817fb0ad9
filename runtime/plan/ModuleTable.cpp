#include "runtime/plan/ModuleTable.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace dlrt;

/// Where modules begin: an ELF header's fields and a copy's words are aligned.
static constexpr uint64_t moduleAlignment = 64;

template <typename Int> static void put(std::vector<uint8_t> &out, Int value) {
  for (size_t i = 0; i < sizeof(value); ++i)
    out.push_back(static_cast<uint8_t>(uint64_t(value) >> 8 * i));
}

static uint64_t aligned(uint64_t offset) {
  return (offset + moduleAlignment - 1) / moduleAlignment * moduleAlignment;
}

std::vector<uint8_t> dlrt::writeModuleTable(const ModuleTable &table) {
  uint64_t head = 8 + 16 * table.modules.size();
  for (const auto &[entry, module] : table.entries)
    head += 8 + entry.size();
  std::vector<uint8_t> out;
  put(out, static_cast<uint32_t>(table.modules.size()));
  put(out, static_cast<uint32_t>(table.entries.size()));
  uint64_t end = head;
  for (std::span<const uint8_t> module : table.modules) {
    put(out, aligned(end));
    put(out, static_cast<uint64_t>(module.size()));
    end = aligned(end) + module.size() + 1;
  }
  for (const auto &[entry, module] : table.entries) {
    put(out, module);
    put(out, static_cast<uint32_t>(entry.size()));
    out.insert(out.end(), entry.begin(), entry.end());
  }
  for (std::span<const uint8_t> module : table.modules) {
    out.resize(aligned(out.size()));
    out.insert(out.end(), module.begin(), module.end());
    out.push_back(0);
  }
  return out;
}

namespace {

/// Takes numbers and texts from the front of bytes that may end anywhere.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes(bytes) {}

  template <typename Int> std::optional<Int> number() {
    if (left() < sizeof(Int))
      return std::nullopt;
    Int value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    at += sizeof(value);
    return value;
  }
  std::optional<std::string> text(size_t length) {
    if (left() < length)
      return std::nullopt;
    std::string text(reinterpret_cast<const char *>(bytes.data()) + at, length);
    at += length;
    return text;
  }
  size_t left() const { return bytes.size() - at; }
  size_t position() const { return at; }

private:
  std::span<const uint8_t> bytes;
  size_t at = 0;
};

} // namespace

Expected<ModuleTable> dlrt::readModuleTable(std::span<const uint8_t> section) {
  auto damaged = [](const char *what) {
    return Status(Code::Plan, std::string("its table of modules ") + what);
  };
  Reader reader(section);
  std::optional<uint32_t> modules = reader.number<uint32_t>();
  std::optional<uint32_t> entries = reader.number<uint32_t>();
  // Before anything is taken for them: each needs bytes of the section.
  if (!modules || !entries || *modules > reader.left() / 16 ||
      *entries > reader.left() / 8)
    return damaged("ends early");
  ModuleTable table;
  std::vector<uint64_t> offsets;
  for (uint32_t m = 0; m < *modules; ++m) {
    uint64_t offset = *reader.number<uint64_t>();
    uint64_t bytes = *reader.number<uint64_t>();
    if (offset % moduleAlignment != 0 || offset >= section.size() ||
        bytes >= section.size() - offset || section[offset + bytes] != 0)
      return damaged("has a module outside of it, or without a zero behind it");
    offsets.push_back(offset);
    table.modules.push_back(section.subspan(offset, bytes));
  }
  for (uint32_t e = 0; e < *entries; ++e) {
    std::optional<uint32_t> module = reader.number<uint32_t>();
    std::optional<uint32_t> length = reader.number<uint32_t>();
    std::optional<std::string> entry;
    if (module && length)
      entry = reader.text(*length);
    if (!entry)
      return damaged("ends early");
    if (*module >= *modules)
      return damaged("names a module that it does not have");
    if (!table.entries.empty() && table.entries.rbegin()->first >= *entry)
      return damaged("has entries twice, or in another order than theirs");
    table.entries.emplace_hint(table.entries.end(), std::move(*entry), *module);
  }
  for (uint64_t offset : offsets)
    if (offset < reader.position())
      return damaged("has a module in its head");
  return table;
}
