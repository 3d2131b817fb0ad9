#include "test/runtime/TestPlan.h"

#include "runtime/device/Device.h"
#include "runtime/plan/CodeRecord.h"
#include "runtime/plan/Layout.h"
#include "runtime/plan/ModuleTable.h"

#include <algorithm>
#include <numeric>

using namespace dlrt;
using namespace dlrt::test;

PlanBuilder::PlanBuilder() {
  plan.producer = "test";
  plan.ranks = {0};
  plan.model = "model.dl";
  for (const char *features : {"x86-64-v4", "x86-64-v3", "x86-64"}) {
    auto image = std::make_unique<fb::ImageT>();
    image->features = features;
    image->section = 1;
    plan.images.push_back(std::move(image));
  }
  source("matmul", "fc1", "model.dl:3:5");
}

uint32_t PlanBuilder::arenaAt(uint64_t offset, uint64_t bytes) {
  auto buffer = std::make_unique<fb::BufferT>();
  buffer->offset = offset;
  buffer->bytes = bytes;
  plan.arena_bytes = std::max(plan.arena_bytes, offset + bytes);
  plan.buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t PlanBuilder::arena(uint64_t bytes, const std::string &name) {
  uint32_t index = arenaAt((plan.arena_bytes + 63) / 64 * 64, bytes);
  plan.buffers[index]->name = name;
  return index;
}

uint32_t PlanBuilder::input(uint64_t component, uint64_t bytes) {
  auto buffer = std::make_unique<fb::BufferT>();
  buffer->space = fb::Space::Input;
  buffer->offset = component;
  buffer->bytes = bytes;
  plan.buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t PlanBuilder::scalars() {
  auto buffer = std::make_unique<fb::BufferT>();
  buffer->space = fb::Space::Scalars;
  buffer->bytes = 64;
  plan.buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t PlanBuilder::kernel(const std::string &name, uint64_t tiles,
                             std::vector<uint64_t> bytes,
                             std::vector<bool> writes) {
  auto kernel = std::make_unique<fb::KernelT>();
  kernel->name = name;
  kernel->variants.push_back(std::make_unique<fb::VariantT>());
  kernel->variants[0]->entry = name;
  kernel->variants[0]->tiles = tiles;
  kernel->variants[0]->scratch_bytes = 64;
  kernel->binding_aligns.assign(bytes.size(), 4);
  kernel->binding_bytes = std::move(bytes);
  kernel->writes = std::move(writes);
  kernel->ops = {0};
  kernel->strategy = "loops";
  plan.kernels.push_back(std::move(kernel));
  return static_cast<uint32_t>(plan.kernels.size() - 1);
}

uint32_t PlanBuilder::state(const std::string &name,
                            std::vector<uint64_t> shape, fb::StateRole role) {
  auto state = std::make_unique<fb::StateT>();
  state->name = name;
  state->role = role;
  state->layout = rowMajorLayout(shape);
  state->init = std::make_unique<fb::InitT>();
  uint64_t bytes = 4;
  for (uint64_t extent : shape)
    bytes *= extent;
  state->buffer = arena(bytes, name);
  state->shape = std::move(shape);
  plan.states.push_back(std::move(state));
  return static_cast<uint32_t>(plan.states.size() - 1);
}

uint32_t PlanBuilder::source(const std::string &op, const std::string &module,
                             const std::string &location) {
  auto source = std::make_unique<fb::SourceT>();
  source->op = op;
  source->module_ = module;
  source->location = location;
  plan.sources.push_back(std::move(source));
  return static_cast<uint32_t>(plan.sources.size() - 1);
}

void PlanBuilder::command(fb::ProgramT &program, uint32_t kernel,
                          std::vector<uint32_t> buffers,
                          std::vector<uint32_t> deps, bool serial) const {
  std::vector<fb::Range> ranges;
  for (uint32_t buffer : buffers)
    ranges.push_back(whole(buffer));
  commandOn(program, kernel, std::move(ranges), std::move(deps), serial);
}

template <typename Work>
static void add(fb::ProgramT &program, Work work, fb::Resource resource,
                std::vector<uint32_t> deps, bool serial) {
  auto command = std::make_unique<fb::CommandT>();
  command->work.Set(std::move(work));
  command->resource = resource;
  command->deps = std::move(deps);
  command->serial = serial;
  program.commands.push_back(std::move(command));
}

void PlanBuilder::commandOn(fb::ProgramT &program, uint32_t kernel,
                            std::vector<fb::Range> ranges,
                            std::vector<uint32_t> deps, bool serial) {
  fb::LaunchT launch;
  launch.kernel = kernel;
  launch.bindings = std::move(ranges);
  add(program, std::move(launch), fb::Resource::Compute, std::move(deps),
      serial);
}

void PlanBuilder::copy(fb::ProgramT &program, fb::Range from, fb::Range to,
                       std::vector<uint32_t> deps, bool serial) {
  fb::CopyT copy;
  copy.from = from.buffer();
  copy.from_offset = from.offset();
  copy.to = to.buffer();
  copy.to_offset = to.offset();
  copy.bytes = from.bytes();
  add(program, std::move(copy), fb::Resource::Copy, std::move(deps), serial);
}

void PlanBuilder::exchange(fb::ProgramT &program, std::vector<uint32_t> axes,
                           uint64_t order,
                           const std::vector<MemberRange> &sends,
                           const std::vector<MemberRange> &receives,
                           std::vector<uint32_t> deps) {
  fb::CommunicateT exchange;
  exchange.axes = std::move(axes);
  exchange.order = order;
  for (const MemberRange &send : sends)
    exchange.sends.push_back(toOne(send.member, send.range));
  for (const MemberRange &receive : receives)
    exchange.receives.push_back(toOne(receive.member, receive.range));
  add(program, std::move(exchange), fb::Resource::Communication,
      std::move(deps), /*serial=*/false);
}

void PlanBuilder::axis(const std::string &name, uint32_t size) {
  mesh.axes.push_back({name, size});
}

void PlanBuilder::metric(fb::ProgramT &program, const std::string &name,
                         uint32_t buffer, std::vector<uint64_t> shape) {
  auto metric = std::make_unique<fb::MetricT>();
  metric->name = name;
  metric->buffer = buffer;
  metric->layout = rowMajorLayout(shape);
  metric->shape = std::move(shape);
  program.metrics.push_back(std::move(metric));
}

static std::unique_ptr<fb::InputComponentT>
component(std::vector<uint64_t> shape) {
  auto component = std::make_unique<fb::InputComponentT>();
  component->shape = std::move(shape);
  return component;
}

static std::unique_ptr<fb::StepT> step(const std::string &name, bool training,
                                       uint32_t accumulate) {
  auto step = std::make_unique<fb::StepT>();
  step->name = name;
  step->training = training;
  step->accumulate = accumulate;
  return step;
}

namespace {

/// The buffers and kernels that the programs of a regression share.
struct Regression {
  PlanBuilder &b;
  uint32_t w, acc, gradient, loss, scalars, descend, descendMean;

  explicit Regression(PlanBuilder &b)
      : b(b), w(b.bufferOf(b.state("w", {3}))),
        acc(b.bufferOf(
            b.state("accumulator.w", {3}, fb::StateRole::Accumulator))),
        gradient(b.arena(12)), loss(b.arena(4)), scalars(b.scalars()),
        descend(b.kernel("descend", 3, {12, 12, 12}, {false, false, true})),
        descendMean(b.kernel("descend_mean", 1, {12, 12, 64, 12},
                             {false, false, false, true})) {}

  std::unique_ptr<fb::ProgramT> training(uint64_t items, bool accumulates) {
    auto program = std::make_unique<fb::ProgramT>();
    program->batch_items = items;
    std::string suffix = std::to_string(items);
    uint32_t x = b.input(0, items * 12), y = b.input(1, items * 4);
    uint32_t kernel =
        b.kernel("gradient" + suffix, 1, {items * 12, items * 4, 12, 12, 4},
                 {false, false, false, true, true});
    b.command(*program, kernel, {x, y, w, gradient, loss});
    if (accumulates)
      b.command(*program,
                b.kernel("accumulate" + suffix, 1, {12, 12, 64, 12},
                         {false, false, false, true}),
                {acc, gradient, scalars, acc}, {0}, /*serial=*/true);
    else
      b.command(*program, descend, {w, gradient, w}, {0});
    b.metric(*program, "loss", loss);
    b.metric(*program, "w.grad", gradient, {3});
    return program;
  }

  std::unique_ptr<fb::ProgramT> evaluation(uint64_t items) {
    auto program = std::make_unique<fb::ProgramT>();
    program->batch_items = items;
    uint32_t x = b.input(0, items * 12), y = b.input(1, items * 4);
    uint32_t kernel =
        b.kernel("loss" + std::to_string(items), 1,
                 {items * 12, items * 4, 12, 4}, {false, false, false, true});
    b.command(*program, kernel, {x, y, w, loss});
    b.metric(*program, "loss", loss);
    return program;
  }
};

} // namespace

PlanBuilder dlrt::test::regressionPlan(uint64_t items, uint32_t accumulate) {
  PlanBuilder b;
  auto data = std::make_unique<fb::DatasetT>();
  data->kind = fb::DatasetKind::Tensor;
  data->paths = {"x.npy", "y.npy"};
  data->items = items;
  data->batch_size = 4;
  data->components.push_back(component({3}));
  data->components.push_back(component({}));
  b.plan.datasets.push_back(std::move(data));
  b.plan.parameters = 3;

  Regression r(b);
  auto train = step("train", true, accumulate);
  auto test = step("eval.test", false, 1);
  std::vector<uint64_t> sizes = {4};
  if (items % 4 != 0)
    sizes.push_back(items % 4);
  for (uint64_t size : sizes) {
    train->programs.push_back(r.training(size, accumulate > 1));
    test->programs.push_back(r.evaluation(size));
    for (auto *step : {train.get(), test.get()})
      if (size != 4)
        step->programs.back()->kind = fb::ProgramKind::Short;
  }
  if (accumulate > 1) {
    train->programs.push_back(std::make_unique<fb::ProgramT>());
    train->programs.back()->kind = fb::ProgramKind::Update;
    b.command(*train->programs.back(), r.descendMean,
              {r.w, r.acc, r.scalars, r.w});
  }
  b.plan.steps.push_back(std::move(train));
  b.plan.steps.push_back(std::move(test));
  return b;
}

void dlrt::test::writeRegressionData(const TemporaryFolder &folder,
                                     uint64_t items) {
  std::vector<float> x, y;
  for (uint64_t i = 0; i < items; ++i) {
    float row[] = {float(i % 5) / 4, float(i % 3) / 2 - 0.5f, float(i % 7) / 6};
    x.insert(x.end(), row, row + 3);
    y.push_back(row[0] - 2 * row[1] + 3 * row[2]);
  }
  std::string count = std::to_string(items);
  writeFile(folder.path("x.npy"),
            npy("<f4", "(" + count + ", 3)", floatBytes(x)));
  writeFile(folder.path("y.npy"),
            npy("<f4", "(" + count + ",)", floatBytes(y)));
}

PlanBuilder dlrt::test::singleProgramPlan() {
  PlanBuilder b;
  auto data = std::make_unique<fb::DatasetT>();
  data->kind = fb::DatasetKind::Tensor;
  data->paths = {"x.npy"};
  data->items = data->batch_size = 4;
  data->components.push_back(component({}));
  b.plan.datasets.push_back(std::move(data));
  auto train = step("train", true, 1);
  train->programs.push_back(std::make_unique<fb::ProgramT>());
  train->programs[0]->batch_items = 4;
  b.plan.steps.push_back(std::move(train));
  return b;
}

Status HostArena::read(const BufferPlace &from, std::span<uint8_t> into) const {
  DLRT_TRY(checkAccess(plan, from, into.size(), 0));
  std::copy_n(arena.data() + plan.buffers[from.buffer]->offset + from.offset,
              into.size(), into.data());
  return {};
}

Status HostArena::write(const BufferPlace &to, std::span<const uint8_t> from) {
  DLRT_TRY(checkAccess(plan, to, from.size(), 0));
  std::copy_n(from.data(), from.size(), at(to.buffer) + to.offset);
  return {};
}

PlanSet dlrt::test::setOf(const fb::PlanT &plan) {
  PlanSet set;
  set.plans.push_back(std::make_unique<fb::PlanT>(plan));
  set.planOfRank = {0};
  return set;
}

static Bytes seal(const Mesh &mesh, const std::vector<const fb::PlanT *> &plans,
                  const Bytes &image) {
  Bytes record = codeRecord(*plans[0]);
  return sealPlan(packPlans(mesh, plans), {{SectionKind::Image, image},
                                           {SectionKind::CodeRecord, record}});
}

Bytes dlrt::test::seal(const Mesh &mesh,
                       const std::vector<const fb::PlanT *> &plans) {
  return ::seal(mesh, plans, readFile(TEST_KERNELS));
}

Bytes dlrt::test::seal(const fb::PlanT &plan, const Bytes &section) {
  return ::seal({}, {&plan}, section);
}

void dlrt::test::makeCuda(fb::PlanT &plan) {
  for (auto &buffer : plan.buffers)
    buffer->memory = fb::Memory::Device;
  for (auto &kernel : plan.kernels) {
    kernel->variants[0]->target = fb::Target::Cuda;
    kernel->variants[0]->threads = 32;
    kernel->variants[0]->scratch_bytes = 0;
  }
  plan.images.resize(1);
  plan.images[0]->target = fb::Target::Cuda;
  plan.images[0]->features = "source";
}

Bytes dlrt::test::moduleTable(const fb::PlanT &plan, std::string_view text) {
  ModuleTable table;
  table.modules.push_back(
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  for (const auto &kernel : plan.kernels)
    table.entries[kernel->variants[0]->entry] = 0;
  return writeModuleTable(table);
}

Bytes dlrt::test::seal(const fb::PlanT &plan) { return seal({}, {&plan}); }

std::string dlrt::test::verdict(const Bytes &file) {
  Expected<LoadedPlan> loaded = readPlan(file);
  if (loaded)
    return "";
  EXPECT_EQ(loaded.status().code(), Code::Plan);
  return loaded.status().message();
}

std::string dlrt::test::verdict(const fb::PlanT &plan) {
  return verdict(seal(plan));
}

Bytes dlrt::test::seal(PlanBuilder &builder) {
  return seal(builder, readFile(TEST_KERNELS));
}

Bytes dlrt::test::seal(PlanBuilder &builder, const Bytes &section) {
  std::vector<uint32_t> &ranks = builder.plan.ranks;
  ranks.resize(std::min(builder.mesh.ranks(), 64u));
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ::seal(builder.mesh, {&builder.plan}, section);
}

std::string dlrt::test::verdict(PlanBuilder &builder) {
  return verdict(seal(builder));
}

LoadedPlan dlrt::test::mustLoad(const Bytes &file) {
  Expected<LoadedPlan> loaded = readPlan(file);
  EXPECT_TRUE(loaded) << loaded.status().message();
  return std::move(*loaded);
}
