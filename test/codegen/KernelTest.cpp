// Every function of kernels/*.mlir, as kernels (fused and one op each, for each
// instruction set), against the reference evaluation. Scratch and results are
// poisoned. Fused kernels' tiles run backwards for one instruction set, all by
// one call for the other; single ops are one tile.

#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/Passes.h"
#include "dialects/graph/Evaluate.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/layout/Passes.h"
#include "test/codegen/LoadedImage.h"
#include "llvm/Support/AlignOf.h"
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace dl::cpu::test {
namespace {

/// A value's memory: 64-byte aligned, with the slack of 64 bytes that kernels
/// may over-read, and behind it a page that faults.
struct Buffer {
  explicit Buffer(RankedTensorType type) : type(type) {
    elementBytes =
        std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
    size_t bytes = type.getNumElements() * elementBytes + 64;
    size_t lines = (bytes + 63) / 64 * 64, page = getpagesize();
    size_t mapped = (lines + page - 1) / page * page;
    char *base =
        static_cast<char *>(mmap(nullptr, mapped + page, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base, MAP_FAILED);
    EXPECT_EQ(mprotect(base + mapped, page, PROT_NONE), 0);
    data = std::shared_ptr<char>(
        base + mapped - lines,
        [base, size = mapped + page](char *) { munmap(base, size); });
    memset(data.get(), 0xFF, lines);
  }
  RankedTensorType type;
  size_t elementBytes;
  std::shared_ptr<char> data;
};

template <typename T> void write(Buffer &buffer, size_t i, T value) {
  memcpy(buffer.data.get() + i * sizeof(T), &value, sizeof(T));
}
template <typename T> T read(const Buffer &buffer, size_t i) {
  T value;
  memcpy(&value, buffer.data.get() + i * sizeof(T), sizeof(T));
  return value;
}

void fill(Buffer &buffer, const graph::HostTensor &from) {
  Type element = buffer.type.getElementType();
  for (int64_t i = 0; i < from.size(); ++i) {
    if (element.isF32())
      write<float>(buffer, i, from.floats[i]);
    else if (element.isF64())
      write<double>(buffer, i, from.floats[i]);
    else if (buffer.elementBytes == 8)
      write<int64_t>(buffer, i, from.ints[i]);
    else if (buffer.elementBytes == 4)
      write<int32_t>(buffer, i, from.ints[i]);
    else
      write<uint8_t>(buffer, i, from.ints[i]);
  }
}

double at(const Buffer &buffer, int64_t i) {
  Type element = buffer.type.getElementType();
  if (element.isF32())
    return read<float>(buffer, i);
  if (element.isF64())
    return read<double>(buffer, i);
  if (buffer.elementBytes == 8)
    return read<int64_t>(buffer, i);
  if (buffer.elementBytes == 4)
    return read<int32_t>(buffer, i);
  return read<uint8_t>(buffer, i);
}

graph::HostTensor randomTensor(RankedTensorType type, std::mt19937 &random) {
  graph::HostTensor tensor(type);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int> integer(0, 5);
  for (double &value : tensor.floats) // exact in f32, so that both start equal
    value = float(real(random));
  for (int64_t &value : tensor.ints)
    value = type.getElementType().isInteger(1) ? integer(random) & 1
                                               : integer(random);
  return tensor;
}

/// `portions`: tiles are computed a few at a call, from the last; else all by
/// one.
void runKernel(graph::KernelOp kernel, const LoadedImage &image, bool portions,
               uint64_t scratchBytes, llvm::DenseMap<Value, Buffer> &buffers) {
  std::vector<void *> bindings;
  for (Value operand : kernel.getOperands())
    bindings.push_back(buffers.find(operand)->second.data.get());
  for (OpResult result : kernel.getResults()) {
    auto it =
        buffers.try_emplace(result, cast<RankedTensorType>(result.getType()))
            .first;
    bindings.push_back(it->second.data.get());
  }
  Buffer scratch(RankedTensorType::get(
      {int64_t(scratchBytes)}, IntegerType::get(kernel.getContext(), 8)));
  std::vector<int64_t> constants =
      kernel.getConstants().value_or(ArrayRef<int64_t>()).vec();
  KernelFn function = image.kernel(kernel.getName().str().c_str());
  ASSERT_TRUE(function) << kernel.getName().str();
  int64_t begin, end = *kernel.getTiles();
  for (; end > 0; end = begin) {
    begin = portions ? std::max<int64_t>(0, end - 1 - end % 3) : 0;
    function(bindings.data(), constants.data(), scratch.data.get(), begin, end);
  }
}

struct Case {
  std::string file, function;
};

std::vector<Case> allCases() {
  std::vector<Case> cases;
  std::vector<std::string> files;
  for (auto &entry : std::filesystem::directory_iterator(DL_KERNEL_TESTS))
    if (entry.path().extension() == ".mlir")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  for (std::string &file : files) {
    auto module = parseSourceFile<ModuleOp>(file, &context);
    EXPECT_TRUE(module) << file;
    if (module)
      for (auto function : module->getOps<graph::StepOp>())
        cases.push_back({file, function.getSymName().str()});
  }
  return cases;
}

/// The elements of `buffer`, which are to be those of `want`.
std::vector<double> expectEqual(const Buffer &buffer,
                                const graph::HostTensor &want,
                                const std::string &what) {
  double tolerance = want.type.getElementType().isF64() ? 1e-12
                     : want.isFloat()                   ? 2e-5
                                                        : 0;
  double scale = 1;
  for (double w : want.floats)
    if (std::isfinite(w))
      scale = std::max(scale, std::abs(w));
  std::vector<double> bits;
  int shown = 0;
  for (int64_t j = 0; j < want.size(); ++j) {
    double w = want.isFloat() ? want.floats[j] : want.ints[j];
    double got = at(buffer, j);
    bits.push_back(got);
    bool same = std::isnan(w)
                    ? std::isnan(got)
                    : w == got || std::abs(got - w) <= tolerance * scale;
    if (!same && shown++ < 3)
      ADD_FAILURE() << what << " element " << j << ": " << got << ", expected "
                    << w;
  }
  return bits;
}

void check(const Case &test, bool fuse) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, arith::ArithDialect,
                      math::MathDialect>();
  auto module = parseSourceFile<ModuleOp>(test.file, &context);
  for (auto function :
       llvm::make_early_inc_range(module->getOps<graph::StepOp>()))
    if (function.getSymName() != test.function)
      function.erase();
  auto function = *module->getOps<graph::StepOp>().begin();
  std::mt19937 random(7);
  SmallVector<graph::HostTensor> arguments;
  for (Type type : function.getArgumentTypes())
    arguments.push_back(randomTensor(cast<RankedTensorType>(type), random));
  auto expected = graph::evaluateStep(function, arguments);
  ASSERT_TRUE(succeeded(expected));

  PassManager manager(&context);
  manager.addNestedPass<graph::StepOp>(createDecompose());
  manager.addPass(createBatchInnermost());
  FormKernelsOptions options;
  options.fuse = fuse;
  manager.addPass(createFormKernels(options));
  AnnotateKernelsOptions annotation;
  annotation.maxTiles = fuse ? 0 : 1; // 0: as many as are worth it
  manager.addPass(createAnnotateKernels(annotation));
  ASSERT_TRUE(succeeded(manager.run(*module)));
  CpuOptions cpuOptions;
  cpuOptions.cache = false;
  cpuOptions.threads = 1;
  auto code = compileKernels(*module, cpuOptions);
  ASSERT_TRUE(succeeded(code));

  std::map<std::string, std::vector<double>> firstBits;
  bool portions = fuse;
  for (const CpuImage &image : code->images) {
    portions = !portions;
    if (llvm::none_of(executableTargets(), [&](const TargetVariant &variant) {
          return variant.features == image.features;
        }))
      continue;
    LoadedImage loaded = LoadedImage::load(image.elf);
    llvm::DenseMap<Value, Buffer> buffers;
    for (auto [argument, tensor] :
         llvm::zip(function.getArguments(), arguments))
      fill(buffers.try_emplace(argument, tensor.type).first->second, tensor);
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (auto view = dyn_cast<graph::AliasOpInterface>(op)) {
        Buffer alias = buffers.find(view.getViewed())->second;
        alias.type = cast<RankedTensorType>(view->getResult(0).getType());
        buffers.try_emplace(view->getResult(0), alias);
        continue;
      }
      auto kernel = cast<graph::KernelOp>(op);
      runKernel(kernel, loaded, portions,
                code->scratchBytes[kernel.getName().str()], buffers);
    }
    for (auto [i, value] : llvm::enumerate(
             function.getBody().front().getTerminator()->getOperands())) {
      const Buffer &buffer = buffers.find(value)->second;
      const graph::HostTensor &want = (*expected)[i];
      std::vector<double> bits = expectEqual(
          buffer, want, image.features + " result " + std::to_string(i));
      auto &first = firstBits[std::to_string(i)];
      if (first.empty())
        first = bits;
      else if (want.type.getElementType().isF32())
        EXPECT_TRUE(std::equal(bits.begin(), bits.end(), first.begin(),
                               [](double a, double b) {
                                 return a == b ||
                                        (std::isnan(a) && std::isnan(b));
                               }))
            << "result " << i << " differs between instruction sets";
    }
  }
}

class KernelTest : public testing::TestWithParam<Case> {};
TEST_P(KernelTest, Fused) { check(GetParam(), true); }
TEST_P(KernelTest, Unfused) { check(GetParam(), false); }
INSTANTIATE_TEST_SUITE_P(
    , KernelTest, testing::ValuesIn(allCases()),
    [](const testing::TestParamInfo<Case> &info) {
      return std::filesystem::path(info.param.file).stem().string() + "_" +
             info.param.function;
    });

} // namespace
} // namespace dl::cpu::test
