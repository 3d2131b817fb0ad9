// How fast products are, by the numbers that they multiply.
#pragma once

#include "dialects/plan/MachineModel.h"
#include "mlir/IR/Operation.h"

namespace dl {

/// What tiles of a chain reach of a product's rate.
inline constexpr double kChainRate = 0.5;

bool isNarrow(mlir::Value value); // bf16
/// Rounds to bf16, or widens that; not null.
bool changesPrecision(mlir::Operation *op);
/// It multiplies numbers of bf16, with other threads than those of f32.
bool multipliesNarrow(mlir::Operation *product);
/// FLOPs a second.
double productRate(mlir::Operation *product, const plan::MachineModel &machine);

} // namespace dl
