// Elements of data files into those that a plan was compiled for.
#ifndef DLRT_DATA_ITEMCONVERSION_H
#define DLRT_DATA_ITEMCONVERSION_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <optional>

namespace dlrt {

/// What elements of data files may be. Integers and floats of which plans have
/// none are read into wider ones.
enum class FileElement : uint8_t {
  F16,
  F32,
  F64,
  I64,
  I32,
  U8,
  Bool,
  I8,
  I16,
  U16,
  U32,
  U64
};

uint64_t sizeOf(FileElement element);
/// "u16"
const char *nameOf(FileElement element);
/// The plan's that has the same bits; no value if none has.
std::optional<fb::DType> dtypeOf(FileElement element);

/// Converts `count` elements; false where a value does not fit. f64 to f32
/// rounds.
using ItemConverter = bool (*)(const uint8_t *from, uint64_t count,
                               uint8_t *to);

/// Between floats, and between integers and booleans; null where there is none.
/// Not to be asked for equal dtypes.
ItemConverter itemConverter(FileElement from, fb::DType to);

} // namespace dlrt

#endif
