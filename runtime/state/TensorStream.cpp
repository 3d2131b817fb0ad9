#include "runtime/state/TensorStream.h"

#include "runtime/plan/DTypes.h"
#include "runtime/state/Safetensors.h"
#include "runtime/state/WeightConversion.h"

#include <fmt/format.h>

#include <map>

using namespace dlrt;

static bool isNpy(const std::string &path) { return path.ends_with(".npy"); }

std::string dlrt::npyHeader(fb::DType dtype,
                            const std::vector<uint64_t> &shape) {
  const char *descr = "";
  switch (dtype) {
  case fb::DType::F32:
    descr = "<f4";
    break;
  case fb::DType::F64:
    descr = "<f8";
    break;
  case fb::DType::I64:
    descr = "<i8";
    break;
  case fb::DType::I32:
    descr = "<i4";
    break;
  case fb::DType::U8:
    descr = "|u1";
    break;
  case fb::DType::BF16: // no metric has it
    break;
  case fb::DType::Bool:
    descr = "|b1";
    break;
  }
  std::string extents;
  for (uint64_t extent : shape)
    extents += fmt::format("{}, ", extent);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, "
                                 "'shape': ({}), }}",
                                 descr, extents);
  constexpr size_t before = 10; // magic, version, length
  size_t whole = (before + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(whole - before - 1, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 255);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

Status TensorStream::checkName(const std::string &path,
                               const std::vector<StreamedTensor> &tensors) {
  if (isNpy(path) && tensors.size() != 1)
    return {Code::Usage,
            fmt::format("'{}': a .npy file holds one tensor, there are {}; "
                        "name a .safetensors file",
                        path, tensors.size())};
  if (!isNpy(path) && !path.ends_with(".safetensors"))
    return {Code::Usage,
            fmt::format("'{}' ends neither in .safetensors nor in .npy", path)};
  return {};
}

Expected<TensorStream>
TensorStream::create(const std::string &path,
                     std::vector<StreamedTensor> tensors) {
  DLRT_TRY(checkName(path, tensors));
  auto file = GrowingFile::create(path);
  if (!file)
    return file.takeError();
  TensorStream stream(std::move(*file), std::move(tensors));
  std::vector<uint64_t> bytes;
  for (const StreamedTensor &tensor : stream.tensors) {
    uint64_t size = sizeOf(tensor.dtype);
    for (uint64_t extent : tensor.shape)
      if (__builtin_mul_overflow(size, extent, &size))
        return Status(Code::Unavailable,
                      fmt::format("'{}': '{}' {} is too large for a file", path,
                                  tensor.name, shapeText(tensor.shape)));
    bytes.push_back(size);
  }
  std::string header;
  if (isNpy(path)) {
    header = npyHeader(stream.tensors[0].dtype, stream.tensors[0].shape);
    stream.next = {header.size()};
  } else {
    std::map<std::string, SafetensorsLayout> entries;
    for (size_t t = 0; t < bytes.size(); ++t)
      entries[stream.tensors[t].name] = {fileDType(stream.tensors[t].dtype),
                                         stream.tensors[t].shape, bytes[t]};
    header = safetensorsHeader(entries, {});
    for (const StreamedTensor &tensor : stream.tensors)
      stream.next.push_back(header.size() + entries[tensor.name].offset);
  }
  for (size_t t = 0; t < bytes.size(); ++t)
    stream.end.push_back(stream.next[t] + bytes[t]);
  DLRT_TRY(stream.file.writeAt(
      0, {reinterpret_cast<const uint8_t *>(header.data()), header.size()}));
  return stream;
}

Status TensorStream::append(size_t tensor, std::span<const uint8_t> rows) {
  if (rows.size() > end[tensor] - next[tensor])
    return {Code::Bug, fmt::format("'{}' has more rows than it was to have",
                                   tensors[tensor].name)};
  DLRT_TRY(file.writeAt(next[tensor], rows));
  next[tensor] += rows.size();
  return {};
}

Status TensorStream::finish() {
  for (size_t t = 0; t < tensors.size(); ++t)
    if (next[t] != end[t])
      return {Code::Bug, fmt::format("'{}' has too few rows", tensors[t].name)};
  return file.finish();
}
