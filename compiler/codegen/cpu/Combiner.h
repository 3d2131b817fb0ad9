// How a reduction combines values, lane by lane and across lanes.
#pragma once

#include "compiler/codegen/cpu/Control.h"
#include "dialects/graph/LoopNest.h"

namespace dl::cpu {

/// The running state is one vector for Sum, {value, position} for Max.
class Combiner {
public:
  Combiner(llvm::IRBuilder<> &builder, const graph::LoopNest &nest,
           llvm::Type *valueType);

  Values init() const;
  /// `position`: row-major index of the reduction dims, <lanes x i64>. Lanes
  /// outside of `mask` keep their state.
  Values step(llvm::ArrayRef<llvm::Value *> state, llvm::Value *value,
              llvm::Value *position, llvm::Value *mask) const;
  /// Two sums become one.
  Values merge(llvm::ArrayRef<llvm::Value *> a,
               llvm::ArrayRef<llvm::Value *> b) const;
  bool isSum() const { return !isMax; }
  /// Across lanes, in a fixed tree; the result is in lane 0.
  Values acrossLanes(llvm::ArrayRef<llvm::Value *> state) const;
  /// What the op's results are, converted to their element types.
  Values results(llvm::ArrayRef<llvm::Value *> state,
                 llvm::ArrayRef<llvm::Type *> types) const;

private:
  llvm::Value *better(llvm::Value *value, llvm::Value *position,
                      llvm::Value *best, llvm::Value *bestPosition) const;

  llvm::IRBuilder<> &builder;
  const graph::LoopNest &nest;
  llvm::Type *type;
  unsigned lanes;
  bool isMax;
};

} // namespace dl::cpu
