// A kernel that is one product of matrices, as a library takes it: rows,
// columns, sums and batches of one stride each; to it may be added a matrix
// that lies as the result does, and a number for each column. Example:
//   "btc,oc->bto", [32,256,384] x [1536,384], + [1536]
//   m 8192, n 1536, k 384, b transposed, bias
#pragma once

#include "compiler/codegen/kernel/StagedKernel.h"
#include "dialects/plan/MachineModel.h"
#include "dialects/plan/Plan.h"

namespace dl::cuda {

/// Of the number of what has each, with which rows would begin at multiples of
/// 16 bytes; 1 where they do, or where that does not help.
struct Multiples {
  int64_t rows = 1;    // of what the first operand alone has
  int64_t columns = 1; // of what the second one alone has
  int64_t sums = 1;    // of what both have, and not the result
};

/// Null where the kernel is another one; then `why`, in words that follow on
/// "on a kernel of our own: ".
plan::ProductAttr libraryProduct(const kernel::StagedKernel &kernel, bool tf32,
                                 llvm::StringRef &why,
                                 Multiples *multiples = nullptr);

bool isOnTensorCores(plan::Arithmetic arithmetic);

/// Operations a second of a kernel of ours.
double productRate(plan::Arithmetic arithmetic,
                   const plan::MachineModel &machine);

/// How long the library computes, without moving anything. Its tiles are large:
/// a result of few of them (the gradient of a small weight) keeps few
/// processors busy, however long its sums are; as a batch of `parts` of its
/// sums it has so many more. On tensor
/// cores it is slow where rows begin at no multiples of 16 bytes.
double librarySeconds(plan::ProductAttr product,
                      const plan::MachineModel &machine, int64_t parts = 1);

} // namespace dl::cuda
