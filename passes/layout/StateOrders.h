// In which order states may lie in memory, and setting it.
#pragma once

#include "dialects/graph/Graph.h"
#include "llvm/ADT/StringMap.h"

namespace dl::layout {

/// Views of a state that are read: a kernel may want its elements in row-major
/// order then, or reach any of them at the same price.
enum class Views { RowByRow, AnyOrder };

/// By name, why a state has to lie row by row in memory: it is seen in another
/// shape, ranks exchange it, its new value is made so.
llvm::StringMap<std::string> reasonsForRows(mlir::ModuleOp module, Views views);

/// Stores parameters with these dims innermost, the others before them in their
/// order, and with each its optimizer slots and its accumulator, which are
/// updated element by element with it, if nothing wants them row by row.
void storeInnermost(mlir::ModuleOp module,
                    const llvm::StringMap<int64_t> &innermost,
                    const llvm::StringMap<std::string> &rowByRow);

} // namespace dl::layout
