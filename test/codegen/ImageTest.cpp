// Images of kernels: what they hold, and what is refused.
#include "compiler/codegen/cpu/Image.h"
#include "test/codegen/LoadedImage.h"
#include "llvm/Object/ELFObjectFile.h"

#include <gtest/gtest.h>

#include <thread>

using namespace dl::cpu;
using namespace dl::cpu::test;
using llvm::IRBuilder;
using llvm::Value;

namespace {

const TargetVariant variant = defaultTargets()[0];

/// A kernel that stores `number` at its first binding.
llvm::SmallVector<char, 0> storeKernel(const char *name, float number) {
  OwnedModule owned =
      makeKernel(name, [&](IRBuilder<> &builder, llvm::Function *function) {
        Value *buffer =
            builder.CreateLoad(builder.getPtrTy(), function->getArg(0));
        builder.CreateStore(llvm::ConstantFP::get(builder.getFloatTy(), number),
                            buffer);
      });
  return compileFor(variant, *owned.module);
}

/// A kernel that reads a global variable; made by the caller.
using MakeGlobal = llvm::function_ref<llvm::GlobalVariable *(llvm::Module &)>;
llvm::SmallVector<char, 0> globalKernel(MakeGlobal make) {
  OwnedModule owned = makeKernel("f", [&](IRBuilder<> &builder,
                                          llvm::Function *function) {
    llvm::GlobalVariable *global = make(*function->getParent());
    Value *buffer = builder.CreateLoad(builder.getPtrTy(), function->getArg(0));
    Value *at = builder.CreateGEP(global->getValueType(), global,
                                  {builder.getInt64(0), function->getArg(3)});
    builder.CreateStore(builder.CreateLoad(builder.getPtrTy(), at), buffer);
  });
  return compileFor(variant, *owned.module);
}

std::string refusal(llvm::ArrayRef<NamedObject> objects) {
  auto image = linkImage(objects);
  if (!image)
    return llvm::toString(image.takeError());
  ADD_FAILURE() << "linked";
  return "";
}

void expectContains(const std::string &text, const char *part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Image, HoldsAllKernels) {
  auto one = storeKernel("one", 1), two = storeKernel("two", 2);
  auto bytes = linkImage({{"one", one}, {"two", two}});
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  LoadedImage image = LoadedImage::load(*bytes);
  ASSERT_TRUE(bool(image));
  float result = 0;
  void *bindings[] = {&result};
  image.kernel("one")(bindings, nullptr, nullptr, 0, 1);
  EXPECT_EQ(result, 1);
  image.kernel("two")(bindings, nullptr, nullptr, 0, 1);
  EXPECT_EQ(result, 2);
}

TEST(Image, IsTheSameEveryTime) {
  auto one = storeKernel("one", 1), two = storeKernel("two", 2);
  std::vector<char> images[4];
  std::vector<std::thread> threads;
  for (auto &image : images)
    threads.emplace_back([&] {
      image = llvm::cantFail(linkImage({{"one", one}, {"two", two}}));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &image : images)
    EXPECT_EQ(image, images[0]);
}

TEST(Image, IsReadOnlyAndComplete) {
  auto one = storeKernel("one", 1);
  auto image = llvm::cantFail(linkImage(NamedObject{"one", one}));
  auto file = llvm::cantFail(llvm::object::ELF64LEFile::create(
      llvm::StringRef(image.data(), image.size())));
  for (const auto &header : llvm::cantFail(file.program_headers())) {
    EXPECT_NE(header.p_type, llvm::ELF::PT_INTERP);
    EXPECT_NE(header.p_type, llvm::ELF::PT_TLS);
    if (header.p_type == llvm::ELF::PT_LOAD)
      EXPECT_FALSE(header.p_flags & llvm::ELF::PF_W);
  }
  for (const auto &section : llvm::cantFail(file.sections())) {
    EXPECT_NE(section.sh_type, llvm::ELF::SHT_RELA);
    EXPECT_NE(llvm::cantFail(file.getSectionName(section)), ".eh_frame");
  }
}

TEST(Image, ConstantsAreAllowed) {
  auto object = globalKernel([](llvm::Module &module) {
    auto *array = llvm::ConstantDataArray::get(
        module.getContext(), llvm::ArrayRef<uint64_t>{7, 8, 9});
    return new llvm::GlobalVariable(module, array->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, array);
  });
  auto bytes = linkImage(NamedObject{"f", object});
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  LoadedImage image = LoadedImage::load(*bytes);
  uint64_t result = 0;
  void *bindings[] = {&result};
  image.kernel("f")(bindings, nullptr, nullptr, 2, 3);
  EXPECT_EQ(result, 9u);
}

TEST(Image, RefusesLibraryCalls) {
  OwnedModule owned = makeMapKernel(
      "f", /*isDouble=*/false, 1, 1,
      [](llvm::IRBuilderBase &builder, llvm::ArrayRef<Value *> x) {
        return builder.CreateUnaryIntrinsic(llvm::Intrinsic::exp, x[0]);
      });
  auto object = compileFor(variant, *owned.module);
  std::string message = refusal(NamedObject{"gelu_3", object});
  expectContains(message, "expf");
  expectContains(message, "gelu_3");
}

TEST(Image, RefusesWritableData) {
  auto object = globalKernel([](llvm::Module &module) {
    auto *array = llvm::ConstantDataArray::get(
        module.getContext(), llvm::ArrayRef<uint64_t>{7, 8, 9});
    return new llvm::GlobalVariable(module, array->getType(), false,
                                    llvm::GlobalValue::ExternalLinkage, array);
  });
  expectContains(refusal(NamedObject{"f", object}), "writable");
}

TEST(Image, RefusesThreadLocalData) {
  auto object = globalKernel([](llvm::Module &module) {
    auto *type =
        llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), 3);
    return new llvm::GlobalVariable(
        module, type, false, llvm::GlobalValue::InternalLinkage,
        llvm::ConstantAggregateZero::get(type), "counters", nullptr,
        llvm::GlobalValue::LocalExecTLSModel);
  });
  expectContains(refusal(NamedObject{"f", object}), "thread-local");
}

// A table of addresses is where a dynamic relocation would come from.
TEST(Image, RefusesAddressesInData) {
  auto object = globalKernel([](llvm::Module &module) {
    auto *pointer = llvm::PointerType::get(module.getContext(), 0);
    llvm::Constant *addresses[] = {module.getFunction("f"),
                                   module.getFunction("f")};
    auto *type = llvm::ArrayType::get(pointer, 2);
    return new llvm::GlobalVariable(module, type, true,
                                    llvm::GlobalValue::PrivateLinkage,
                                    llvm::ConstantArray::get(type, addresses));
  });
  expectContains(refusal(NamedObject{"f", object}), "'f'");
}

TEST(Image, RefusesTwoKernelsOfOneName) {
  auto one = storeKernel("one", 1);
  std::string message = refusal({{"one", one}, {"again", one}});
  expectContains(message, "duplicate symbol: one");
}

TEST(Image, RefusesWhatIsNoObject) {
  std::vector<char> text = {'h', 'e', 'l', 'l', 'o'};
  expectContains(refusal(NamedObject{"f", text}), "'f'");
  expectContains(refusal({}), "no kernels");
}

// And the linker still works after it failed.
TEST(Image, LinksAfterAFailure) {
  auto one = storeKernel("one", 1);
  refusal({{"one", one}, {"again", one}});
  EXPECT_TRUE(bool(linkImage(NamedObject{"one", one})));
}

TEST(ObjectCode, LoopsStayLoops) {
  // Without precautions a loop that stores zeros becomes a call of memset.
  OwnedModule owned = makeMapKernel(
      "f", /*isDouble=*/false, 1, 1,
      [](llvm::IRBuilderBase &, llvm::ArrayRef<Value *> x) -> Value * {
        return llvm::ConstantAggregateZero::get(x[0]->getType());
      });
  auto object = compileFor(variant, *owned.module);
  EXPECT_TRUE(bool(linkImage(NamedObject{"f", object})));
}

TEST(ObjectCode, BrokenIRIsAnError) {
  OwnedModule owned =
      makeKernel("f", [](IRBuilder<> &builder, llvm::Function *) {
        builder.CreateRetVoid(); // and makeKernel adds another
      });
  auto machine = llvm::cantFail(createTargetMachine(variant));
  auto object = compileToObject(*owned.module, *machine);
  ASSERT_FALSE(bool(object));
  expectContains(llvm::toString(object.takeError()), "kernel 'f'");
}

} // namespace
