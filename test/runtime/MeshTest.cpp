// Ranks, their parts, and what the reader refuses of several plans.
#include "runtime/plan/Mesh.h"
#include "test/runtime/TestPlan.h"

#include <functional>

using namespace dlrt;
using namespace dlrt::test;

static const Mesh mesh = {{{"dp", 3}, {"pp", 2}, {"tp", 2}}};

TEST(Mesh, CoordinatesAndGroups) {
  EXPECT_EQ(mesh.ranks(), 12u);
  EXPECT_EQ(mesh.text(), "dp=3,pp=2,tp=2");
  EXPECT_EQ(Mesh().ranks(), 1u);
  for (uint32_t rank = 0; rank < 12; ++rank) {
    uint32_t number = 0;
    for (size_t axis = 0; axis < 3; ++axis)
      number = number * mesh.axes[axis].size + mesh.coordinate(rank, axis);
    EXPECT_EQ(number, rank);
    for (const std::vector<uint32_t> &axes :
         {std::vector<uint32_t>{0}, {2, 0}, {1}, {0, 1, 2}, {}}) {
      uint32_t own = mesh.memberOf(rank, axes);
      EXPECT_EQ(mesh.rankOf(own, rank, axes), rank);
      for (uint32_t m = 0; m < mesh.groupSize(axes); ++m)
        EXPECT_EQ(mesh.memberOf(mesh.rankOf(m, rank, axes), axes), m);
    }
  }
  // The first axis of a group is the slowest, whatever the mesh says.
  EXPECT_EQ(mesh.memberOf(5, {2, 0}), 4u);  // tp 1, dp 1
  EXPECT_EQ(mesh.rankOf(1, 5, {2, 0}), 4u); // tp 0, dp 1
}

TEST(Mesh, RelativeMembers) {
  fb::CommunicateT exchange;
  exchange.axes = {0};
  EXPECT_EQ(peerOf(mesh, exchange, 1, 11), mesh.rankOf(1, 11, {0}));
  exchange.relative = true;
  for (uint32_t rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(peerOf(mesh, exchange, 0, rank), rank);
    EXPECT_EQ(peerOf(mesh, exchange, 1, rank), (rank + 4) % 12);
    EXPECT_EQ(peerOf(mesh, exchange, 2, rank), (rank + 8) % 12);
  }
}

TEST(Mesh, Blocks) {
  auto sizes = [](uint64_t size, uint32_t blocks) {
    std::vector<uint64_t> out;
    for (uint32_t b = 0; b < blocks; ++b) {
      Block block = blockOf(size, b, blocks);
      EXPECT_LE(block.begin + block.size, size);
      out.push_back(block.size);
    }
    return out;
  };
  using Sizes = std::vector<uint64_t>;
  EXPECT_EQ(sizes(8, 2), (Sizes{4, 4}));
  EXPECT_EQ(sizes(7, 3), (Sizes{3, 3, 1}));
  EXPECT_EQ(sizes(5, 4), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(sizes(0, 2), (Sizes{0, 0}));
  EXPECT_EQ(sizes(1, 3), (Sizes{1, 0, 0}));
  EXPECT_EQ(blockOf(~uint64_t(0), 2, 3).size, ~uint64_t(0) / 3);
}

namespace {

/// Two ranks with a plan each, which share a batch of 4 and halve a state of 3
/// rows.
struct TwoPlans {
  PlanBuilder first = singleProgramPlan(), second = singleProgramPlan();
  Mesh mesh = {{{"dp", 2}}};

  TwoPlans() {
    for (uint32_t rank = 0; rank < 2; ++rank) {
      PlanBuilder &b = rank == 0 ? first : second;
      b.plan.ranks = {rank};
      fb::StateT &state = *b.plan.states[b.state("w", {rank == 0 ? 2u : 1u})];
      state.shape = {3};
      state.split.push_back(std::make_unique<fb::DimSplitT>());
      state.split[0]->axes = {0};
      program(b.plan).split = {0};
      uint32_t kernel = b.kernel("ramp", 1, {8}, {false});
      b.plan.kernels[kernel]->constants = {{0, 4, 1}};
      b.command(program(b.plan), kernel, {b.input(0, 8)});
      launch(b.plan).constants = {rank};
    }
  }
  static fb::ProgramT &program(fb::PlanT &plan) {
    return *plan.steps[0]->programs[0];
  }
  static fb::LaunchT &launch(fb::PlanT &plan) {
    return launchOf(*program(plan).commands[0]);
  }
  static fb::StateT &state(fb::PlanT &plan) { return *plan.states[0]; }
  std::string verdict() const {
    return test::verdict(seal(mesh, {&first.plan, &second.plan}));
  }
};

void expectRefusal(const std::function<void(TwoPlans &)> &change,
                   const std::string &part) {
  TwoPlans plans;
  change(plans);
  EXPECT_NE(plans.verdict().find(part), std::string::npos)
      << "got '" << plans.verdict() << "', expected '" << part << "'";
}

} // namespace

TEST(Mesh, PlansOfRanksAreRead) {
  TwoPlans plans;
  ASSERT_EQ(plans.verdict(), "");
  Bytes file = seal(plans.mesh, {&plans.first.plan, &plans.second.plan});
  LoadedPlan loaded = mustLoad(file);
  ASSERT_EQ(loaded.plans.size(), 2u);
  EXPECT_EQ(loaded.mesh.text(), "dp=2");
  // What they share stands in the file once, and in each plan.
  EXPECT_EQ(loaded.of(1).kernels[0]->name, "ramp");
  EXPECT_EQ(loaded.of(1).model, "model.dl");
  EXPECT_EQ(boxOf(loaded.mesh, {3}, loaded.of(1).states[0]->split, 1),
            (Box{{2}, {1}}));
}

TEST(Mesh, RanksRunOnePlanEach) {
  using T = TwoPlans;
  expectRefusal([](T &p) { p.second.plan.ranks = {}; }, "no rank runs it");
  expectRefusal([](T &p) { p.second.plan.ranks = {0}; }, "rank 0 runs two");
  expectRefusal([](T &p) { p.second.plan.ranks = {1, 1}; }, "rank 1 runs two");
  expectRefusal([](T &p) { p.second.plan.ranks = {2}; }, "rank 2 is none of 2");
  expectRefusal([](T &p) { p.mesh.axes[0].size = 3; }, "rank 2 runs no plan");
  expectRefusal([](T &p) { std::swap(p.first.plan, p.second.plan); },
                "rank 0 does not run the first");
}

TEST(Mesh, Splits) {
  using T = TwoPlans;
  for (bool inMetric : {false, true}) {
    auto with = [&](void (*change)(fb::DimSplitT &)) {
      return [=](T &p) {
        for (PlanBuilder *b : {&p.first, &p.second}) {
          if (inMetric) {
            fb::ProgramT &program = T::program(b->plan);
            b->metric(program, "m", b->arena(16), {3, 1});
            program.metrics[0]->split.push_back(
                std::make_unique<fb::DimSplitT>());
            program.metrics[0]->split[0]->axes = {0};
            program.metrics[0]->layout[0] = fb::PhysicalDim(0, 1, 2, 1);
          }
          change(inMetric ? *T::program(b->plan).metrics[0]->split[0]
                          : *T::state(b->plan).split[0]);
        }
      };
    };
    expectRefusal(with([](auto &s) { s.dim = 7; }), "dim 7 is split");
    expectRefusal(with([](auto &s) { s.axes = {}; }), "along no axis");
    expectRefusal(with([](auto &s) { s.sections = 0; }), "in 0 sections");
    expectRefusal(with([](auto &s) { s.sections = 2; }),
                  "dim 0 of 3 elements is split in 2 sections");
    expectRefusal(with([](auto &s) { s.axes = {1}; }), "axis 1 does not exist");
    expectRefusal(with([](auto &s) { s.axes = {0, 0}; }), "axis 0 does not");
  }
  expectRefusal([](T &p) { T::state(p.second.plan).split.clear(); }, "layout");
  expectRefusal(
      [](T &p) {
        T::state(p.first.plan).layout[0] = fb::PhysicalDim(0, 1, 1, 1);
      },
      "layout");
  expectRefusal([](T &p) { T::state(p.second.plan).init->a = 1; },
                "two initial values");
  expectRefusal([](T &p) { T::state(p.second.plan).name = "v"; },
                "its parts are 1 of 3 elements");
  // Ranks of one plan have parts of one shape.
  TwoPlans plans;
  plans.first.plan.ranks = {0, 1};
  EXPECT_NE(verdict(seal(plans.mesh, {&plans.first.plan}))
                .find("parts of two shapes"),
            std::string::npos);
}

TEST(Mesh, Batches) {
  using T = TwoPlans;
  expectRefusal([](T &p) { T::program(p.first.plan).split = {1}; },
                "its batch: axis 1");
  expectRefusal([](T &p) { T::program(p.first.plan).split = {}; },
                "component 0 of the batch has 16");
}

TEST(Mesh, ConstantsOfRanks) {
  using T = TwoPlans;
  auto both = [](std::vector<int64_t> steps) {
    TwoPlans plans;
    T::state(plans.first.plan).shape = {4};
    T::state(plans.first.plan).init->a = 0;
    plans.first.plan.ranks = {0, 1};
    T::launch(plans.first.plan).constants = {2};
    T::launch(plans.first.plan).constant_steps = std::move(steps);
    return verdict(seal(plans.mesh, {&plans.first.plan}));
  };
  EXPECT_EQ(both({2}), "");
  EXPECT_EQ(both({-2}), "");
  EXPECT_NE(both({3}).find("rank 1: constant 0 is 5"), std::string::npos);
  EXPECT_NE(both({-3}).find("rank 1: constant 0 is -1"), std::string::npos);
  EXPECT_NE(both({INT64_MAX}).find("rank 1 overflows"), std::string::npos);
  EXPECT_NE(both({1, 1}).find("2 steps for 1 constants"), std::string::npos);
  fb::LaunchT launch;
  launch.constants = {10, 20};
  launch.constant_steps = {1, 0, 100, 0, 5, 0};
  std::vector<int64_t> values;
  ASSERT_TRUE(constantsOf(mesh, launch, /*first=*/4, /*rank=*/11, values));
  EXPECT_EQ(values, (std::vector<int64_t>{10 + 1 + 100, 20 + 5}));
}

TEST(Mesh, StepsAreTheSame) {
  using T = TwoPlans;
  expectRefusal([](T &p) { p.second.plan.steps[0]->name = "other"; },
                "is not the first plan's");
  expectRefusal([](T &p) { p.second.plan.steps.clear(); }, "has 0 steps");
  expectRefusal(
      [](T &p) {
        p.second.metric(T::program(p.second.plan), "m", p.second.arena(4));
      },
      "reports other scalars");
}
