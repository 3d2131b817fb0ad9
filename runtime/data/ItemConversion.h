// Elements of data files into those that a plan was compiled for.
#ifndef DLRT_DATA_ITEMCONVERSION_H
#define DLRT_DATA_ITEMCONVERSION_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>

namespace dlrt {

/// Converts `count` elements; false where a value does not fit. f64 to f32
/// rounds.
using ItemConverter = bool (*)(const uint8_t *from, uint64_t count,
                               uint8_t *to);

/// Between floats, and between integers and booleans; null where there is none.
/// Not to be asked for equal dtypes.
ItemConverter itemConverter(fb::DType from, fb::DType to);

} // namespace dlrt

#endif
