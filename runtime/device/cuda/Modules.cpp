#include "runtime/device/cuda/Modules.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/ModuleTable.h"
#include "runtime/plan/SourceText.h"

#include <fmt/format.h>

#include <charconv>

using namespace dlrt;
using namespace dlrt::cuda;

Expected<DeviceFacts> DeviceFacts::of(const Driver &cuda, uint32_t index) {
  int count = 0;
  DLRT_TRY(cuda.check(cuda.deviceCount(&count), "counting devices"));
  if (count == 0)
    return Status(Code::Unavailable,
                  "the plan is for CUDA, and there is no NVIDIA GPU");
  DeviceFacts facts;
  char name[256] = "";
  DLRT_TRY(cuda.check(cuda.deviceGet(&facts.ordinal, static_cast<int>(index)),
                      fmt::format("finding device {}", index)));
  DLRT_TRY(cuda.check(cuda.deviceName(name, sizeof(name), facts.ordinal),
                      "asking for the device's name"));
  facts.name = name;
  for (auto [value, attribute] : {std::pair(&facts.major, attributeMajor),
                                  {&facts.minor, attributeMinor},
                                  {&facts.maxThreads, attributeMaxThreads},
                                  {&facts.maxShared, attributeMaxShared}})
    DLRT_TRY(
        cuda.check(cuda.deviceAttribute(value, attribute, facts.ordinal),
                   fmt::format("asking {} for its attributes", facts.name)));
  return facts;
}

/// How well an image's code suits a device: the more, the better; negative: it
/// does not run there.
static int suits(std::string_view features, const DeviceFacts &device) {
  constexpr int chipAlone = 3000, cubin = 2000, ptx = 1000, source = 0, no = -1;
  int own = 10 * device.major + device.minor;
  if (features == "source")
    return own == 0 ? source : no;
  bool isCubin = features.starts_with("sm_");
  if (!isCubin && !features.starts_with("ptx_"))
    return no;
  std::string_view text = features.substr(features.find('_') + 1);
  int number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 10 || number > 999)
    return no;
  std::string_view suffix = text.substr(end - text.data());
  if (!isCubin)
    return suffix.empty() && number <= own ? ptx + number : no;
  if (suffix == "a")
    return number == own ? chipAlone + number : no;
  return suffix.empty() && number / 10 == device.major && number <= own
             ? cubin + number
             : no;
}

Expected<size_t> dlrt::cuda::chooseImage(const fb::PlanT &plan,
                                         const DeviceFacts &device,
                                         std::string_view wanted) {
  std::string found;
  size_t best = plan.images.size();
  int most = -1;
  for (size_t i = 0; i < plan.images.size(); ++i) {
    const std::string &features = plan.images[i]->features;
    found += (found.empty() ? "" : ", ") + features;
    int value = suits(features, device);
    if (value <= most || (!wanted.empty() && features != wanted))
      continue;
    most = value;
    best = i;
  }
  if (best < plan.images.size())
    return best;
  std::string named = fmt::format("{}, of compute capability {}.{}",
                                  device.name, device.major, device.minor);
  if (!wanted.empty())
    return Status(Code::Plan,
                  fmt::format("no kernels for --isa={}: the plan has {}, and "
                              "the device is {}",
                              wanted, found, named));
  return Status(Code::Plan,
                fmt::format("the plan's kernels are for {}, and the device is "
                            "{}; compile the model with --target=cuda:sm_{}{}",
                            found, named, device.major, device.minor));
}

Modules::~Modules() {
  for (Module module : modules)
    cuda.unloadModule(module);
}

static std::string describe(const fb::PlanT &plan, const fb::KernelT &kernel) {
  std::string text = fmt::format("kernel '{}'", kernel.name);
  const char *separator = " (";
  for (uint32_t op : kernel.ops) {
    text += separator + sourceText(*plan.sources[op]);
    separator = ", ";
  }
  return text + (kernel.ops.empty() ? "" : ")");
}

Status Modules::load(const LoadedPlan &loaded, size_t image,
                     const DeviceFacts &device) {
  const fb::PlanT &plan = loaded.first();
  const fb::ImageT &chosen = *plan.images[image];
  Expected<ModuleTable> table =
      readModuleTable(loaded.sections[chosen.section].bytes);
  if (!table)
    return table.takeError();
  for (std::span<const uint8_t> bytes : table->modules) {
    Module module;
    Status loading = cuda.check(cuda.loadModule(&module, bytes.data()),
                                fmt::format("loading kernels for {} on {}",
                                            chosen.features, device.name));
    DLRT_TRY(std::move(loading));
    modules.push_back(module);
  }
  for (const auto &kernel : plan.kernels) {
    kernels.push_back({.description = describe(plan, *kernel)});
    auto entry = table->entries.find(variantOf(*kernel).entry);
    DLRT_TRY(prepare(*kernel, modules[entry->second], device));
  }
  return {};
}

Status Modules::prepare(const fb::KernelT &kernel, Module module,
                        const DeviceFacts &device) {
  const fb::VariantT &variant = variantOf(kernel);
  Kernel &out = kernels.back();
  auto check = [&](Result result, const char *what) {
    return cuda.check(result, fmt::format("{}: {}", out.description, what));
  };
  DLRT_TRY(check(cuda.getFunction(&out.function, module, variant.entry.c_str()),
                 "finding its code"));
  int maxThreads = 0, ownShared = 0;
  DLRT_TRY(check(
      cuda.functionAttribute(&maxThreads, functionMaxThreads, out.function),
      "asking for its threads"));
  DLRT_TRY(check(
      cuda.functionAttribute(&ownShared, functionSharedBytes, out.function),
      "asking for its shared memory"));
  if (variant.threads > static_cast<unsigned>(maxThreads))
    return {Code::Plan,
            fmt::format("{}: blocks of {} threads; its code on {} has at most "
                        "{}",
                        out.description, variant.threads, device.name,
                        maxThreads)};
  uint64_t shared = variant.shared_bytes + static_cast<uint64_t>(ownShared);
  if (shared > static_cast<uint64_t>(device.maxShared))
    return {Code::Plan,
            fmt::format("{}: blocks need {} bytes of shared memory, {} has {}",
                        out.description, shared, device.name,
                        device.maxShared)};
  constexpr uint64_t unasked = 48 << 10;
  if (shared > unasked)
    DLRT_TRY(
        check(cuda.setFunctionAttribute(out.function, functionMaxDynamicShared,
                                        static_cast<int>(variant.shared_bytes)),
              "asking for more shared memory"));
  out.blocks = static_cast<unsigned>(variant.tiles);
  out.threads = variant.threads;
  out.sharedBytes = static_cast<unsigned>(variant.shared_bytes);
  out.scratchBytes = variant.scratch_bytes;
  return {};
}
