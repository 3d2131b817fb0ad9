// A stage without a contraction: loops over its dims, the innermost along
// vector lanes.
#pragma once

#include "compiler/codegen/cpu/Combiner.h"
#include "compiler/codegen/cpu/RegionEmitter.h"

namespace dl::cpu {

/// The part of each grid dim that the current tile covers: [origin, end).
struct TileBounds {
  llvm::SmallVector<llvm::Value *> origin, end;
};

/// Those of a dim with this many that are in the tile: [first, second).
std::pair<llvm::Value *, llvm::Value *>
indicesInTile(const RegionEmitter &emitter, const TileBounds &tile,
              GridPart bound, int64_t extent);

class LoopsStage {
public:
  LoopsStage(RegionEmitter &emitter, const Stage &stage,
             const TileBounds &tile);
  void emit();

private:
  /// Where one iteration dim runs.
  struct Range {
    llvm::Value *lo, *hi;
    int64_t extent;      // of the whole dim
    GridPart cut = {};   // by which grid dim, if any
    bool single = false; // the tile covers one index
    int64_t phases = 1;  // dim = phases * outer + phase
    bool isCut() const { return cut.grid.has_value(); }
  };
  /// What lies across the lanes: contiguous along parallel dim `dim` instead.
  struct Across {
    unsigned dim;
    llvm::SmallVector<
        std::pair<mlir::Value, llvm::SmallVector<mlir::AffineExpr>>>
        reads; // leaf and its index over the stage's dims
  };
  void findPhases();
  void chooseLanes();
  llvm::SmallVector<unsigned> laneGroup(llvm::ArrayRef<unsigned> candidates,
                                        bool checkResult) const;
  /// Coefficient of a dim in the address of a leaf; nothing where it is not
  /// linear.
  std::optional<int64_t> addressStep(mlir::Value leaf,
                                     llvm::ArrayRef<mlir::AffineExpr> index,
                                     unsigned dim) const;
  /// In each address that an iteration touches.
  llvm::SmallVector<std::optional<int64_t>> addressSteps(unsigned dim,
                                                         bool withResult) const;
  double laneCost(llvm::ArrayRef<unsigned> group, bool withResult) const;

  // LoopsSquares.cpp
  std::optional<Across> findAcross() const;
  void emitSquares();
  void emitSquare(llvm::Value *lane, llvm::Value *across, int64_t multiple,
                  llvm::Value *end);
  void storeResults();

  void emitOuter(size_t next);
  void emitLaneLoop();
  /// `flat` is a multiple of `multiple`.
  void emitLaneBody(llvm::Value *flat, int64_t multiple);
  llvm::SmallVector<int64_t> wideRows(int64_t lanes) const;
  bool sumsRowByRow(unsigned dim, const Combiner &combiner) const;
  bool takesWideRows() const;
  void emitWideBody(llvm::Value *flat, int64_t multiple, int64_t wide);
  Values evaluatePoint();
  Values withFollowers(Values contents);
  Values reduceWindow(unsigned dim, Values state, const Combiner &combiner);
  void emitAcrossLanes();
  int64_t lanesAcross() const;
  Values addChains(llvm::ArrayRef<llvm::Value *> chains,
                   const Combiner &combiner);
  Values reduceAlongLanes(unsigned dim, Values state, const Combiner &combiner);
  Values stepAlongLanes(llvm::Value *flat, llvm::ArrayRef<llvm::Value *> state,
                        const Combiner &combiner);
  llvm::Value *reductionPosition();
  llvm::Value *constantTail(int64_t count) const;
  llvm::Value *lanesBefore(llvm::Value *count) const;
  llvm::Value *flatIndex(int64_t value) const;
  mlir::AffineExpr constant(int64_t value) const;
  Combiner makeCombiner() const;
  Values initialState(const Combiner &combiner) const;
  /// One more value of each lane: of each sum, if there are several.
  Values combine(llvm::ArrayRef<llvm::Value *> state, const Combiner &combiner,
                 llvm::Value *mask);
  Values finish(llvm::ArrayRef<llvm::Value *> state, const Combiner &combiner);
  llvm::ArrayRef<mlir::AffineExpr> resultIndex() const {
    return llvm::ArrayRef(dims).take_front(nest.numParallel);
  }

  RegionEmitter &e;
  llvm::IRBuilder<> &b;
  const Stage &stage;
  const graph::LoopNest &nest;
  llvm::SmallVector<mlir::OpResult> results;          // of the stage
  llvm::SmallVector<mlir::Operation *, 4> reductions; // its op, sums beside it
  llvm::SmallVector<Range> ranges;
  llvm::SmallVector<unsigned> laneDims; // outermost first
  bool lanesReduce = false;             // lanes run along reduction dims
  bool guarded = false;                 // some access may leave its operand
  std::optional<Across> across;
  /// Vectors of lanes beside one another that are summed in one loop.
  int64_t vectors = 1;
  llvm::SmallVector<unsigned> outerDims;
  llvm::SmallVector<mlir::AffineExpr> dims; // current iteration
};

} // namespace dl::cpu
