#include "compiler/codegen/cpu/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace llvm;

namespace dl::cpu {

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

/// Whether a CPU has a feature, by LLVM's name of it.
using HasFeature = function_ref<bool(StringRef feature)>;

static std::optional<TargetVariant> highestLevel(HasFeature has) {
  SmallVector<TargetVariant, 4> levels = defaultTargets();
  if (!all_of(ArrayRef<StringRef>{"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt",
                                  "movbe"},
              has))
    return std::nullopt;
  bool avx512 = all_of(ArrayRef<StringRef>{"avx512f", "avx512bw", "avx512cd",
                                           "avx512dq", "avx512vl"},
                       has);
  if (!avx512)
    return levels[0];
  return levels[!has("avx512bf16") ? 1 : has("amx-bf16") ? 3 : 2];
}

static Expected<std::optional<TargetVariant>> levelOf(StringRef cpu) {
  Expected<const Target *> target = x86Target(elfTriple());
  if (!target)
    return target.takeError();
  std::unique_ptr<MCSubtargetInfo> info(
      (*target)->createMCSubtargetInfo(elfTriple(), cpu, ""));
  return highestLevel([&](StringRef feature) {
    return info->checkFeatures(("+" + feature).str());
  });
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

TargetVariant TargetVariant::reducedTo(bool dots, bool tiles) const {
  TargetVariant variant = *this;
  bool gains = hasBf16Dots() ? dots : hasBf16Tiles() && tiles;
  if (!gains)
    variant.features = level();
  return variant;
}

SmallVector<TargetVariant, 4> defaultTargets() {
  return {{"x86-64-v3", "", 32, 16},
          {"x86-64-v4", "", 64, 32},
          {"x86-64-v4+avx512bf16", "", 64, 32},
          {"x86-64-v4+amxbf16", "", 64, 32}};
}

/// What LLVM adds to the level.
static StringRef featuresOf(const TargetVariant &variant) {
  if (variant.hasBf16Tiles())
    return "+amx-tile,+amx-bf16";
  return variant.hasBf16Dots() ? "+avx512bf16" : "";
}

static bool isKnown(StringRef cpu) {
  return X86::parseArchX86(cpu, /*Only64Bit=*/true) != X86::CK_None;
}

static Expected<TargetVariant> nativeTarget() {
  // By features, not by name: a hypervisor may hide some.
  StringMap<bool> features = sys::getHostCPUFeatures();
  std::optional<TargetVariant> variant =
      highestLevel([&](StringRef feature) { return features.lookup(feature); });
  if (!variant)
    return createStringError("this machine has no AVX2 and FMA; kernels need "
                             "x86-64-v3 or more (name the CPU of another "
                             "machine to compile for that)");
  if (StringRef name = sys::getHostCPUName(); isKnown(name))
    variant->tuning = name;
  return *variant;
}

Expected<TargetVariant> targetForCpu(StringRef name) {
  if (name == "native")
    return nativeTarget();
  if (!isKnown(name))
    return unknownCpu(name);
  Expected<std::optional<TargetVariant>> variant = levelOf(name);
  if (!variant)
    return variant.takeError();
  if (!*variant)
    return createStringError("CPU '" + name +
                             "' has no AVX2 and FMA; kernels need x86-64-v3 "
                             "or more");
  if ((*variant)->level() != name)
    (*variant)->tuning = name;
  return **variant;
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
      elfTriple(), variant.level(), featuresOf(variant), options, Reloc::PIC_,
      CodeModel::Small, CodeGenOptLevel::Default));
  if (!machine)
    return createStringError("LLVM cannot compile for '" + variant.features +
                             "'");
  return machine;
}

} // namespace dl::cpu
