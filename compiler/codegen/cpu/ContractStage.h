// A contraction: panels of lanes times blocks of rows, each by a micro-kernel that keeps its
// part of the result in registers over the whole k loop (so that a result's bits do not depend
// on tiles or threads), then applies the epilogue and stores.
#pragma once

#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/LoopsStage.h"
#include <map>

namespace dl::codegen {

/// The lanes of one panel as offsets into the lane operand, from its first lane.
struct Panel {
  int64_t lanes = 0;                     // in use, at most vectors * W
  llvm::SmallVector<int64_t> offsets;    // one a lane
  llvm::SmallVector<int64_t> kSteps;     // of the lane operand, one a k dim
  bool operator==(const Panel &) const = default;
};

class ContractStage {
public:
  ContractStage(RegionEmitter &emitter, PayloadCache &payloads,
                const Stage &stage, const TileBounds &tile,
                int maxAccumulators, int64_t packOffset, llvm::StringRef prefix);
  void emit();

private:
  /// Static sizes of a tile in one direction: the usual ones and the last.
  struct Span {
    int64_t usual, last;
    llvm::Value *isLast;
  };
  Span span(unsigned dim, int64_t inner) const;
  void emitBatch(size_t next);
  void emitTile(int64_t rows, int64_t lanes);
  void emitPanels(int64_t rows, int64_t lanes, RegisterTile tile);
  void emitRows(const Panel &panel, llvm::Value *lanePointer,
                llvm::Value *flat, int64_t rows, int64_t blockRows);
  void emitPack(int64_t lanes, int64_t panelLanes);
  void packPanel(const Panel &from, llvm::Value *source, llvm::Value *to,
                 int64_t width);
  void packTransposed(const Panel &from, llvm::Value *source, llvm::Value *to,
                      int64_t width);
  Panel panelAt(int64_t relative, int64_t lanes) const;
  llvm::Value *sidePointer(const ContractForm::Side &side, llvm::Value *row);
  llvm::Function *microKernel(int rows, const Panel &panel);

  RegionEmitter &e;
  PayloadCache &payloads;
  llvm::IRBuilder<> &b;
  const Stage &stage;
  const TileBounds &tile;
  ContractForm form;
  int maxAccumulators;
  int64_t packOffset;
  std::string prefix;
  llvm::Type *element;
  llvm::SmallVector<mlir::AffineExpr> dims; // current indices of batch dims
  llvm::Value *frame = nullptr; // i64: tile origins, then all iteration dims
  std::map<std::string, llvm::Function *> microKernels;
};

} // namespace dl::codegen
