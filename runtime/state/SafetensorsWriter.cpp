#include "runtime/base/AtomicFile.h"
#include "runtime/base/JsonWriter.h"
#include "runtime/state/Safetensors.h"

#include <algorithm>
#include <cstring>

using namespace dlrt;

Status
dlrt::writeSafetensors(const std::string &path,
                       const std::map<std::string, SafetensorsEntry> &tensors,
                       const std::map<std::string, std::string> &metadata) {
  using Item = std::pair<const std::string, SafetensorsEntry>;
  std::vector<const Item *> order;
  for (const Item &item : tensors)
    order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](auto *a, auto *b) {
    return safetensorsElementBytes(a->second.dtype) >
           safetensorsElementBytes(b->second.dtype);
  });

  JsonWriter json;
  json.beginObject();
  if (!metadata.empty()) {
    json.key("__metadata__").beginObject();
    for (const auto &[key, value] : metadata)
      json.field(key, value);
    json.endObject();
  }
  uint64_t offset = 0;
  for (const Item *item : order) {
    const SafetensorsEntry &entry = item->second;
    uint64_t end = offset + entry.data.size();
    json.key(item->first).beginObject();
    json.field("dtype", entry.dtype);
    json.array("shape", entry.shape);
    json.array("data_offsets", std::vector<uint64_t>{offset, end});
    json.endObject();
    offset = end;
  }
  json.endObject();

  std::string header = json.text();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  uint64_t length = header.size();
  std::vector<std::span<const uint8_t>> parts = {
      {reinterpret_cast<const uint8_t *>(&length), sizeof(length)},
      {reinterpret_cast<const uint8_t *>(header.data()), header.size()}};
  for (const Item *item : order)
    parts.push_back(item->second.data);
  return writeFileAtomically(path, parts);
}
