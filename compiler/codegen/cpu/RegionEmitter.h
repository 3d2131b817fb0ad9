// Values of a kernel's region as vectors: loads, inlined elementwise ops,
// stores. One emitter serves one LLVM function.
#pragma once

#include "compiler/codegen/cpu/IndexScope.h"
#include "compiler/codegen/cpu/TiledKernel.h"
#include "compiler/codegen/kernel/PayloadCache.h"

namespace dl::cpu {

using kernel::PayloadCache;

class RegionEmitter {
public:
  RegionEmitter(const TiledKernel &kernel, PayloadCache &payloads,
                llvm::IRBuilder<> &builder, llvm::Value *bindings,
                llvm::Value *constants, llvm::Value *scratch);

  const TiledKernel &kernel;
  llvm::IRBuilder<> &builder;
  IndexScope scope;
  /// First index of the tile in each grid dim, and that in steps of the grid's
  /// blocks.
  llvm::SmallVector<mlir::AffineExpr> tileOrigin, blockOrigin;
  mlir::AffineExpr originOf(GridPart bound) const {
    return (bound.step == 1 ? tileOrigin : blockOrigin)[*bound.grid];
  }
  /// Lanes in use, <lanes x i1>; null for all.
  llvm::Value *tail = nullptr;

  /// The value at an index: one element a lane, or a vector of one element
  /// where all lanes have the same. What is the same for all is computed once,
  /// and LLVM moves it out of the loops that it does not depend on.
  llvm::Value *evaluate(mlir::Value value,
                        llvm::ArrayRef<mlir::AffineExpr> index);
  /// The payload of an op at one iteration.
  llvm::SmallVector<llvm::Value *>
  evaluatePayload(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> dims);
  /// What the payload gets of one operand.
  llvm::Value *evaluateOperand(mlir::Operation *op, unsigned operand,
                               llvm::ArrayRef<mlir::AffineExpr> dims);
  /// The content with one element a lane.
  llvm::Value *widen(llvm::Value *content);
  /// `value` has this content in the current loop body, whatever the index.
  void seed(mlir::Value value, llvm::Value *content) { seeds[value] = content; }
  /// The element of a placed value at this index has been loaded.
  void preload(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index,
               llvm::Value *content);
  /// To be called at the start of each loop body.
  void enterBody() { cache.clear(), seeds.clear(); }
  /// The scalar type that an op's payload yields.
  mlir::Type payloadResultType(mlir::Operation *op) {
    return payloads.get(llvm::cast<graph::LoopNestOpInterface>(op))
        .results[0]
        .getType();
  }
  /// Some op that the stage computes needs the numbers of its indices. (What
  /// else the kernel has decides nothing about the order of its sums.)
  bool usesIndices(const Stage &stage);

  llvm::Value *load(mlir::Value placed, llvm::ArrayRef<mlir::AffineExpr> index);
  /// Zeros where the index is outside of the value.
  llvm::Value *loadInside(mlir::Value placed,
                          llvm::ArrayRef<mlir::AffineExpr> index);
  void store(mlir::Value placed, llvm::ArrayRef<mlir::AffineExpr> index,
             llvm::Value *content);
  /// Stores lane 0 only.
  void storeScalar(mlir::Value placed, llvm::ArrayRef<mlir::AffineExpr> index,
                   llvm::Value *content);
  /// Stores content[i] at the index with step i along a strided dim, i.e.
  /// interleaved: lane l of content[i] goes to position l * n + i. A mask for
  /// each content tells its lanes in use; null for all.
  void storeInterleaved(mlir::Value placed,
                        llvm::ArrayRef<mlir::AffineExpr> index,
                        llvm::ArrayRef<llvm::Value *> contents,
                        llvm::ArrayRef<llvm::Value *> masks);

  /// A place in the scratch of the thread.
  llvm::Value *scratchAt(int64_t offset);
  /// The start of a placed value's memory.
  llvm::Value *pointer(mlir::Value placed);
  /// Elements from that start.
  mlir::AffineExpr address(mlir::Value placed,
                           llvm::ArrayRef<mlir::AffineExpr> index) const;
  llvm::Type *memoryType(mlir::Value placed) const;
  /// Placed values never overlap, but for a result and the operand it replaces.
  template <typename Inst> Inst *withAlias(Inst *inst, mlir::Value placed) {
    annotate(inst, placed);
    return inst;
  }
  llvm::Value *elementPointer(mlir::Value placed, llvm::Value *offset);

private:
  mlir::AffineExpr indirectIndex(mlir::Operation *op,
                                 const graph::Access &access, int64_t extent,
                                 llvm::ArrayRef<mlir::AffineExpr> dims);
  llvm::Value *insideMask(const graph::Access &access,
                          llvm::ArrayRef<mlir::AffineExpr> dims,
                          llvm::ArrayRef<mlir::AffineExpr> index,
                          llvm::ArrayRef<int64_t> shape, bool &never);
  llvm::Value *isInRange(mlir::AffineExpr expr, int64_t extent);
  llvm::Value *scalarOperand(mlir::Operation *op, int64_t index);
  llvm::SmallVector<llvm::Value *, 2>
  drawAlongLanes(graph::PhiloxOp draw, llvm::ArrayRef<llvm::Value *> operands,
                 llvm::ArrayRef<mlir::AffineExpr> indices);
  llvm::Value *launchConstant(unsigned number);
  llvm::Value *invariantLoad(llvm::Type *type, llvm::Value *from);
  /// Makes all as wide as the widest; returns that width.
  unsigned unifyWidths(llvm::MutableArrayRef<llvm::Value *> contents);
  bool isInMemory(mlir::Value placed, mlir::AffineExpr at) const;
  llvm::Value *loadVector(mlir::Value placed, mlir::AffineExpr at);
  llvm::Value *interleave(llvm::Value *x, llvm::Value *y, unsigned half);
  llvm::Value *activeMask();
  llvm::Value *fromMemory(llvm::Value *content, mlir::Type element);
  llvm::Value *toMemory(llvm::Value *content);
  void annotate(llvm::Instruction *inst, mlir::Value placed);
  unsigned aliasGroup(mlir::Value placed) const;

  PayloadCache &payloads;
  llvm::Value *bindings, *constants, *scratch;
  llvm::SmallVector<llvm::Value *> launchConstants; // by number
  llvm::Value *guard = nullptr; // where an access is inside its operand
  std::map<std::tuple<const void *, const void *, llvm::Value *>, llvm::Value *>
      cache;
  llvm::DenseMap<mlir::Value, llvm::Value *> seeds;
  llvm::DenseMap<mlir::Value, llvm::Value *> pointers;
  llvm::SmallVector<llvm::MDNode *> aliasScopes;
};

} // namespace dl::cpu
