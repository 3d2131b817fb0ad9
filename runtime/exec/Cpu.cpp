#include "runtime/exec/Cpu.h"

#include <fmt/format.h>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace dlrt;

/// Best first.
static constexpr std::string_view levels[] = {
    "x86-64-v4+amxbf16", "x86-64-v4+avx512bf16",
    "x86-64-v4",         "x86-64-v3",
    "x86-64-v2",         "x86-64"};

#if defined(__x86_64__)
/// Tiles are 8 KiB of a thread's state, which a process has to ask for before
/// it uses them (Linux, Documentation/arch/x86/xstate.rst).
static bool canUseTiles() {
  constexpr unsigned amxBf16 = 1u << 22, amxTile = 1u << 24;
  constexpr long requestPermission = 0x1023, tileData = 18;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & amxBf16) &&
         (edx & amxTile) &&
         syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}
#endif

bool dlrt::cpuSupports(std::string_view level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (level == "x86-64-v4+amxbf16")
    return cpuSupports("x86-64-v4+avx512bf16") && canUseTiles();
  if (level == "x86-64-v4+avx512bf16")
    return __builtin_cpu_supports("x86-64-v4") &&
           __builtin_cpu_supports("avx512bf16");
  if (level == "x86-64-v4")
    return __builtin_cpu_supports("x86-64-v4");
  if (level == "x86-64-v3")
    return __builtin_cpu_supports("x86-64-v3");
  if (level == "x86-64-v2")
    return __builtin_cpu_supports("x86-64-v2");
  return level == "x86-64";
#else
  return false;
#endif
}

/// Than level v4: what has AMX takes two cycles for VDPBF16PS, in
/// which it does four multiply-adds (Sapphire Rapids: 115 and 230 GFLOP/s).
static bool isSlower(std::string_view level) {
  return level == "x86-64-v4+avx512bf16" && cpuSupports("x86-64-v4+amxbf16");
}

Expected<size_t> dlrt::chooseImage(const fb::PlanT &plan,
                                   std::string_view wanted) {
  std::string found;
  for (const auto &image : plan.images)
    found += (found.empty() ? "" : ", ") + image->features;
  std::optional<size_t> slower;
  for (std::string_view level : levels) {
    if (!wanted.empty() && level.substr(level.rfind('-') + 1) != wanted)
      continue;
    for (size_t i = 0; i < plan.images.size(); ++i) {
      if (plan.images[i]->target != fb::Target::Cpu ||
          plan.images[i]->features != level || !cpuSupports(level))
        continue;
      if (!wanted.empty() || !isSlower(level))
        return i;
      slower = i; // than another one, if there is one
    }
  }
  if (slower)
    return *slower;
  if (!wanted.empty())
    return Status(Code::Plan, fmt::format("no kernels for --isa={}: the plan "
                                          "has {}, and the processor must "
                                          "support them",
                                          wanted, found));
  return Status(Code::Plan,
                fmt::format("the plan's kernels are for {}, which this "
                            "processor does not support; compile the model "
                            "with another --target-cpu",
                            found.empty() ? "no processor" : found));
}

unsigned dlrt::availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<unsigned>(CPU_COUNT(&set));
  return 1;
}
