// Names of CPUs, and the cache of objects.
#include "compiler/codegen/cpu/Target.h"
#include "compiler/codegen/cpu/ObjectCode.h"
#include "compiler/codegen/kernel/KernelCache.h"
#include "test/codegen/LoadedImage.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace dl::cpu;
using dl::kernel::KernelCache;
using namespace dl::cpu::test;

namespace {

std::string errorFor(const char *cpu) {
  auto variant = targetForCpu(cpu);
  if (!variant)
    return llvm::toString(variant.takeError());
  ADD_FAILURE() << cpu << " was accepted";
  return "";
}

TEST(Target, CpusHaveLevels) {
  auto zen = targetForCpu("znver4");
  ASSERT_TRUE(bool(zen));
  EXPECT_EQ(zen->features, "x86-64-v4+avx512bf16");
  EXPECT_TRUE(zen->hasBf16Dots());
  EXPECT_EQ(zen->tuning, "znver4");
  EXPECT_EQ(zen->vectorBytes, 64);
  EXPECT_EQ(zen->vectorRegisters, 32);
  auto skylake = targetForCpu("skylake-avx512");
  ASSERT_TRUE(bool(skylake));
  EXPECT_EQ(skylake->features, "x86-64-v4");
  EXPECT_FALSE(skylake->hasBf16Dots());
  auto sapphire = targetForCpu("sapphirerapids");
  ASSERT_TRUE(bool(sapphire));
  EXPECT_EQ(sapphire->features, "x86-64-v4+amxbf16");
  EXPECT_TRUE(sapphire->hasBf16Tiles());
  EXPECT_FALSE(sapphire->hasBf16Dots());
  auto haswell = targetForCpu("haswell");
  ASSERT_TRUE(bool(haswell));
  EXPECT_EQ(haswell->features, "x86-64-v3");
  EXPECT_EQ(haswell->vectorBytes, 32);
  EXPECT_EQ(haswell->vectorRegisters, 16);
  auto level = targetForCpu("x86-64-v3");
  ASSERT_TRUE(bool(level));
  EXPECT_EQ(level->tuning, "");
}

TEST(Target, NativeIsTheBestOfThisMachine) {
  auto native = targetForCpu("native");
  if (!native)
    GTEST_SKIP() << llvm::toString(native.takeError());
  EXPECT_EQ(native->features, executableTargets().back().features);
}

TEST(Target, TunedCodeRuns) {
  TargetVariant variant = defaultTargets()[0];
  variant.tuning = "znver3";
  OwnedModule owned = makeMapKernel(
      "f", false, 16, 1,
      [](llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> x) {
        return builder.CreateFMul(x[0], x[0]);
      });
  auto object = compileFor(variant, *owned.module);
  EXPECT_TRUE(bool(linkImage(NamedObject{"f", object})));
}

TEST(Target, UnknownNamesAreExplained) {
  std::string message = errorFor("znver44");
  EXPECT_NE(message.find("did you mean 'znver4'"), std::string::npos)
      << message;
  EXPECT_NE(errorFor("pdp11").find("x86-64-v3"), std::string::npos);
  EXPECT_NE(errorFor("nehalem").find("AVX2"), std::string::npos);
}

/// An empty folder for a cache, and no trace of it afterwards.
class Cache : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cache-test", path));
    folder = std::string(path);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static OwnedModule square(const char *name) {
    return makeMapKernel(
        name, false, 16, 1,
        [](llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> x) {
          return builder.CreateFMul(x[0], x[0]);
        });
  }

  std::string folder;
  llvm::SmallVector<char, 0> object{'c', 'o', 'd', 'e'};
};

TEST_F(Cache, KeysTellKernelsApart) {
  auto targets = defaultTargets();
  std::string key =
      KernelCache::keyOf(madeFrom(*square("f").module, targets[0]));
  EXPECT_EQ(key, KernelCache::keyOf(madeFrom(*square("f").module, targets[0])));
  EXPECT_NE(key, KernelCache::keyOf(madeFrom(*square("g").module, targets[0])));
  EXPECT_NE(key, KernelCache::keyOf(madeFrom(*square("f").module, targets[1])));
}

TEST_F(Cache, ReturnsWhatWasStored) {
  KernelCache cache(folder + "/made/when/needed");
  EXPECT_FALSE(cache.load("k1"));
  cache.store("k1", object);
  ASSERT_TRUE(cache.load("k1"));
  EXPECT_EQ(*cache.load("k1"), object);
  EXPECT_FALSE(cache.load("k2"));
  cache.prune();
  EXPECT_TRUE(cache.load("k1"));
}

TEST_F(Cache, DamageIsNoticed) {
  KernelCache cache(folder);
  cache.store("k1", object);
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::fstream file(entry.path(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
  }
  EXPECT_FALSE(cache.load("k1"));
}

TEST_F(Cache, TroubleIsSilent) {
  std::ofstream(folder + "/file") << "not a folder";
  KernelCache blocked(folder + "/file");
  blocked.store("k1", object);
  EXPECT_FALSE(blocked.load("k1"));
  blocked.prune();

  KernelCache none;
  EXPECT_FALSE(none.enabled());
  none.store("k1", object);
  EXPECT_FALSE(none.load("k1"));
}

TEST_F(Cache, FollowsTheEnvironment) {
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  KernelCache cache = KernelCache::inUserFolder();
  cache.store("k1", object);
  EXPECT_TRUE(std::filesystem::exists(folder + "/dlcc"));
}

} // namespace
