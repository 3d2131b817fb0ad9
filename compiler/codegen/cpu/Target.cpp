#include "compiler/codegen/cpu/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace llvm;

namespace dl::codegen {

static Expected<const Target *> x86Target(const Triple &triple) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string error;
  if (const Target *target = TargetRegistry::lookupTarget(triple, error))
    return target;
  return createStringError("this LLVM cannot compile for x86-64: " + error);
}

static const Triple &elfTriple() {
  static const Triple triple("x86_64-unknown-linux-gnu");
  return triple;
}

static Expected<std::unique_ptr<MCSubtargetInfo>>
createSubtargetInfo(StringRef cpu) {
  Expected<const Target *> target = x86Target(elfTriple());
  if (!target)
    return target.takeError();
  return std::unique_ptr<MCSubtargetInfo>(
      (*target)->createMCSubtargetInfo(elfTriple(), cpu, ""));
}

/// What this machine lacks or has beyond its CPU's name, for example because a
/// hypervisor hides it.
static std::string hostAdjustments(const MCSubtargetInfo &info) {
  std::vector<std::string> adjustments;
  for (const auto &feature : sys::getHostCPUFeatures()) {
    std::string enabled = "+" + feature.getKey().str();
    if (info.checkFeatures(enabled) != feature.getValue())
      adjustments.push_back((feature.getValue() ? "+" : "-") +
                            feature.getKey().str());
  }
  llvm::sort(adjustments); // the map has no fixed order
  return join(adjustments, ",");
}

static Error unknownCpu(StringRef name) {
  SmallVector<StringRef> valid;
  X86::fillValidCPUArchList(valid, /*Only64Bit=*/true);
  StringRef nearest;
  unsigned best = 3; // farther names are no misspellings
  for (StringRef candidate : valid)
    if (unsigned distance = name.edit_distance(candidate); distance < best) {
      best = distance;
      nearest = candidate;
    }
  std::string hint =
      nearest.empty() ? "" : ("; did you mean '" + nearest + "'?").str();
  return createStringError(
      "unknown CPU '" + name + "'" + hint +
      " (some that are known: native, x86-64-v3, x86-64-v4, haswell, "
      "skylake-avx512, sapphirerapids, znver3, znver4, znver5)");
}

SmallVector<TargetVariant, 2> defaultTargets() {
  return {{"x86-64-v3", "x86-64-v3", "", 32, 16},
          {"x86-64-v4", "x86-64-v4", "", 64, 32}};
}

Expected<TargetVariant> targetForCpu(StringRef name) {
  bool native = name == "native";
  std::string cpu = native ? sys::getHostCPUName().str() : name.str();
  if (X86::parseArchX86(cpu, /*Only64Bit=*/true) == X86::CK_None)
    return unknownCpu(cpu);
  auto info = createSubtargetInfo(cpu);
  if (!info)
    return info.takeError();

  TargetVariant variant{cpu, cpu, "", 32, 16};
  if (native) {
    variant.adjustments = hostAdjustments(**info);
    (*info)->setDefaultFeatures(cpu, cpu, variant.adjustments);
  }
  if (!(*info)->checkFeatures("+avx2,+fma"))
    return createStringError("CPU '" + cpu +
                             "' has no AVX2 and FMA; kernels need x86-64-v3 "
                             "or more");
  if ((*info)->checkFeatures("+avx512f,+avx512dq,+avx512bw,+avx512vl")) {
    variant.vectorBytes = 64;
    variant.vectorRegisters = 32;
  }
  return variant;
}

Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(const TargetVariant &variant) {
  Expected<const Target *> target = x86Target(elfTriple());
  if (!target)
    return target.takeError();
  TargetOptions options;
  // Bits must not depend on which instruction set has which fused form: what is
  // to be fused says so.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  std::unique_ptr<TargetMachine> machine((*target)->createTargetMachine(
      elfTriple(), variant.cpu, variant.adjustments, options, Reloc::PIC_,
      CodeModel::Small, CodeGenOptLevel::Default));
  if (!machine)
    return createStringError("LLVM cannot compile for '" + variant.cpu + "'");
  return machine;
}

} // namespace dl::codegen
