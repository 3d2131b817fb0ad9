#include "compiler/codegen/cuda/CudaCodegen.h"
#include "compiler/codegen/cuda/KernelSource.h"
#include "compiler/codegen/cuda/Nvrtc.h"
#include "compiler/codegen/cuda/Prelude.h"
#include "compiler/codegen/cuda/TensorCorePrelude.h"
#include "compiler/codegen/kernel/KernelCache.h"
#include "compiler/codegen/kernel/KernelFacts.h"
#include "dialects/graph/Check.h"
#include "runtime/plan/ModuleTable.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;

namespace dl::cuda {

using kernel::KernelCache;
using kernel::PayloadCache;

namespace {
/// One kernel for all architectures; filled by a worker.
struct Task {
  graph::KernelOp kernel;
  std::optional<BlockKernel> blocks;
  KernelText source;
  std::vector<llvm::SmallVector<char, 0>> modules; // one an architecture
  uint64_t scratch = 0;
  bool spills = false; // registers, to memory
  std::string error;

  using Code = llvm::SmallVector<char, 0>;
  void write();
  llvm::Expected<Code> compileWithRoom(const std::string &whole,
                                       const std::string &name,
                                       StringRef architecture,
                                       const Nvrtc &nvrtc);
  void compile(ArrayRef<std::string> architectures, const Nvrtc &nvrtc,
               const KernelCache &cache);
};
} // namespace

void Task::write() {
  WorkingOn at(kernel);
  FailureOr<BlockKernel> made = BlockKernel::create(kernel);
  if (failed(made)) {
    error = "the kernel has an op without a loop nest";
    return;
  }
  blocks.emplace(std::move(*made));
  scratch = blocks->counterBytes();
  PayloadCache payloads;
  source = kernelSource(*blocks, payloads);
  error = payloads.error;
}

static std::string wholeText(const KernelText &kernel) {
  std::string whole = std::string(kPrelude) + kTensorCorePrelude;
  for (const std::string &definition : kernel.definitions)
    whole += "\n" + definition;
  return whole + "\n" + kernel.text;
}

/// Where registers are spilled, once more with as many as a thread may have,
/// and then with memory for those that there are not.
llvm::Expected<Task::Code> Task::compileWithRoom(const std::string &whole,
                                                 const std::string &name,
                                                 StringRef architecture,
                                                 const Nvrtc &nvrtc) {
  auto compile = [&](const std::string &text, Spills allowed) {
    return nvrtc.compile(text, name, architecture, allowed);
  };
  auto code = compile(whole, Spills::Refused);
  if (code)
    return code;
  std::string why = llvm::toString(code.takeError());
  if (!StringRef(why).contains("spilled"))
    return llvm::createStringError(why);
  std::string larger = whole;
  if (blocks->hasContraction() &&
      blocks->blocksAtOnce() * blocks->threads() > 256) {
    PayloadCache payloads;
    larger = wholeText(kernelSource(*blocks, payloads, Room::Whole));
    code = compile(larger, Spills::Refused);
    if (code)
      return code;
    llvm::consumeError(code.takeError());
  }
  spills = true;
  return compile(larger, Spills::Allowed);
}

void Task::compile(ArrayRef<std::string> architectures, const Nvrtc &nvrtc,
                   const KernelCache &cache) {
  std::string whole = wholeText(source);
  for (const std::string &architecture : architectures) {
    std::string from = nvrtc.version() + " " + architecture + "\n" + whole;
    std::string key = cache.enabled() ? KernelCache::keyOf(from) : "";
    if (auto known = cache.load(key)) {
      modules.push_back(std::move(*known));
      continue;
    }
    std::string name = (kernel.getName() + ".cu").str();
    auto code = compileWithRoom(whole, name, architecture, nvrtc);
    if (!code) {
      error = "NVRTC " + nvrtc.version() + ", " + architecture + ": " +
              llvm::toString(code.takeError());
      return;
    }
    cache.store(key, *code);
    modules.push_back(std::move(*code));
  }
}

FailureOr<CudaCode> compileKernels(ModuleOp module,
                                   const CudaOptions &options) {
  std::vector<Task> tasks;
  for (graph::KernelOp first : kernel::kernelsWithCode(module))
    tasks.emplace_back().kernel = first;
  std::vector<std::string> compiled;
  for (const std::string &architecture : options.architectures)
    if (architecture != "source")
      compiled.push_back(architecture);
  const Nvrtc *nvrtc = nullptr;
  if (!compiled.empty()) {
    auto opened = Nvrtc::open();
    if (!opened)
      return emitError(UnknownLoc::get(module.getContext()))
             << llvm::toString(opened.takeError());
    nvrtc = *opened;
  }
  KernelCache cache =
      options.cache ? KernelCache::inUserFolder() : KernelCache();
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.threads));
    for (Task &task : tasks)
      pool.async([&] {
        task.write();
        if (task.error.empty() && nvrtc)
          task.compile(compiled, *nvrtc, cache);
      });
    pool.wait();
  }
  cache.prune();
  CudaCode code;
  std::set<std::string> definitions;
  for (Task &task : tasks)
    definitions.insert(task.source.definitions.begin(),
                       task.source.definitions.end());
  code.source = std::string(kPrelude) + kTensorCorePrelude;
  for (const std::string &definition : definitions)
    code.source += "\n" + definition;
  for (Task &task : tasks) {
    if (!task.error.empty())
      return task.kernel.emitError() << task.error;
    if (task.spills)
      task.kernel.emitRemark() << "it needs more registers than there are; "
                                  "some of them are kept in memory";
    code.scratchBytes[task.kernel.getName().str()] = task.scratch;
    code.source += "\n" + task.source.text;
  }
  if (tasks.empty()) // steps that only return what they are given
    return code;
  size_t next = 0;
  for (const std::string &architecture : options.architectures) {
    dlrt::ModuleTable table;
    bool isSource = architecture == "source";
    if (isSource)
      table.modules.push_back(
          {reinterpret_cast<const uint8_t *>(code.source.data()),
           code.source.size()});
    for (auto [number, task] : llvm::enumerate(tasks)) {
      if (!isSource)
        table.modules.push_back(
            {reinterpret_cast<const uint8_t *>(task.modules[next].data()),
             task.modules[next].size()});
      table.entries[task.kernel.getName().str()] =
          isSource ? 0u : uint32_t(number);
    }
    next += !isSource;
    std::vector<uint8_t> bytes = dlrt::writeModuleTable(table);
    code.images.push_back({architecture, {bytes.begin(), bytes.end()}});
  }
  return code;
}

} // namespace dl::cuda
