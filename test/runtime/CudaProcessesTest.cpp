// Ranks as processes, each with an emulated device of its own, and NCCL between
// them: bytes, orders, errors, ends.
#include "runtime/device/cuda/Places.h"
#include "test/forked/Forked.h"
#include "test/runtime/CudaPlans.h"

#include <csignal>
#include <functional>
#include <sys/socket.h>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// Between the processes of a test, by pipes through the first.
class TestTransport : public Transport {
public:
  /// To be made before the processes are.
  explicit TestTransport(uint32_t ranks) : ranks(ranks), ends(2 * ranks) {
    for (uint32_t r = 0; r < ranks; ++r)
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, &ends[2 * r]) != 0)
        std::abort();
  }
  ~TestTransport() override {
    for (int end : ends)
      close(end);
  }

  uint32_t own = 0;

  uint32_t rank() const override { return own; }
  uint32_t size() const override { return ranks; }
  const std::string &library() const override { return name; }
  Expected<std::unique_ptr<Exchange>> prepare(std::span<const Message>,
                                              std::span<const Message>,
                                              uint64_t,
                                              std::function<void()>) override {
    return Status(Code::Bug, "no message goes through the transport");
  }
  void start(Exchange &) override {}
  void poll() override {}
  void rest() override {}

  Expected<std::vector<std::vector<uint8_t>>>
  gather(std::span<const uint8_t> mine) override {
    std::vector<std::vector<uint8_t>> all(ranks);
    all[own].assign(mine.begin(), mine.end());
    if (own != 0)
      put(ends[2 * own], all[own]);
    for (uint32_t r = 1; own == 0 && r < ranks; ++r)
      all[r] = take(ends[2 * r + 1]);
    for (std::vector<uint8_t> &bytes : all) {
      if (own != 0)
        bytes = take(ends[2 * own]);
      for (uint32_t r = 1; own == 0 && r < ranks; ++r)
        put(ends[2 * r + 1], bytes);
    }
    return all;
  }
  Status broadcast(uint32_t from, std::span<uint8_t> bytes) override {
    auto all = gather(bytes);
    std::copy((*all)[from].begin(), (*all)[from].end(), bytes.begin());
    return {};
  }
  Status barrier() override { return gather({}).takeError(); }
  [[noreturn]] void abort(int code) override { _exit(code); }

private:
  static void put(int to, const std::vector<uint8_t> &bytes) {
    uint64_t size = bytes.size();
    EXPECT_EQ(send(to, &size, 8, 0), 8);
    EXPECT_EQ(send(to, bytes.data(), size, 0), ssize_t(size));
  }
  static std::vector<uint8_t> take(int from) {
    uint64_t size = 0;
    EXPECT_EQ(recv(from, &size, 8, MSG_WAITALL), 8);
    std::vector<uint8_t> bytes(size);
    if (size != 0)
      EXPECT_EQ(recv(from, bytes.data(), size, MSG_WAITALL), ssize_t(size));
    return bytes;
  }

  const uint32_t ranks;
  const std::string name = "test";
  std::vector<int> ends;
};

/// Exchanges, none of which waits for another: in each every rank gives its
/// part to all and to itself.
struct Gathers {
  PlanBuilder b = singleProgramPlan();
  uint32_t ranks;
  std::vector<uint64_t> sizes; ///< bytes of a part, by exchange
  std::vector<uint32_t> parts;
  std::vector<std::vector<uint32_t>> got; ///< buffers, by exchange and rank

  Gathers(uint32_t ranks, std::vector<uint64_t> bytes)
      : ranks(ranks), sizes(std::move(bytes)) {
    b.mesh = {{{"dp", ranks}}};
    fb::ProgramT &program = *b.plan.steps[0]->programs[0];
    for (size_t e = 0; e < sizes.size(); ++e) {
      parts.push_back(b.bufferOf(b.state(
          "part" + std::to_string(e), {std::max<uint64_t>(sizes[e], 4) / 4})));
      std::vector<MemberRange> sends, receives;
      auto &buffers = got.emplace_back();
      for (uint32_t m = 0; m < ranks; ++m) {
        buffers.push_back(b.arena(std::max<uint64_t>(sizes[e], 4)));
        sends.emplace_back(m, fb::Range(parts[e], 0, sizes[e]));
        receives.emplace_back(m, fb::Range(buffers[m], 0, sizes[e]));
      }
      b.exchange(program, {0}, e, sends, receives);
    }
    makeCuda(b.plan);
  }

  static Bytes bytesOf(uint32_t rank, size_t exchange, int run,
                       uint64_t count) {
    Bytes bytes(count);
    for (uint64_t i = 0; i < count; ++i)
      bytes[i] = uint8_t(7 * i + 50 * rank + 13 * exchange + 3 * run + 1);
    return bytes;
  }
  void write(Device &device, uint32_t rank, int run) const {
    for (size_t e = 0; e < sizes.size(); ++e)
      EXPECT_TRUE(
          device.write({parts[e]}, bytesOf(rank, e, run, sizes[e])).ok());
  }
  void check(Device &device, int run) const {
    for (size_t e = 0; e < sizes.size(); ++e)
      for (uint32_t r = 0; r < ranks; ++r) {
        Bytes bytes(sizes[e]);
        EXPECT_TRUE(device.read({got[e][r]}, bytes).ok());
        EXPECT_EQ(bytes, bytesOf(r, e, run, sizes[e]))
            << "of rank " << r << ", exchange " << e;
      }
  }
};

/// What each rank says after `run` with its device, or why it has none.
std::vector<std::string> onRanks(
    Gathers &plan, std::map<std::string, std::string> environment,
    const DeviceOptions &given,
    const std::function<std::string(uint32_t rank, Device &device)> &run,
    const std::function<void(uint32_t rank, LoadedPlan &loaded)> &change = {}) {
  Bytes file = seal(plan.b, moduleTable(plan.b.plan, kernels()));
  TestTransport transport(plan.ranks);
  return dltest::inProcesses(int(plan.ranks), [&](int number) -> std::string {
    Environment set(environment);
    LoadedPlan loaded = mustLoad(file);
    transport.own = uint32_t(number);
    if (change)
      change(transport.own, loaded);
    DeviceOptions options = given;
    options.transport = &transport;
    options.ranks = {transport.own, 1, plan.ranks};
    auto gpu = gpuOfRank(transport, "here");
    if (!gpu)
      return gpu.status().message();
    options.gpu = *gpu;
    auto device = cudaDevice(loaded, options);
    if (!device)
      return std::to_string(int(device.status().code())) + " " +
             device.status().message();
    return run(transport.own, **device);
  });
}

std::string trainingOf(const Gathers &plan, uint32_t rank, Device &device) {
  for (int run = 0; run < 6; ++run) {
    plan.write(device, rank, run);
    Launch launch;
    launch.slot = uint32_t(run) % device.inputSlots(0);
    Ticket last = device.submit(launch);
    if (run % 2 == 1) // another one behind it
      last = device.submit(launch);
    auto report = device.wait(last);
    if (!report)
      return std::to_string(int(report.status().code())) + " " +
             report.status().message();
    plan.check(device, run);
  }
  return device.network();
}

const std::map<std::string, std::string> eager = {{"DLEMU_MODE", "eager"}};

std::map<std::string, std::string> lazy(int seed) {
  return {{"DLEMU_MODE", "lazy"}, {"DLEMU_SEED", std::to_string(seed)}};
}

} // namespace

TEST(CudaProcesses, BytesOfEachComeToAll) {
  for (uint32_t ranks : {2, 3})
    for (int mode = 0; mode < 6; ++mode) {
      // One that is empty is none.
      Gathers plan(ranks, {8, 4096, 12, 0, 64});
      DeviceOptions options;
      options.trace = mode == 1;
      if (mode >= 4)
        options.checks.orderSeed = uint64_t(mode);
      auto said = onRanks(plan, mode == 0 ? eager : lazy(mode), options,
                          [&](uint32_t rank, Device &device) {
                            return trainingOf(plan, rank, device);
                          });
      for (const std::string &text : said)
        EXPECT_EQ(text, "NCCL 2.28.9") << "mode " << mode;
    }
}

/// One rank has two exchanges in the other order.
TEST(CudaProcesses, OtherOrdersAreFound) {
  Gathers plan(2, {8, 16});
  auto swap = [&](uint32_t rank, LoadedPlan &loaded) {
    auto &commands = loaded.plans[0]->steps[0]->programs[0]->commands;
    if (rank == 1)
      std::swap(commands[0], commands[1]);
  };
  for (bool traced : {false, true}) {
    DeviceOptions options;
    options.trace = traced;
    auto said = onRanks(
        plan, lazy(1), options,
        [&](uint32_t rank, Device &device) {
          return trainingOf(plan, rank, device);
        },
        swap);
    for (const std::string &text : said) {
      EXPECT_TRUE(text.starts_with("6 ")) << text;
      EXPECT_SAYS(text, "do not start their operations in one order");
    }
  }
}

/// The others come to know of it while they wait, and end.
TEST(CudaProcesses, ARankThatDiesEndsTheOthers) {
  for (bool traced : {false, true})
    for (int mode = 0; mode < 2; ++mode) {
      Gathers plan(3, {8, 64});
      DeviceOptions options;
      options.trace = traced;
      auto said =
          onRanks(plan, mode == 0 ? eager : lazy(3), options,
                  [&](uint32_t rank, Device &device) -> std::string {
                    if (rank == 2)
                      raise(SIGKILL);
                    std::string text = trainingOf(plan, rank, device);
                    EXPECT_FALSE(device.wait(device.submit({})))
                        << "it is lost";
                    Bytes bytes(8);
                    (void)device.read({plan.parts[0]}, bytes); // does not hang
                    return text;
                  });
      EXPECT_SAYS(said[2], "signal 9");
      for (int rank : {0, 1}) {
        EXPECT_TRUE(said[rank].starts_with("6 ")) << said[rank];
        EXPECT_SAYS(said[rank], "rank 2 has gone");
      }
    }
}

/// As soon as one rank goes with launches under way, no other waits for ever.
TEST(CudaProcesses, ADeviceThatGoesEarlyLeavesTheOthers) {
  Gathers plan(2, {8});
  auto said = onRanks(plan, lazy(5), {},
                      [&](uint32_t rank, Device &device) -> std::string {
                        if (rank == 0) {
                          device.submit({});
                          device.submit({});
                          return "";
                        }
                        Ticket last = 0;
                        for (int run = 0; run < 4; ++run)
                          last = device.submit({});
                        return device.wait(last).status().message();
                      });
  EXPECT_EQ(said[0], "");
  EXPECT_SAYS(said[1], "rank 0");
}

TEST(CudaProcesses, CallsThatFailAreErrors) {
  Gathers plan(2, {8, 16});
  for (auto [call, code] : {std::pair("ncclCommInitRank:1=2", "3 "),
                            {"ncclGroupStart:1=3", "6 "},
                            {"ncclSend:3=3", "6 "},
                            {"ncclGroupEnd:4=3", "6 "},
                            {"cuStreamEndCapture:1=999", "6 "},
                            {"cuGraphAddChildGraphNode:2=1", "70 "}}) {
    auto environment = lazy(2);
    environment["DLEMU_FAIL"] = call;
    environment["DLEMU_NCCL_SECONDS"] = "2";
    auto said = onRanks(plan, environment, {},
                        [&](uint32_t, Device &) { return std::string(); });
    for (const std::string &text : said)
      EXPECT_TRUE(text.starts_with(code)) << call << ": " << text;
  }
}

TEST(CudaProcesses, EachRankTakesADeviceOfItsOwn) {
  struct Case {
    const char *shown[3]; ///< to each rank
    const char *wanted[3];
  };
  for (const Case &one :
       {Case{{"0,1,2", "0,1,2", "0,1,2"}, {"0", "1", "2"}},
        {{"4", "2", "0"}, {"0", "0", "0"}},
        {{"1,0", "0,1", "0,1,7"}, {"0", "0", "2"}},
        {{"3,4", "3,4", "4,3"},
         {"rank 2 has no GPU of its own: its process on host c sees 2 GPUs, "
          "which other ranks have",
          "rank 2 has no GPU", "rank 2 has no GPU"}},
        {{"6", "6", "1"},
         {"rank 1 has no GPU of its own: its process on host b sees one GPU, "
          "which rank 0 has",
          "rank 1 has no GPU", "rank 1 has no GPU"}}}) {
    TestTransport transport(3);
    auto said = dltest::inProcesses(3, [&](int number) {
      Environment set({{"CUDA_VISIBLE_DEVICES", one.shown[number]}});
      transport.own = uint32_t(number);
      auto gpu = gpuOfRank(transport, std::string(1, char('a' + number)));
      return gpu ? std::to_string(*gpu) : gpu.status().message();
    });
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_TRUE(said[rank].starts_with(one.wanted[rank])) << said[rank];
  }
}

/// All launch the graph of one slot together, however many commands each has.
TEST(CudaProcesses, RanksHaveEquallyManyInputSlots) {
  PlanSet set;
  set.mesh = {{{"pp", 2}}};
  set.planOfRank = {0, 1};
  for (int commands : {1, 400}) {
    PlanBuilder b = singleProgramPlan();
    uint32_t from = b.arena(64), to = b.arena(64);
    for (int c = 0; c < commands; ++c)
      PlanBuilder::copy(*b.plan.steps[0]->programs[0], b.whole(from),
                        b.whole(to));
    set.plans.push_back(std::make_unique<fb::PlanT>(std::move(b.plan)));
  }
  auto slots = [&](const Ranks &ranks) {
    return cuda::Places(set, ranks).steps[0].slots;
  };
  EXPECT_EQ(slots({0, 1, 2}), slots({1, 1, 2}));
  set.planOfRank = {0, 0};
  set.plans.pop_back();
  EXPECT_GT(slots({0, 1, 2}), 5u);
}
