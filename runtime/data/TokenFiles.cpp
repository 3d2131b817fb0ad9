// Windows of one long row of tokens.
#include "runtime/data/Dataset.h"
#include "runtime/data/Npy.h"
#include "runtime/plan/DTypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

using namespace dlrt;

namespace {

struct TokenArray {
  FileElement element;
  std::span<const uint8_t> data;
};

/// Of llm.c's files: 256 numbers, which begin with a magic one, a version and
/// how many tokens follow (github.com/karpathy/llm.c, dev/data/data_common.py).
struct Header {
  int32_t magic, version;
  uint32_t tokens;
};
constexpr size_t headerBytes = 1024;

std::optional<FileElement> elementOf(const Header &header) {
  if (header.magic == 20240520 && header.version == 1) // GPT-2's vocabulary
    return FileElement::U16;
  if (header.magic == 20240801 && header.version == 7) // Llama 3's
    return FileElement::U32;
  return std::nullopt;
}

} // namespace

/// See compiler/frontend/TokenFile.h for what a file may be.
static Expected<TokenArray> parseTokens(std::span<const uint8_t> bytes,
                                        const std::string &path) {
  auto wrong = [](std::string text) {
    return Status(Code::Training, std::move(text));
  };
  if (bytes.size() >= 6 && std::memcmp(bytes.data(), "\x93NUMPY", 6) == 0) {
    Expected<NpyArray> array = parseNpy(bytes);
    if (!array)
      return array.takeError();
    if (array->shape.size() != 1)
      return wrong(fmt::format("it has the shape {}; tokens are one row",
                               shapeText(array->shape)));
    return TokenArray{array->element, array->data};
  }
  Header header;
  if (bytes.size() >= headerBytes) {
    std::memcpy(&header, bytes.data(), sizeof header);
    if (auto element = elementOf(header)) {
      bytes = bytes.subspan(headerBytes);
      uint64_t expected = uint64_t(header.tokens) * sizeOf(*element);
      if (bytes.size() != expected)
        return wrong(fmt::format("{} bytes behind its header, {} tokens of {} "
                                 "need {}",
                                 bytes.size(), header.tokens, nameOf(*element),
                                 expected));
      return TokenArray{*element, bytes};
    }
  }
  if (!path.ends_with(".bin"))
    return TokenArray{FileElement::U8, bytes};
  if (bytes.size() % 2 != 0)
    return wrong(
        fmt::format("{} bytes are no tokens of 16 bits", bytes.size()));
  return TokenArray{FileElement::U16, bytes};
}

/// The component of arrays like this one.
static Status describe(const TokenArray &array, const fb::DatasetT &dataset,
                       DatasetComponent &added) {
  const fb::InputComponentT &component = *dataset.components.front();
  uint64_t width = component.shape.front(), size = sizeOf(array.element);
  added.itemBytes = width * size;
  added.itemStride = dataset.stride * size;
  if (dtypeOf(array.element) == component.dtype)
    return {};
  if (array.element != FileElement::Bool)
    added.convert = itemConverter(array.element, component.dtype);
  if (!added.convert)
    return {Code::Training, fmt::format("it holds {}, and tokens are integers",
                                        nameOf(array.element))};
  added.elements = width;
  added.batchBytes = width * sizeOf(component.dtype);
  return {};
}

/// A file that is too short for a window has nothing of the data.
static Status addTokens(Dataset &out, const fb::DatasetT &dataset,
                        const std::string &path) {
  auto paths = dataFiles(path);
  if (!paths)
    return paths.takeError();
  uint64_t width = dataset.components.front()->shape.front();
  DatasetComponent added;
  std::vector<DataFile> files;
  std::optional<FileElement> element;
  uint64_t most = 0;
  for (const std::string &one : *paths) {
    Expected<MappedFile> file = MappedFile::open(one);
    if (!file)
      return file.takeError();
    Expected<TokenArray> array = parseTokens(file->bytes(), one);
    if (!array)
      return array.takeError().within(one);
    if (!element)
      DLRT_TRY(describe(*array, dataset, added).within(one));
    if (element.value_or(array->element) != array->element)
      return {Code::Training, fmt::format("'{}' holds {}, '{}' before it {}",
                                          one, nameOf(array->element),
                                          paths->front(), nameOf(*element))};
    element = array->element;
    uint64_t tokens = array->data.size() / sizeOf(array->element);
    most = std::max(most, tokens);
    if (tokens < width)
      continue;
    uint64_t items = (tokens - width) / dataset.stride + 1;
    files.push_back({one, std::move(*file), array->data.data(), items});
    out.items += items;
  }
  if (files.empty())
    return {Code::Training,
            fmt::format("'{}': {} tokens; {} and the one behind them are "
                        "wanted",
                        path, most, width - 1)};
  return out.add(std::move(added), std::move(files), path);
}

Expected<Dataset> dlrt::openTokens(const fb::DatasetT &dataset,
                                   const DataRequest &request) {
  if (usesNone(request, 1))
    return openTokens(dataset, withAll(request));
  auto paths = tensorPaths(dataset, request);
  if (!paths)
    return paths.takeError();
  Dataset out;
  DLRT_TRY(addTokens(out, dataset, paths->front()));
  out.distinct = out.items;
  return out;
}
