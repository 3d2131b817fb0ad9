// A stage whose loops run one after the other along a dim: sums to where an
// index says (graph::Scatter), scans, sorting. A slice that is replaced in
// place (graph::Replace) has one index of it.
#pragma once

#include "compiler/codegen/cpu/LoopsStage.h"

namespace dl::cpu {

class SequentialStage {
public:
  SequentialStage(RegionEmitter &emitter, const Stage &stage,
                  const TileBounds &tile);
  void emit();

  /// What it needs besides the memory of values.
  static int64_t scratchBytes(const TiledKernel &kernel, const Stage &stage);

private:
  using Body = llvm::function_ref<void()>;

  // Loops over the part of the dims that is in the tile.
  void loopOver(llvm::ArrayRef<unsigned> loops, Body body);
  /// The same, the last one along the lanes if it can be.
  void loopWithLanes(llvm::ArrayRef<unsigned> loops, Body body);
  void lanesAlong(unsigned dim, Body body);
  /// All indices of a dim in order, with values carried from one to the next.
  using Step = llvm::function_ref<Values(llvm::ArrayRef<llvm::Value *>)>;
  Values loopAlong(unsigned dim, bool backwards,
                   llvm::ArrayRef<llvm::Value *> init, Step body);
  /// The same for a part of them, [from, to).
  Values loopBetween(unsigned dim, int64_t from, int64_t to, bool backwards,
                     llvm::ArrayRef<llvm::Value *> init, Step body);
  bool canHaveLanes(unsigned dim) const;

  void emitScatter();
  void begin();
  void combineAt(llvm::ArrayRef<unsigned> loops);
  void emitReplace();
  void loopAt(llvm::ArrayRef<unsigned> loops, Body body);
  void emitScan();
  Values scanBegin() const;
  llvm::Value *widened(llvm::Value *content) const;
  llvm::Value *stored(llvm::Value *content) const;
  Values scanStep(llvm::ArrayRef<llvm::Value *> before);
  void emitSort();
  llvm::Value *sortDigits(llvm::ArrayRef<llvm::Value *> lists,
                          llvm::Value *histograms);
  llvm::Value *mergeFirst(llvm::ArrayRef<llvm::Value *> lists);
  llvm::Value *elementHere();
  llvm::Value *elementsFrom(llvm::Value *index);
  bool isUnsigned() const;
  void keep(llvm::ArrayRef<llvm::Value *> lists, llvm::Value *key,
            llvm::Value *to);
  llvm::Value *
  addBetter(llvm::ArrayRef<llvm::Value *> lists, llvm::Value *carried,
            llvm::function_ref<llvm::Value *(llvm::Value *, llvm::Value *,
                                             llvm::Value *)>
                add);
  llvm::Value *selectFirst(llvm::ArrayRef<llvm::Value *> lists);
  void insertFirst(llvm::ArrayRef<llvm::Value *> lists);
  void keepFirst(llvm::ArrayRef<llvm::Value *> lists);
  Values mergeSort(llvm::Value *count, llvm::ArrayRef<llvm::Value *> lists);
  void mergeRuns(llvm::Value *begin, llvm::Value *middle, llvm::Value *end,
                 llvm::ArrayRef<llvm::Value *> lists);
  llvm::Value *isLess(llvm::Value *a, llvm::Value *b) const;

  /// An operand's element, one a lane or, without lanes, a single one.
  llvm::Value *read(unsigned operand);
  void write(llvm::Value *content);
  llvm::Value *slot(llvm::Value *list, llvm::Type *element, llvm::Value *at);

  RegionEmitter &e;
  llvm::IRBuilder<> &b;
  const Stage &stage;
  const graph::LoopNest &nest;
  const TileBounds &tile;
  mlir::Value result;
  unsigned at, over;
  llvm::SmallVector<unsigned> outer, inner; // parallel dims before and after at
  llvm::SmallVector<mlir::AffineExpr> dims; // current iteration
  bool hasLanes = false;
  bool guarded = false; // some access may leave its operand
};

} // namespace dl::cpu
