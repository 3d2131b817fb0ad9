#include "compiler/codegen/cpu/KernelEmitter.h"
#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/SequentialStage.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

static TileBounds tileBounds(const KernelPlan &plan, llvm::IRBuilder<> &b,
                             Value *tileNumber) {
  TileBounds tile;
  size_t count = plan.gridExtents.size();
  tile.origin.resize(count), tile.end.resize(count);
  Value *rest = tileNumber;
  for (size_t g = count; g-- > 0;) {
    int64_t extent = plan.gridExtents[g], size = plan.tileSizes[g];
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
static bool canFollowMerged(const KernelPlan &plan, int dim) {
  if (plan.gridBlocks[dim] != 1 || plan.tileSizes[dim] == 1)
    return false;
  for (const auto &[value, placement] : plan.placements)
    if (placement.kind == ValuePlacement::Scratch)
      return false;
  return llvm::all_of(ArrayRef(plan.stages).drop_front(),
                      [&](const Stage &stage) {
                        return llvm::is_contained(stage.binding, GridPart{dim});
                      });
}

/// The grid dim along which tiles of one call are computed together: what a
/// contraction packs serves them all. -1: none.
static int mergedDim(const KernelPlan &plan) {
  if (!plan.stages[0].contraction)
    return -1;
  ContractForm form = ContractForm::of(plan, plan.stages[0]);
  if (!form.is<BlockedPlan>() && !form.is<NarrowPlan>())
    return -1;
  unsigned along = form.is<NarrowPlan>() ? form.rowDim : form.laneDims.front();
  int dim = plan.stages[0].binding[along].grid;
  if (plan.stages.size() > 1 && (dim < 0 || !canFollowMerged(plan, dim)))
    return -1;
  for (int g = plan.gridExtents.size() - 1; g > dim; --g)
    if (plan.tileSizes[g] < plan.gridExtents[g])
      return -1;
  return dim;
}

static void emitTiles(const KernelPlan &plan, llvm::IRBuilder<> &b, int merged,
                      Value *begin, Value *end,
                      llvm::function_ref<void(TileBounds &)> emit) {
  if (merged < 0)
    return emitLoop(b, begin, end, 1, [&](Value *number) {
      TileBounds tile = tileBounds(plan, b, number);
      emit(tile);
    });
  // Every row of tiles that the range meets.
  int64_t extent = plan.gridExtents[merged], size = plan.tileSizes[merged];
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
    TileBounds tile = tileBounds(plan, b, from);
    tile.origin[merged] = at(from), tile.end[merged] = at(to);
    emit(tile);
  });
}

std::unique_ptr<llvm::Module> emitKernel(const KernelPlan &plan,
                                         PayloadCache &payloads,
                                         const TargetVariant &variant,
                                         llvm::LLVMContext &context) {
  StringRef name = plan.kernel.getName();
  auto module = std::make_unique<llvm::Module>(name, context);
  auto *ptr = llvm::PointerType::get(context, 0);
  auto *i64 = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {ptr, ptr, ptr, i64, i64}, false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, name, *module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  RegionEmitter emitter(plan, payloads, b, function->getArg(0),
                        function->getArg(1), function->getArg(2));
  int merged = mergedDim(plan);
  auto inGrid = [&](Value *tile) -> Value * {
    if (plan.numTiles() == plan.gridTiles())
      return tile;
    return b.CreateUDiv(b.CreateMul(tile, b.getInt64(plan.gridTiles())),
                        b.getInt64(plan.numTiles()));
  };
  emitTiles(
      plan, b, merged, inGrid(function->getArg(3)), inGrid(function->getArg(4)),
      [&](TileBounds &tile) {
        emitter.scope.truncate(0);
        emitter.tileOrigin.clear(), emitter.blockOrigin.clear();
        for (auto [origin, extent, size, block] :
             llvm::zip(tile.origin, plan.gridExtents, plan.tileSizes,
                       plan.gridBlocks)) {
          int64_t last = size >= extent ? 0 : extent - 1;
          emitter.tileOrigin.push_back(emitter.scope.addDim(origin, 0, last));
          emitter.blockOrigin.push_back(emitter.scope.addDim(
              b.CreateUDiv(origin, b.getInt64(block)), 0, last / block));
        }
        for (auto [i, stage] : llvm::enumerate(plan.stages)) {
          emitter.enterBody();
          if (stage.contraction)
            ContractStage(
                emitter, payloads, stage, tile,
                Registers{variant.vectorRegisters, 64 / variant.vectorBytes},
                plan.packOffset, (name + ".s" + llvm::Twine(i)).str())
                .emit();
          else if (stage.sequential)
            SequentialStage(emitter, stage, tile).emit();
          else
            LoopsStage(emitter, stage, tile).emit();
        }
      });
  b.CreateRetVoid();
  return module;
}

} // namespace dl::cpu
