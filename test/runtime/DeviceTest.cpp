// What training may rely on, asked of the CPU's device and of one whose memory
// the host cannot reach.
#include "runtime/device/Device.h"
#include "runtime/exec/CpuDevice.h"
#include "test/runtime/LazyDevice.h"
#include "test/runtime/TestPlan.h"

#include <bit>
#include <cstring>

using namespace dlrt;
using namespace dlrt::test;

namespace {

using Create = Expected<std::unique_ptr<Device>> (*)(const LoadedPlan &,
                                                     const DeviceOptions &);

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

struct Devices : testing::TestWithParam<Create> {
  Copying plan;
  Bytes file = seal(plan.b.plan);
  LoadedPlan loaded = mustLoad(file);
  std::unique_ptr<Device> device;

  void SetUp() override {
    auto created = GetParam()(loaded, {});
    ASSERT_TRUE(created) << created.status().message();
    device = std::move(*created);
  }
  /// Launches with a number, in a slot whose first item is `input`.
  Ticket submit(int64_t number, float input = 1) {
    Launch launch;
    launch.slot = static_cast<uint32_t>(number) % device->inputSlots(0);
    launch.scalars[0] = number;
    std::memcpy(device->inputAddress({0, launch.slot, 0}), &input, 4);
    return device->submit(launch);
  }
  int64_t reported(Ticket ticket) {
    auto report = device->wait(ticket);
    EXPECT_TRUE(report) << report.status().message();
    return report ? static_cast<int64_t>(report->scalars[0]) : -1;
  }
  Status read(std::span<uint8_t> into, uint64_t offset = 0) {
    return device->read({plan.copy, offset}, into);
  }
};

} // namespace

/// A good plan, but for devices with a memory of their own.
TEST_P(Devices, MemoryThatItDoesNotHave) {
  PlanBuilder b;
  b.state("w", {4});
  b.plan.buffers[0]->memory = fb::Memory::Device;
  Bytes bytes = seal(b.plan);
  LoadedPlan own = mustLoad(bytes);
  auto created = GetParam()(own, {});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.status().code(), Code::Plan); // 5
  EXPECT_NE(created.status().message().find(
                "is in device memory, which this device does not have"),
            std::string::npos)
      << created.status().message();
}

TEST_P(Devices, ReportsOfLaunchesAheadAreKept) {
  std::vector<Ticket> tickets;
  for (int64_t i = 0; i < 3; ++i)
    tickets.push_back(submit(100 + i));
  EXPECT_EQ(reported(tickets[2]), 102) << "the last one first";
  EXPECT_EQ(reported(tickets[0]), 100);
  EXPECT_EQ(reported(tickets[1]), 101);
}

TEST_P(Devices, ASettingIsThatOfItsSubmission) {
  PlanBuilder b = singleProgramPlan();
  for (const char *name : {"optim.lr", "optim.beta1"}) {
    auto setting = std::make_unique<fb::SettingT>();
    setting->name = name;
    setting->value = 3;
    b.plan.settings.push_back(std::move(setting));
  }
  uint32_t scalars = b.scalars(), product = b.arena(8);
  b.plan.buffers[scalars]->bytes = 80;
  fb::ProgramT &program = *b.plan.steps[0]->programs[0];
  b.command(program, b.kernel("multiply_settings", 1, {80, 8}, {false, true}),
            {scalars, product});
  b.metric(program, "product", product);
  program.metrics.back()->dtype = fb::DType::F64;
  Bytes other = seal(b.plan);
  LoadedPlan otherPlan = mustLoad(other);
  auto created = GetParam()(otherPlan, {});
  ASSERT_TRUE(created) << created.status().message();
  device = std::move(*created);
  Ticket first = device->submit({});
  device->setSetting(0, 0.25);
  Ticket second = device->submit({});
  device->setSetting(0, 100);
  for (auto [ticket, value] : {std::pair(first, 9.0), {second, 0.75}}) {
    auto report = device->wait(ticket);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_EQ(std::bit_cast<double>(report->scalars[0]), value);
  }
}

TEST_P(Devices, AFailureBelongsToItsLaunch) {
  Ticket before = submit(1), failing = submit(2, -1), after = submit(3);
  EXPECT_EQ(reported(after), 3);
  EXPECT_EQ(reported(before), 1);
  for (int again = 0; again < 2; ++again) {
    auto report = device->wait(failing);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.status().code(), Code::Training);
    EXPECT_EQ(report.status().message(),
              "value below zero (matmul in 'fc1' at model.dl:3:5)");
  }
}

TEST_P(Devices, AFailureIsNotLostInAFullQueue) {
  Ticket failing = submit(0, -1);
  for (size_t i = 1; i < 2 * Device::launchesAhead; ++i)
    submit(static_cast<int64_t>(i));
  // By then its report may have been given up, but not as if it were good.
  EXPECT_FALSE(device->wait(failing));
  EXPECT_FALSE(device->wait(failing));
}

TEST_P(Devices, WhatWasNotSubmittedIsNoLaunch) {
  EXPECT_EQ(device->wait(0).status().code(), Code::Bug);
  Ticket last = submit(1);
  auto early = device->wait(last + 1);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.status().message(),
            "launch 2 is waited for, but not submitted");
}

/// The control: a host that reads before it waits gets no bytes.
TEST_P(Devices, ReadingTooEarlyIsRefused) {
  std::vector<uint8_t> bytes(64);
  ASSERT_TRUE(read(bytes).ok());
  Ticket ticket = submit(7);
  Status early = read(bytes);
  EXPECT_EQ(early.code(), Code::Bug);
  EXPECT_NE(early.message().find("1 launch is under way"), std::string::npos);
  EXPECT_EQ(device->write({plan.copy}, bytes).code(), Code::Bug);
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(reported(ticket), 7);
  ASSERT_TRUE(read(bytes).ok());
  EXPECT_EQ(bytes[0], 7);
}

TEST_P(Devices, RangesOfBuffers) {
  std::vector<uint8_t> eight = {1, 2, 3, 4, 5, 6, 7, 8}, two(2);
  ASSERT_TRUE(device->write({plan.copy, 56}, eight).ok());
  ASSERT_TRUE(read(two, 58).ok());
  EXPECT_EQ(two, (std::vector<uint8_t>{3, 4}));
  EXPECT_TRUE(read({}, 64).ok());
  EXPECT_EQ(device->write({plan.copy, 57}, eight).message(),
            "bytes 57 to 65 leave buffer 0, which has 64");
  EXPECT_EQ(read(two, ~uint64_t(0)).code(), Code::Bug);
  EXPECT_EQ(device->read({plan.scalars}, two).message(),
            "buffer 1 is none of the arena");
  EXPECT_EQ(device->read({99}, two).code(), Code::Bug);
  EXPECT_EQ(device->read({plan.copy, 0, 1}, two).message(),
            "rank 1 is not one of this device's");
}

INSTANTIATE_TEST_SUITE_P(, Devices,
                         testing::Values<Create>(cpuDevice, LazyDevice::create),
                         [](const auto &info) {
                           return info.index == 0 ? "Cpu" : "Lazy";
                         });

TEST(LazyDevice, RunsNothingBeforeItIsWaitedFor) {
  Copying plan;
  Bytes file = seal(plan.b.plan);
  LoadedPlan loaded = mustLoad(file);
  auto created = LazyDevice::create(loaded, {});
  ASSERT_TRUE(created);
  Device &device = **created;
  Ticket ticket = device.submit({});
  EXPECT_EQ(device.tilesPerThread()[0], 0u);
  // The batch is the one that lies there when it runs.
  float negative = -1;
  std::memcpy(device.inputAddress({0, 0, 0}), &negative, 4);
  EXPECT_FALSE(device.wait(ticket));
  EXPECT_EQ(device.tilesPerThread()[0], 2u);
}

TEST(LazyDevice, ItsMemoryIsOutOfReach) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Copying plan;
  Bytes file = seal(plan.b.plan);
  LoadedPlan loaded = mustLoad(file);
  auto created = LazyDevice::create(loaded, {});
  ASSERT_TRUE(created);
  auto &device = static_cast<LazyDevice &>(**created);
  const volatile uint8_t *at = device.deviceAddress(plan.copy);
  EXPECT_EXIT((void)*at, testing::KilledBySignal(SIGSEGV), "");
}
