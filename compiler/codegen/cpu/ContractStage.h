// A contraction: panels of lanes times blocks of rows, each by a micro-kernel
// that keeps its part of the result in registers over the whole k loop (so that
// a result's bits do not depend on tiles or threads), then applies the epilogue
// and stores.
#pragma once

#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/LoopsStage.h"
#include "compiler/codegen/cpu/Target.h"
#include <map>

namespace dl::cpu {

/// The lanes of one panel as offsets into the lane operand, from its first
/// lane.
struct Panel {
  int64_t lanes = 0;                  // in use, at most vectors * W
  llvm::SmallVector<int64_t> offsets; // one a lane
  llvm::SmallVector<int64_t> kSteps;  // of the lane operand, one a k dim
  bool rounds = false;                // to bf16, what is read of it
  bool operator==(const Panel &) const = default;
};

/// The part of the k loop that one call of a micro-kernel covers.
struct KPart {
  int64_t extent = 0;             // of the outermost k dim
  bool first = true, last = true; // starts from zero; finishes the result
  llvm::SmallVector<int64_t> scalarSteps; // of the row operand, one a k dim
  int64_t rowStep = 0;                    // of the row operand
  int64_t sumStride = 0;                  // between rows of kept sums
  bool clipped = false; // bordered k dims have fewer steps: see the frame
  /// Operands are packed, but for lanes packed on the way, and sums far away.
  /// The k loop is cut into as many chunks as there are rows; each begins by
  /// fetching one row of the sums and results of the next call, and some lines
  /// of the next panel.
  bool blocked = false;
  /// Packed operands are pairs of k: see Packing.h. `extent` counts single
  /// ones. What is not packed is joined on the way.
  bool pairs = false;
  /// Rows of the dot form are pairs, too, of a vector along k and the next one.
  bool rowsArePairs = false;
  /// The lanes of the panel are where they were, and packed on the way.
  bool packs = false;
  /// Nothing is multiplied: the kept sums are all.
  bool onlyFinishes = false;
  /// What a chunk fetches of the next panel: `count` times `lines` lines of
  /// cache, in elements `stride` apart; the next chunk goes on `step` further.
  /// Of pairs of the outermost k each is a chunk; of windows with so many
  /// `rows` it fetches all lines of `count`, for both k.
  struct {
    int64_t count = 0, lines = 0, stride = 0, step = 0, rows = 0;
  } ahead;
};

/// Of packed rows, between neighbours of each k dim; of the outermost between
/// pairs.
llvm::SmallVector<int64_t> packedSteps(const ContractForm &form);

struct MicroArguments;

class ContractStage {
public:
  ContractStage(RegionEmitter &emitter, PayloadCache &payloads,
                const Stage &stage, const TileBounds &tile,
                const TargetVariant &variant, int64_t packOffset,
                llvm::StringRef prefix);
  void emit();

private:
  /// Static sizes of a tile in one direction: the usual ones and the last.
  struct Span {
    int64_t usual, last;
    llvm::Value *isLast;
  };
  Span span(unsigned dim, int64_t inner) const;
  void emitBatch(size_t next);
  void emitBordered(llvm::function_ref<void()> emit);
  void emitTile(int64_t rows, int64_t lanes);
  void emitRowsOfTile(int64_t rows, int64_t lanes);
  /// Blocks of `depth` of the outermost k; the last one may be smaller.
  void forEachKBlock(
      int64_t extent, int64_t depth, KPart part,
      llvm::function_ref<void(llvm::Value *k, const KPart &part)> emit);
  void emitKBlock(int64_t rows, int64_t lanes, RegisterTile block,
                  llvm::Value *k, KPart part);
  void emitPanels(int64_t rows, int64_t lanes, RegisterTile block,
                  llvm::Value *k, const KPart &part);
  void emitRows(const Panel &panel, llvm::Value *lanePointer,
                int64_t toNextPanel, llvm::Value *relativeLane, int64_t rows,
                int64_t blockRows, llvm::Value *k, const KPart &part);
  void fetchAhead(int64_t blocks, KPart &part) const;
  llvm::Value *unreadWindow(llvm::Value *panel, llvm::Value *block,
                            const KPart &part);
  int64_t panelPeriod(int64_t full, int64_t width) const;
  Panel panelAt(int64_t relative, int64_t lanes) const;
  Panel packedPanel(int64_t lanes) const;
  Panel rowPanel() const;
  void packTileRows();
  llvm::Value *packedRow(llvm::Value *relative, llvm::Value *k);
  llvm::Value *rowAt(llvm::Value *relative, llvm::Value *row, llvm::Value *k,
                     const KPart &part);
  llvm::Value *firstPackedK();
  llvm::Value *rowEnd() const;
  void pairRows(int64_t rows, llvm::ArrayRef<int64_t> extents, llvm::Value *k,
                const KPart &part);
  llvm::Value *pairedRow(llvm::Value *relative, const KPart &part);
  // PixelRows.cpp
  RegisterTile pixelBlock(int64_t rows, int64_t lanes) const;
  void packPixelLanes(int64_t lanes);
  void packPixels();
  llvm::Value *packedPixel(llvm::Value *pixel);
  void packPixelSums(int64_t rows, int64_t lanes, int64_t width,
                     llvm::ArrayRef<int64_t> extents, llvm::Value *k,
                     KPart &part);
  /// Of an element of the lane operand where it is stored.
  llvm::Type *laneType();
  llvm::Value *sidePointer(const ContractForm::Side &side, llvm::Value *row,
                           llvm::Value *k);
  llvm::Value *scratchAt(int64_t offset);
  llvm::Value *tileOrigin(int dim) const;
  // NarrowProduct.cpp
  void emitNarrow();
  void emitNarrowSquare(llvm::Value *row, int64_t rows, RegisterTile block,
                        const KPart &part);
  void finishTransposed(llvm::Value *row, int64_t rows, int64_t firstLane,
                        int64_t lanes);
  // StreamedProduct.cpp
  void emitStreamed();
  void emitStreamedPanel(llvm::Value *lane, int64_t lanes, llvm::Value *waiting,
                         llvm::Value *k, const KPart &part);
  // CacheBlocks.cpp
  struct CacheBlock;
  void emitCacheBlocks(int64_t rows);
  void emitCacheBlock(const CacheBlock &block);
  void packRows(const CacheBlock &block, llvm::Value *k, int64_t extent);
  void emitPackedPanel(const CacheBlock &block, llvm::Value *lane,
                       int64_t lanes, llvm::Value *k, const KPart &part);
  // AmxBlocks.cpp
  struct TileProduct;
  void emitTiledBlock(const CacheBlock &block);
  void
  forEachPanel(const CacheBlock &block,
               llvm::function_ref<void(llvm::Value *lane, int64_t lanes)> emit);
  void packRowTiles(const CacheBlock &block, llvm::Value *k, int64_t extent);
  void packRowsAlongK(const CacheBlock &block, llvm::Value *from,
                      int64_t extent);
  void packRowsAcrossK(const CacheBlock &block, llvm::Value *from,
                       int64_t extent);
  void packLaneTiles(const CacheBlock &block, llvm::Value *k, int64_t extent);
  llvm::Value *packedLanes(const CacheBlock &block, llvm::Value *lane,
                           int64_t countK);
  void multiplyTiles(const CacheBlock &block, const KPart &part);
  llvm::Function *tileKernel(const TileProduct &product);
  void finishTiles(const CacheBlock &block, llvm::Value *row, int64_t rows,
                   llvm::Value *sumsAt, const KPart &part);
  void finishRows(
      llvm::Value *row, int64_t rows, llvm::Value *sumsAt, const KPart &part,
      llvm::function_ref<
          void(llvm::function_ref<void(llvm::Value *lane, llvm::Value *inSums,
                                       int64_t lanes)>)>
          forEachPanel);
  // AmxTaps.cpp
  void packTapRows();
  void packPlanes();
  llvm::Value *windowEdge(bool end);
  void emitTapTile(int64_t rows, int64_t lanes);
  llvm::Value *laneOffset(llvm::Value *lane);
  llvm::Function *tapKernel(int64_t high, int64_t wide);
  // AmxDots.cpp
  struct DotWindows;
  void packWindow(const ContractForm::Side &side, unsigned dim, int64_t count,
                  int64_t tiles, llvm::Value *from, llvm::Value *to,
                  bool transposes);
  void emitDotTile(int64_t rows, int64_t lanes);
  int64_t dotSums(int64_t rows) const;
  void multiplyDots(int64_t rows, int64_t channels, const DotWindows &windows,
                    const KPart &part);
  llvm::Function *dotKernel(int64_t high, int64_t wide,
                            const DotWindows &windows, const KPart &part);
  void finishDots(int64_t rows, int64_t channels);
  llvm::Function *microKernel(int rows, const Panel &panel, const KPart &part);
  /// Those that are the same for all calls; nothing is fetched or packed.
  MicroArguments microArguments(llvm::Value *scalarAt, llvm::Value *laneAt);

  RegionEmitter &e;
  PayloadCache &payloads;
  llvm::IRBuilder<> &b;
  const Stage &stage;
  const TileBounds &tile;
  ContractForm form;
  Registers registers;
  bool tiles; // of bf16 are multiplied: see AmxBlocks.cpp
  bool pairs; // of bf16 are packed
  int64_t packOffset;
  ContractScratch scratch;
  std::string prefix;
  llvm::Type *element;

  llvm::SmallVector<mlir::AffineExpr> dims; // current indices of batch dims
  /// i64: tile origins, then all iteration dims; for k dims how many steps
  /// count. Last a pointer to the constants of the launch, if there are any.
  llvm::Value *frame = nullptr;
  /// While what is emitted may leave an operand: where each bordered k dim
  /// starts.
  llvm::SmallVector<llvm::Value *, 2> clippedFrom;
  llvm::Value *windowFrom = nullptr; // of packed planes
  llvm::Value *firstPixel = nullptr; // of packed ones
  llvm::Value *rowInTile = nullptr;  // the first one, where not all are at once
  std::map<std::string, llvm::Function *> microKernels;
};

} // namespace dl::cpu
