// A kernel that is one product of matrices, as a library takes it: rows,
// columns, sums and batches of one stride each. Example:
//   "btc,oc->bto", [32,256,384] x [1536,384]
//   m 8192, n 1536, k 384, b transposed
#pragma once

#include "compiler/codegen/kernel/StagedKernel.h"
#include "dialects/plan/Plan.h"

namespace dl::cuda {

/// Null where the kernel is another one; then `why`, in words that follow on
/// "on a kernel of our own: ".
plan::ProductAttr libraryProduct(const kernel::StagedKernel &kernel, bool tf32,
                                 llvm::StringRef &why);

} // namespace dl::cuda
