// The numbers that bf16 has.
#pragma once

#include "llvm/ADT/APFloat.h"

namespace dl::graph {

/// The nearest one to the number as an f32, ties to even.
inline llvm::APFloat nearestBf16(double value) {
  llvm::APFloat number(static_cast<float>(value));
  bool isInexact;
  number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                 &isInexact);
  return number;
}

} // namespace dl::graph
