// Every function of test/codegen/kernels/*.mlir, as CUDA C++ on the emulated
// device (fused, one op each, products on tensor cores) against the reference
// evaluation: threads and blocks in three orders that must give equal bits,
// every buffer in an allocation of its own with pages that fault around it,
// fused kernels with each access watched, too, where they are small. Each
// kernel is launched twice, so that its scratch must be left as it was found.

#include "compiler/codegen/cuda/CudaCodegen.h"
#include "compiler/codegen/cuda/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/layout/Passes.h"
#include "test/codegen/KernelCases.h"
#include "test/device/DriverApi.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace dl::cuda::test {
namespace {

using namespace dl::test;
using emulated::DevicePointer;
using emulated::EmulatedDevice;

/// A module of kernels, with their source.
struct Lowered {
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  CudaCode code;
  graph::StepOp function(StringRef name) const {
    for (auto step : module.get().getOps<graph::StepOp>())
      if (step.getSymName() == name)
        return step;
    return {};
  }
};

std::unique_ptr<MLIRContext> newContext() {
  auto context = std::make_unique<MLIRContext>();
  context->loadDialect<graph::GraphDialect, arith::ArithDialect,
                       math::MathDialect>();
  return context;
}

/// An op a kernel; fused kernels; those with products on tensor cores.
enum class Form { Unfused, Fused, Tf32 };

/// All functions of a file at once: to compile their source is most of the time
/// that a test takes. Null if that fails.
std::unique_ptr<Lowered> lower(const std::string &file, Form form) {
  bool fuse = form != Form::Unfused;
  auto lowered = std::make_unique<Lowered>();
  lowered->context = newContext();
  lowered->module = parseSourceFile<ModuleOp>(file, lowered->context.get());
  PassManager manager(lowered->context.get());
  manager.addNestedPass<graph::StepOp>(createDecompose());
  manager.addPass(createChannelsInnermost());
  FormKernelsOptions options;
  auto gpu = *plan::MachineModel::known("h100");
  options.machine.chainScratchBytes = gpu.chainScratchBytes;
  options.machine.chainRows = gpu.chainRows;
  options.machine.productF32 = gpu.productF32;
  options.machine.productF64 = gpu.productF64;
  options.machine.productBf16 = gpu.productBf16;
  options.machine.bytesPerSecond = gpu.bytesPerSecond;
  options.machine.padsInProducts = 1;
  options.machine.widensInReaders = 1;
  options.fuse = fuse;
  manager.addPass(createFormKernels(options));
  // Fused products are tiles in registers, however small; single ones are sums.
  AnnotateCudaKernelsOptions annotation;
  annotation.leastProduct = fuse ? 1 : 0;
  annotation.tf32 = form == Form::Tf32;
  manager.addPass(createAnnotateCudaKernels(annotation));
  if (failed(manager.run(*lowered->module)))
    return nullptr;
  CudaOptions cuda;
  cuda.architectures = {"source"};
  cuda.threads = 1;
  cuda.cache = false;
  auto code = compileKernels(*lowered->module, cuda);
  if (failed(code))
    return nullptr;
  lowered->code = std::move(*code);
  return lowered;
}

const Lowered *loweredFile(const std::string &file, Form form) {
  static std::map<std::pair<std::string, Form>, std::unique_ptr<Lowered>> known;
  auto [place, isNew] = known.try_emplace({file, form});
  if (isNew)
    place->second = lower(file, form);
  return place->second.get();
}

/// One run of a function's kernels on a device.
class Run {
public:
  Run(EmulatedDevice &device, const std::string &source) : device(device) {
    EXPECT_EQ(device.cu.cuModuleLoadData(&module, source.c_str()), 0)
        << device.said();
  }

  std::vector<std::vector<double>> results(graph::StepOp function,
                                           const CudaCode &code,
                                           ArrayRef<graph::HostTensor> inputs) {
    for (auto [argument, tensor] : llvm::zip(function.getArguments(), inputs))
      values[argument] = newMemory(bytesOf(tensor));
    Block &body = function.getBody().front();
    for (Operation &op : body.without_terminator()) {
      if (auto view = dyn_cast<graph::AliasOpInterface>(op)) {
        DevicePointer viewed = values.lookup(view.getViewed());
        values[view->getResult(0)] = viewed;
      } else if (auto kernel = cast<graph::KernelOp>(op); !launch(
                     kernel, code.scratchBytes.at(kernel.getName().str()))) {
        return {};
      }
    }
    std::vector<std::vector<double>> results;
    for (Value value : body.getTerminator()->getOperands()) {
      auto type = cast<RankedTensorType>(value.getType());
      std::vector<char> bytes = device.download<char>(
          values.lookup(value), type.getNumElements() * elementBytes(type));
      results.push_back(elementsOf(type, bytes.data()));
    }
    return results;
  }

private:
  DevicePointer newMemory(std::vector<char> bytes) {
    if (bytes.empty())
      bytes.resize(1);
    return device.upload(bytes);
  }

  bool launch(graph::KernelOp kernel, uint64_t scratchBytes) {
    std::vector<uint64_t> words; // arguments
    for (Value operand : kernel.getOperands())
      words.push_back(values.lookup(operand));
    for (OpResult result : kernel.getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      size_t bytes = type.getNumElements() * elementBytes(type);
      values[result] = newMemory(std::vector<char>(bytes, char(0xff)));
      words.push_back(values.lookup(result));
    }
    auto fact = [&](StringRef name) {
      return unsigned(kernel->getAttrOfType<IntegerAttr>(name).getInt());
    };
    if (unsigned bytes = fact("workspace"))
      words.push_back(newMemory(std::vector<char>(bytes, char(0xff))));
    for (int64_t constant : kernel.getConstants().value_or(ArrayRef<int64_t>()))
      words.push_back(constant);
    if (scratchBytes)
      words.push_back(newMemory(std::vector<char>(scratchBytes)));
    std::vector<void *> arguments;
    for (uint64_t &word : words)
      arguments.push_back(&word);
    emulated::FunctionT *function = nullptr;
    int error = device.cu.cuModuleGetFunction(&function, module,
                                              kernel.getName().str().c_str());
    if (!error)
      error = device.cu.cuFuncSetAttribute(
          function, emulated::FunctionMaxDynamicShared, fact("shared"));
    for (int again = 0; again < 2 && !error; ++again)
      error = device.cu.cuLaunchKernel(function, fact("tiles"), 1, 1,
                                       fact("threads"), 1, 1, fact("shared"),
                                       nullptr, arguments.data(), nullptr);
    if (!error)
      error = device.cu.cuStreamSynchronize(nullptr);
    return !error;
  }

  EmulatedDevice &device;
  emulated::ModuleT *module = nullptr;
  llvm::DenseMap<Value, DevicePointer> values;
};

SmallVector<graph::HostTensor> inputsOf(graph::StepOp function) {
  std::mt19937 random(7);
  SmallVector<graph::HostTensor> inputs;
  for (Type type : function.getArgumentTypes())
    inputs.push_back(randomTensor(cast<RankedTensorType>(type), random));
  return inputs;
}

/// Operands of a product have 11 bits: each may be off by 2^-11, and the
/// largest result is at least as large as most products in it.
constexpr double kTf32Tolerance = 4e-3;

void check(const KernelCase &test, Form form) {
  auto context = newContext();
  auto whole = parseSourceFile<ModuleOp>(test.file, context.get());
  graph::StepOp reference;
  for (auto step : whole->getOps<graph::StepOp>())
    if (step.getSymName() == test.function)
      reference = step;
  SmallVector<graph::HostTensor> inputs = inputsOf(reference);
  auto expected = graph::evaluateStep(reference, inputs);
  ASSERT_TRUE(succeeded(expected));

  const Lowered *lowered = loweredFile(test.file, form);
  ASSERT_TRUE(lowered) << test.file << " cannot be lowered";
  graph::StepOp function = lowered->function(test.function);
  std::vector<emulated::Environment> environments = {
      {{"DLEMU_MODE", "eager"}, {"DLEMU_ORDER", "ascending"}},
      {{"DLEMU_MODE", "eager"}, {"DLEMU_ORDER", "descending"}},
      {{"DLEMU_MODE", "lazy"}, {"DLEMU_ORDER", "random"}}};
  // To watch each access takes a hundred times as long as the access.
  int64_t flops = 0;
  for (auto kernel : function.getOps<graph::KernelOp>())
    flops += kernel->getAttrOfType<IntegerAttr>("flops").getInt();
  if (form != Form::Unfused && flops <= 20'000'000)
    environments.push_back({{"DLEMU_MODE", "eager"},
                            {"DLEMU_ORDER", "random"},
                            {"DLEMU_RACES", "1"},
                            {"DLEMU_CXX", "clang++-22"}});
  std::vector<std::vector<double>> first;
  for (emulated::Environment &environment : environments) {
    environment["DLEMU_SECONDS"] = "20";
    EmulatedDevice device(environment);
    auto results = Run(device, lowered->code.source)
                       .results(function, lowered->code, inputs);
    ASSERT_EQ(results.size(), expected->size()) << device.said();
    std::string order = environment.at("DLEMU_ORDER");
    for (size_t i = 0; i < results.size(); ++i) {
      std::string what = order + ", result " + std::to_string(i);
      expectEqual(results[i], (*expected)[i], what,
                  form == Form::Tf32 ? kTf32Tolerance : 0);
      if (!first.empty())
        EXPECT_TRUE(equalBits(results[i], first[i]))
            << what << " is not that of the first order";
    }
    if (first.empty())
      first = results;
  }
}

/// What the device says of a source in which a mistake was planted.
std::string planted(const Lowered &lowered, StringRef function,
                    const std::string &source) {
  EmulatedDevice device({{"DLEMU_MODE", "eager"},
                         {"DLEMU_ORDER", "random"},
                         {"DLEMU_RACES", "1"},
                         {"DLEMU_CXX", "clang++-22"}});
  graph::StepOp step = lowered.function(function);
  Run(device, source).results(step, lowered.code, inputsOf(step));
  return device.said();
}

/// Control: without any one of its barriers a kernel has a race, which is seen.
void checkBarriers(const std::string &file, StringRef function,
                   size_t expected) {
  const Lowered *lowered =
      loweredFile(std::string(DL_KERNEL_TESTS) + "/" + file, Form::Fused);
  ASSERT_TRUE(lowered);
  auto kernels = lowered->function(function).getOps<graph::KernelOp>();
  ASSERT_EQ(std::distance(kernels.begin(), kernels.end()), 1);
  const std::string &all = lowered->code.source;
  std::string head = all.substr(0, all.find("extern \"C\" __global__"));
  size_t name = all.find("\n" + (*kernels.begin()).getName().str() + "(");
  ASSERT_NE(name, all.npos);
  size_t begin = all.rfind("extern \"C\"", name), end = all.find("\n}\n", name);
  std::string kernel = all.substr(begin, end + 3 - begin);
  EXPECT_EQ(planted(*lowered, function, head + kernel), "");
  const std::string barrier = "__syncthreads();";
  size_t count = 0;
  for (size_t at = kernel.find(barrier); at != kernel.npos;
       at = kernel.find(barrier, at + 1)) {
    std::string wrong = kernel;
    wrong.replace(at, barrier.size(), "");
    std::string said = planted(*lowered, function, head + wrong);
    EXPECT_NE(said.find("race: "), std::string::npos)
        << said << "without the barrier at " << at << " of\n"
        << kernel;
    ++count;
  }
  EXPECT_GE(count, expected);
}

TEST(CudaControl, BarriersOfAProduct) {
  checkBarriers("matmul.mlir", "narrow", 1);
}
TEST(CudaControl, BarriersBetweenStages) {
  checkBarriers("reductions.mlir", "rows_then_columns", 2);
}
TEST(CudaControl, BarriersOfAChain) {
  checkBarriers("chains.mlir", "attention", 7);
}

class CudaKernelTest : public testing::TestWithParam<KernelCase> {};
TEST_P(CudaKernelTest, Fused) { check(GetParam(), Form::Fused); }
TEST_P(CudaKernelTest, Unfused) { check(GetParam(), Form::Unfused); }
INSTANTIATE_TEST_SUITE_P(, CudaKernelTest, testing::ValuesIn(allKernelCases()),
                         [](const testing::TestParamInfo<KernelCase> &info) {
                           return info.param.name();
                         });

/// Products and convolutions of all shapes.
class CudaTf32Test : public testing::TestWithParam<KernelCase> {};
TEST_P(CudaTf32Test, Fused) { check(GetParam(), Form::Tf32); }

std::vector<KernelCase> productCases() {
  std::vector<KernelCase> cases;
  for (const KernelCase &test : allKernelCases())
    for (const char *file : {"chains_", "channels_", "convolution_", "matmul_"})
      if (StringRef(test.name()).starts_with(file))
        cases.push_back(test);
  return cases;
}
INSTANTIATE_TEST_SUITE_P(, CudaTf32Test, testing::ValuesIn(productCases()),
                         [](const testing::TestParamInfo<KernelCase> &info) {
                           return info.param.name();
                         });

} // namespace
} // namespace dl::cuda::test
