// Accesses to shared memory with no barrier between them, found in one run in
// any order.
#include "test/device/DriverApi.h"

#include <gtest/gtest.h>

using namespace emulated;

static std::string run(const std::string &body, unsigned block,
                       const char *order, int expected) {
  EmulatedDevice device({{"DLEMU_RACES", "1"},
                         {"DLEMU_MODE", "eager"},
                         {"DLEMU_ORDER", order},
                         {"DLEMU_CXX", "clang++-22"}});
  FunctionT *kernel = device.function(
      "struct alignas(16) Four { float x, y, z, w; };\n"
      "extern \"C\" __global__ void k(float *x) {\n"
      "  extern __shared__ float s[];\n  __shared__ float t[64];\n"
      "  unsigned i = threadIdx.x;\n" +
          body + "\n}",
      "k");
  DevicePointer x = device.upload(std::vector<float>(64));
  EXPECT_EQ(device.launch(kernel, 1, block, 1024, x), expected)
      << body << "\n"
      << device.said();
  return device.said();
}

static void expectRace(const std::string &body, const char *what) {
  for (const char *order : {"ascending", "descending", "random"}) {
    std::string said = run(body, 64, order, IllegalAddress);
    EXPECT_NE(said.find(std::string("race: it ") + what), said.npos)
        << body << "\n"
        << order << ": " << said;
  }
}

static void expectNone(const std::string &body) {
  for (const char *order : {"ascending", "descending", "random"})
    run(body, 64, order, Success);
}

TEST(Races, BetweenThreadsOfABlock) {
  expectRace("s[i] = i; x[i] = s[63 - i];", "");
  expectNone("s[i] = i; __syncthreads(); x[i] = s[63 - i];");
  expectRace("s[i] = i; __syncthreads(); x[i] = s[63 - i]; s[i] = 1;", "");
  expectNone("s[i] = i; __syncthreads(); x[i] = s[63 - i]; __syncthreads(); "
             "s[i] = 1;");
  expectRace("t[i / 2] = i; __syncthreads(); x[i] = t[(i ^ 2) / 2];",
             "writes what another has written");
  expectRace("t[i] = i; x[i] = t[63 - i];", "");
  // The reader of the same thread must not hide the others.
  expectRace("if (i == 0) s[0] = 1; __syncthreads(); x[i] = s[0]; if (i == 63) "
             "s[0] = 2;",
             "");
  expectRace("if (i == 0) s[0] = 1; __syncthreads(); x[i] = s[0]; if (i == 0) "
             "s[0] = 2;",
             "");
  expectRace("if (i == 0) s[0] = 1; __syncthreads(); x[i] = s[0]; if (i == 40) "
             "s[0] = 2;",
             "");
}

TEST(Races, BetweenLanesOfAWarp) {
  expectRace("s[i] = i; x[i] = s[i ^ 1];", "");
  expectNone("s[i] = i; __syncwarp(); x[i] = s[i ^ 1];");
  expectRace(
      "s[i] = i; float y = __shfl_xor_sync(~0u, 1.0f, 1); x[i] = y + s[i ^ 1];",
      "");
  expectRace("s[i] = i; __syncwarp(); x[i] = s[i ^ 32];", "");
}

TEST(Races, OfBytes) {
  // Neighbours in one word do not meet, whatever touched the word before.
  expectNone(
      "char *c = (char *)s; c[i] = i; __syncthreads(); x[i] = c[63 - i];");
  expectNone("if (i < 16) s[i] = i; __syncthreads(); ((char *)s)[i] = i;");
  expectRace("((char *)s)[i / 2] = i;", "writes what another has written");
  expectRace("if (i == 0) s[0] = 1; if (i == 40) ((char *)s)[3] = 1;", "");
  expectRace("if (i == 0) ((char *)s)[3] = 1; if (i == 40) s[0] = 1;", "");
  expectRace(
      "if (i < 4) ((char *)s)[i] = i; __syncthreads(); if (i == 40) x[0] "
      "= s[0]; if (i == 8) ((char *)s)[2] = 1;",
      "");
}

TEST(Races, OfWideAccessesAndCopies) {
  expectRace("Four *f = (Four *)s; if (i == 0) f[0] = {1, 2, 3, 4}; if (i == "
             "33) x[0] = s[3];",
             "");
  expectNone("Four *f = (Four *)s; if (i == 0) f[0] = {1, 2, 3, 4}; if (i == "
             "33) x[0] = s[4] = 1;");
  expectRace("Four *f = (Four *)s; f[i] = ((Four *)x)[0]; Four g = f[63 - i]; "
             "x[i] = g.x;",
             "");
  std::string copy = "dl_simt_cp_async16(s + i * 4, x + i % 16 * 4); "
                     "dl_simt_cp_async_commit();"
                     "dl_simt_cp_async_wait<0>(); ";
  expectRace(copy + "x[i] = s[(63 - i) * 4];", "");
  expectNone(copy + "__syncthreads(); if (i == 0) x[0] = s[63 * 4];");
}

TEST(Races, InMemoryOfTheDevice) {
  expectRace("x[i] = i; s[i] = x[63 - i];", "");
  expectNone("x[i] = i; __syncthreads(); s[i] = x[63 - i];");
}

/// Four blocks of 16 threads.
static std::string blocks(const std::string &body, const char *order,
                          int expected) {
  EmulatedDevice device({{"DLEMU_RACES", "1"},
                         {"DLEMU_MODE", "eager"},
                         {"DLEMU_ORDER", order},
                         {"DLEMU_CXX", "clang++-22"}});
  FunctionT *kernel = device.function(
      "extern \"C\" __global__ void k(float *x, unsigned *counter) { unsigned "
      "i = blockIdx.x * 16 + threadIdx.x;" +
          body + "}",
      "k");
  DevicePointer x = device.upload(std::vector<float>(128)),
                counter = device.upload(std::vector<unsigned>(1));
  EXPECT_EQ(device.launch(kernel, 4, 16, 0, x, counter), expected)
      << body << "\n"
      << device.said();
  return device.said();
}

TEST(Races, BetweenBlocks) {
  for (const char *order : {"ascending", "descending", "random"}) {
    for (const char *wrong :
         {"x[i % 16] = 1;", "x[i] = x[(i + 16) % 64] + 1;"}) {
      std::string said = blocks(wrong, order, IllegalAddress);
      EXPECT_NE(said.find("a thread of another block"), said.npos) << said;
    }
    blocks("x[i + 64] = x[(i + 16) % 64] + 1;", order, Success);
    const std::string sum =
        "x[i] = i; __threadfence(); __syncthreads(); __shared__ bool last;"
        "if (threadIdx.x == 0) last = COUNT == 3; __syncthreads();"
        "if (last) x[64 + threadIdx.x] = x[threadIdx.x] + x[48 + threadIdx.x];";
    std::string right = sum, wrong = sum;
    blocks(right.replace(right.find("COUNT"), 5, "atomicAdd(counter, 1u)"),
           order, Success);
    blocks(wrong.replace(wrong.find("COUNT"), 5, "(*counter)++"), order,
           IllegalAddress);
  }
}

TEST(Races, BoundsAreExact) {
  std::string said =
      run("if (i == 5) s[256] = 1;", 64, "random", IllegalAddress);
  EXPECT_NE(said.find("thread (5, 0, 0): writes 4 bytes"), said.npos) << said;
  said = run("if (i == 7) x[0] = x[64];", 64, "random", IllegalAddress);
  EXPECT_NE(said.find("thread (7, 0, 0): reads 4 bytes 0 bytes behind the end"),
            said.npos)
      << said;
}
