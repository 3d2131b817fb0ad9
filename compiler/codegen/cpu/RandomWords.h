// The words that elements draw (graph.philox), for as many elements as there
// are lanes.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace dl::cpu {

/// Whose words they are: seed, step, micro and key, <n x i64> each.
using DrawStream = llvm::ArrayRef<llvm::Value *>;

/// The words of any elements, <lanes x i64>, of which each draws `count`: a
/// counter for each lane.
llvm::SmallVector<llvm::Value *, 2> emitDrawnWords(llvm::IRBuilderBase &builder,
                                                   llvm::Value *elements,
                                                   DrawStream stream,
                                                   unsigned count);

/// Those of neighbours: `lanes` elements from `first` on, an i64, with a
/// counter for as many as share one. `aligned`: the first one's is not shared
/// with elements before it. The stream is of <1 x i64>.
llvm::SmallVector<llvm::Value *, 2>
emitNeighboursWords(llvm::IRBuilderBase &builder, llvm::Value *first,
                    bool aligned, DrawStream stream, unsigned lanes,
                    unsigned count);

} // namespace dl::cpu
