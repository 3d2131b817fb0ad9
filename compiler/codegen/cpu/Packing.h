// Copies of operands in the order in which micro-kernels read them.
#pragma once

#include "compiler/codegen/cpu/ContractStage.h"

namespace dl::cpu {

/// Where lanes go: to panels of `width` lanes one behind the other, each
/// [k][lanes of the panel]; the last one may be narrower. One panel for all:
/// width >= lanes.
struct PanelLayout {
  int64_t width;
  int64_t vector; // lanes of a vector, to which the last panel is rounded up
  int64_t stride; // elements between k rows of a single panel; 0: dense
  bool exact = false; // writes no lane but those in use; else up to a vector
};

/// Copies the element at the sum of k * source.kSteps plus source.offsets[lane]
/// for each k, in row-major order of `extents`, and each lane. The lanes that
/// round up the last panel become zero. Both pointers count in `element`.
void emitPack(llvm::IRBuilder<> &builder, llvm::Type *element,
              const Panel &source, llvm::ArrayRef<int64_t> extents,
              llvm::Value *from, llvm::Value *to, PanelLayout layout);

} // namespace dl::cpu
