#include "runtime/state/WeightConversion.h"

#include "runtime/plan/DTypes.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

using namespace dlrt;

namespace {

/// The upper half of an f32.
struct BFloat {
  uint16_t bits;
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

/// IEEE half precision.
struct Half {
  uint16_t bits;
  operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16;
    uint32_t exponent = bits >> 10 & 31;
    uint32_t mantissa = bits & 1023;
    if (exponent == 0) // zero and subnormals: mantissa * 2^-24
      return std::copysign(static_cast<float>(mantissa) * 0x1p-24f,
                           sign ? -1.0f : 1.0f);
    if (exponent == 31)
      return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  }
};

template <typename From, typename To>
std::vector<uint8_t> convert(std::span<const uint8_t> data, size_t &narrowed) {
  size_t count = data.size() / sizeof(From);
  std::vector<uint8_t> out(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, data.data() + i * sizeof(From), sizeof(From));
    To to = static_cast<To>(from);
    if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>)
      narrowed += !std::isnan(from) && static_cast<double>(to) != from;
    std::memcpy(out.data() + i * sizeof(To), &to, sizeof(To));
  }
  return out;
}

using Converter = std::vector<uint8_t> (*)(std::span<const uint8_t>, size_t &);

struct Conversion {
  const char *from;
  fb::DType to;
  Converter run; ///< null: the bytes are the same
};

constexpr Conversion conversions[] = {
    {"F32", fb::DType::F32, nullptr},
    {"F64", fb::DType::F64, nullptr},
    {"I64", fb::DType::I64, nullptr},
    {"I32", fb::DType::I32, nullptr},
    {"U8", fb::DType::U8, nullptr},
    {"BOOL", fb::DType::Bool, nullptr},
    {"F64", fb::DType::F32, convert<double, float>},
    {"F32", fb::DType::F64, convert<float, double>},
    {"F16", fb::DType::F32, convert<Half, float>},
    {"F16", fb::DType::F64, convert<Half, double>},
    {"BF16", fb::DType::F32, convert<BFloat, float>},
    {"BF16", fb::DType::F64, convert<BFloat, double>},
    {"I32", fb::DType::I64, convert<int32_t, int64_t>},
    {"I16", fb::DType::I64, convert<int16_t, int64_t>},
    {"I16", fb::DType::I32, convert<int16_t, int32_t>},
    {"I8", fb::DType::I64, convert<int8_t, int64_t>},
    {"I8", fb::DType::I32, convert<int8_t, int32_t>},
    {"U8", fb::DType::I64, convert<uint8_t, int64_t>},
    {"U8", fb::DType::I32, convert<uint8_t, int32_t>},
};

const Conversion *find(const std::string &from, fb::DType to) {
  for (const Conversion &c : conversions)
    if (from == c.from && to == c.to)
      return &c;
  return nullptr;
}

} // namespace

const char *dlrt::fileDType(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::BF16:
    return "BF16";
  case fb::DType::F32:
    return "F32";
  case fb::DType::F64:
    return "F64";
  case fb::DType::I64:
    return "I64";
  case fb::DType::I32:
    return "I32";
  case fb::DType::U8:
    return "U8";
  case fb::DType::Bool:
    return "BOOL";
  }
  return "";
}

Status dlrt::checkConversion(const std::string &from, fb::DType to) {
  if (find(from, to))
    return {};
  return {Code::Training,
          fmt::format("it has dtype {}, the model's is {}", from, nameOf(to))};
}

std::vector<uint8_t> dlrt::convertElements(const SafetensorsEntry &entry,
                                           fb::DType to, size_t &narrowed) {
  const Conversion *conversion = find(entry.dtype, to);
  if (!conversion || !conversion->run)
    return {};
  return conversion->run(entry.data, narrowed);
}

template <typename T>
static NanCount countNanOf(std::span<const uint8_t> elements) {
  NanCount found;
  for (size_t i = 0; i < elements.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, elements.data() + i * sizeof(T), sizeof(T));
    if (std::isnan(value) && found.count++ == 0)
      found.first = i;
  }
  return found;
}

NanCount dlrt::countNan(fb::DType dtype, std::span<const uint8_t> elements) {
  if (dtype == fb::DType::F32)
    return countNanOf<float>(elements);
  if (dtype == fb::DType::F64)
    return countNanOf<double>(elements);
  return {};
}
