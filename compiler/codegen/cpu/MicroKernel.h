// The innermost block of a contraction, as a function of its own: LLVM then
// allocates registers for it alone.
#pragma once

#include "compiler/codegen/cpu/ContractStage.h"
#include "llvm/IR/Module.h"

namespace dl::cpu {

/// What a micro-kernel is called with.
struct MicroArguments {
  llvm::Value *bindings = nullptr, *scratch = nullptr; // of the kernel
  llvm::Value *frame = nullptr; // indices, see ContractStage
  /// The operands at the first row, lane and k.
  llvm::Value *scalarAt = nullptr, *laneAt = nullptr;
  llvm::Value *row = nullptr, *lane = nullptr; // the first ones; lanes are flat
  llvm::Value *sums = nullptr;                 // that wait between k blocks
  /// What is to be fetched, and where lanes are packed: see KPart.
  llvm::Value *ahead = nullptr, *packed = nullptr;

  static llvm::FunctionType *type(llvm::LLVMContext &context);
  static MicroArguments of(llvm::Function *function);
  void call(llvm::IRBuilder<> &b, llvm::Function *function) const;
};

class MicroKernel {
public:
  MicroKernel(const TiledKernel &kernel, PayloadCache &payloads,
              const Stage &stage, const ContractForm &form, int rows,
              const Panel &panel, const KPart &part);
  llvm::Function *emit(llvm::Module &module, llvm::StringRef name);

private:
  llvm::Value *constants();
  Values initialSums(llvm::Value *sums);
  void keepSums(llvm::Value *sums, llvm::ArrayRef<llvm::Value *> state);
  Values accumulate(size_t next, llvm::Value *scalarAt, llvm::Value *laneAt,
                    llvm::ArrayRef<llvm::Value *> state);
  Values accumulateFetching(llvm::Value *scalarAt, llvm::Value *laneAt,
                            llvm::ArrayRef<llvm::Value *> state);
  Values accumulateBlocked(llvm::ArrayRef<llvm::Value *> state);
  void fetchWindow(llvm::Value *from);
  Values loadPanel(llvm::Value *from);
  Values loadPairs(llvm::Value *from, bool isWhole);
  llvm::Value *multiplyAdd(llvm::Value *row, llvm::Value *lanes,
                           llvm::Value *sum, bool pairs);
  Values multiply(llvm::Value *scalarAt, llvm::ArrayRef<llvm::Value *> lanes,
                  llvm::ArrayRef<llvm::Value *> state);
  using Step =
      llvm::function_ref<Values(llvm::Value *k, llvm::ArrayRef<llvm::Value *>)>;
  Values emitTurns(llvm::Value *from, llvm::Value *count,
                   llvm::ArrayRef<llvm::Value *> state, Step step);
  llvm::Value *opaqueCopy(llvm::Value *pointer);
  llvm::SmallVector<mlir::Value> valuesAtResult() const;
  void fetchResult(RegionEmitter &e, llvm::Value *below, int64_t lines);
  void fetchResults();
  Values accumulateDot(int64_t extent, llvm::Value *scalarAt,
                       llvm::Value *laneAt,
                       llvm::ArrayRef<llvm::Value *> state);
  Values multiplyBoth(llvm::Value *scalarAt, llvm::Value *laneAt,
                      llvm::ArrayRef<llvm::Value *> state);
  void fetchColumns(llvm::Value *from, int64_t count);
  enum class Along { Vector, PairOfVectors };
  llvm::Value *loadAlong(llvm::Value *from, Along along, llvm::Value *mask,
                         bool isLane);
  Values dotStep(llvm::Value *scalarAt, llvm::Value *laneAt,
                 llvm::ArrayRef<llvm::Value *> state, Along along,
                 llvm::Value *mask = nullptr);

  llvm::Value *loadLanes(llvm::Value *from, int vector);
  llvm::Value *loadVector(llvm::Value *from, llvm::Value *mask);
  llvm::Value *loadLane(llvm::Value *from, llvm::Value *mask);
  llvm::Value *advance(llvm::Value *pointer, int64_t step, llvm::Value *count,
                       bool isLane = false);
  llvm::Value *advance(llvm::Value *pointer, int64_t elements,
                       bool isLane = false);
  /// Where the lane operand is.
  llvm::Value *advanceLane(llvm::Value *pointer, int64_t step,
                           llvm::Value *count) {
    return advance(pointer, step, count, /*isLane=*/true);
  }
  llvm::Value *advanceLane(llvm::Value *pointer, int64_t elements) {
    return advance(pointer, elements, /*isLane=*/true);
  }
  /// One vector whose lane i is the sum over the lanes of vectors[i].
  llvm::Value *sumEach(llvm::ArrayRef<llvm::Value *> vectors);
  mlir::Value stored() const { return stage.storedOp()->getResult(0); }
  llvm::SmallVector<mlir::AffineExpr> resultDims(RegionEmitter &e, int row,
                                                 int firstLane);
  void finishRow(RegionEmitter &e, int row, int firstLane, llvm::Value *content,
                 int64_t lanes);

  /// How many steps of a k dim count.
  llvm::Value *clippedCount(unsigned k);

  const TiledKernel &kernel;
  PayloadCache &payloads;
  const Stage &stage;
  const ContractForm &form;
  int rows, vectors;
  const Panel &panel;
  const KPart &part;
  llvm::IRBuilder<> *b = nullptr;
  MicroArguments arguments;

  /// Of what is computed; of the lane operand where it is stored.
  llvm::Type *element = nullptr, *vectorTy = nullptr, *laneElement = nullptr;
};

} // namespace dl::cpu
