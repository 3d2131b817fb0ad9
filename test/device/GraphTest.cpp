// Streams, events and graphs: nothing happens before somebody waits for it, and
// then in any order that is allowed.
#include "test/device/DriverApi.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace emulated;

static const char *const step = R"(
extern "C" __global__ void step(int *x, long long times, long long plus) {
  x[0] = x[0] * int(times) + int(plus);
})";

static Environment lazy(int seed) {
  return {{"DLEMU_MODE", "lazy"}, {"DLEMU_SEED", std::to_string(seed)}};
}

TEST(EmulatedStreams, NothingRunsBeforeSomebodyWaits) {
  EmulatedDevice device(lazy(1));
  auto &cu = device.cu;
  StreamT *stream, *other;
  EventT *event;
  ASSERT_EQ(cu.cuStreamCreate(&stream, 1), 0);
  ASSERT_EQ(cu.cuStreamCreate(&other, 1), 0);
  ASSERT_EQ(cu.cuEventCreate(&event, 2), 0);
  DevicePointer at = device.upload(std::vector<int>{1, 2});
  void *pinned;
  ASSERT_EQ(cu.cuMemHostAlloc(&pinned, 8, 0), 0);
  auto *values = static_cast<int *>(pinned);
  values[0] = values[1] = -1;
  ASSERT_EQ(cu.cuMemcpyDtoHAsync_v2(values, at, 4, stream), 0);
  ASSERT_EQ(cu.cuEventRecord(event, stream), 0);
  ASSERT_EQ(cu.cuMemcpyDtoHAsync_v2(values + 1, at + 4, 4, stream), 0);
  EXPECT_EQ(cu.cuEventQuery(event), NotReady);
  ASSERT_EQ(cu.cuStreamSynchronize(other), 0);
  EXPECT_EQ(values[0], -1);
  ASSERT_EQ(cu.cuEventSynchronize(event), 0);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -1);
  EXPECT_EQ(cu.cuEventQuery(event), 0);
  ASSERT_EQ(cu.cuStreamSynchronize(stream), 0);
  EXPECT_EQ(values[1], 2);
}

/// What two streams make of one value, the second waiting for the first or not.
static int twoStreams(int seed, bool waits) {
  EmulatedDevice device(lazy(seed));
  auto &cu = device.cu;
  FunctionT *kernel = device.function(step, "step");
  StreamT *first, *second;
  EventT *event;
  cu.cuStreamCreate(&first, 1), cu.cuStreamCreate(&second, 1),
      cu.cuEventCreate(&event, 2);
  DevicePointer x = device.upload(std::vector<int>{1});
  long long times = 10, one = 1, two = 2;
  void *a[] = {&x, &times, &one}, *b[] = {&x, &times, &two};
  EXPECT_EQ(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, first, a, nullptr),
            0);
  EXPECT_EQ(cu.cuEventRecord(event, first), 0);
  if (waits) {
    EXPECT_EQ(cu.cuStreamWaitEvent(second, event, 0), 0);
  }
  EXPECT_EQ(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, second, b, nullptr),
            0);
  times = one = two = 0; // values of arguments are those of the launch
  EXPECT_EQ(cu.cuStreamSynchronize(second), 0);
  EXPECT_EQ(cu.cuStreamSynchronize(first), 0);
  return device.download<int>(x, 1)[0];
}

TEST(EmulatedStreams, AForgottenEventShows) {
  EXPECT_EQ(twoStreams(1, true), 112);
  EXPECT_EQ(twoStreams(1, false), 121);
}

/// x = 1; x = x * 10 + i for each node, chained in the order of their numbers.
/// Without the edge to node `dropped`.
static int chain(const Environment &environment, size_t dropped) {
  EmulatedDevice device(environment);
  auto &cu = device.cu;
  FunctionT *kernel = device.function(step, "step");
  StreamT *stream;
  cu.cuStreamCreate(&stream, 1);
  DevicePointer x = device.upload(std::vector<int>{7, 7});
  GraphT *graph;
  ExecT *exec;
  EXPECT_EQ(cu.cuGraphCreate(&graph, 0), 0);
  std::vector<NodeT *> nodes(1);
  MemsetNodeParams zero = {x, 0, 0, 4, 1, 1};
  EXPECT_EQ(cu.cuGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &zero,
                                    device.context),
            0);
  for (long long i = 1; i <= 4; ++i) {
    long long times = 10;
    void *arguments[] = {&x, &times, &i};
    KernelNodeParams params = {kernel, 1, 1,         1,       1,       1,
                               1,      0, arguments, nullptr, nullptr, nullptr};
    nodes.emplace_back();
    size_t edges = size_t(i) == dropped ? 0 : 1;
    EXPECT_EQ(cu.cuGraphAddKernelNode_v2(&nodes.back(), graph, &nodes[i - 1],
                                         edges, &params),
              0);
  }
  NodeT *empty, *copy;
  EXPECT_EQ(cu.cuGraphAddEmptyNode(&empty, graph, nodes.data(), nodes.size()),
            0);
  CopyParams params = {};
  params.from.type = params.to.type = DeviceMemoryType;
  params.from.device = x;
  params.to.device = x;
  params.to.x = 4;
  params.width = 4, params.height = params.depth = 1;
  EXPECT_EQ(
      cu.cuGraphAddMemcpyNode(&copy, graph, &empty, 1, &params, device.context),
      0);
  EXPECT_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
  EXPECT_EQ(cu.cuGraphDestroy(graph), 0);
  for (int again = 0; again < 3; ++again)
    EXPECT_EQ(cu.cuGraphLaunch(exec, stream), 0);
  EXPECT_EQ(cu.cuStreamSynchronize(stream), 0);
  EXPECT_EQ(cu.cuGraphExecDestroy(exec), 0);
  std::vector<int> result = device.download<int>(x, 2);
  EXPECT_EQ(result[0], result[1]);
  return result[0];
}

TEST(EmulatedGraph, NodesRunAfterWhatTheyComeAfter) {
  EXPECT_EQ(chain({{"DLEMU_MODE", "eager"}}, 0), 1234);
  for (int seed = 1; seed < 6; ++seed)
    EXPECT_EQ(chain(lazy(seed), 0), 1234);
}

TEST(EmulatedGraph, AForgottenEdgeShows) {
  for (size_t dropped = 1; dropped <= 4; ++dropped) {
    std::set<int> results;
    for (int seed = 1; seed < 9; ++seed)
      results.insert(chain(lazy(seed), dropped));
    EXPECT_GT(results.size(), 1u) << "without the edge to node " << dropped;
  }
  EXPECT_EQ(chain({{"DLEMU_MODE", "eager"}}, 3),
            1234); // eager: the order of issue hides it
}

TEST(EmulatedGraph, TheHostDoesNotReachMemoryOfTheDevice) {
  DevicePointer at;
  EmulatedDevice device(lazy(1));
  ASSERT_EQ(device.cu.cuMemAlloc_v2(&at, 64), 0);
  EXPECT_DEATH(*reinterpret_cast<volatile int *>(at) = 1, "");
}

TEST(EmulatedErrors, AskedFor) {
  EmulatedDevice device(
      Environment{{"DLEMU_FAIL", "cuMemAlloc_v2:2=2,kernel:3=719"}});
  DevicePointer at;
  EXPECT_EQ(device.cu.cuMemAlloc_v2(&at, 16), 0);
  EXPECT_EQ(device.cu.cuMemAlloc_v2(&at, 16), OutOfMemory);
  EXPECT_EQ(device.cu.cuMemAlloc_v2(&at, 16), 0);
  FunctionT *kernel = device.function(step, "step");
  EXPECT_EQ(device.launch(kernel, 1, 1, 0, at, 1ll, 1ll), 0);
  EXPECT_EQ(device.launch(kernel, 1, 1, 0, at, 1ll, 1ll), 0);
  EXPECT_EQ(device.launch(kernel, 1, 1, 0, at, 1ll, 1ll), LaunchFailed);
  EXPECT_EQ(device.cu.cuMemAlloc_v2(&at, 16), LaunchFailed) << "it lasts";
  const char *name = nullptr;
  EXPECT_EQ(device.cu.cuGetErrorName(LaunchFailed, &name), 0);
  EXPECT_STREQ(name, "CUDA_ERROR_LAUNCH_FAILED");
}

TEST(EmulatedErrors, MemoryHasAnEnd) {
  EmulatedDevice device(Environment{{"DLEMU_MEMORY", "1000000"}});
  DevicePointer at;
  EXPECT_EQ(device.cu.cuMemAlloc_v2(&at, 600000), 0);
  EXPECT_EQ(device.cu.cuMemAlloc_v2(&at, 600000), OutOfMemory);
}
