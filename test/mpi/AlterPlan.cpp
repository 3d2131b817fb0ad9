// What a compiled plan becomes if one communication is changed, and what the
// loader says to it.
//
//   dl_alter PLAN SEED COUNT       one rank gets a class of its own, with the
//                                  change in it: COUNT times. JSON on stdout.
//   dl_alter PLAN SEED class OUT   the change is that of a whole class. The
//                                  plan goes to OUT, what was done to stdout;
//                                  exit code 1: the loader refuses it.
#include "runtime/plan/CommunicationProof.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"
#include "runtime/plan/RaceVerifier.h"
#include "runtime/plan/Transfers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>

using namespace dlrt;

namespace {

using Random = std::minstd_rand;

uint32_t below(Random &random, size_t count) {
  return static_cast<uint32_t>(random() / 7 % count);
}

using Exchanges = std::vector<uint32_t>; // commands

Exchanges exchangesOf(const fb::ProgramT &program) {
  Exchanges found;
  for (uint32_t c = 0; c < program.commands.size(); ++c)
    if (program.commands[c]->work.AsCommunicate())
      found.push_back(c);
  return found;
}

fb::CommunicateT &exchangeAt(fb::ProgramT &program, uint32_t command) {
  return *program.commands[command]->work.AsCommunicate();
}

void drop(fb::ProgramT &program, uint32_t at) {
  std::vector<uint32_t> before = program.commands[at]->deps;
  program.commands.erase(program.commands.begin() + at);
  for (auto &command : program.commands) {
    if (std::erase(command->deps, at) != 0)
      for (uint32_t dep : before)
        if (std::count(command->deps.begin(), command->deps.end(), dep) == 0)
          command->deps.push_back(dep);
    for (uint32_t &dep : command->deps)
      dep -= dep > at;
    std::sort(command->deps.begin(), command->deps.end());
  }
}

void repeat(fb::ProgramT &program, uint32_t at) {
  auto copy = std::make_unique<fb::CommandT>(*program.commands[at]);
  for (auto &command : program.commands)
    for (uint32_t &dep : command->deps)
      dep += dep >= at;
  copy->deps = {at};
  program.commands.insert(program.commands.begin() + at + 1, std::move(copy));
}

/// Its place in the order becomes that of another one. The commands that
/// transfer nothing to others stay as they are.
void swapOrders(fb::ProgramT &program, uint32_t at, uint32_t other) {
  std::swap(exchangeAt(program, at).order, exchangeAt(program, other).order);
}

/// A transfer for each member.
std::vector<fb::Transfer> oneByOne(const std::vector<fb::Transfer> &transfers) {
  std::vector<fb::Transfer> all;
  forEachMember(transfers, [&](uint32_t member, const fb::Range &range) {
    all.emplace_back(member, 1, range, /*same=*/false);
  });
  return all;
}

/// Changes one communication of a program; says how.
std::string change(fb::ProgramT &program, const Mesh &mesh, Random &random) {
  Exchanges all = exchangesOf(program);
  uint32_t which = below(random, all.size()), at = all[which];
  fb::CommunicateT &exchange = exchangeAt(program, at);
  auto &list = exchange.sends.empty() ||
                       (!exchange.receives.empty() && below(random, 2) == 0)
                   ? exchange.receives
                   : exchange.sends;
  list = oneByOne(list);
  uint32_t transfer = below(random, list.size());
  fb::Range range = list[transfer].range();
  uint32_t member = list[transfer].member();
  uint32_t group = mesh.groupSize(exchange.axes);
  switch (below(random, 5)) {
  case 0:
    drop(program, at);
    return "dropped";
  case 1:
    repeat(program, at);
    return "doubled";
  case 2:
    if (all.size() > 1) {
      uint32_t other = (which + 1 + below(random, all.size() - 1)) %
                       static_cast<uint32_t>(all.size());
      swapOrders(program, at, all[other]);
      return "swapped";
    }
    [[fallthrough]];
  case 3:
    range = fb::Range(range.buffer(), range.offset(), range.bytes() - 4);
    list[transfer] = fb::Transfer(member, 1, range, /*same=*/false);
    return "resized";
  default:
    member = (member + 1 + below(random, group - 1)) % group;
    list[transfer] = fb::Transfer(member, 1, range, /*same=*/false);
    return "sent elsewhere";
  }
}

/// A launch's constants stand as they are on the class's first rank.
void moveFirst(fb::PlanT &plan, const Mesh &mesh, uint32_t from, uint32_t to) {
  for (auto &step : plan.steps)
    for (auto &program : step->programs)
      for (auto &command : program->commands) {
        fb::LaunchT *launch = command->work.AsLaunch();
        if (!launch || launch->constant_steps.empty())
          continue;
        size_t axes = mesh.axes.size();
        for (size_t c = 0; c < launch->constants.size(); ++c)
          for (size_t a = 0; a < axes; ++a)
            launch->constants[c] +=
                launch->constant_steps[c * axes + a] *
                (static_cast<int64_t>(mesh.coordinate(to, a)) -
                 static_cast<int64_t>(mesh.coordinate(from, a)));
      }
}

/// Programs that exchange bytes.
std::vector<fb::ProgramT *> programsOf(fb::PlanT &plan) {
  std::vector<fb::ProgramT *> found;
  for (auto &step : plan.steps)
    for (auto &program : step->programs)
      if (!exchangesOf(*program).empty())
        found.push_back(program.get());
  return found;
}

class Alterations {
public:
  explicit Alterations(const LoadedPlan &loaded) : loaded(loaded) {
    for (const SectionView &section : loaded.sections)
      if (section.kind != SectionKind::Metadata)
        sections.push_back(section);
  }

  /// The plans with `rank` in a class of its own, which is the last one.
  std::vector<std::unique_ptr<fb::PlanT>> split(uint32_t rank) const {
    auto plans = copies();
    fb::PlanT &from = *plans[loaded.planOfRank[rank]];
    if (from.ranks.size() == 1) {
      std::rotate(plans.begin() + loaded.planOfRank[rank],
                  plans.begin() + loaded.planOfRank[rank] + 1, plans.end());
      return plans;
    }
    auto own = std::make_unique<fb::PlanT>(from);
    uint32_t first = from.ranks.front();
    own->ranks = {rank};
    moveFirst(*own, loaded.mesh, first, rank);
    std::erase(from.ranks, rank);
    moveFirst(from, loaded.mesh, first, from.ranks.front());
    plans.push_back(std::move(own));
    return plans;
  }

  std::vector<std::unique_ptr<fb::PlanT>> copies() const {
    std::vector<std::unique_ptr<fb::PlanT>> plans;
    for (const auto &plan : loaded.plans)
      plans.push_back(std::make_unique<fb::PlanT>(*plan));
    return plans;
  }

  std::vector<uint8_t>
  seal(const std::vector<std::unique_ptr<fb::PlanT>> &plans) const {
    std::vector<const fb::PlanT *> list;
    for (const auto &plan : plans)
      list.push_back(plan.get());
    std::sort(list.begin(), list.end(),
              [](auto *a, auto *b) { return a->ranks < b->ranks; });
    return sealPlan(packPlans(loaded.mesh, list), sections);
  }

  /// Whether all that the reader checks before the abstract execution is well.
  static bool othersAccept(std::span<const uint8_t> file) {
    auto views = readContainer(file);
    fb::PlanFileT unpacked;
    fb::GetPlanFile((*views)[0].bytes.data())->UnPackTo(&unpacked);
    auto set = gatherPlans(std::move(unpacked));
    if (!set || !validatePlans(*set, *views).ok())
      return false;
    return std::all_of(set->plans.begin(), set->plans.end(), [](auto &plan) {
      return verifyNoRaces(*plan).ok() && checkCommunicationOrder(*plan).ok();
    });
  }

private:
  const LoadedPlan &loaded;
  std::vector<SectionView> sections;
};

int ofOneRank(const LoadedPlan &loaded, Random &random, unsigned long count) {
  Alterations make(loaded);
  std::map<std::string, unsigned> kinds;
  unsigned refused = 0, control = 0, byExecution = 0;
  for (unsigned long i = 0; i < count; ++i) {
    uint32_t rank = below(random, loaded.mesh.ranks());
    auto plans = make.split(rank);
    auto programs = programsOf(*plans.back());
    if (programs.empty()) {
      std::fprintf(stderr, "rank %u exchanges nothing\n", rank);
      return 2;
    }
    std::vector<uint8_t> same = make.seal(plans);
    if (auto read = readPlan(same))
      ++control;
    else
      std::fprintf(stderr, "control: %s\n", read.status().message().c_str());
    std::string what =
        change(*programs[below(random, programs.size())], loaded.mesh, random);
    std::vector<uint8_t> altered = make.seal(plans);
    ++kinds[what];
    auto read = readPlan(altered);
    refused += !read;
    byExecution += !read && Alterations::othersAccept(altered);
    if (read)
      std::fprintf(stderr, "%lu: rank %u, %s: accepted\n", i, rank,
                   what.c_str());
  }
  std::printf("{\"altered\": %lu, \"refused\": %u, \"unaltered accepted\": %u, "
              "\"refused by execution alone\": %u",
              count, refused, control, byExecution);
  for (const auto &[kind, number] : kinds)
    std::printf(", \"%s\": %u", kind.c_str(), number);
  std::printf("}\n");
  return refused == count && control == count ? 0 : 1;
}

int ofAClass(const LoadedPlan &loaded, Random &random, const char *out) {
  Alterations make(loaded);
  auto plans = make.copies();
  fb::PlanT &plan = *plans[below(random, plans.size())];
  auto programs = programsOf(plan);
  if (programs.empty())
    return 2;
  std::string what =
      change(*programs[below(random, programs.size())], loaded.mesh, random);
  std::vector<uint8_t> altered = make.seal(plans);
  std::printf("%s\n", what.c_str());
  if (std::FILE *file = std::fopen(out, "wb")) {
    std::fwrite(altered.data(), 1, altered.size(), file);
    std::fclose(file);
  }
  return readPlan(altered) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: dl_alter PLAN SEED COUNT | class OUT\n");
    return 2;
  }
  auto loaded = readPlan(std::string(argv[1]));
  if (!loaded) {
    std::fprintf(stderr, "dl_alter: %s\n", loaded.status().message().c_str());
    return 2;
  }
  Random random(static_cast<unsigned>(std::atoi(argv[2])) + 1);
  random.discard(10);
  if (std::strcmp(argv[3], "class") == 0 && argc == 5)
    return ofAClass(*loaded, random, argv[4]);
  return ofOneRank(*loaded, random, std::strtoul(argv[3], nullptr, 10));
}
