// The device for NVIDIA GPUs, on the emulated driver: it runs nothing before
// somebody waits, then in any order that is allowed, and no byte of its memory
// is there for the host.
#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/device/cuda/Modules.h"
#include "runtime/exec/CpuDevice.h"
#include "runtime/state/Safetensors.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/StepRunner.h"
#include "test/runtime/CudaPlans.h"

#include <bit>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <thread>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// A program that copies its scalars, reports the first, and checks its input.
struct Copying {
  PlanBuilder b = singleProgramPlan();
  uint32_t copy = b.arena(64), scalars = b.scalars(), flag = b.arena(4);

  Copying() {
    fb::ProgramT &p = *b.plan.steps[0]->programs[0];
    b.command(p, b.kernel("copy_scalars", 1, {64, 64}, {false, true}),
              {scalars, copy});
    b.command(p, b.kernel("check_positive", 1, {16, 4}, {false, true}),
              {b.input(0, 16), flag});
    b.metric(p, "first", copy);
    p.metrics[0]->dtype = fb::DType::I64;
    auto error = std::make_unique<fb::ErrorFlagT>();
    error->buffer = flag;
    error->message = "value below zero";
    p.errors.push_back(std::move(error));
  }
};

struct CudaDevice : testing::Test {
  Copying plan;
  std::optional<Opened> opened;

  void SetUp() override {
    opened.emplace(sealCuda(plan.b.plan));
    ASSERT_TRUE(opened->status.ok()) << opened->status.message();
  }
  Device &device() { return *opened->device; }
  Ticket submit(int64_t number, float input = 1) {
    Launch launch;
    launch.slot = static_cast<uint32_t>(number) % device().inputSlots(0);
    launch.scalars[0] = number;
    std::memcpy(device().inputAddress({0, launch.slot, 0}), &input, 4);
    return device().submit(launch);
  }
  int64_t reported(Ticket ticket) {
    auto report = device().wait(ticket);
    EXPECT_TRUE(report) << report.status().message();
    return report ? static_cast<int64_t>(report->scalars[0]) : -1;
  }
};

} // namespace

TEST_F(CudaDevice, ReportsOfLaunchesAheadAreKept) {
  std::vector<Ticket> tickets;
  for (int64_t i = 0; i < 3; ++i)
    tickets.push_back(submit(100 + i));
  EXPECT_EQ(reported(tickets[2]), 102) << "the last one first";
  EXPECT_EQ(reported(tickets[0]), 100);
  EXPECT_EQ(reported(tickets[1]), 101);
}

TEST_F(CudaDevice, ManyLaunchesThroughAllSlots) {
  std::vector<Ticket> tickets;
  for (int64_t i = 0; i < 100; ++i) {
    tickets.push_back(submit(i));
    if (tickets.size() >= 4) // what was waited for may be filled again
      EXPECT_EQ(reported(tickets[i - 3]), i - 3);
  }
}

TEST_F(CudaDevice, AFailureBelongsToItsLaunch) {
  Ticket before = submit(1), failing = submit(2, -1), after = submit(3);
  EXPECT_EQ(reported(after), 3);
  EXPECT_EQ(reported(before), 1);
  for (int again = 0; again < 2; ++again) {
    auto report = device().wait(failing);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.status().message(),
              "value below zero (matmul in 'fc1' at model.dl:3:5)");
  }
}

TEST_F(CudaDevice, ReadsAndWritesRanges) {
  std::vector<uint8_t> eight = {1, 2, 3, 4, 5, 6, 7, 8}, two(2), all(64);
  ASSERT_TRUE(device().read({plan.copy}, all).ok());
  EXPECT_EQ(all, std::vector<uint8_t>(64)) << "memory is zero at first";
  ASSERT_TRUE(device().write({plan.copy, 56}, eight).ok());
  ASSERT_TRUE(device().read({plan.copy, 58}, two).ok());
  EXPECT_EQ(two, (std::vector<uint8_t>{3, 4}));
  EXPECT_EQ(device().write({plan.copy, 57}, eight).code(), Code::Bug);
  Ticket ticket = submit(7);
  EXPECT_EQ(device().read({plan.copy}, two).code(), Code::Bug);
  EXPECT_EQ(reported(ticket), 7);
  EXPECT_TRUE(device().read({plan.copy}, two).ok());
  EXPECT_EQ(two[0], 7);
}

TEST_F(CudaDevice, AnyThread) {
  int64_t first = 0;
  std::thread([&] { first = reported(submit(5)); }).join();
  EXPECT_EQ(first, 5);
  EXPECT_EQ(reported(submit(6)), 6);
}

TEST(CudaPlans, ASettingIsThatOfItsSubmission) {
  PlanBuilder b = singleProgramPlan();
  for (const char *name : {"optim.lr", "optim.beta1"}) {
    b.plan.settings.push_back(std::make_unique<fb::SettingT>());
    b.plan.settings.back()->name = name;
    b.plan.settings.back()->value = 3;
  }
  uint32_t scalars = b.scalars(), product = b.arena(8);
  b.plan.buffers[scalars]->bytes = 80;
  fb::ProgramT &program = *b.plan.steps[0]->programs[0];
  b.command(program, b.kernel("multiply_settings", 1, {80, 8}, {false, true}),
            {scalars, product});
  b.metric(program, "product", product);
  program.metrics.back()->dtype = fb::DType::F64;
  Opened opened(sealCuda(b.plan));
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  Launch launch;
  Ticket first = opened.device->submit(launch);
  opened.device->setSetting(0, 0.25);
  launch.slot = 1;
  Ticket second = opened.device->submit(launch);
  opened.device->setSetting(0, 100);
  for (auto [ticket, value] : {std::pair(first, 9.0), {second, 0.75}}) {
    auto report = opened.device->wait(ticket);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_EQ(std::bit_cast<double>(report->scalars[0]), value);
  }
}

namespace {

/// Losses of so many steps, then that of the evaluation, then the weights.
std::vector<double> trained(const Bytes &file, const DeviceFactory &device,
                            const TemporaryFolder &folder,
                            const CheckOptions &checks = {}) {
  std::vector<double> out;
  SessionOptions options;
  options.device = device;
  options.data = {folder.string()};
  options.checks = checks;
  auto session = Session::open(mustLoad(file), "model.plan", options);
  EXPECT_TRUE(session) << session.status().message();
  if (!session)
    return out;
  constexpr uint64_t steps = 30;
  auto runner = StepRunner::create(**session, {steps, 1});
  EXPECT_TRUE(runner && (*session)->initialiseStates().ok());
  for (uint64_t step = 0; runner && step < steps; ++step) {
    Status status = (*runner)->run(steps - step - 1);
    EXPECT_TRUE(status.ok()) << status.message();
    out.push_back((*runner)->scalars()[0].value);
  }
  EXPECT_EQ((*runner)->begun(), 0u);
  auto result = evaluate(**session, 1, {}, [] { return true; });
  EXPECT_TRUE(result);
  if (result)
    out.push_back(result->metrics[0].value);
  float w[3] = {};
  EXPECT_TRUE((*session)
                  ->device()
                  .read({(*session)->plan().states[0]->buffer},
                        {reinterpret_cast<uint8_t *>(w), sizeof(w)})
                  .ok());
  out.insert(out.end(), w, w + 3);
  return out;
}

} // namespace

/// Full and short batches, micro-batches and updates, an evaluation.
TEST(CudaPlans, TrainToTheBitsOfTheCpu) {
  TemporaryFolder folder;
  writeRegressionData(folder, 10);
  for (uint32_t accumulate : {1u, 2u}) {
    PlanBuilder b = regressionPlan(10, accumulate);
    std::vector<double> cpu = trained(seal(b.plan), cpuDevice, folder);
    Bytes file = sealCuda(b.plan);
    for (auto &variables : std::vector<std::map<std::string, std::string>>{
             {{"DLEMU_MODE", "eager"}},
             {{"DLEMU_SEED", "1"}},
             {{"DLEMU_SEED", "2"}}}) {
      Environment environment(variables);
      EXPECT_EQ(trained(file, cudaDevice, folder), cpu);
    }
    EXPECT_LT(cpu[29], cpu[0] / 4);
    CheckOptions checks;
    checks.poison = true;
    checks.orderSeed = 3;
    EXPECT_EQ(trained(file, cudaDevice, folder, checks), cpu);
  }
}

namespace {

/// x of so many items, of which one is taken through constants and copies.
struct Chain {
  PlanBuilder b = singleProgramPlan();
  uint32_t ramp, twice;

  explicit Chain(uint64_t tiles = 4) {
    ramp = b.arena(8 * tiles, "ramp");
    twice = b.arena(16 * tiles, "twice");
    uint32_t kernel = b.kernel("ramp", tiles, {8 * tiles}, {true});
    b.plan.kernels[kernel]->constants = {{-100, 100, 1}, {-100, 100, 1}};
    fb::ProgramT &p = *b.plan.steps[0]->programs[0];
    b.command(p, kernel, {ramp});
    launchOf(*p.commands[0]).constants = {-7, 3};
    b.copy(p, b.whole(ramp), fb::Range(twice, 0, 8 * tiles), {0, 0});
    b.copy(p, b.whole(ramp), fb::Range(twice, 8 * tiles, 8 * tiles), {0});
    b.copy(p, fb::Range(ramp, 0, 0), fb::Range(twice, 0, 0), {1, 2});
  }
};

} // namespace

TEST(CudaPlans, ConstantsAndCopies) {
  Chain chain;
  Opened opened(sealCuda(chain.b.plan));
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  ASSERT_TRUE(opened.device->wait(opened.device->submit({})));
  std::vector<int64_t> values(8);
  ASSERT_TRUE(opened.device
                  ->read({chain.twice},
                         {reinterpret_cast<uint8_t *>(values.data()), 64})
                  .ok());
  EXPECT_EQ(values, (std::vector<int64_t>{-7, -4, -1, 2, -7, -4, -1, 2}));
  EXPECT_EQ(opened.device->tilesPerThread(), std::vector<uint64_t>{4});
}

TEST(CudaPlans, ScratchOfEachCommandAndSharedMemory) {
  PlanBuilder b = singleProgramPlan();
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t x = b.arena(4096), back = b.arena(4096);
  uint32_t sum = b.kernel("sum_of_blocks", 100, {400, 4}, {false, true});
  uint32_t reverse = b.kernel("reverse_shared", 1, {4096, 4096}, {false, true});
  uint32_t one = b.arena(4), two = b.arena(4);
  b.command(p, sum, {x, one});
  b.command(p, sum, {x, two});
  b.command(p, reverse, {x, back});
  b.metric(p, "one", one);
  b.metric(p, "two", two);
  makeCuda(b.plan);
  b.plan.kernels[sum]->variants[0]->scratch_bytes = 64 + 400;
  b.plan.kernels[reverse]->variants[0]->shared_bytes = 64 << 10;
  Opened opened(seal(b.plan, moduleTable(b.plan, kernels())));
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  std::vector<float> values(1024), turned(1024);
  for (int i = 0; i < 1024; ++i)
    values[i] = float(i);
  ASSERT_TRUE(opened.device->write({x}, floatBytes(values)).ok());
  for (int again = 0; again < 3; ++again) {
    auto report = opened.device->wait(opened.device->submit({}));
    ASSERT_TRUE(report) << report.status().message();
    for (uint64_t word : report->scalars)
      EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(word)), 4950);
  }
  ASSERT_TRUE(
      opened.device
          ->read({back}, {reinterpret_cast<uint8_t *>(turned.data()), 4096})
          .ok());
  EXPECT_EQ(turned, std::vector<float>(values.rbegin(), values.rend()));
}

/// Above 1 MB they come through a stream of their own, ahead of the steps.
TEST(CudaPlans, LargeBatches) {
  PlanBuilder b = singleProgramPlan();
  constexpr uint64_t words = 100'000; // an item
  b.plan.datasets[0]->components[0]->shape = {words};
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t first = b.arena(4);
  b.copy(p, fb::Range(b.input(0, 16 * words), 0, 4), b.whole(first));
  b.metric(p, "first", first);
  Opened opened(sealCuda(b.plan));
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  Device &device = *opened.device;
  uint32_t slots = device.inputSlots(0);
  ASSERT_EQ(slots, 4u);
  std::vector<Ticket> tickets;
  for (uint32_t i = 0; i < 20; ++i) {
    if (i >= slots) {
      auto report = device.wait(tickets[i - slots]);
      ASSERT_TRUE(report) << report.status().message();
      EXPECT_EQ(report->scalars[0], i - slots + 1);
    }
    Launch launch;
    launch.slot = i % slots;
    uint32_t number = i + 1;
    std::memcpy(device.inputAddress({0, launch.slot, 0}), &number, 4);
    tickets.push_back(device.submit(launch));
  }
  EXPECT_EQ(device.wait(tickets.back())->scalars[0], 20u);
}

TEST(CudaPlans, TraceOfEachCommand) {
  Chain chain;
  DeviceOptions options;
  options.trace = true;
  Opened opened(sealCuda(chain.b.plan), options);
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  ASSERT_TRUE(opened.device->wait(opened.device->submit({})));
  const Trace *trace = opened.device->trace();
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->threads.size(), 1u);
  std::vector<uint32_t> commands;
  trace->runs.forEach([&](const TraceLaunch &run) {
    trace->threads[0].forEach([&](const TraceEvent &event) {
      EXPECT_LE(run.begin, event.begin);
      EXPECT_LE(event.begin, event.end);
      EXPECT_LE(event.end, run.end);
      EXPECT_EQ(event.launch, run.number);
      commands.push_back(event.command);
      if (event.command == 0)
        EXPECT_EQ(event.endTile, 4u);
    });
  });
  EXPECT_EQ(commands, (std::vector<uint32_t>{0, 1, 2, 3}));
}

/// What no command has written is NaN in a checked run, and zero in another.
TEST(CudaPlans, PoisonShowsWhatNobodyHasWritten) {
  PlanBuilder b = singleProgramPlan();
  uint32_t never = b.arena(8), seen = b.arena(4);
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  b.copy(p, fb::Range(never, 0, 4), b.whole(seen));
  b.metric(p, "seen", seen);
  for (bool poison : {false, true}) {
    DeviceOptions options;
    options.checks.poison = poison;
    Opened opened(sealCuda(b.plan), options);
    ASSERT_TRUE(opened.status.ok()) << opened.status.message();
    auto report = opened.device->wait(opened.device->submit({}));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->scalars[0], poison ? 0xffffffffu : 0u);
  }
}

namespace {

std::string refusal(Bytes file, Code code, const DeviceOptions &options = {}) {
  Opened opened(std::move(file), options);
  EXPECT_EQ(opened.status.code(), code) << opened.status.message();
  return opened.status.message();
}

} // namespace

TEST(CudaPlans, RefusedBeforeTheFirstStep) {
  Chain chain;
  fb::PlanT &plan = chain.b.plan;
  makeCuda(plan);
  Bytes table = moduleTable(plan, kernels());
  auto after = [&](Code code, auto change) {
    fb::PlanT changed = plan;
    change(changed);
    return refusal(seal(changed, table), code);
  };
  EXPECT_SAYS(
      after(Code::Plan, [](auto &p) { p.images[0]->features = "sm_90"; }),
      "the plan's kernels are for sm_90, and the device is emulated "
      "device, of compute capability 0.0");
  EXPECT_SAYS(
      after(Code::Plan, [](auto &p) { p.images[0]->features = "ptx_80"; }),
      "the plan's kernels are for ptx_80");
  DeviceOptions other;
  other.isa = "sm_90";
  EXPECT_SAYS(refusal(seal(plan, table), Code::Plan, other),
              "no kernels for --isa=sm_90: the plan has source");
  DeviceOptions guarded;
  guarded.checks.guard = true;
  EXPECT_SAYS(refusal(seal(plan, table), Code::Usage, guarded), "guarded");
  EXPECT_SAYS(
      refusal(seal(plan, moduleTable(plan, "no kernel at all")), Code::Plan),
      "loading kernels for source on emulated device");
  EXPECT_SAYS(refusal(seal(plan, moduleTable(plan, "extern \"C\" __global__ "
                                                   "void other() {}")),
                      Code::Plan),
              "kernel 'ramp' (matmul in 'fc1' at model.dl:3:5): finding its "
              "code");
  Bytes big;
  {
    PlanBuilder b = singleProgramPlan();
    b.arena(uint64_t(1) << 50);
    b.command(*b.plan.steps[0]->programs[0], b.kernel("stray", 1, {4}, {true}),
              {b.arena(4)});
    big = sealCuda(b.plan);
  }
  EXPECT_SAYS(refusal(big, Code::Unavailable), "of memory on emulated device");
  PlanBuilder mesh = singleProgramPlan();
  mesh.axis("dp", 2);
  mesh.plan.ranks = {0, 1};
  mesh.arena(4);
  mesh.plan.images.clear();
  EXPECT_SAYS(refusal(seal(mesh), Code::Plan),
              "the plan is for 2 ranks, not for 1");
}

TEST(CudaPlans, EveryCallThatFailsIsNamed) {
  for (auto [function, code] :
       {std::pair("cuMemAlloc_v2", Code::Unavailable),
        {"cuMemHostAlloc", Code::Unavailable},
        {"cuDeviceGetCount", Code::Unavailable},
        {"cuGraphInstantiateWithFlags", Code::Unavailable},
        {"cuStreamCreate", Code::Unavailable}}) {
    Environment environment({{"DLEMU_FAIL", std::string(function) + ":1=2"}});
    Chain chain;
    EXPECT_NE(refusal(sealCuda(chain.b.plan), code), "") << function;
  }
}

/// An error that leaves nothing of the context: each later launch has it, and
/// none before.
TEST(CudaPlans, ALostDeviceIsSaid) {
  Environment environment({{"DLEMU_FAIL", "kernel:3=719"}});
  Chain chain;
  Opened opened(sealCuda(chain.b.plan));
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  std::vector<Ticket> tickets;
  for (uint32_t i = 0; i < 4; ++i) {
    Launch launch;
    launch.slot = i;
    tickets.push_back(opened.device->submit(launch));
  }
  EXPECT_TRUE(opened.device->wait(tickets[1]));
  for (Ticket ticket : {tickets[2], tickets[3], opened.device->submit({})}) {
    auto report = opened.device->wait(ticket);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.status().code(), Code::RankLost);
    EXPECT_SAYS(report.status().message(),
                "step 'train' (batch) on emulated device: kernel 'ramp' "
                "(matmul in 'fc1' at model.dl:3:5): unspecified launch "
                "failure (CUDA_ERROR_LAUNCH_FAILED)");
  }
  std::vector<uint8_t> bytes(8);
  EXPECT_EQ(opened.device->read({chain.ramp}, bytes).code(), Code::RankLost);
}

/// One by one, the kernel is known among several.
TEST(CudaPlans, ATracedRunNamesTheKernel) {
  PlanBuilder b = singleProgramPlan();
  uint32_t a = b.arena(4);
  fb::ProgramT &p = *b.plan.steps[0]->programs[0];
  uint32_t kernel = b.kernel("ramp", 1, {8}, {true});
  b.plan.kernels[kernel]->constants = {{0, 0, 1}, {0, 0, 1}};
  b.command(p, kernel, {b.arena(8)});
  launchOf(*p.commands[0]).constants = {0, 0};
  b.command(p, b.kernel("stray", 1, {4}, {true}), {a});
  Bytes file = sealCuda(b.plan);
  for (bool trace : {false, true}) {
    DeviceOptions options;
    options.trace = trace;
    Opened opened(file, options);
    ASSERT_TRUE(opened.status.ok()) << opened.status.message();
    auto report = opened.device->wait(opened.device->submit({}));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.status().code(), Code::RankLost);
    EXPECT_SAYS(report.status().message(),
                trace ? "CUDA: kernel 'stray' (matmul in 'fc1' at "
                        "model.dl:3:5): an illegal memory access"
                      : "one of its 2 kernels (with --trace they run one by "
                        "one, and it is named)");
  }
}

TEST(CudaImages, TheBestForTheDevice) {
  auto chosen = [](std::vector<std::string> features, int major, int minor) {
    fb::PlanT plan;
    for (const std::string &each : features) {
      plan.images.push_back(std::make_unique<fb::ImageT>());
      plan.images.back()->features = each;
    }
    cuda::DeviceFacts device;
    device.name = "GPU";
    device.major = major;
    device.minor = minor;
    auto choice = cuda::chooseImage(plan, device, "");
    return choice ? features[*choice] : "";
  };
  std::vector<std::string> all = {"source", "ptx_80", "sm_80", "sm_86",
                                  "ptx_90", "sm_90",  "sm_90a"};
  EXPECT_EQ(chosen(all, 9, 0), "sm_90a");
  EXPECT_EQ(chosen(all, 8, 0), "sm_80");
  EXPECT_EQ(chosen(all, 8, 6), "sm_86");
  EXPECT_EQ(chosen(all, 8, 9), "sm_86");
  EXPECT_EQ(chosen(all, 10, 0), "ptx_90");
  EXPECT_EQ(chosen(all, 12, 1), "ptx_90");
  EXPECT_EQ(chosen(all, 7, 5), "");
  EXPECT_EQ(chosen(all, 0, 0), "source");
  EXPECT_EQ(chosen({"sm_90a"}, 9, 1), "");
  EXPECT_EQ(chosen({"sm_100"}, 10, 3), "sm_100");
  for (const char *wrong : {"sm_", "sm_9", "sm_90b", "ptx_90a", "sm_90aa",
                            "sm_99999999999", "x86-64-v3", "Source", ""})
    EXPECT_EQ(chosen({wrong}, 9, 0), "") << wrong;
}
