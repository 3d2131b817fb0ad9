// Facts about the element types of a plan.
#ifndef DLRT_PLAN_DTYPES_H
#define DLRT_PLAN_DTYPES_H

#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt {

/// Of states, inputs and metrics: bf16 is for values within a step.
inline bool isOfPorts(fb::DType dtype) { return dtype < fb::DType::BF16; }
/// Bytes of one element; 0 for a value that is no dtype.
uint64_t sizeOf(fb::DType dtype);
/// "f32", "i64", "u8", "bool", "bf16".
const char *nameOf(fb::DType dtype);
/// "[4,10,24,24]"
std::string shapeText(const std::vector<uint64_t> &shape);
/// The number of elements, or false on overflow.
bool elementCount(const std::vector<uint64_t> &shape, uint64_t &count);

} // namespace dlrt

#endif
