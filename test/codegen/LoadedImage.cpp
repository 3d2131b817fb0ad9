#include "test/codegen/LoadedImage.h"

#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace dl::cpu::test {

OwnedModule makeKernel(StringRef name,
                       function_ref<void(IRBuilder<> &, Function *)> body) {
  OwnedModule owned;
  owned.context = std::make_unique<LLVMContext>();
  owned.module = std::make_unique<Module>(name, *owned.context);
  IRBuilder<> builder(*owned.context);
  Type *pointer = builder.getPtrTy(), *index = builder.getInt64Ty();
  auto *type = FunctionType::get(
      builder.getVoidTy(), {pointer, pointer, pointer, index, index}, false);
  Function *function =
      Function::Create(type, GlobalValue::ExternalLinkage, name, *owned.module);
  builder.SetInsertPoint(BasicBlock::Create(*owned.context, "entry", function));
  body(builder, function);
  builder.CreateRetVoid();
  return owned;
}

OwnedModule makeMapKernel(StringRef name, bool isDouble, unsigned lanes,
                          unsigned numOperands, EmitFn emit) {
  return makeKernel(name, [&](IRBuilder<> &builder, Function *function) {
    Type *element = isDouble ? builder.getDoubleTy() : builder.getFloatTy();
    Type *vector = FixedVectorType::get(element, lanes);
    Align align(isDouble ? 8 : 4);
    SmallVector<Value *> buffers;
    for (unsigned i = 0; i <= numOperands; ++i)
      buffers.push_back(builder.CreateLoad(
          builder.getPtrTy(), builder.CreateConstGEP1_64(
                                  builder.getPtrTy(), function->getArg(0), i)));
    BasicBlock *entry = builder.GetInsertBlock();
    BasicBlock *loop = BasicBlock::Create(builder.getContext(), "", function);
    BasicBlock *end = BasicBlock::Create(builder.getContext(), "", function);
    builder.CreateBr(loop);
    builder.SetInsertPoint(loop);
    PHINode *i = builder.CreatePHI(builder.getInt64Ty(), 2);
    i->addIncoming(function->getArg(3), entry);
    SmallVector<Value *> operands;
    for (unsigned k = 0; k < numOperands; ++k)
      operands.push_back(builder.CreateAlignedLoad(
          vector, builder.CreateGEP(vector, buffers[k], i), align));
    builder.CreateAlignedStore(
        emit(builder, operands),
        builder.CreateGEP(vector, buffers[numOperands], i), align);
    Value *next = builder.CreateAdd(i, builder.getInt64(1));
    i->addIncoming(next, loop);
    builder.CreateCondBr(builder.CreateICmpSLT(next, function->getArg(4)), loop,
                         end);
    builder.SetInsertPoint(end);
  });
}

LoadedImage LoadedImage::load(ArrayRef<char> image) {
  int file = memfd_create("image", 0);
  bool written = write(file, image.data(), image.size()) ==
                 static_cast<ssize_t>(image.size());
  EXPECT_TRUE(written);
  std::string path = "/proc/self/fd/" + std::to_string(file);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  close(file);
  return LoadedImage(handle);
}

LoadedImage::LoadedImage(LoadedImage &&other) : handle(other.handle) {
  other.handle = nullptr;
}

LoadedImage::~LoadedImage() {
  if (handle)
    dlclose(handle);
}

KernelFn LoadedImage::kernel(const char *name) const {
  return reinterpret_cast<KernelFn>(dlsym(handle, name));
}

SmallVector<char, 0> compileFor(const TargetVariant &variant, Module &module) {
  auto machine = createTargetMachine(variant);
  if (!machine) {
    ADD_FAILURE() << toString(machine.takeError());
    return {};
  }
  auto object = compileToObject(module, **machine, variant.tuning);
  if (!object) {
    ADD_FAILURE() << toString(object.takeError());
    return {};
  }
  return std::move(*object);
}

/// Which a process has to ask for.
static bool canUseTiles() {
  return sys::getHostCPUFeatures().lookup("amx-bf16") &&
         syscall(SYS_arch_prctl, /*ARCH_REQ_XCOMP_PERM*/ 0x1023, 18) == 0;
}

SmallVector<TargetVariant, 4> executableTargets() {
  __builtin_cpu_init();
  auto runs = [](const TargetVariant &variant) {
    if (variant.level() == "x86-64-v3")
      return __builtin_cpu_supports("x86-64-v3") != 0;
    return __builtin_cpu_supports("x86-64-v4") &&
           (!variant.hasBf16Dots() || __builtin_cpu_supports("avx512bf16")) &&
           (!variant.hasBf16Tiles() || canUseTiles());
  };
  SmallVector<TargetVariant, 4> targets;
  for (const TargetVariant &variant : defaultTargets())
    if (runs(variant))
      targets.push_back(variant);
  return targets;
}

} // namespace dl::cpu::test
