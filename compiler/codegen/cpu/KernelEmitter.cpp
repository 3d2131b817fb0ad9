#include "compiler/codegen/cpu/KernelEmitter.h"
#include "compiler/codegen/cpu/ContractStage.h"

using namespace mlir;

namespace dl::codegen {

using llvm::Value;

/// Accumulators of one logical vector that leave registers for the operands:
/// 24 of 32 zmm; 6 of two ymm each out of 16.
static int maxAccumulators(const TargetVariant &variant) {
  int registersPerVector = 64 / variant.vectorBytes;
  return variant.vectorRegisters * 3 / 4 / registersPerVector;
}

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

std::unique_ptr<llvm::Module> emitKernel(const KernelPlan &plan,
                                         PayloadCache &payloads,
                                         const TargetVariant &variant,
                                         llvm::LLVMContext &context) {
  StringRef name = plan.kernel.getName();
  auto module = std::make_unique<llvm::Module>(name, context);
  auto *ptr = llvm::PointerType::get(context, 0);
  auto *i64 = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {ptr, ptr, i64, i64}, false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, name, *module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  RegionEmitter emitter(plan, payloads, b, function->getArg(0),
                        function->getArg(1));
  emitLoop(b, function->getArg(2), function->getArg(3), 1, [&](Value *number) {
    TileBounds tile = tileBounds(plan, b, number);
    emitter.scope.truncate(0);
    emitter.tileOrigin.clear();
    for (auto [origin, extent, size] :
         llvm::zip(tile.origin, plan.gridExtents, plan.tileSizes))
      emitter.tileOrigin.push_back(emitter.scope.addDim(
          origin, 0, size >= extent ? 0 : extent - 1));
    for (auto [i, stage] : llvm::enumerate(plan.stages)) {
      emitter.enterBody();
      if (stage.contraction)
        ContractStage(emitter, payloads, stage, tile, maxAccumulators(variant),
                      plan.packOffset, (name + ".s" + llvm::Twine(i)).str())
            .emit();
      else
        LoopsStage(emitter, stage, tile).emit();
    }
  });
  b.CreateRetVoid();
  return module;
}

} // namespace dl::codegen
