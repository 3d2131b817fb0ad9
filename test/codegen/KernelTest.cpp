// Every function of kernels/*.mlir, as kernels (fused and one op each, for each
// instruction set), against the reference evaluation. Scratch and results are
// poisoned. Fused kernels' tiles run backwards for one instruction set, all by
// one call for the other; single ops are one tile.

#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/layout/Passes.h"
#include "test/codegen/KernelCases.h"
#include "test/codegen/LoadedImage.h"
#include "llvm/Support/AlignOf.h"
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace dl::cpu::test {
namespace {

using namespace dl::test;

/// A value's memory: 64-byte aligned, with the slack of 64 bytes that kernels
/// may over-read, and behind it a page that faults.
struct Buffer {
  explicit Buffer(RankedTensorType type) : type(type) {
    size_t bytes = type.getNumElements() * elementBytes(type) + 64;
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
  std::shared_ptr<char> data;
};

void copyInto(Buffer &buffer, const std::vector<char> &bytes) {
  memcpy(buffer.data.get(), bytes.data(), bytes.size());
}

/// What another kernel has made for this one, in whose place the result goes.
Value replacedBy(graph::KernelOp kernel, OpResult result) {
  int64_t number = (*kernel.getInplace())[result.getResultNumber()];
  Value operand = number >= 0 ? kernel.getOperand(number) : Value();
  return operand && operand.getDefiningOp<graph::KernelOp>() ? operand
                                                             : Value();
}

/// `portions`: tiles are computed a few at a call, from the last; else all by
/// one.
void runKernel(graph::KernelOp kernel, const LoadedImage &image, bool portions,
               uint64_t scratchBytes, llvm::DenseMap<Value, Buffer> &buffers) {
  std::vector<void *> bindings;
  for (Value operand : kernel.getOperands())
    bindings.push_back(buffers.find(operand)->second.data.get());
  for (OpResult result : kernel.getResults()) {
    Value before = kernel.getInplace() ? replacedBy(kernel, result) : Value();
    auto it = before ? buffers.insert({result, buffers.find(before)->second})
                     : buffers.try_emplace(
                           result, cast<RankedTensorType>(result.getType()));
    bindings.push_back(it.first->second.data.get());
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

void check(const KernelCase &test, bool fuse) {
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
  if (StringRef(test.file).contains("channels"))
    manager.addPass(createChannelsInnermost());
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
      copyInto(buffers.try_emplace(argument, tensor.type).first->second,
               bytesOf(tensor));
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
      std::vector<double> bits = elementsOf(buffer.type, buffer.data.get());
      expectEqual(bits, want, image.features + " result " + std::to_string(i));
      auto &first = firstBits[std::to_string(i)];
      if (first.empty())
        first = bits;
      else if (want.type.getElementType().isF32() &&
               !StringRef(image.features).ends_with("+amxbf16"))
        EXPECT_TRUE(equalBits(bits, first))
            << "result " << i << " differs between instruction sets";
    }
  }
}

class KernelTest : public testing::TestWithParam<KernelCase> {};
TEST_P(KernelTest, Fused) { check(GetParam(), true); }
TEST_P(KernelTest, Unfused) { check(GetParam(), false); }
INSTANTIATE_TEST_SUITE_P(, KernelTest, testing::ValuesIn(allKernelCases()),
                         [](const testing::TestParamInfo<KernelCase> &info) {
                           return info.param.name();
                         });

} // namespace
} // namespace dl::cpu::test
