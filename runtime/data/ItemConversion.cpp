#include "runtime/data/ItemConversion.h"

#include "runtime/plan/DTypes.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

using namespace dlrt;

namespace {

struct Boolean {
  uint8_t value;
};

/// IEEE's of 16 bits: 5 of the exponent, 10 of the fraction.
struct Half {
  uint16_t bits;

  explicit operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16;
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 0) { // a multiple of 2^-24
      float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
    }
    uint32_t wide = exponent == 31 ? 255 : exponent + 127 - 15;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
  }
  explicit operator double() const { return static_cast<float>(*this); }
};

template <typename From, typename To>
bool convert(const uint8_t *from, uint64_t count, uint8_t *to) {
  for (uint64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    To result;
    if constexpr (std::is_floating_point_v<To>) {
      result = static_cast<To>(value);
    } else {
      int64_t whole;
      if constexpr (std::is_same_v<From, Boolean>)
        whole = value.value != 0;
      else if (!std::in_range<int64_t>(value))
        return false;
      else
        whole = static_cast<int64_t>(value);
      if constexpr (std::is_same_v<To, Boolean>) {
        if (whole != 0 && whole != 1)
          return false;
        result.value = static_cast<uint8_t>(whole);
      } else {
        if (!std::in_range<To>(whole))
          return false;
        result = static_cast<To>(whole);
      }
    }
    std::memcpy(to + i * sizeof(To), &result, sizeof(To));
  }
  return true;
}

template <typename From> ItemConverter integerTo(fb::DType to) {
  switch (to) {
  case fb::DType::I64:
    return convert<From, int64_t>;
  case fb::DType::I32:
    return convert<From, int32_t>;
  case fb::DType::U8:
    return convert<From, uint8_t>;
  case fb::DType::Bool:
    return convert<From, Boolean>;
  default:
    return nullptr;
  }
}

} // namespace

uint64_t dlrt::sizeOf(FileElement element) {
  switch (element) {
  case FileElement::I8:
    return 1;
  case FileElement::F16:
  case FileElement::I16:
  case FileElement::U16:
    return 2;
  case FileElement::U32:
    return 4;
  case FileElement::U64:
    return 8;
  default:
    return sizeOf(*dtypeOf(element));
  }
}

const char *dlrt::nameOf(FileElement element) {
  switch (element) {
  case FileElement::F16:
    return "f16";
  case FileElement::I8:
    return "i8";
  case FileElement::I16:
    return "i16";
  case FileElement::U16:
    return "u16";
  case FileElement::U32:
    return "u32";
  case FileElement::U64:
    return "u64";
  default:
    return nameOf(*dtypeOf(element));
  }
}

std::optional<fb::DType> dlrt::dtypeOf(FileElement element) {
  switch (element) {
  case FileElement::F32:
    return fb::DType::F32;
  case FileElement::F64:
    return fb::DType::F64;
  case FileElement::I64:
    return fb::DType::I64;
  case FileElement::I32:
    return fb::DType::I32;
  case FileElement::U8:
    return fb::DType::U8;
  case FileElement::Bool:
    return fb::DType::Bool;
  default:
    return std::nullopt;
  }
}

ItemConverter dlrt::itemConverter(FileElement from, fb::DType to) {
  switch (from) {
  case FileElement::F16:
    return to == fb::DType::F32   ? convert<Half, float>
           : to == fb::DType::F64 ? convert<Half, double>
                                  : nullptr;
  case FileElement::F64:
    return to == fb::DType::F32 ? convert<double, float> : nullptr;
  case FileElement::F32:
    return to == fb::DType::F64 ? convert<float, double> : nullptr;
  case FileElement::I64:
    return integerTo<int64_t>(to);
  case FileElement::I32:
    return integerTo<int32_t>(to);
  case FileElement::U8:
    return integerTo<uint8_t>(to);
  case FileElement::Bool:
    return integerTo<Boolean>(to);
  case FileElement::I8:
    return integerTo<int8_t>(to);
  case FileElement::I16:
    return integerTo<int16_t>(to);
  case FileElement::U16:
    return integerTo<uint16_t>(to);
  case FileElement::U32:
    return integerTo<uint32_t>(to);
  case FileElement::U64:
    return integerTo<uint64_t>(to);
  }
  return nullptr;
}
