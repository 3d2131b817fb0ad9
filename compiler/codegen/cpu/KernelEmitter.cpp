#include "compiler/codegen/cpu/KernelEmitter.h"
#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/SequentialStage.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

static TileBounds tileBounds(const TiledKernel &kernel, llvm::IRBuilder<> &b,
                             Value *tileNumber) {
  TileBounds tile;
  size_t count = kernel.grid().size();
  tile.origin.resize(count), tile.end.resize(count);
  Value *rest = tileNumber;
  for (size_t g = count; g-- > 0;) {
    int64_t extent = kernel.grid()[g].extent, size = kernel.tileSizes()[g];
    int64_t parts = (extent + size - 1) / size;
    if (parts <= 1) {
      tile.origin[g] = b.getInt64(0), tile.end[g] = b.getInt64(extent);
      continue;
    }
    Value *part = b.CreateURem(rest, b.getInt64(parts));
    rest = b.CreateUDiv(rest, b.getInt64(parts));
    tile.origin[g] = b.CreateMul(part, b.getInt64(size));
    Value *end = b.CreateAdd(tile.origin[g], b.getInt64(size));
    tile.end[g] = extent % size == 0
                      ? end
                      : b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end,
                                                b.getInt64(extent));
  }
  return tile;
}

/// The other stages do for tiles that are neighbours along the grid dim what
/// they do for one: nothing waits in the room of a single tile.
static bool canFollowMerged(const TiledKernel &kernel, unsigned dim) {
  if (kernel.grid()[dim].block != 1 || kernel.tileSizes()[dim] == 1)
    return false;
  for (const auto &[value, placement] : kernel.placements())
    if (placement.kind == Placement::Scratch)
      return false;
  return llvm::all_of(
      ArrayRef(kernel.stages()).drop_front(), [&](const Stage &stage) {
        return llvm::is_contained(kernel.parts(stage), GridPart{dim});
      });
}

/// The grid dim along which tiles of one call are computed together: what a
/// contraction packs serves them all.
static std::optional<unsigned> mergedDim(const TiledKernel &kernel) {
  const Stage &first = kernel.stages().front();
  if (!first.contraction)
    return std::nullopt;
  ContractForm form = ContractForm::of(kernel, first);
  if (!form.is<BlockedProduct>() && !form.is<NarrowProduct>() &&
      !form.is<StreamedProduct>())
    return std::nullopt;
  unsigned along =
      form.is<NarrowProduct>() ? form.rowDim : form.laneDims.front();
  std::optional<unsigned> dim = kernel.parts(first)[along].grid;
  if (!dim || (kernel.stages().size() > 1 && !canFollowMerged(kernel, *dim)))
    return std::nullopt;
  for (size_t g = *dim + 1; g < kernel.grid().size(); ++g)
    if (kernel.isCut({unsigned(g)}))
      return std::nullopt;
  return dim;
}

static void emitTiles(const TiledKernel &kernel, llvm::IRBuilder<> &b,
                      std::optional<unsigned> merged, Value *begin, Value *end,
                      llvm::function_ref<void(TileBounds &)> emit) {
  if (!merged)
    return emitLoop(b, begin, end, 1, [&](Value *number) {
      TileBounds tile = tileBounds(kernel, b, number);
      emit(tile);
    });
  // Every row of tiles that the range meets.
  int64_t extent = kernel.grid()[*merged].extent,
          size = kernel.tileSizes()[*merged];
  Value *parts = b.getInt64((extent + size - 1) / size);
  Value *first = b.CreateMul(b.CreateUDiv(begin, parts), parts);
  emitLoop(b, first, end, (extent + size - 1) / size, [&](Value *row) {
    auto at = [&](Value *number) {
      return b.CreateBinaryIntrinsic(
          llvm::Intrinsic::smin,
          b.CreateMul(b.CreateSub(number, row), b.getInt64(size)),
          b.getInt64(extent));
    };
    Value *from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, begin, row);
    Value *to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end,
                                        b.CreateAdd(row, parts));
    TileBounds tile = tileBounds(kernel, b, from);
    tile.origin[*merged] = at(from), tile.end[*merged] = at(to);
    emit(tile);
  });
}

/// The result may lie where the value lies of which a slice is replaced: the
/// pointers tell, and then the slice alone is written.
static void emitReplacing(RegionEmitter &emitter, const Stage &stage,
                          const TileBounds &tile) {
  llvm::IRBuilder<> &b = emitter.builder;
  mlir::Value result = stage.op->getResult(0), before = stage.op->getOperand(2);
  if (!emitter.kernel.isPlaced(before) || emitter.kernel.isInScratch(before) ||
      emitter.kernel.isInScratch(result))
    return LoopsStage(emitter, stage, tile).emit();
  Value *isThere =
      b.CreateICmpEQ(emitter.pointer(result), emitter.pointer(before));
  emitIf(
      b, isThere, [&] { SequentialStage(emitter, stage, tile).emit(); },
      [&] { LoopsStage(emitter, stage, tile).emit(); });
  emitter.enterBody();
}

std::unique_ptr<llvm::Module> emitKernel(const TiledKernel &kernel,
                                         PayloadCache &payloads,
                                         const TargetVariant &variant,
                                         llvm::LLVMContext &context) {
  StringRef name = kernel.op().getName();
  auto module = std::make_unique<llvm::Module>(name, context);
  auto *ptr = llvm::PointerType::get(context, 0);
  auto *i64 = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {ptr, ptr, ptr, i64, i64}, false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, name, *module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  RegionEmitter emitter(kernel, payloads, b, function->getArg(0),
                        function->getArg(1), function->getArg(2));
  std::optional<unsigned> merged = mergedDim(kernel);
  auto inGrid = [&](Value *tile) -> Value * {
    if (kernel.numTiles() == kernel.gridTiles())
      return tile;
    return b.CreateUDiv(b.CreateMul(tile, b.getInt64(kernel.gridTiles())),
                        b.getInt64(kernel.numTiles()));
  };
  emitTiles(
      kernel, b, merged, inGrid(function->getArg(3)),
      inGrid(function->getArg(4)), [&](TileBounds &tile) {
        emitter.scope.truncate(0);
        emitter.tileOrigin.clear(), emitter.blockOrigin.clear();
        for (auto [origin, dim, size] :
             llvm::zip(tile.origin, kernel.grid(), kernel.tileSizes())) {
          int64_t last = size >= dim.extent ? 0 : dim.extent - 1;
          emitter.tileOrigin.push_back(emitter.scope.addDim(origin, 0, last));
          emitter.blockOrigin.push_back(
              emitter.scope.addDim(b.CreateUDiv(origin, b.getInt64(dim.block)),
                                   0, last / dim.block));
        }
        for (auto [i, stage] : llvm::enumerate(kernel.stages())) {
          emitter.enterBody();
          if (stage.contraction)
            ContractStage(emitter, payloads, stage, tile, variant,
                          kernel.packOffset(),
                          (name + ".s" + llvm::Twine(i)).str())
                .emit();
          else if (stage.sequential)
            SequentialStage(emitter, stage, tile).emit();
          else if (kernel.nest(stage.op).replace)
            emitReplacing(emitter, stage, tile);
          else
            LoopsStage(emitter, stage, tile).emit();
        }
      });
  b.CreateRetVoid();
  return module;
}

} // namespace dl::cpu
