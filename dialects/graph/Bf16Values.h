// What is f32 in memory, and has numbers of bf16 alone.
#pragma once

#include "mlir/IR/Value.h"

namespace dl::graph {

/// Every element is a number that bf16 has, or NaN: what has been stored as
/// bf16 is widened, seen through views and zeros around it. Of an argument of
/// a kernel the kernel says so.
bool holdsBf16(mlir::Value value);

} // namespace dl::graph
