// Element types of weight files into those of a plan.
#ifndef DLRT_STATE_WEIGHTCONVERSION_H
#define DLRT_STATE_WEIGHTCONVERSION_H

#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"
#include "runtime/state/Safetensors.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt {

/// A dtype's name in weight files: "F32", "BOOL".
const char *fileDType(fb::DType dtype);

/// Widening (BF16 and F16 to f32 and f64, F32 to f64, small integers to larger
/// ones) is exact; F64 to f32 rounds. All else is refused.
Status checkConversion(const std::string &from, fb::DType to);

/// The entry's elements in the other dtype, row-major; empty if the dtypes are
/// the same. Adds the number of values that rounding changed to `narrowed`.
std::vector<uint8_t> convertElements(const SafetensorsEntry &entry,
                                     fb::DType to, size_t &narrowed);

/// How many of the row-major elements are NaN, and the index of the first.
struct NanCount {
  uint64_t count = 0, first = 0;
};
NanCount countNan(fb::DType dtype, std::span<const uint8_t> elements);

} // namespace dlrt

#endif
