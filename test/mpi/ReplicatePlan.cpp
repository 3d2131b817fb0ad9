// dl_replicate PLAN OUT RANKS BYTES: a plan for one rank as one for so many, of
// which each does all the work. At the end of each program they exchange BYTES
// with one another, so that none can run ahead: what a rank that dies or hangs
// does to the others needs no plan that shares the work.
#include "runtime/plan/Container.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace dlrt;

static int fail(const std::string &what) {
  std::fprintf(stderr, "dl_replicate: %s\n", what.c_str());
  return 2;
}

static uint32_t addBuffer(fb::PlanT &plan, uint64_t bytes) {
  auto buffer = std::make_unique<fb::BufferT>();
  buffer->offset = (plan.arena_bytes + 63) / 64 * 64;
  buffer->bytes = bytes;
  buffer->name = "exchanged";
  plan.arena_bytes = buffer->offset + bytes;
  plan.buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

/// Sends the whole of a buffer to all; from each comes a part of the other one.
static void addExchange(fb::ProgramT &program, uint32_t ranks, uint32_t from,
                        uint32_t to, uint64_t bytes) {
  fb::CommunicateT exchange;
  exchange.axes = {0};
  exchange.sends.emplace_back(0, ranks, fb::Range(from, 0, bytes),
                              /*same=*/true);
  exchange.receives.emplace_back(0, ranks, fb::Range(to, 0, bytes),
                                 /*same=*/false);
  auto command = std::make_unique<fb::CommandT>();
  command->work.Set(std::move(exchange));
  command->resource = fb::Resource::Communication;
  command->ops = program.commands.back()->ops;
  command->deps.resize(program.commands.size());
  std::iota(command->deps.begin(), command->deps.end(), 0u);
  program.commands.push_back(std::move(command));
}

int main(int argc, char **argv) {
  if (argc != 5)
    return fail("usage: dl_replicate PLAN OUT RANKS BYTES");
  auto loaded = readPlan(argv[1]);
  if (!loaded)
    return fail(loaded.status().message());
  if (loaded->plans.size() != 1)
    return fail("it is for several ranks");
  auto ranks = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  uint64_t bytes = std::strtoull(argv[4], nullptr, 10);
  fb::PlanT &plan = *loaded->plans[0];
  uint32_t from = addBuffer(plan, bytes);
  uint32_t to = addBuffer(plan, bytes * ranks);
  for (auto &step : plan.steps)
    for (auto &program : step->programs)
      addExchange(*program, ranks, from, to, bytes);
  plan.ranks.resize(ranks);
  std::iota(plan.ranks.begin(), plan.ranks.end(), 0u);
  Mesh mesh;
  mesh.axes.push_back({"dp", ranks});
  std::vector<SectionView> sections(loaded->sections.begin() + 1,
                                    loaded->sections.end());
  Status status = writePlan(argv[2], packPlans(mesh, {&plan}), sections);
  return status.ok() ? 0 : fail(status.message());
}
