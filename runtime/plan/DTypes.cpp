#include "runtime/plan/DTypes.h"

using namespace dlrt;

uint64_t dlrt::sizeOf(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::F64:
  case fb::DType::I64:
    return 8;
  case fb::DType::F32:
  case fb::DType::I32:
    return 4;
  case fb::DType::BF16:
    return 2;
  case fb::DType::U8:
  case fb::DType::Bool:
    return 1;
  }
  return 0;
}

const char *dlrt::nameOf(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::F32:
    return "f32";
  case fb::DType::F64:
    return "f64";
  case fb::DType::I64:
    return "i64";
  case fb::DType::I32:
    return "i32";
  case fb::DType::U8:
    return "u8";
  case fb::DType::Bool:
    return "bool";
  case fb::DType::BF16:
    return "bf16";
  }
  return "unknown";
}

std::string dlrt::shapeText(const std::vector<uint64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0)
      text += ',';
    text += std::to_string(shape[i]);
  }
  text += ']';
  return text;
}

bool dlrt::elementCount(const std::vector<uint64_t> &shape, uint64_t &count) {
  count = 1;
  // Even a zero-sized tensor must not have overflowing other extents: code
  // that walks its dims would overflow.
  uint64_t product = 1;
  for (uint64_t extent : shape) {
    count *= extent;
    if (extent != 0 && __builtin_mul_overflow(product, extent, &product))
      return false;
  }
  return true;
}
