// Kernels by hand on the emulated device: what right ones compute in every
// order of threads and blocks, and what is said of wrong ones.
#include "test/device/DriverApi.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace emulated;

static const std::vector<Environment> orders = {
    {{"DLEMU_MODE", "eager"}, {"DLEMU_ORDER", "ascending"}},
    {{"DLEMU_MODE", "eager"}, {"DLEMU_ORDER", "descending"}},
    {{"DLEMU_MODE", "lazy"}, {"DLEMU_ORDER", "random"}, {"DLEMU_SEED", "7"}},
    {{"DLEMU_MODE", "lazy"}, {"DLEMU_ORDER", "random"}, {"DLEMU_SEED", "8"}},
};

static std::vector<float> numbers(size_t count) {
  std::vector<float> values(count);
  unsigned state = 1;
  for (float &value : values) {
    state = state * 1664525 + 1013904223;
    value = float(state >> 8) / (1 << 24) - 0.5f;
  }
  return values;
}

/// The result of `compute` in every order, which must be the same bits.
template <typename F> std::vector<float> inAllOrders(F compute) {
  std::vector<float> first;
  for (const Environment &order : orders) {
    EmulatedDevice device(order);
    std::vector<float> result = compute(device);
    if (first.empty())
      first = result;
    EXPECT_TRUE(
        first.size() == result.size() &&
        memcmp(first.data(), result.data(), result.size() * sizeof(float)) == 0)
        << order.at("DLEMU_ORDER");
  }
  return first;
}

static const char *const map = R"(
extern "C" __global__ void __launch_bounds__(256)
map(const float *__restrict__ x, float *__restrict__ y, long long n, float scale) {
  long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n)
    y[i] = fmaf(x[i], scale, 1.0f);
})";

TEST(EmulatedKernel, Map) {
  std::vector<float> x = numbers(1000);
  std::vector<float> y = inAllOrders([&](EmulatedDevice &device) {
    FunctionT *kernel = device.function(map, "map");
    DevicePointer in = device.upload(x),
                  out = device.upload(std::vector<float>(1000));
    EXPECT_EQ(device.launch(kernel, 4, 256, 0, in, out, 1000ll, 3.0f), 0)
        << device.said();
    return device.download<float>(out, 1000);
  });
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], std::fmaf(x[i], 3.0f, 1.0f));
}

static std::string blockSum(const char *barrier) {
  return std::string(R"(
template <int threads> __device__ __forceinline__ float block_sum(float x, float *slots) {
#pragma unroll
  for (int lanes = 16; lanes; lanes >>= 1)
    x += __shfl_xor_sync(0xffffffffu, x, lanes);
  if (threadIdx.x % 32 == 0)
    slots[threadIdx.x / 32] = x;
  )") + barrier +
         R"(
  float sum = slots[0];
  for (int warp = 1; warp < threads / 32; ++warp)
    sum += slots[warp];
  return sum;
}
extern "C" __global__ void __launch_bounds__(128) rows(const float *x, float *y, long long width) {
  __shared__ float slots[4];
  float sum = 0;
  for (long long i = threadIdx.x; i < width; i += 128)
    sum += x[blockIdx.x * width + i];
  sum = block_sum<128>(sum, slots);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
})";
}

TEST(EmulatedKernel, BlockReduction) {
  std::vector<float> x = numbers(5 * 300);
  std::vector<float> y = inAllOrders([&](EmulatedDevice &device) {
    FunctionT *kernel = device.function(blockSum("__syncthreads();"), "rows");
    DevicePointer in = device.upload(x),
                  out = device.upload(std::vector<float>(5));
    EXPECT_EQ(device.launch(kernel, 5, 128, 0, in, out, 300ll), 0)
        << device.said();
    return device.download<float>(out, 5);
  });
  for (size_t row = 0; row < 5; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 300; ++i)
      sum += x[row * 300 + i];
    EXPECT_NEAR(y[row], sum, 1e-5);
  }
}

static std::string product(const char *barrier) {
  return std::string(R"(
extern "C" __global__ void __launch_bounds__(256) product(const float *a, const float *b, float *c, long long n) {
  extern __shared__ __align__(16) float tiles[];
  float *left = tiles, *right = tiles + 16 * 17;
  int row = threadIdx.x / 16, column = threadIdx.x % 16;
  long long across = n / 16, y = blockIdx.x / across * 16 + row, x = blockIdx.x % across * 16 + column;
  float sum = 0;
  for (long long k = 0; k < n; k += 16) {
    left[row * 17 + column] = a[y * n + k + column];
    right[row * 17 + column] = b[(k + row) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum = fmaf(left[row * 17 + i], right[i * 17 + column], sum);
    )") + barrier +
         R"(
  }
  c[y * n + x] = sum;
})";
}

TEST(EmulatedKernel, ProductInSharedMemory) {
  size_t n = 48;
  std::vector<float> a = numbers(n * n), b = numbers(n * n + 1);
  b.erase(b.begin());
  std::vector<float> c = inAllOrders([&](EmulatedDevice &device) {
    FunctionT *kernel = device.function(product("__syncthreads();"), "product");
    DevicePointer da = device.upload(a), db = device.upload(b),
                  dc = device.upload(std::vector<float>(n * n));
    EXPECT_EQ(device.launch(kernel, 9, 256, 2 * 16 * 17 * 4, da, db, dc, 48ll),
              0)
        << device.said();
    return device.download<float>(dc, n * n);
  });
  for (size_t y = 0; y < n; ++y)
    for (size_t x = 0; x < n; ++x) {
      float sum = 0;
      for (size_t k = 0; k < n; ++k)
        sum = std::fmaf(a[y * n + k], b[k * n + x], sum);
      EXPECT_EQ(c[y * n + x], sum);
    }
}

/// The last block to come adds what all have left, in the order of blocks, and
/// leaves the counter as it was.
static const char *const lastBlock = R"(
extern "C" __global__ void __launch_bounds__(64) total(const float *x, float *y, unsigned char *scratch) {
  __shared__ bool last;
  unsigned *counter = reinterpret_cast<unsigned *>(scratch);
  float *partial = reinterpret_cast<float *>(scratch + 16);
  float sum = x[blockIdx.x * 64 + threadIdx.x];
  for (int lanes = 16; lanes; lanes >>= 1)
    sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0)
    partial[blockIdx.x * 2 + threadIdx.x / 32] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    last = atomicAdd(counter, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float all = 0;
    for (unsigned i = 0; i < gridDim.x * 2; ++i)
      all += partial[i];
    *y = all;
    *counter = 0;
  }
})";

TEST(EmulatedKernel, TheLastBlockAddsWhatAllHaveLeft) {
  std::vector<float> x = numbers(64 * 40);
  std::vector<float> y = inAllOrders([&](EmulatedDevice &device) {
    FunctionT *kernel = device.function(lastBlock, "total");
    DevicePointer in = device.upload(x),
                  out = device.upload(std::vector<float>(2)),
                  scratch = device.upload(std::vector<float>(4 + 80));
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(device.launch(kernel, 40, 64, 0, in, out + again * 4, scratch),
                0)
          << device.said();
    EXPECT_EQ(device.download<unsigned>(scratch, 1)[0], 0u);
    return device.download<float>(out, 2);
  });
  double sum = 0;
  for (float value : x)
    sum += value;
  EXPECT_NEAR(y[0], sum, 1e-4);
  EXPECT_EQ(y[0], y[1]);
}

TEST(EmulatedKernel, CollectivesOfPartsOfAWarp) {
  const char *source = R"(
extern "C" __global__ void parts(unsigned *y, double *z) {
  unsigned lane = threadIdx.x, value = 100 + lane, got;
  if (lane < 8)
    got = __shfl_xor_sync(0xffu, value, 1);
  else
    got = __shfl_up_sync(0xffffff00u, value, 4u, 8);
  y[lane] = got;
  y[32 + lane] = __ballot_sync(0xffffffffu, lane % 3 == 0);
  z[lane] = __shfl_sync(0xffffffffu, lane * 0.5, 31);
})";
  EmulatedDevice device(orders[2]);
  FunctionT *kernel = device.function(source, "parts");
  DevicePointer y = device.upload(std::vector<unsigned>(64)),
                z = device.upload(std::vector<double>(32));
  ASSERT_EQ(device.launch(kernel, 1, 32, 0, y, z), 0) << device.said();
  std::vector<unsigned> got = device.download<unsigned>(y, 64);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(got[lane], 100 + (lane < 8       ? lane ^ 1
                                : lane % 8 < 4 ? lane
                                               : lane - 4))
        << lane;
    EXPECT_EQ(got[32 + lane], 0x49249249u);
  }
  EXPECT_EQ(device.download<double>(z, 32), std::vector<double>(32, 15.5));
}

TEST(EmulatedKernel, TensorCoresAndLateCopies) {
  // One warp: C (16x8) = A (16x8) B (8x8), B by cp.async.
  const char *source = R"(
extern "C" __global__ void multiply(const float *a, const float *b, float *c, long long waits) {
  __shared__ __align__(16) float right[64];
  unsigned lane = threadIdx.x, group = lane / 4, quad = lane % 4;
  if (lane < 16)
    dl_simt_cp_async16(right + lane * 4, b + lane * 4);
  dl_simt_cp_async_commit();
  if (waits)
    dl_simt_cp_async_wait<0>();
  else
    dl_simt_cp_async_wait<1>();
  __syncthreads();
  unsigned left[4];
  for (int i = 0; i < 4; ++i)
    left[i] = dl_simt_round_tf32(a[(group + i % 2 * 8) * 8 + quad + i / 2 * 4]);
  float sums[4] = {};
  dl_simt_mma_tf32(sums, left, dl_simt_round_tf32(right[quad * 8 + group]), dl_simt_round_tf32(right[(quad + 4) * 8 + group]));
  for (int i = 0; i < 4; ++i)
    c[(group + i / 2 * 8) * 8 + quad * 2 + i % 2] = sums[i];
  dl_simt_cp_async_wait<0>();
})";
  std::vector<float> a = numbers(128), b = numbers(64);
  for (long long waits : {1, 0}) {
    EmulatedDevice device(orders[2]);
    FunctionT *kernel = device.function(source, "multiply");
    DevicePointer da = device.upload(a), db = device.upload(b),
                  dc = device.upload(std::vector<float>(128));
    ASSERT_EQ(device.launch(kernel, 1, 32, 0, da, db, dc, waits), 0)
        << device.said();
    std::vector<float> c = device.download<float>(dc, 128);
    for (size_t y = 0; y < 16; ++y)
      for (size_t x = 0; x < 8; ++x) {
        double sum = 0;
        for (size_t k = 0; k < 8; ++k)
          sum += double(a[y * 8 + k]) * b[k * 8 + x];
        if (waits)
          EXPECT_NEAR(c[y * 8 + x], sum, 2e-3);
        else
          EXPECT_TRUE(std::isnan(c[y * 8 + x]))
              << "a copy that nobody waited for has landed";
      }
  }
}

/// What is said of a kernel `k(float *x)` on an array of 64 floats.
static std::string mistake(const std::string &source, unsigned grid,
                           unsigned block, unsigned shared = 0,
                           const Environment &environment = orders[0]) {
  EmulatedDevice device(environment);
  FunctionT *kernel = device.function(
      "extern \"C\" __global__ void k(float *x) {" + source + "}", "k");
  DevicePointer x = device.upload(std::vector<float>(64));
  int error = device.launch(kernel, grid, block, shared, x);
  EXPECT_EQ(error, IllegalAddress);
  // Every call that follows has the same error.
  EXPECT_EQ(device.cu.cuMemFree_v2(x), IllegalAddress);
  std::string said = device.said();
  EXPECT_NE(said.find("emulated device: kernel k, block "), said.npos) << said;
  return said;
}

#define EXPECT_SAYS(said, ...)                                                 \
  do {                                                                         \
    std::string all = said;                                                    \
    for (const char *part : {__VA_ARGS__})                                     \
      EXPECT_NE(all.find(part), all.npos) << all;                              \
  } while (0)

TEST(EmulatedKernel, AccessesOutsideOfBuffers) {
  EXPECT_SAYS(mistake("x[blockIdx.x * 64 + threadIdx.x] = 1;", 2, 64),
              "block (1, 0, 0)", "thread (0, 0, 0)",
              "writes 0 bytes behind the end of an allocation of 256");
  EXPECT_SAYS(mistake("x[63] = x[(int)threadIdx.x - 1025];", 1, 32),
              "reads 4100 bytes before the begin");
  EXPECT_SAYS(mistake("*(float *)16 = 1;", 1, 1), "no memory of the device");
  EXPECT_SAYS(
      mistake(
          "extern __shared__ float s[]; s[threadIdx.x * 64] = 1; x[0] = s[0];",
          1, 32, 128),
      "outside of its 128 bytes of dynamic shared memory", "thread (16, 0, 0)");
  EXPECT_SAYS(mistake("extern __shared__ float s[]; s[threadIdx.x] = 1; "
                      "__syncthreads(); x[0] = s[0];",
                      1, 33, 128),
              "writes behind its 128 bytes of dynamic shared memory");
}

TEST(EmulatedKernel, Barriers) {
  EXPECT_SAYS(
      mistake(
          "if (threadIdx.x == 0) return; __syncthreads(); x[threadIdx.x] = 1;",
          2, 64),
      "block (0, 0, 0)", "another thread has ended");
  EXPECT_SAYS(
      mistake(
          "__syncthreads(); if (threadIdx.x < 5) __syncthreads(); x[0] = 1;", 1,
          64),
      "ends while others wait at __syncthreads()");
  EXPECT_SAYS(mistake("if (threadIdx.x < 40) __syncthreads(); else "
                      "__syncwarp(); __syncthreads(); x[0] = 1;",
                      1, 64),
              "deadlock");
  EXPECT_SAYS(mistake("if (threadIdx.x < 20) x[0] += "
                      "__shfl_xor_sync(0xffffffffu, x[1], 1);",
                      1, 32),
              "ends while lanes of its warp wait for it");
  EXPECT_SAYS(mistake("x[0] = __shfl_xor_sync(0xffffffffu, x[1], 1);", 1, 20),
              "lane 20, which has ended or does not");
  EXPECT_SAYS(mistake("if (threadIdx.x % 2) __syncwarp(); else x[0] = "
                      "__shfl_xor_sync(~0u, x[1], 1);",
                      1, 32),
              "wait for it at another collective");
  EXPECT_SAYS(mistake("x[0] = __shfl_sync(0xffu, x[1], 9);", 1, 8),
              "reads lane 9, which does not take part");
}

TEST(EmulatedKernel, OtherFaults) {
  EXPECT_SAYS(
      mistake("volatile int n = (int)threadIdx.x; x[0] = float(100 / n);", 1,
              1),
      "divides an integer by zero");
  EXPECT_SAYS(mistake("volatile float large[100000]; for (int i = 0; i < "
                      "100000; ++i) large[i] = x[i % 64];"
                      "x[0] = large[(int)x[1]];",
                      1, 1),
              "stack overflows");
}

TEST(EmulatedKernel, ALoopWithoutEnd) {
  EmulatedDevice device(Environment{{"DLEMU_SECONDS", "0.2"}});
  FunctionT *kernel = device.function("extern \"C\" __global__ void k(volatile "
                                      "float *x) { while (x[0] == 0) {} }",
                                      "k");
  DevicePointer x = device.upload(std::vector<float>(1));
  EXPECT_EQ(device.launch(kernel, 3, 32, 0, x), LaunchTimeout);
  EXPECT_SAYS(device.said(), "kernel k, block", "does not come to an end");
}

TEST(EmulatedKernel, AMissingBarrierShowsInSomeOrder) {
  std::vector<float> x = numbers(48 * 48);
  auto wrong = [&](const Environment &order, const std::string &source) {
    EmulatedDevice device(order);
    FunctionT *kernel = device.function(source, "product");
    DevicePointer a = device.upload(x),
                  c = device.upload(std::vector<float>(48 * 48));
    EXPECT_EQ(device.launch(kernel, 9, 256, 2 * 16 * 17 * 4, a, a, c, 48ll), 0)
        << device.said();
    return device.download<float>(c, 48 * 48);
  };
  EXPECT_NE(wrong(orders[0], product("")), wrong(orders[1], product("")));
  EXPECT_EQ(wrong(orders[0], product("__syncthreads();")),
            wrong(orders[1], product("__syncthreads();")));
}

TEST(EmulatedKernel, WhatABlockHasNotWrittenIsNaN) {
  EmulatedDevice device(orders[0]);
  FunctionT *kernel = device.function(blockSum(""), "rows");
  DevicePointer in = device.upload(std::vector<float>(128, 1.0f)),
                out = device.upload(std::vector<float>(1));
  ASSERT_EQ(device.launch(kernel, 1, 128, 0, in, out, 128ll), 0)
      << device.said();
  EXPECT_TRUE(std::isnan(device.download<float>(out, 1)[0]));
}

TEST(EmulatedKernel, LaunchesThatADeviceRefuses) {
  EmulatedDevice device(orders[0]);
  FunctionT *kernel = device.function(blockSum("__syncthreads();"), "rows");
  DevicePointer x = device.upload(std::vector<float>(512));
  EXPECT_EQ(device.launch(kernel, 1, 256, 0, x, x, 128ll),
            LaunchOutOfResources); // __launch_bounds__(128)
  EXPECT_EQ(device.launch(kernel, 1, 2048, 0, x, x, 128ll), InvalidValue);
  EXPECT_EQ(device.launch(kernel, 0, 128, 0, x, x, 128ll), InvalidValue);
  EXPECT_EQ(device.launch(kernel, 1, 128, 64 << 10, x, x, 128ll), InvalidValue);
  EXPECT_EQ(
      device.cu.cuFuncSetAttribute(kernel, FunctionMaxDynamicShared, 64 << 10),
      0);
  EXPECT_EQ(device.launch(kernel, 1, 128, 64 << 10, x, x, 128ll), 0)
      << device.said();
  ModuleT *module = nullptr;
  EXPECT_EQ(device.cu.cuModuleLoadData(
                &module, "extern \"C\" __global__ void k() { nonsense }"),
            InvalidSource);
  EXPECT_SAYS(device.said(), "kernels.cu:1:", "nonsense");
  EXPECT_EQ(device.cu.cuModuleLoadData(&module, "\x7f"
                                                "ELF"),
            NoBinaryForGpu);
}
