#include "runtime/state/Safetensors.h"

#include "runtime/base/JsonReader.h"
#include "runtime/base/Numbers.h"
#include "runtime/plan/DTypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace dlrt;

static constexpr uint64_t maxHeaderBytes = 100'000'000;

static Status wrong(std::string what) {
  return {Code::Io, "not a valid safetensors file: " + std::move(what)};
}

uint64_t dlrt::safetensorsElementBytes(const std::string &dtype) {
  static const std::map<std::string, uint64_t> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
  auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

static bool readNumbers(const JsonValue *array, std::vector<uint64_t> &out) {
  if (!array || array->kind != JsonValue::Kind::Array)
    return false;
  for (const JsonValue &item : array->items) {
    auto number = item.kind == JsonValue::Kind::Number
                      ? parseUnsigned(item.text)
                      : std::nullopt;
    if (!number)
      return false;
    out.push_back(*number);
  }
  return true;
}

static Status readEntry(const std::string &name, const JsonValue &value,
                        std::span<const uint8_t> buffer,
                        SafetensorsEntry &entry) {
  auto error = [&](std::string_view what) {
    return wrong(fmt::format("tensor '{}': {}", name, what));
  };
  const JsonValue *dtype = value.find("dtype");
  std::vector<uint64_t> offsets;
  if (!dtype || dtype->kind != JsonValue::Kind::String ||
      !readNumbers(value.find("shape"), entry.shape) ||
      !readNumbers(value.find("data_offsets"), offsets) || offsets.size() != 2)
    return error("dtype, shape or data_offsets are missing or wrong");
  entry.dtype = dtype->text;
  uint64_t bytes = safetensorsElementBytes(entry.dtype);
  if (bytes == 0)
    return error(fmt::format("unknown dtype '{}'", entry.dtype));
  uint64_t count;
  if (!elementCount(entry.shape, count) ||
      __builtin_mul_overflow(bytes, count, &bytes))
    return error("its shape overflows");
  if (offsets[0] > offsets[1] || offsets[1] > buffer.size())
    return error(fmt::format("its data [{}, {}) leaves the file", offsets[0],
                             offsets[1]));
  if (offsets[1] - offsets[0] != bytes)
    return error(fmt::format("{} bytes of data for {} {}",
                             offsets[1] - offsets[0], entry.dtype,
                             shapeText(entry.shape)));
  entry.data = buffer.subspan(offsets[0], bytes);
  return {};
}

static Status
checkCoverage(const std::map<std::string, SafetensorsEntry> &tensors,
              std::span<const uint8_t> buffer) {
  std::vector<std::span<const uint8_t>> parts;
  for (const auto &[name, entry] : tensors)
    parts.push_back(entry.data);
  std::sort(parts.begin(), parts.end(), [](const auto &a, const auto &b) {
    return std::pair(a.data(), a.size()) < std::pair(b.data(), b.size());
  });
  const uint8_t *end = buffer.data();
  for (std::span<const uint8_t> part : parts) {
    if (part.data() != end)
      return wrong("its tensors leave holes or overlap");
    end = part.data() + part.size();
  }
  if (end != buffer.data() + buffer.size())
    return wrong("bytes after the last tensor");
  return {};
}

static Status readStrings(const JsonValue &object,
                          std::map<std::string, std::string> &out) {
  if (object.kind != JsonValue::Kind::Object)
    return wrong("its __metadata__ is no object");
  for (const auto &[key, value] : object.members) {
    if (value.kind != JsonValue::Kind::String)
      return wrong(fmt::format("its __metadata__ '{}' is no string", key));
    out[key] = value.text;
  }
  return {};
}

Expected<std::map<std::string, SafetensorsEntry>>
dlrt::parseSafetensors(std::span<const uint8_t> bytes,
                       std::map<std::string, std::string> *metadata) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length))
    return wrong("it is too short");
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > maxHeaderBytes || length > bytes.size() - sizeof(length))
    return wrong(fmt::format("a header of {} bytes in a file of {}", length,
                             bytes.size()));
  std::string_view header(
      reinterpret_cast<const char *>(bytes.data() + sizeof(length)), length);
  if (header.empty() || header[0] != '{')
    return wrong("its header does not start with '{'");
  Expected<JsonValue> json = parseJson(header);
  if (!json)
    return wrong(json.takeError().message());
  std::span<const uint8_t> buffer = bytes.subspan(sizeof(length) + length);
  std::map<std::string, SafetensorsEntry> tensors;
  std::map<std::string, std::string> strings;
  for (const auto &[name, value] : json->members) {
    if (name == "__metadata__")
      DLRT_TRY(readStrings(value, strings));
    else
      DLRT_TRY(readEntry(name, value, buffer, tensors[name]));
  }
  DLRT_TRY(checkCoverage(tensors, buffer));
  if (metadata)
    *metadata = std::move(strings);
  return tensors;
}

/// torch.save writes zip archives, and wrote pickles.
static bool isFromTorch(std::span<const uint8_t> bytes) {
  constexpr uint8_t zip[] = {'P', 'K', 3, 4};
  if (bytes.size() < 4)
    return false;
  return std::equal(zip, zip + 4, bytes.begin()) ||
         (bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5);
}

/// Python reads it, nobody else should: a pickle is a program.
static Status fromTorch(const std::string &path) {
  if (path.ends_with(".npz"))
    return {Code::Io,
            fmt::format("'{}' is a file of numpy.savez; --init takes "
                        ".safetensors and makes none of it itself: python3 -c "
                        "\"import numpy; from safetensors.numpy import "
                        "save_file; save_file(dict(numpy.load('{}')), "
                        "'{}.safetensors')\"",
                        path, path, path.substr(0, path.rfind('.')))};
  bool plain = path.find_first_of("'\"\\$`") == std::string::npos;
  std::string from = plain ? path : "model.pt";
  return {Code::Io,
          fmt::format(
              "'{}' is a file of torch.save; this makes one that --init "
              "takes:\n  python3 -c \"import torch; from safetensors.torch "
              "import save_file; d = torch.load('{}', map_location='cpu', "
              "weights_only=True); d = d.get('state_dict', d); "
              "save_file({{k: v.clone().contiguous() for k, v in d.items() if "
              "torch.is_tensor(v)}}, '{}.safetensors')\"",
              path, from, from.substr(0, from.rfind('.')))};
}

Expected<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  SafetensorsFile result;
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  result.file = std::move(*file);
  auto tensors = parseSafetensors(result.file.bytes(), &result.metadata);
  if (!tensors)
    return isFromTorch(result.file.bytes()) ? fromTorch(path)
                                            : tensors.takeError().within(path);
  result.tensors = std::move(*tensors);
  return result;
}
