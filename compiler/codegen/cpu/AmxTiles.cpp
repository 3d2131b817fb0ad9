#include "compiler/codegen/cpu/AmxTiles.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dl::cpu {

void configureTiles(IRBuilder<> &b) {
  // Palette 1; from byte 16 on the bytes of a row of each tile, from 48 on
  // rows.
  SmallVector<uint8_t> config(64, 0);
  config[0] = 1;
  for (int tile = 0; tile < 8; ++tile)
    config[16 + 2 * tile] = 64, config[48 + tile] = kTileRows;
  Module &module = *b.GetInsertBlock()->getModule();
  StringRef name = "tile.config";
  GlobalVariable *global = module.getGlobalVariable(name, true);
  if (!global) {
    auto *data = ConstantDataArray::get(b.getContext(), config);
    global = new GlobalVariable(module, data->getType(), true,
                                GlobalValue::InternalLinkage, data, name);
    global->setAlignment(Align(64));
  }
  b.CreateIntrinsic(b.getVoidTy(), Intrinsic::x86_ldtilecfg, {global});
}

void releaseTiles(IRBuilder<> &b) {
  b.CreateIntrinsic(b.getVoidTy(), Intrinsic::x86_tilerelease, {});
}

void SumTiles::forEach(function_ref<void(int64_t, int64_t)> visit) {
  for (int64_t r = 0; r < high; ++r)
    for (int64_t l = 0; l < wide; ++l)
      visit(r, l);
}

void SumTiles::access(unsigned intrinsic, int64_t tile, Value *at,
                      int64_t elements, int64_t rowStride) {
  b.CreateIntrinsic(b.getVoidTy(), intrinsic,
                    {b.getInt8(tile),
                     b.CreateConstGEP1_64(b.getFloatTy(), at, elements),
                     b.getInt64(4 * rowStride)});
}

void SumTiles::zero() {
  forEach([&](int64_t r, int64_t l) {
    b.CreateIntrinsic(b.getVoidTy(), Intrinsic::x86_tilezero,
                      {b.getInt8(2 * r + l)});
  });
}

void SumTiles::load(Value *sums) {
  forEach([&](int64_t r, int64_t l) {
    access(Intrinsic::x86_tileloadd64, 2 * r + l, sums,
           (r * stride + l) * kTileRows, stride);
  });
}

void SumTiles::store(Value *sums) {
  forEach([&](int64_t r, int64_t l) {
    access(Intrinsic::x86_tilestored64, 2 * r + l, sums,
           (r * stride + l) * kTileRows, stride);
  });
}

void SumTiles::multiply(Value *rows, int64_t rowsApart, Value *lanes,
                        int64_t lanesApart, int64_t laneStride) {
  forEach([&](int64_t r, int64_t l) {
    if (l == 0)
      access(Intrinsic::x86_tileloadd64, 4 + r, rows, r * rowsApart, kTileRows);
    if (r == 0)
      access(Intrinsic::x86_tileloadd64, 6 + l, lanes, l * lanesApart,
             laneStride);
    b.CreateIntrinsic(
        b.getVoidTy(), Intrinsic::x86_tdpbf16ps,
        {b.getInt8(2 * r + l), b.getInt8(4 + r), b.getInt8(6 + l)});
  });
}

Value *neighboursAsPairs(IRBuilder<> &b, Value *low, Value *high) {
  auto *halves = FixedVectorType::get(b.getInt16Ty(), 2 * kTileRows);
  SmallVector<int> order;
  for (int64_t k = 0; k < kTileK; k += 2)
    order.append({int(2 * (k + 1) + 1), int(2 * k + 1)});
  return b.CreateBitCast(b.CreateShuffleVector(b.CreateBitCast(low, halves),
                                               b.CreateBitCast(high, halves),
                                               order),
                         low->getType());
}

/// Four rounds of perfect shuffles.
void transposeTile(IRBuilder<> &b, SmallVectorImpl<Value *> &square) {
  constexpr int count = kTileRows, half = count / 2;
  SmallVector<int> low, high;
  for (int l = 0; l < half; ++l) {
    low.append({l, l + count});
    high.append({l + half, l + half + count});
  }
  for (int round = 1; round < count; round *= 2) {
    SmallVector<Value *> next;
    for (int i = 0; i < half; ++i)
      for (ArrayRef<int> order : {ArrayRef<int>(low), ArrayRef<int>(high)})
        next.push_back(
            b.CreateShuffleVector(square[i], square[i + half], order));
    square.assign(next);
  }
}

void storeTile(IRBuilder<> &b, ArrayRef<Value *> rows, Value *to) {
  for (auto [r, row] : enumerate(rows))
    b.CreateAlignedStore(
        row, b.CreateConstGEP1_64(b.getFloatTy(), to, r * kTileRows), Align(4));
}

Function *sharedFunction(IRBuilder<> &b, StringRef name, unsigned numPointers,
                         function_ref<void(Function *)> emit) {
  Module &module = *b.GetInsertBlock()->getModule();
  if (Function *known = module.getFunction(name))
    return known;
  SmallVector<Type *> types(numPointers, b.getPtrTy());
  auto *function =
      Function::Create(FunctionType::get(b.getVoidTy(), types, false),
                       GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(Attribute::NoInline);
  IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", function));
  emit(function);
  b.CreateRetVoid();
  return function;
}

} // namespace dl::cpu
