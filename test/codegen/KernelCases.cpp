#include "test/codegen/KernelCases.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Reference.h"
#include "mlir/Parser/Parser.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

using namespace mlir;

namespace dl::test {

std::string KernelCase::name() const {
  return std::filesystem::path(file).stem().string() + "_" + function;
}

std::vector<KernelCase> allKernelCases() {
  std::vector<KernelCase> cases;
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

graph::HostTensor randomTensor(RankedTensorType type, std::mt19937 &random) {
  graph::HostTensor tensor(type);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int> integer(0, 5);
  for (double &value : tensor.floats) // exact, so that both start equal
    value = graph::roundTo(type.getElementType(), float(real(random)));
  for (int64_t &value : tensor.ints)
    value = type.getElementType().isInteger(1) ? integer(random) & 1
                                               : integer(random);
  return tensor;
}

size_t elementBytes(RankedTensorType type) {
  return std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
}

template <typename T>
static void write(std::vector<char> &bytes, size_t i, T value) {
  memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

std::vector<char> bytesOf(const graph::HostTensor &from) {
  Type element = from.type.getElementType();
  size_t width = elementBytes(from.type);
  std::vector<char> bytes(from.size() * width);
  for (int64_t i = 0; i < from.size(); ++i) {
    if (element.isF32())
      write<float>(bytes, i, from.floats[i]);
    else if (element.isF64())
      write<double>(bytes, i, from.floats[i]);
    else if (element.isBF16())
      write<uint16_t>(bytes, i,
                      std::bit_cast<uint32_t>(float(from.floats[i])) >> 16);
    else if (width == 8)
      write<int64_t>(bytes, i, from.ints[i]);
    else if (width == 4)
      write<int32_t>(bytes, i, from.ints[i]);
    else
      write<uint8_t>(bytes, i, from.ints[i]);
  }
  return bytes;
}

template <typename T> static T read(const char *memory, size_t i) {
  T value;
  memcpy(&value, memory + i * sizeof(T), sizeof(T));
  return value;
}

std::vector<double> elementsOf(RankedTensorType type, const char *memory) {
  Type element = type.getElementType();
  size_t width = elementBytes(type);
  std::vector<double> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    if (element.isF32())
      elements.push_back(read<float>(memory, i));
    else if (element.isF64())
      elements.push_back(read<double>(memory, i));
    else if (element.isBF16())
      elements.push_back(
          std::bit_cast<float>(uint32_t(read<uint16_t>(memory, i)) << 16));
    else if (width == 8)
      elements.push_back(read<int64_t>(memory, i));
    else if (width == 4)
      elements.push_back(read<int32_t>(memory, i));
    else
      elements.push_back(read<uint8_t>(memory, i));
  }
  return elements;
}

void expectEqual(const std::vector<double> &elements,
                 const graph::HostTensor &want, const std::string &what,
                 double tolerance) {
  if (tolerance == 0 && want.isFloat())
    tolerance = want.type.getElementType().isF64() ? 1e-12 : 2e-5;
  double scale = 1;
  for (double w : want.floats)
    if (std::isfinite(w))
      scale = std::max(scale, std::abs(w));
  ASSERT_EQ(int64_t(elements.size()), want.size()) << what;
  int shown = 0;
  for (int64_t j = 0; j < want.size(); ++j) {
    double w = want.isFloat() ? want.floats[j] : want.ints[j];
    double got = elements[j];
    bool same = std::isnan(w)
                    ? std::isnan(got)
                    : w == got || std::abs(got - w) <= tolerance * scale;
    if (!same && shown++ < 3)
      ADD_FAILURE() << what << " element " << j << ": " << got << ", expected "
                    << w;
  }
}

bool equalBits(const std::vector<double> &x, const std::vector<double> &y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](double a, double b) {
                      return a == b || (std::isnan(a) && std::isnan(b));
                    });
}

} // namespace dl::test
