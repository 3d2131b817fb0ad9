#include "runtime/plan/CodeRecord.h"
#include "test/runtime/TestPlan.h"

#include <cmath>
#include <functional>

using namespace dlrt;
using namespace dlrt::test;

/// The verdict on the regression plan after one change.
static std::string after(const std::function<void(fb::PlanT &)> &change) {
  PlanBuilder b = regressionPlan(10, 2);
  change(b.plan);
  return verdict(b.plan);
}

static void expectRefusal(const std::function<void(fb::PlanT &)> &change,
                          const std::string &part) {
  std::string message = after(change);
  EXPECT_NE(message.find(part), std::string::npos)
      << "got '" << message << "', expected '" << part << "'";
}

TEST(Validator, AcceptsGoodPlans) {
  EXPECT_EQ(verdict(regressionPlan(8).plan), "");
  EXPECT_EQ(verdict(regressionPlan(10).plan), "");
  EXPECT_EQ(verdict(regressionPlan(10, 3).plan), "");
  EXPECT_EQ(verdict(singleProgramPlan().plan), "");
}

TEST(Validator, Buffers) {
  expectRefusal([](auto &p) { p.buffers[0]->offset = 4; }, "not aligned");
  expectRefusal([](auto &p) { p.buffers[0]->offset = 1 << 20; },
                "leave the arena");
  expectRefusal([](auto &p) { p.buffers[0]->bytes = ~uint64_t(0); },
                "leave the arena");
  expectRefusal([](auto &p) { p.buffers[0]->offset = ~uint64_t(63); },
                "leave the arena");
  expectRefusal([](auto &p) { p.arena_bytes = ~uint64_t(0); }, "arena");
  expectRefusal([](auto &p) { p.buffers[0]->space = fb::Space(9); },
                "unknown space");
  expectRefusal([](auto &p) { p.buffers[4]->bytes = 128; }, "scalars");
}

TEST(Validator, States) {
  expectRefusal([](auto &p) { p.states[0]->buffer = 99; }, "buffer 99");
  expectRefusal([](auto &p) { p.states[1]->name = "w"; }, "used twice");
  expectRefusal([](auto &p) { p.states[1]->aliases = {"w"}; }, "alias");
  expectRefusal([](auto &p) { p.states[0]->name = "w\x1b[2J"; }, "control");
  expectRefusal([](auto &p) { p.states[0]->shape = {4}; }, "layout");
  expectRefusal([](auto &p) { p.states[0]->dtype = fb::DType::F64; },
                "do not fit");
  expectRefusal([](auto &p) { p.states[0]->dtype = fb::DType(77); }, "dtype");
  expectRefusal([](auto &p) { p.states[1]->buffer = p.states[0]->buffer; },
                "overlap");
  expectRefusal(
      [](auto &p) {
        p.states[0]->shape = {uint64_t(1) << 40, uint64_t(1) << 40};
      },
      "overflows");
  expectRefusal([](auto &p) { p.states[0]->buffer = 4; }, "not in the arena");
}

TEST(Validator, Kernels) {
  expectRefusal([](auto &p) { p.kernels[0]->tiles = 0; }, "0 tiles");
  expectRefusal([](auto &p) { p.kernels[0]->tiles = uint64_t(1) << 40; },
                "tiles");
  expectRefusal([](auto &p) { p.kernels[1]->name = p.kernels[0]->name; },
                "used twice");
  expectRefusal([](auto &p) { p.kernels[0]->writes.pop_back(); },
                "write marks");
  expectRefusal([](auto &p) { p.kernels[0]->ops = {5}; }, "source 5");
}

TEST(Validator, Constants) {
  auto plan = [](int64_t value, int64_t min, int64_t max, int64_t multiple) {
    PlanBuilder b = singleProgramPlan();
    uint32_t kernel = b.kernel("ramp", 4, {32}, {true});
    b.plan.kernels[kernel]->constants = {{min, max, multiple}};
    fb::ProgramT &program = *b.plan.steps[0]->micro[0];
    b.command(program, kernel, {b.arena(32)});
    program.commands[0]->constants = {value};
    return std::move(b.plan);
  };
  EXPECT_EQ(verdict(plan(-4, -8, 8, 4)), "");
  EXPECT_EQ(verdict(plan(INT64_MIN, INT64_MIN, INT64_MAX, 1)), "");
  EXPECT_NE(verdict(plan(9, -8, 8, 1))
                .find("step 'train' batch command 0: constant 0 is 9, kernel "
                      "'ramp' takes -8 to 8 in multiples of 1"),
            std::string::npos);
  EXPECT_NE(verdict(plan(-9, -8, 8, 1)).find("constant 0 is -9"),
            std::string::npos);
  EXPECT_NE(verdict(plan(6, -8, 8, 4)).find("in multiples of 4"),
            std::string::npos);
  EXPECT_NE(verdict(plan(0, -8, 8, 0)).find("multiple of nothing"),
            std::string::npos);
  fb::PlanT few = plan(0, 0, 1, 1);
  few.steps[0]->micro[0]->commands[0]->constants.clear();
  EXPECT_NE(verdict(few).find("0 constants, kernel 'ramp' has 1"),
            std::string::npos);
}

TEST(Validator, ConstantsAreInTheCodeRecord) {
  PlanBuilder b = singleProgramPlan();
  uint32_t kernel = b.kernel("ramp", 4, {32}, {true});
  b.plan.kernels[kernel]->constants = {{0, 8, 1}};
  Bytes image = readFile(TEST_KERNELS), record = codeRecord(b.plan);
  b.plan.kernels[kernel]->constants = {{0, 80, 1}};
  Bytes file = sealPlan(packPlan(b.plan), {{SectionKind::Image, image},
                                           {SectionKind::CodeRecord, record}});
  Expected<LoadedPlan> loaded = readPlan(file);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.status().message().find("not those that its code"),
            std::string::npos);
}

static fb::ProgramT &batch(fb::PlanT &plan) { return *plan.steps[0]->micro[0]; }

TEST(Validator, Commands) {
  expectRefusal([](auto &p) { batch(p).commands[0]->kernel = 99; },
                "kernel 99");
  expectRefusal([](auto &p) { batch(p).commands[0]->bindings.pop_back(); },
                "bindings, kernel");
  expectRefusal(
      [](auto &p) { batch(p).commands[0]->bindings[2] = fb::Range(99, 0, 0); },
      "buffer 99");
  expectRefusal([](auto &p) { batch(p).commands[1]->deps = {1}; },
                "not before it");
  expectRefusal(
      [](auto &p) {
        p.kernels[batch(p).commands[0]->kernel]->binding_bytes[2] = 4096;
      },
      "12 bytes of buffer 0, kernel 'gradient4' needs 4096");
  expectRefusal(
      [](auto &p) {
        p.kernels[batch(p).commands[0]->kernel]->writes[0] = true;
      },
      "read-only");
  expectRefusal(
      [](auto &p) {
        p.buffers[batch(p).commands[0]->bindings[0].buffer()]->offset = 7;
      },
      "no component 7");
  expectRefusal(
      [](auto &p) {
        p.buffers[batch(p).commands[0]->bindings[0].buffer()]->bytes = 4096;
      },
      "buffer 5 has 4096 bytes, component");
  for (double seconds : {-1.0, double(NAN), double(INFINITY)})
    expectRefusal([=](auto &p) { batch(p).commands[0]->seconds = seconds; },
                  "seconds are no time");
  expectRefusal(
      [](auto &p) {
        p.steps[0]->update->commands[0]->bindings[0] =
            batch(p).commands[0]->bindings[0];
      },
      "no input batch");
}

TEST(Validator, Ranges) {
  auto bind = [](uint64_t offset, uint64_t bytes) {
    return [=](fb::PlanT &p) {
      fb::Range &weight = batch(p).commands[0]->bindings[2];
      p.buffers[weight.buffer()]->bytes = 32;
      p.arena_bytes += 64;
      weight = fb::Range(weight.buffer(), offset, bytes);
    };
  };
  EXPECT_EQ(after(bind(0, 32)), "");
  EXPECT_EQ(after(bind(20, 12)), "");
  expectRefusal(bind(24, 12), "12 bytes from byte 24 on leave buffer 0");
  expectRefusal(bind(~uint64_t(0), 12), "leave buffer 0");
  expectRefusal(bind(12, ~uint64_t(0)), "leave buffer 0");
  expectRefusal(bind(16, 8), "8 bytes of buffer 0, kernel");
  expectRefusal(bind(18, 12), "byte 18 of buffer 0 is no multiple of 4");
  expectRefusal([](auto &p) { p.kernels[0]->binding_aligns[0] = 3; },
                "alignment of 3");
  expectRefusal([](auto &p) { p.kernels[0]->binding_aligns[0] = 128; },
                "alignment of 128");
  expectRefusal([](auto &p) { p.kernels[0]->binding_aligns.pop_back(); },
                "alignments");
}

TEST(Validator, Metrics) {
  expectRefusal([](auto &p) { batch(p).metrics[0]->buffer = 99; }, "no buffer");
  expectRefusal([](auto &p) { batch(p).metrics[1]->shape = {30}; }, "layout");
  expectRefusal(
      [](auto &p) {
        for (auto &program : p.steps[0]->micro)
          program->metrics[1]->name = "loss";
      },
      "used twice");
  expectRefusal([](auto &p) { batch(p).metrics[1]->name = "other"; },
                "different metrics");
}

TEST(Validator, ErrorFlags) {
  auto withFlag = [](uint32_t buffer, uint32_t source) {
    return [=](fb::PlanT &p) {
      auto flag = std::make_unique<fb::ErrorFlagT>();
      flag->buffer = buffer;
      flag->source = source;
      batch(p).errors.push_back(std::move(flag));
    };
  };
  EXPECT_EQ(after(withFlag(3, 0)), "");
  expectRefusal(withFlag(99, 0), "no i32");
  expectRefusal(withFlag(4, 0), "no i32");
  expectRefusal(withFlag(3, 9), "no source");
}

TEST(Validator, StepsAndDatasets) {
  expectRefusal([](auto &p) { p.steps[0]->dataset = 3; }, "dataset 3");
  expectRefusal([](auto &p) { p.steps[0]->accumulate = 0; }, "0 micro-batches");
  expectRefusal([](auto &p) { p.steps[0]->accumulate = 1; }, "an update");
  expectRefusal([](auto &p) { p.steps[0]->micro.pop_back(); },
                "1 batch programs, 2 are needed");
  expectRefusal([](auto &p) { p.steps[0]->micro[1]->batch_items = 3; },
                "differ in size");
  expectRefusal([](auto &p) { p.steps[1]->training = true; },
                "step 'eval.test'");
  expectRefusal([](auto &p) { p.steps[1]->name = "train"; }, "used twice");
  expectRefusal([](auto &p) { p.datasets[0]->batch_size = 0; }, "batches of 0");
  expectRefusal(
      [](auto &p) {
        p.datasets[0]->items = 3;
        p.datasets[0]->drop_last = true;
      },
      "do not fill one batch");
  expectRefusal([](auto &p) { p.datasets[0]->paths = {"x.npy"}; },
                "1 files for 2 components");
  expectRefusal([](auto &p) { p.datasets[0]->kind = fb::DatasetKind(5); },
                "unknown kind");
  expectRefusal([](auto &p) { p.datasets[0]->components.clear(); },
                "no components");
}

TEST(Validator, Images) {
  expectRefusal([](auto &p) { p.images[0]->section = 0; }, "no image");
  expectRefusal([](auto &p) { p.images[0]->section = 8; }, "no image");
}
