// A product by itself, with nothing but what a library computes along with it:
// what is asked of the library, before fusion has made kernels.
#pragma once

#include "compiler/codegen/cuda/LibraryProduct.h"
#include "dialects/graph/Graph.h"

namespace dl::cuda {

struct LibraryCall {
  plan::ProductAttr product; // null where the library has none like it
  int64_t bytes = 0;         // that are moved
  Multiples multiples;
};

/// Of ops of one block, the product first, each of which reads the one before.
/// Where there is no product, `why` says it in words that follow on "on a
/// kernel of our own: ".
mlir::FailureOr<LibraryCall>
libraryCallOf(llvm::ArrayRef<mlir::Operation *> chain, bool tf32,
              llvm::StringRef &why);

/// Whether a product reads its operand's own memory through this op.
bool isSeenThrough(graph::LoopNestOpInterface op);

/// The op that rounds a product to bf16, if that is its one reader.
mlir::Operation *roundingOf(mlir::Operation *product);

} // namespace dl::cuda
