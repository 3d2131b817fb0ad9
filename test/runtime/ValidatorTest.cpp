#include "runtime/plan/CodeRecord.h"
#include "test/runtime/PlanRefusals.h"

#include <cmath>

using namespace dlrt;
using namespace dlrt::test;

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
  expectRefusal([](auto &p) { p.buffers[0]->memory = fb::Memory(2); },
                "unknown memory");
  expectRefusal([](auto &p) { p.buffers[1]->memory = fb::Memory::Device; },
                "another memory than the rest of the arena");
}

/// Those of a plan that this machine's kernels are bound to are in its memory.
TEST(Validator, MemoriesOfBindings) {
  expectRefusal(
      [](auto &p) {
        for (auto &buffer : p.buffers)
          if (buffer->space == fb::Space::Input)
            buffer->memory = fb::Memory::Device;
      },
      "is in device memory, which kernel");
  expectRefusal(
      [](auto &p) {
        for (auto &buffer : p.buffers)
          if (buffer->space == fb::Space::Arena)
            buffer->memory = fb::Memory::Device;
      },
      "is in device memory, which kernel");
}

TEST(Validator, Predictions) {
  auto predicts = [](fb::PlanT &p) -> fb::StepT & {
    p.steps[1]->predicts = true;
    return *p.steps[1];
  };
  expectRefusal([&](auto &p) { predicts(p); }, "no row for each item");
  expectRefusal([](auto &p) { p.steps[0]->predicts = true; },
                "trains and predicts");
  expectRefusal([](auto &p) { p.steps[1]->by_position = true; },
                "takes tokens, and has no window");
  expectRefusal([](auto &p) { p.steps[1]->window = 3; },
                "does not predict one item at a time");
  // Of a row of three tokens, logits of three that follow.
  auto generates = [](fb::PlanT &p, fb::DType tokens, uint64_t row,
                      std::vector<uint64_t> logits) {
    fb::StepT &step = *p.steps[1];
    auto data = std::make_unique<fb::DatasetT>(*p.datasets[step.dataset]);
    data->batch_size = 1;
    data->components[0]->dtype = tokens;
    data->components[0]->shape = {row};
    step.dataset = static_cast<uint32_t>(p.datasets.size());
    p.datasets.push_back(std::move(data));
    step.predicts = true;
    step.window = 3;
    step.programs[0]->metrics.resize(1);
    step.programs[0]->metrics[0]->shape = std::move(logits);
  };
  const char *others = "does not make logits of a window of tokens";
  expectRefusal([&](auto &p) { generates(p, fb::DType::F32, 3, {1, 3, 9}); },
                others);
  expectRefusal([&](auto &p) { generates(p, fb::DType::U8, 2, {1, 3, 9}); },
                others);
  expectRefusal([&](auto &p) { generates(p, fb::DType::U8, 3, {1, 2, 9}); },
                others);
  expectRefusal([&](auto &p) { generates(p, fb::DType::U8, 3, {1, 3}); },
                others);
  expectRefusal([&](auto &p) { generates(p, fb::DType::U8, 3, {1, 3, 0}); },
                others);
  // Control: what is refused then is something else.
  EXPECT_EQ(after([&](auto &p) {
              generates(p, fb::DType::U8, 3, {1, 3, 9});
            }).find(others),
            std::string::npos);
}

TEST(Validator, States) {
  expectRefusal([](auto &p) { p.states[0]->buffer = 99; }, "buffer 99");
  expectRefusal([](auto &p) { p.states[1]->name = "w"; }, "used twice");
  expectRefusal([](auto &p) { p.states[1]->aliases = {"w"}; }, "alias");
  expectRefusal([](auto &p) { p.states[0]->name = "w\x1b[2J"; }, "control");
  expectRefusal([](auto &p) { p.states[0]->shape = {4}; }, "layout");
  expectRefusal([](auto &p) { p.states[0]->dtype = fb::DType::F64; },
                "do not fit");
  for (fb::DType dtype : {fb::DType::BF16, fb::DType(77)})
    expectRefusal([=](auto &p) { p.states[0]->dtype = dtype; }, "dtype");
  expectRefusal([](auto &p) { p.constants = {"mask", ""}; }, "constants");
  expectRefusal([](auto &p) { p.states[1]->buffer = p.states[0]->buffer; },
                "overlap");
  expectRefusal(
      [](auto &p) {
        p.states[0]->shape = {uint64_t(1) << 40, uint64_t(1) << 40};
      },
      "overflows");
  expectRefusal([](auto &p) { p.states[0]->buffer = 4; }, "not in the arena");
  using Runs = std::vector<fb::InitRun>;
  for (auto [runs, values] :
       {std::pair(Runs{{4, 3, 1}}, 1), std::pair(Runs{{7, 1, 1}}, 1),
        std::pair(Runs{{0, 0, 1}}, 1), std::pair(Runs{{0, 4, 2}}, 2),
        std::pair(Runs{{0, 4, 4}}, 3), std::pair(Runs{{0, 4, 4}}, 5),
        std::pair(Runs{{0, 2, 1}, {1, 2, 1}}, 2),
        std::pair(Runs{{2, 2, 1}, {0, 1, 1}}, 2),
        std::pair(Runs{{1, ~uint64_t(0), 1}}, 1), std::pair(Runs{}, 1)})
    expectRefusal(
        [runs = runs, values = values](auto &p) {
          p.states[0]->init->runs = runs;
          p.states[0]->init->values.resize(static_cast<size_t>(values));
        },
        "first values");
}

/// The state has six elements.
TEST(Validator, PartsOfFirstValues) {
  auto refuse = [](auto change) {
    expectRefusal(
        [change](auto &p) {
          auto part = std::make_unique<fb::InitPartT>();
          part->offset = 1;
          part->shape = {2, 2};
          part->strides = {3, 1};
          part->begins = std::make_unique<fb::InitT>();
          change(*part);
          p.states[0]->init->parts.push_back(std::move(part));
        },
        "first values");
  };
  refuse([](auto &part) { part.offset = 2; });
  refuse([](auto &part) { part.offset = ~uint64_t(0); });
  refuse([](auto &part) { part.shape = {2}; });
  refuse([](auto &part) { part.shape = {2, 0}; });
  refuse([](auto &part) { part.strides = {0, 1}; });
  refuse([](auto &part) { part.strides = {~uint64_t(0), 1}; });
  refuse([](auto &part) { part.shape = {uint64_t(1) << 63, 2}; });
  refuse([](auto &part) { part.begins.reset(); });
  refuse([](auto &part) { part.begins->values = {1}; });
  refuse([](auto &part) { part.begins->kind = fb::InitKind(99); });
  refuse([](auto &part) {
    part.begins->kind = fb::InitKind::Dirac;
    part.begins->a = 3;
  });
  refuse([](auto &part) {
    part.begins->parts.push_back(std::make_unique<fb::InitPartT>());
  });
}

TEST(Validator, Kernels) {
  expectRefusal([](auto &p) { p.kernels[0]->variants[0]->tiles = 0; },
                "0 tiles");
  expectRefusal(
      [](auto &p) { p.kernels[0]->variants[0]->tiles = uint64_t(1) << 40; },
      "tiles");
  expectRefusal([](auto &p) { p.kernels[1]->name = p.kernels[0]->name; },
                "used twice");
  expectRefusal([](auto &p) { p.kernels[0]->writes.pop_back(); },
                "write marks");
  expectRefusal([](auto &p) { p.kernels[0]->ops = {5}; }, "source 5");
}

TEST(Validator, Variants) {
  expectRefusal([](auto &p) { p.kernels[0]->variants.clear(); }, "0 variants");
  expectRefusal(
      [](auto &p) {
        p.kernels[0]->variants.push_back(std::make_unique<fb::VariantT>());
      },
      "2 variants");
  expectRefusal(
      [](auto &p) { p.kernels[0]->variants[0]->target = fb::Target(3); },
      "unknown target");
  expectRefusal([](auto &p) { p.kernels[0]->variants[0]->entry = ""; },
                "no entry");
  expectRefusal(
      [](auto &p) {
        p.kernels[0]->variants[0]->scratch_bytes = uint64_t(1) << 50;
      },
      "bytes of scratch");
  expectRefusal([](auto &p) { p.images[0]->target = fb::Target(3); },
                "unknown target");
}

/// The verdict on the regression plan for CUDA after one change.
static std::string cudaAfter(const std::function<void(fb::PlanT &)> &change) {
  PlanBuilder b = regressionPlan(10, 2);
  makeCuda(b.plan);
  Bytes section = moduleTable(b.plan, "text");
  change(b.plan);
  return verdict(seal(b.plan, section));
}

TEST(Validator, Cuda) {
  auto expectRefusal = [](const std::function<void(fb::PlanT &)> &change,
                          const std::string &part) {
    std::string message = cudaAfter(change);
    EXPECT_NE(message.find(part), std::string::npos)
        << "got '" << message << "', expected '" << part << "'";
  };
  EXPECT_EQ(cudaAfter([](auto &) {}), "");
  expectRefusal([](auto &p) { p.kernels[1]->variants[0]->threads = 0; },
                "blocks of 0 threads");
  expectRefusal([](auto &p) { p.kernels[1]->variants[0]->threads = 1025; },
                "blocks of 1025 threads");
  EXPECT_EQ(cudaAfter([](auto &p) {
              p.kernels[1]->variants[0]->shared_bytes = 232448;
            }),
            "");
  expectRefusal(
      [](auto &p) { p.kernels[1]->variants[0]->shared_bytes = 232449; },
      "232449 bytes of shared memory");
  expectRefusal(
      [](auto &p) {
        p.kernels[1]->variants[0]->target = fb::Target::Cpu;
        p.kernels[1]->variants[0]->threads = 0;
      },
      "another target than the first");
  expectRefusal([](auto &p) { p.kernels[1]->variants[0]->entry = "gone"; },
                "image 'source': it has no 'gone'");
  expectRefusal(
      [](auto &p) {
        for (auto &buffer : p.buffers)
          buffer->memory = fb::Memory::Host;
      },
      "is in host memory, which kernel");
  expectRefusal(
      [](auto &p) {
        p.images.push_back(std::make_unique<fb::ImageT>(*p.images[0]));
        p.images[1]->target = fb::Target::Cpu;
      },
      "for two targets");
  expectRefusal([](auto &p) { p.images[0]->target = fb::Target::Cpu; },
                "for another target than the kernels");
  ::expectRefusal([](auto &p) { p.kernels[0]->variants[0]->threads = 32; },
                  "a variant for processors has blocks of threads");
  ::expectRefusal([](auto &p) { p.kernels[0]->variants[0]->shared_bytes = 1; },
                  "a variant for processors has blocks of threads");
}

TEST(Validator, Constants) {
  auto plan = [](int64_t value, int64_t min, int64_t max, int64_t multiple) {
    PlanBuilder b = singleProgramPlan();
    uint32_t kernel = b.kernel("ramp", 4, {32}, {true});
    b.plan.kernels[kernel]->constants = {{min, max, multiple}};
    fb::ProgramT &program = *b.plan.steps[0]->programs[0];
    b.command(program, kernel, {b.arena(32)});
    launchOf(*program.commands[0]).constants = {value};
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
  launchOf(*few.steps[0]->programs[0]->commands[0]).constants.clear();
  EXPECT_NE(verdict(few).find("0 constants, kernel 'ramp' has 1"),
            std::string::npos);
}

TEST(Validator, Settings) {
  auto plan = [](std::vector<std::string> names, uint64_t bytes) {
    PlanBuilder b = singleProgramPlan();
    for (const std::string &name : names) {
      b.plan.settings.push_back(std::make_unique<fb::SettingT>());
      b.plan.settings.back()->name = name;
    }
    b.plan.buffers[b.scalars()]->bytes = bytes;
    return std::move(b.plan);
  };
  EXPECT_EQ(verdict(plan({"optim.lr", "optim.eps"}, 80)), "");
  EXPECT_NE(verdict(plan({"optim.lr"}, 80)).find("scalars and settings"),
            std::string::npos);
  for (const char *second : {"a", "", "\n"})
    EXPECT_NE(verdict(plan({"a", second}, 64)).find("settings: a name is"),
              std::string::npos);
}

TEST(Validator, Plateaus) {
  auto with = [](auto change) {
    PlanBuilder b = singleProgramPlan();
    b.plan.settings.push_back(std::make_unique<fb::SettingT>());
    b.plan.settings.back()->name = "optim.lr";
    b.plan.buffers[b.scalars()]->bytes = 72;
    fb::PlateauT plateau;
    plateau.metric = "test.loss";
    plateau.settings = {0};
    plateau.factor = 0.5;
    change(plateau);
    b.plan.plateaus.push_back(std::make_unique<fb::PlateauT>(plateau));
    return verdict(b.plan);
  };
  EXPECT_EQ(with([](auto &) {}), "");
  for (auto change : std::initializer_list<void (*)(fb::PlateauT &)>{
           [](auto &p) { p.settings = {1}; }, [](auto &p) { p.metric = ""; },
           [](auto &p) { p.metric = "a\n"; },
           [](auto &p) { p.mode = fb::PlateauMode(2); },
           [](auto &p) { p.threshold_mode = fb::ThresholdMode(2); }})
    EXPECT_NE(with(change).find("plateaus: a metric's name"),
              std::string::npos);
  for (auto change : std::initializer_list<void (*)(fb::PlateauT &)>{
           [](auto &p) { p.factor = 1; }, [](auto &p) { p.factor = -0.1; },
           [](auto &p) { p.factor = NAN; }, [](auto &p) { p.min_lr = -1; },
           [](auto &p) { p.eps = NAN; }})
    EXPECT_NE(with(change).find("plateaus: a factor"), std::string::npos);
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

TEST(Validator, Commands) {
  expectRefusal(
      [](auto &p) { launchOf(*firstProgram(p).commands[0]).kernel = 99; },
      "kernel 99");
  expectRefusal(
      [](auto &p) {
        launchOf(*firstProgram(p).commands[0]).bindings.pop_back();
      },
      "bindings, kernel");
  expectRefusal(
      [](auto &p) {
        launchOf(*firstProgram(p).commands[0]).bindings[2] =
            fb::Range(99, 0, 0);
      },
      "buffer 99");
  expectRefusal([](auto &p) { firstProgram(p).commands[1]->deps = {1}; },
                "not before it");
  expectRefusal(
      [](auto &p) {
        p.kernels[launchOf(*firstProgram(p).commands[0]).kernel]
            ->binding_bytes[2] = 4096;
      },
      "12 bytes of buffer 0, kernel 'gradient4' needs 4096");
  expectRefusal(
      [](auto &p) {
        p.kernels[launchOf(*firstProgram(p).commands[0]).kernel]->writes[0] =
            true;
      },
      "read-only");
  expectRefusal(
      [](auto &p) {
        p.buffers[launchOf(*firstProgram(p).commands[0]).bindings[0].buffer()]
            ->offset = 7;
      },
      "no component 7");
  expectRefusal(
      [](auto &p) {
        p.buffers[launchOf(*firstProgram(p).commands[0]).bindings[0].buffer()]
            ->bytes = 4096;
      },
      "buffer 5 has 4096 bytes, component");
  for (double seconds : {-1.0, double(NAN), double(INFINITY)})
    expectRefusal(
        [=](auto &p) { firstProgram(p).commands[0]->seconds = seconds; },
        "seconds are no time");
  expectRefusal(
      [](auto &p) {
        launchOf(*p.steps[0]->programs[2]->commands[0]).bindings[0] =
            launchOf(*firstProgram(p).commands[0]).bindings[0];
      },
      "no input batch");
}

TEST(Validator, Kinds) {
  for (int kind : {0, 5, 77})
    expectRefusal(
        [=](auto &p) {
          firstProgram(p).commands[0]->work.type = fb::Work(kind);
        },
        "step 'train' batch command 0: unknown kind " + std::to_string(kind));
  expectRefusal([](auto &p) { firstProgram(p).commands[0]->work.Reset(); },
                "unknown kind 0");
  expectRefusal(
      [](auto &p) {
        firstProgram(p).commands[0]->resource = fb::Resource::Host;
      },
      "resource");
  expectRefusal(
      [](auto &p) { firstProgram(p).commands[0]->resource = fb::Resource(9); },
      "resource");
}

/// A kind that a later version may have, with a table behind it.
TEST(Validator, KindsOfLaterVersions) {
  PlanBuilder b = regressionPlan(8);
  std::vector<uint8_t> bytes = packPlan(b.plan);
  const fb::Command *command = fb::GetPlanFile(bytes.data())
                                   ->plans()
                                   ->Get(0)
                                   ->steps()
                                   ->Get(0)
                                   ->programs()
                                   ->Get(0)
                                   ->commands()
                                   ->Get(1);
  auto *table = reinterpret_cast<flatbuffers::Table *>(
      const_cast<fb::Command *>(command));
  ASSERT_TRUE(table->SetField<uint8_t>(fb::Command::VT_WORK_TYPE, 9, 0));
  Bytes image = readFile(TEST_KERNELS), record = codeRecord(b.plan);
  Expected<LoadedPlan> loaded = readPlan(sealPlan(
      bytes, {{SectionKind::Image, image}, {SectionKind::CodeRecord, record}}));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.status().code(), Code::Plan); // 5
  EXPECT_NE(loaded.status().message().find("command 1: unknown kind 9"),
            std::string::npos);
}

TEST(Validator, Mesh) {
  auto mesh = [](const std::string &name, uint32_t size, uint32_t again) {
    PlanBuilder b = singleProgramPlan();
    b.axis("dp", size);
    b.axis(name, again);
    return verdict(b);
  };
  EXPECT_EQ(mesh("tp", 2, 4), "");
  EXPECT_NE(mesh("dp", 2, 4).find("mesh"), std::string::npos);
  EXPECT_NE(mesh("", 2, 4).find("mesh"), std::string::npos);
  EXPECT_NE(mesh("tp", 0, 4).find("mesh"), std::string::npos);
  EXPECT_NE(mesh("tp", 1 << 31, 1 << 31).find("mesh"), std::string::npos);
}

TEST(Validator, Ranges) {
  auto bind = [](uint64_t offset, uint64_t bytes) {
    return [=](fb::PlanT &p) {
      fb::Range &weight = launchOf(*firstProgram(p).commands[0]).bindings[2];
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
  expectRefusal([](auto &p) { firstProgram(p).metrics[0]->buffer = 99; },
                "no buffer");
  expectRefusal([](auto &p) { firstProgram(p).metrics[1]->shape = {30}; },
                "layout");
  expectRefusal(
      [](auto &p) {
        for (auto &program : p.steps[0]->programs)
          if (program->kind != fb::ProgramKind::Update)
            program->metrics[1]->name = "loss";
      },
      "used twice");
  expectRefusal([](auto &p) { firstProgram(p).metrics[1]->name = "other"; },
                "different metrics");
}

TEST(Validator, ErrorFlags) {
  auto withFlag = [](uint32_t buffer, uint32_t source) {
    return [=](fb::PlanT &p) {
      auto flag = std::make_unique<fb::ErrorFlagT>();
      flag->buffer = buffer;
      flag->source = source;
      firstProgram(p).errors.push_back(std::move(flag));
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
  expectRefusal(
      [](auto &p) {
        p.steps[0]->programs.erase(p.steps[0]->programs.begin() + 1);
      },
      "1 batch programs, 2 are needed");
  expectRefusal([](auto &p) { p.steps[0]->programs[1]->batch_items = 3; },
                "differ in size");
  expectRefusal(
      [](auto &p) { p.steps[0]->programs[1]->kind = fb::ProgramKind(7); },
      "unknown kind");
  expectRefusal(
      [](auto &p) { p.steps[0]->programs[1]->kind = fb::ProgramKind::Full; },
      "one of each kind");
  expectRefusal(
      [](auto &p) { p.steps[0]->programs[2]->kind = fb::ProgramKind::Item; },
      "a program for one item");
  expectRefusal(
      [](auto &p) {
        auto initial = std::make_unique<fb::ProgramT>(*p.steps[0]->programs[0]);
        initial->kind = fb::ProgramKind::Initial;
        p.steps[0]->programs.push_back(std::move(initial));
      },
      "its initial values report metrics");
  expectRefusal([](auto &p) { p.steps[1]->mixes = "a\nb"; },
                "control characters");
  expectRefusal([](auto &p) { p.steps[1]->programs.clear(); },
                "0 batch programs");
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
  expectRefusal([](auto &p) { p.datasets[0]->kind = fb::DatasetKind(8); },
                "unknown kind");
  expectRefusal([](auto &p) { p.datasets[0]->components.clear(); },
                "no components");
  auto tokens = [](auto change) {
    return [change](auto &p) {
      fb::DatasetT &data = *p.datasets[0];
      data.kind = fb::DatasetKind::Tokens;
      data.paths = {"t.bin"};
      data.stride = 4;
      data.components.resize(1);
      data.components[0]->dtype = fb::DType::I32;
      data.components[0]->shape = {5};
      change(data);
    };
  };
  expectRefusal(tokens([](auto &d) { d.paths.push_back("u.bin"); }),
                "of one file");
  expectRefusal(tokens([](auto &d) {
                  d.components.push_back(
                      std::make_unique<fb::InputComponentT>(*d.components[0]));
                }),
                "one component");
  for (fb::DType dtype : {fb::DType::F32, fb::DType::F64, fb::DType::Bool})
    expectRefusal(tokens([=](auto &d) { d.components[0]->dtype = dtype; }),
                  "is no row of tokens");
  expectRefusal(tokens([](auto &d) { d.components[0]->shape = {5, 2}; }),
                "is no row of tokens");
  expectRefusal(tokens([](auto &d) { d.components[0]->shape = {0}; }),
                "is no row of tokens");
  expectRefusal(tokens([](auto &d) { d.stride = 0; }), "is no row of tokens");
}

TEST(Validator, Images) {
  expectRefusal([](auto &p) { p.images[0]->section = 0; }, "no image");
  expectRefusal([](auto &p) { p.images[0]->section = 8; }, "no image");
}
