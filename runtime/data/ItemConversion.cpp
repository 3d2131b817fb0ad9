#include "runtime/data/ItemConversion.h"

#include <cstring>
#include <type_traits>
#include <utility>

using namespace dlrt;

namespace {

struct Boolean {
  uint8_t value;
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

ItemConverter dlrt::itemConverter(fb::DType from, fb::DType to) {
  switch (from) {
  case fb::DType::F64:
    return to == fb::DType::F32 ? convert<double, float> : nullptr;
  case fb::DType::F32:
    return to == fb::DType::F64 ? convert<float, double> : nullptr;
  case fb::DType::I64:
    return integerTo<int64_t>(to);
  case fb::DType::I32:
    return integerTo<int32_t>(to);
  case fb::DType::U8:
    return integerTo<uint8_t>(to);
  case fb::DType::Bool:
    return integerTo<Boolean>(to);
  }
  return nullptr;
}
