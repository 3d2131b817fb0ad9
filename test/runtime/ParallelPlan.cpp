#include "test/runtime/ParallelPlan.h"

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// The plan of one of the two ranks.
class RankPlan {
public:
  RankPlan(PlanBuilder &b, uint32_t rank) : b(b), rank(rank) {
    b.plan.ranks = {rank};
    b.plan.kernels.clear(); // those of one rank alone
    w = b.state("part", {own()});
    fb::StateT &state = *b.plan.states.back();
    state.name = "w";
    state.shape = {3};
    state.split = split();
    w = b.bufferOf(w);
    // Both ranks have the same kernels.
    for (uint64_t items : {2, 1}) {
      std::string suffix = std::to_string(items);
      gradient.push_back(b.kernel("gradient" + suffix, 1,
                                  {items * 12, items * 4, 12, 12, 4},
                                  {false, false, false, true, true}));
      lossOf.push_back(b.kernel("loss" + suffix, 1,
                                {items * 12, items * 4, 12, 4},
                                {false, false, false, true}));
    }
    for (uint64_t count : {2, 1}) {
      mean.push_back(tiled("mean_pair", count));
      descend.push_back(tiled("descend", count));
    }
  }

  void train(fb::ProgramT &program, uint64_t items) {
    begin(program, items);
    uint32_t whole = gather(program);
    uint32_t g = b.arena(12), loss = b.arena(4);
    b.command(program, gradient[items == 2 ? 0 : 1],
              {b.input(0, items * 12), b.input(1, items * 4), whole, g, loss},
              {0});
    // The parts of the gradient, and the loss, to each.
    uint64_t bytes = own() * 4;
    uint32_t first = b.arena(bytes), second = b.arena(bytes);
    uint32_t losses[] = {b.arena(4), b.arena(4)};
    b.exchange(program, {0}, 1,
               {{0, {g, 0, 8}},
                {0, b.whole(loss)},
                {1, {g, 8, 4}},
                {1, b.whole(loss)}},
               {{0, b.whole(first)},
                {0, b.whole(losses[0])},
                {1, b.whole(second)},
                {1, b.whole(losses[1])}},
               {1});
    uint32_t part = b.arena(bytes), all = b.arena(4);
    b.command(program, mean[rank], {first, second, part}, {2});
    b.command(program, descend[rank], {w, part, w}, {3});
    b.command(program, mean[1], {losses[0], losses[1], all}, {2});
    b.metric(program, "loss", all);
    b.metric(program, "w.grad", part, {own()});
    program.metrics[1]->shape = {3};
    program.metrics[1]->split = split();
  }

  void evaluate(fb::ProgramT &program, uint64_t items) {
    begin(program, items);
    uint32_t whole = gather(program), loss = b.arena(4);
    b.command(program, lossOf[items == 2 ? 0 : 1],
              {b.input(0, items * 12), b.input(1, items * 4), whole, loss},
              {0});
    uint32_t losses[] = {b.arena(4), b.arena(4)}, all = b.arena(4);
    b.exchange(program, {0}, 1, {{0, b.whole(loss)}, {1, b.whole(loss)}},
               {{0, b.whole(losses[0])}, {1, b.whole(losses[1])}}, {1});
    b.command(program, mean[1], {losses[0], losses[1], all}, {2});
    b.metric(program, "loss", all);
  }

private:
  uint64_t own() const { return rank == 0 ? 2 : 1; }

  static Split split() {
    Split split;
    split.push_back(std::make_unique<fb::DimSplitT>());
    split[0]->axes = {0};
    return split;
  }

  uint32_t tiled(const std::string &entry, uint64_t count) {
    uint64_t bytes = 4 * count;
    uint32_t kernel = b.kernel(entry + "_" + std::to_string(count), count,
                               {bytes, bytes, bytes}, {false, false, true});
    b.plan.kernels[kernel]->variants[0]->entry = entry;
    return kernel;
  }

  static void begin(fb::ProgramT &program, uint64_t items) {
    program.batch_items = 2 * items;
    program.split = {0};
    program.commands.clear();
    program.metrics.clear();
  }

  uint32_t gather(fb::ProgramT &program) {
    uint32_t whole = b.arena(12);
    b.exchange(program, {0}, 0, {{0, b.whole(w)}, {1, b.whole(w)}},
               {{0, {whole, 0, 8}}, {1, {whole, 8, 4}}});
    return whole;
  }

  PlanBuilder &b;
  uint32_t rank, w;
  std::vector<uint32_t> gradient, lossOf, mean, descend;
};

} // namespace

ParallelRegression::ParallelRegression(uint64_t items) {
  for (uint32_t r = 0; r < 2; ++r) {
    // Its data set and steps; everything else is new.
    PlanBuilder &b = ranks[r] = regressionPlan(items);
    b.plan.states.clear();
    b.plan.buffers.clear();
    b.plan.arena_bytes = 0;
    RankPlan plan(b, r);
    for (auto &step : b.plan.steps)
      for (auto &program : step->programs) {
        uint64_t share = program->batch_items / 2;
        if (step->training)
          plan.train(*program, share);
        else
          plan.evaluate(*program, share);
      }
  }
}

AllSums::AllSums(Mesh mesh, uint64_t words) : words(words) {
  builder.mesh = std::move(mesh);
  PlanBuilder &b = builder;
  fb::ProgramT &program = *b.plan.steps[0]->programs[0];
  uint64_t bytes = words * 8;
  uint32_t ramp = b.kernel("ramp", words, {bytes}, {true});
  b.plan.kernels[ramp]->constants = {{0, 1 << 20, 1}, {0, 8, 1}};
  uint32_t add =
      b.kernel("add", words, {bytes, bytes, bytes}, {false, false, true});
  sum = b.arena(bytes);
  b.command(program, ramp, {sum});
  launchOf(*program.commands[0]).constants = {7, 1};
  auto &steps = launchOf(*program.commands[0]).constant_steps;
  for (size_t axis = 0; axis < b.mesh.axes.size(); ++axis)
    steps.push_back(100 * (static_cast<int64_t>(axis) + 1));
  steps.resize(2 * b.mesh.axes.size(), 0);
  for (uint32_t axis = 0; axis < b.mesh.axes.size(); ++axis) {
    uint32_t last = static_cast<uint32_t>(program.commands.size()) - 1;
    std::vector<MemberRange> sends, receives;
    for (uint32_t m = 0; m < b.mesh.axes[axis].size; ++m) {
      sends.emplace_back(m, b.whole(sum));
      receives.emplace_back(m, b.whole(b.arena(bytes)));
    }
    b.exchange(program, {axis}, axis, sends, receives, {last});
    uint32_t total = receives[0].range.buffer();
    for (uint32_t m = 1; m < receives.size(); ++m) {
      uint32_t next = b.arena(bytes);
      b.command(program, add, {total, receives[m].range.buffer(), next},
                {++last});
      total = next;
    }
    sum = total;
  }
  b.metric(program, "sum", sum,
           {2 * words}); // its bytes, kept for whoever reads
}

int64_t AllSums::expected(uint64_t i) const {
  const Mesh &mesh = builder.mesh;
  int64_t total = 0;
  for (uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
    total += 7 + static_cast<int64_t>(i);
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
      total +=
          100 * (static_cast<int64_t>(axis) + 1) * mesh.coordinate(rank, axis);
  }
  return total;
}
