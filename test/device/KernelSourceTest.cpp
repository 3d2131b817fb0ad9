#include "test/device/KernelSource.h"

#include <gtest/gtest.h>

using emulated::hostSource;

static std::string host(const std::string &cuda) {
  std::string error;
  std::string text = hostSource(cuda, error);
  return error.empty() ? text : "error: " + error;
}

TEST(KernelSource, KernelsAreFoundWithTheirBounds) {
  std::string text = host("// __global__ void comment()\n"
                          "#define LINE __global__ void directive()\n"
                          "const char *s = \"__global__ void literal()\";\n"
                          "extern \"C\" __global__ void __launch_bounds__(128 "
                          "* (1 + 1), 2)\nfirst(float *x) {}\n"
                          "extern \"C\" __global__ void second() {}\n");
  EXPECT_NE(text.find("named(\"first\", 128 * (1 + 1), 2)"), text.npos) << text;
  EXPECT_NE(text.find("named(\"second\")"), text.npos);
  EXPECT_NE(text.find("dl_simt_kernels, 2)"), text.npos);
}

TEST(KernelSource, ADeclarationBeforeAKernelIsNoSecondOne) {
  EXPECT_NE(host("extern \"C\" __global__ void k(int);\nextern \"C\" "
                 "__global__ void k(int) {}")
                .find("kernels, 1)"),
            std::string::npos);
}

TEST(KernelSource, DynamicSharedMemoryIsAPointerAndKeepsItsLine) {
  std::string text = host("extern \"C\" __global__ void k() {\n  extern "
                          "__shared__ __align__(16) float tile[];\n}\n");
  EXPECT_NE(
      text.find("void k() {\n  float *const tile = reinterpret_cast<float "
                "*>(dlsimt::machine->dynamicShared);\n}"),
      text.npos)
      << text;
}

TEST(KernelSource, DynamicSharedMemoryOutsideOfFunctionsIsRefused) {
  EXPECT_EQ(host("extern __shared__ float tile[];\n")
                .find("error: dynamic shared memory"),
            0u);
}
