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

/// Widening (BF16 and F16 to f32 and f64, F32 to f64, small integers to larger
/// ones) is exact; F64 to f32 rounds. All else is refused.
Status checkConversion(const std::string &from, fb::DType to);

/// The entry's elements in the other dtype, row-major; empty if the dtypes are
/// the same. Adds the number of values that rounding changed to `narrowed`.
std::vector<uint8_t> convertElements(const SafetensorsEntry &entry,
                                     fb::DType to, size_t &narrowed);

} // namespace dlrt

#endif
