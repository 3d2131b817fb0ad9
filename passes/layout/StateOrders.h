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

/// Dims from the outermost to the innermost.
using Order = llvm::SmallVector<int64_t, 6>;

/// With this dim innermost, the others before it in their order.
Order orderWithInnermost(int64_t rank, int64_t innermost);

/// Stores parameters in these orders, and with each its optimizer slots and its
/// accumulator, which are updated element by element with it, if nothing wants
/// them row by row.
void storeInOrder(mlir::ModuleOp module, const llvm::StringMap<Order> &orders,
                  const llvm::StringMap<std::string> &rowByRow);

} // namespace dl::layout
