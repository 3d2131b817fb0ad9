// Copies of operands in the order in which micro-kernels read them.
#pragma once

#include "compiler/codegen/cpu/ContractStage.h"

namespace dl::codegen {

/// Writes [k][width], k in row-major order of `extents`, from `source`: element
/// (k, lane) lies at the sum of k * panel.kSteps plus panel.offsets[lane]. Lanes
/// from panel.lanes on become zero. Both pointers count in `element`.
void emitPack(llvm::IRBuilder<> &builder, llvm::Type *element, unsigned lanes,
              const Panel &panel, llvm::ArrayRef<int64_t> extents,
              llvm::Value *source, llvm::Value *to, int64_t width);

} // namespace dl::codegen
