#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/Image.h"
#include "compiler/codegen/cpu/KernelEmitter.h"
#include "compiler/codegen/cpu/ObjectCode.h"
#include "compiler/codegen/kernel/KernelCache.h"
#include "compiler/codegen/kernel/KernelFacts.h"
#include "dialects/graph/Check.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;

namespace dl::cpu {

using kernel::KernelCache;

namespace {
/// One kernel for all variants; filled by a worker.
struct Task {
  graph::KernelOp kernel;
  std::vector<llvm::SmallVector<char, 0>> objects; // one a variant
  bool dotsBf16 = false, tilesBf16 = false;        // what it gains from
  uint64_t scratch = 0;
  std::string error;

  void run(ArrayRef<TargetVariant> variants, const KernelCache &cache,
           const plan::MachineModel &machine);

private:
  bool compile(const TiledKernel &tiled, PayloadCache &payloads,
               const TargetVariant &variant, const KernelCache &cache);
};
} // namespace

/// Whether a product of the kernel `gains` from an extension.
static bool anyProduct(const TiledKernel &kernel,
                       bool (ContractForm::*gains)() const) {
  return llvm::any_of(kernel.stages(), [&](const Stage &stage) {
    return stage.contraction && (ContractForm::of(kernel, stage).*gains)();
  });
}

void Task::run(ArrayRef<TargetVariant> variants, const KernelCache &cache,
               const plan::MachineModel &machine) {
  WorkingOn at(kernel);
  FailureOr<TiledKernel> tiled = TiledKernel::create(kernel, machine);
  if (failed(tiled)) {
    error = "the kernel has an op without a loop nest";
    return;
  }
  scratch = tiled->scratchBytes();
  dotsBf16 = anyProduct(*tiled, &ContractForm::dotsBf16);
  tilesBf16 = anyProduct(*tiled, &ContractForm::tilesBf16);
  PayloadCache payloads;
  std::vector<std::string> compiled; // what objects are for
  for (const TargetVariant &all : variants) {
    // An extension is for those that gain from it.
    TargetVariant variant = all.reducedTo(dotsBf16, tilesBf16);
    auto same = llvm::find(compiled, variant.features);
    if (same != compiled.end())
      objects.push_back(objects[same - compiled.begin()]);
    else if (!compile(*tiled, payloads, variant, cache))
      return;
    compiled.push_back(variant.features);
  }
}

/// Adds one object, or says what is wrong.
bool Task::compile(const TiledKernel &tiled, PayloadCache &payloads,
                   const TargetVariant &variant, const KernelCache &cache) {
  llvm::LLVMContext context;
  auto module = emitKernel(tiled, payloads, variant, context);
  if (!payloads.error.empty()) {
    error = payloads.error;
    return false;
  }
  auto target = createTargetMachine(variant);
  if (!target) {
    error = llvm::toString(target.takeError());
    return false;
  }
  std::string key =
      cache.enabled() ? KernelCache::keyOf(madeFrom(*module, variant)) : "";
  if (auto known = cache.load(key)) {
    objects.push_back(std::move(*known));
    return true;
  }
  auto object = compileToObject(*module, **target, variant.tuning);
  if (!object) {
    error = llvm::toString(object.takeError());
    return false;
  }
  cache.store(key, *object);
  objects.push_back(std::move(*object));
  return true;
}

FailureOr<CpuCode> compileKernels(ModuleOp module, const CpuOptions &options) {
  SmallVector<TargetVariant, 4> variants = defaultTargets();
  if (!options.targetCpu.empty()) {
    auto variant = targetForCpu(options.targetCpu);
    if (!variant)
      return emitError(module.getLoc()) << llvm::toString(variant.takeError());
    variants = {*variant};
  }
  std::vector<Task> tasks;
  for (graph::KernelOp first : kernel::kernelsWithCode(module))
    tasks.emplace_back().kernel = first;
  KernelCache cache =
      options.cache ? KernelCache::inUserFolder() : KernelCache();
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.threads));
    for (Task &task : tasks)
      pool.async([&] { task.run(variants, cache, options.machine); });
    pool.wait();
  }
  cache.prune();
  CpuCode code;
  for (Task &task : tasks) {
    if (!task.error.empty())
      return task.kernel.emitError() << task.error;
    code.scratchBytes[task.kernel.getName().str()] = task.scratch;
  }
  if (tasks.empty()) // steps that only return what they are given
    return code;
  bool dots = llvm::any_of(tasks, [](Task &task) { return task.dotsBf16; });
  bool tiles = llvm::any_of(tasks, [](Task &task) { return task.tilesBf16; });
  for (auto [v, variant] : llvm::enumerate(variants)) {
    std::string features = variant.reducedTo(dots, tiles).features;
    if (llvm::any_of(code.images,
                     [&](auto &image) { return image.features == features; }))
      continue;
    std::vector<NamedObject> objects;
    for (Task &task : tasks)
      objects.push_back({task.kernel.getName(), task.objects[v]});
    auto image = linkImage(objects);
    if (!image)
      return emitError(module.getLoc()) << llvm::toString(image.takeError());
    code.images.push_back({features, std::move(*image)});
  }
  return code;
}

} // namespace dl::cpu
