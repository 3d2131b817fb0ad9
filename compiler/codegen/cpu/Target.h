// The instruction sets that kernels are compiled for.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace dl::cpu {

/// One instruction set: all kernels of a plan are compiled once per variant,
/// and the runtime takes the best one that its machine can execute. It is
/// always a level of x86-64, never all that some CPU has, so that the runtime
/// can tell and plans move between machines; float kernels would gain nothing
/// from the rest. What products of bf16 gain from is an extension, in plans
/// that have such products.
struct TargetVariant {
  /// What the plan says: "x86-64-v3", "x86-64-v4", "x86-64-v4+avx512bf16",
  /// "x86-64-v4+amxbf16". What has AMX has VDPBF16PS, too, in which it does
  /// half of the multiply-adds that it does in f32: so it is not used there.
  std::string features;
  /// The CPU whose instruction timings decide the order of instructions; empty
  /// for what LLVM takes for the level.
  std::string tuning;
  int vectorBytes = 32;
  int vectorRegisters = 16;

  /// LLVM's name.
  llvm::StringRef level() const {
    return llvm::StringRef(features).split('+').first;
  }
  llvm::StringRef extension() const {
    return llvm::StringRef(features).split('+').second;
  }
  /// VDPBF16PS: products of pairs of bf16, added up in f32.
  bool hasBf16Dots() const { return extension() == "avx512bf16"; }
  /// TDPBF16PS: products of tiles of bf16, added up in f32.
  bool hasBf16Tiles() const { return extension() == "amxbf16"; }
  /// Without its extension, if nothing gains from that.
  TargetVariant reducedTo(bool dots, bool tiles) const;
};

/// x86-64-v3 (AVX2 and FMA), x86-64-v4 (AVX-512), that with AVX512-BF16 and
/// that with AMX-BF16, in this order.
llvm::SmallVector<TargetVariant, 4> defaultTargets();

/// The variant for a CPU's name; "native" means the machine that compiles.
/// Fails on unknown names and on CPUs without AVX2 and FMA.
llvm::Expected<TargetVariant> targetForCpu(llvm::StringRef name);

/// A target machine belongs to one thread at a time; making one is cheap.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetVariant &variant);

} // namespace dl::cpu
