// The innermost block of a contraction, as a function of its own: LLVM then
// allocates registers for it alone.
#pragma once

#include "compiler/codegen/cpu/ContractStage.h"
#include "llvm/IR/Module.h"

namespace dl::codegen {

/// void(bindings, scratch, frame, scalar operand, lane operand, row, flat lane,
/// sums, ahead, packed); `ahead` is what is to be fetched and `packed` where
/// lanes are packed: see KPart.
class MicroKernel {
public:
  MicroKernel(const KernelPlan &plan, PayloadCache &payloads,
              const Stage &stage, const ContractForm &form, int rows,
              const Panel &panel, const KPart &part);
  llvm::Function *emit(llvm::Module &module, llvm::StringRef name);
  static llvm::FunctionType *type(llvm::LLVMContext &context);

private:
  llvm::Value *constants();
  Values initialSums(llvm::Value *sums);
  void keepSums(llvm::Value *sums, llvm::ArrayRef<llvm::Value *> state);
  Values accumulate(size_t next, llvm::Value *scalarAt, llvm::Value *laneAt,
                    llvm::ArrayRef<llvm::Value *> state);
  Values accumulateFetching(llvm::Value *scalarAt, llvm::Value *laneAt,
                            llvm::ArrayRef<llvm::Value *> state);
  Values accumulateBlocked(llvm::Function *function,
                           llvm::ArrayRef<llvm::Value *> state);
  Values loadPanel(llvm::Value *from);
  Values multiply(llvm::Value *scalarAt, llvm::ArrayRef<llvm::Value *> lanes,
                  llvm::ArrayRef<llvm::Value *> state);
  using Step =
      llvm::function_ref<Values(llvm::Value *k, llvm::ArrayRef<llvm::Value *>)>;
  Values emitTurns(llvm::Value *from, llvm::Value *count,
                   llvm::ArrayRef<llvm::Value *> state, Step step);
  void fetch(llvm::Value *from, int locality);
  llvm::Value *opaqueCopy(llvm::Value *pointer);
  void fetchResult(RegionEmitter &e, llvm::Function *function,
                   llvm::Value *below, int64_t lines);
  Values dotStep(llvm::Value *scalarAt, llvm::Value *laneAt,
                 llvm::ArrayRef<llvm::Value *> state, llvm::Value *mask);

  llvm::Value *loadLanes(llvm::Value *from, int vector);
  llvm::Value *loadVector(llvm::Value *from, llvm::Value *mask);
  llvm::Value *advance(llvm::Value *pointer, int64_t step, llvm::Value *count);
  llvm::Value *advance(llvm::Value *pointer, int64_t elements);
  /// One vector whose lane i is the sum over the lanes of vectors[i].
  llvm::Value *sumEach(llvm::ArrayRef<llvm::Value *> vectors);
  mlir::Value stored() const { return stage.storedOp()->getResult(0); }
  llvm::SmallVector<mlir::AffineExpr> resultDims(RegionEmitter &e,
                                                 llvm::Function *function,
                                                 int row, int firstLane);
  void finishRow(RegionEmitter &e, llvm::Function *function, int row,
                 int firstLane, llvm::Value *content, int64_t lanes);

  /// How many steps of a k dim count.
  llvm::Value *clippedCount(unsigned k);

  const KernelPlan &plan;
  PayloadCache &payloads;
  const Stage &stage;
  const ContractForm &form;
  int rows, vectors;
  const Panel &panel;
  const KPart &part;
  llvm::IRBuilder<> *b = nullptr;
  llvm::Value *frame = nullptr;

  llvm::Type *element = nullptr, *vectorTy = nullptr;
};

} // namespace dl::codegen
