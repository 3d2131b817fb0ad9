// The instruction sets that kernels are compiled for.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace dl::codegen {

/// One instruction set: all kernels of a plan are compiled once per variant,
/// and the runtime takes the last one that its machine can execute.
struct TargetVariant {
  /// What the plan calls it: "x86-64-v3", "x86-64-v4" or the name of a CPU.
  std::string features;
  /// LLVM's name of the CPU.
  std::string cpu;
  /// What differs from the CPU's usual features, as LLVM writes it ("+a,-b");
  /// not empty only for a native target.
  std::string adjustments;
  int vectorBytes = 32;
  int vectorRegisters = 16;
};

/// x86-64-v3 (AVX2 and FMA) and x86-64-v4 (AVX-512), in this order.
llvm::SmallVector<TargetVariant, 2> defaultTargets();

/// The variant for a CPU's name; "native" means the machine that compiles.
/// Fails on unknown names and on CPUs without AVX2 and FMA.
llvm::Expected<TargetVariant> targetForCpu(llvm::StringRef name);

/// A target machine belongs to one thread at a time; making one is cheap.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetVariant &variant);

} // namespace dl::codegen
