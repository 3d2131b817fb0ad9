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
  /// What has numbers of bf16 alone is packed in pairs: each element is two k,
  /// see joinPairs. Of an odd number of k the last one has a zero beside it.
  bool pairs = false;
  /// What is transposed next is fetched meanwhile.
  bool fetches = false;
};

/// Of two vectors of f32 that have numbers of bf16 alone one of pairs, each in
/// the room of an f32: `first` in the upper half, so that VDPBF16PS, which
/// begins there, adds in the order of k.
llvm::Value *joinPairs(llvm::IRBuilderBase &builder, llvm::Value *first,
                       llvm::Value *second);
/// How many elements so many k are.
inline int64_t packedCount(int64_t count, bool pairs) {
  return pairs ? (count + 1) / 2 : count;
}

/// Copies the element at the sum of k * source.kSteps plus source.offsets[lane]
/// for each k, in row-major order of `extents` (of pairs: one extent), and each
/// lane. The lanes that
/// round up the last panel become zero. Both pointers count in `element`.
void emitPack(llvm::IRBuilder<> &builder, llvm::Type *element,
              const Panel &source, llvm::ArrayRef<int64_t> extents,
              llvm::Value *from, llvm::Value *to, PanelLayout layout);

} // namespace dl::cpu
