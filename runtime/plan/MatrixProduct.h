// What a product of matrices by a library says of its operands.
#ifndef DLRT_PLAN_MATRIXPRODUCT_H
#define DLRT_PLAN_MATRIXPRODUCT_H

#include "runtime/plan/plan_generated.h"

#include <array>
#include <string>
#include <string_view>

namespace dlrt {

/// Of a, b, d and c, as they lie in memory; c need not be there.
struct MatrixShape {
  uint64_t rows, columns;
};
std::array<MatrixShape, 4> storedShapes(const fb::MultiplyT &product);

/// "f32", "tf32", "f64", "bf16", "bf16 to f32"
std::string_view nameOf(fb::Arithmetic arithmetic);

/// Of a, b, d, c or the bias.
fb::DType elementOf(fb::Arithmetic arithmetic, size_t which);

/// Bytes from the beginning of its binding to one of the matrices.
uint64_t offsetOf(const fb::MultiplyT &product, size_t which);

/// What is wrong with a product whose launch is right, or an empty string: an
/// operand that leaves its binding, a result whose elements share bytes.
std::string checkProduct(const fb::MultiplyT &product,
                         const fb::KernelT &kernel);

} // namespace dlrt

#endif
