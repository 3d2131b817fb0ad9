#include "runtime/base/AtomicFile.h"
#include "runtime/base/JsonWriter.h"
#include "runtime/state/Safetensors.h"

#include <algorithm>
#include <string_view>
#include <utility>

using namespace dlrt;

using Layouts = std::map<std::string, SafetensorsLayout>;

static std::vector<Layouts::value_type *> orderOf(Layouts &tensors) {
  std::vector<Layouts::value_type *> order;
  for (auto &item : tensors)
    order.push_back(&item);
  auto place = [](const Layouts::value_type *item) {
    return std::pair<uint64_t, std::string_view>(
        ~safetensorsElementBytes(item->second.dtype), item->first);
  };
  std::sort(order.begin(), order.end(),
            [&](auto *a, auto *b) { return place(a) < place(b); });
  return order;
}

std::string
dlrt::safetensorsHeader(Layouts &tensors,
                        const std::map<std::string, std::string> &metadata) {
  JsonWriter json;
  json.beginObject();
  if (!metadata.empty()) {
    json.key("__metadata__").beginObject();
    for (const auto &[key, value] : metadata)
      json.field(key, value);
    json.endObject();
  }
  uint64_t offset = 0;
  for (auto *item : orderOf(tensors)) {
    SafetensorsLayout &entry = item->second;
    entry.offset = offset;
    offset += entry.bytes;
    json.key(item->first).beginObject();
    json.field("dtype", entry.dtype);
    json.array("shape", entry.shape);
    json.array("data_offsets", std::vector<uint64_t>{entry.offset, offset});
    json.endObject();
  }
  json.endObject();

  std::string text = json.text();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) +
         text;
}

Status
dlrt::writeSafetensors(const std::string &path,
                       const std::map<std::string, SafetensorsEntry> &tensors,
                       const std::map<std::string, std::string> &metadata) {
  Layouts layouts;
  for (const auto &[name, entry] : tensors)
    layouts[name] = {entry.dtype, entry.shape, entry.data.size()};
  std::string header = safetensorsHeader(layouts, metadata);
  std::vector<std::span<const uint8_t>> parts = {
      {reinterpret_cast<const uint8_t *>(header.data()), header.size()}};
  for (auto *item : orderOf(layouts))
    parts.push_back(tensors.at(item->first).data);
  return writeFileAtomically(path, parts);
}
