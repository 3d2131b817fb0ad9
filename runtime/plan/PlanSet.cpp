#include "runtime/plan/PlanSet.h"

#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Transfers.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

using namespace dlrt;

static Status takeMesh(const fb::PlanFileT &file, Mesh &mesh) {
  std::unordered_set<std::string> names;
  uint64_t ranks = 1;
  for (const auto &axis : file.mesh) {
    ranks *= axis->size;
    if (axis->name.empty() || !isPrintable(axis->name) ||
        !names.insert(axis->name).second || axis->size == 0 ||
        ranks > uint64_t(1) << 20)
      return planError("mesh",
                       "an axis has no name of its own, or a size of 0, "
                       "or there are too many ranks");
    mesh.axes.push_back({axis->name, axis->size});
  }
  return {};
}

static Status placeRanks(PlanSet &set) {
  constexpr uint32_t nobody = ~0u;
  set.planOfRank.assign(set.mesh.ranks(), nobody);
  for (uint32_t p = 0; p < set.plans.size(); ++p) {
    const std::vector<uint32_t> &ranks = set.plans[p]->ranks;
    auto error = [&](std::string_view what) {
      return planError(fmt::format("plan {}", p), what);
    };
    if (ranks.empty())
      return error("no rank runs it");
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] >= set.planOfRank.size())
        return error(fmt::format("rank {} is none of {}", ranks[i],
                                 set.planOfRank.size()));
      if ((i != 0 && ranks[i] <= ranks[i - 1]) ||
          set.planOfRank[ranks[i]] != nobody)
        return error(fmt::format("rank {} runs two plans, or stands in no "
                                 "order",
                                 ranks[i]));
      set.planOfRank[ranks[i]] = p;
    }
  }
  for (uint32_t rank = 0; rank < set.planOfRank.size(); ++rank)
    if (set.planOfRank[rank] == nobody)
      return planError("mesh", fmt::format("rank {} runs no plan", rank));
  if (set.planOfRank[0] != 0)
    return planError("mesh", "rank 0 does not run the first plan");
  return {};
}

/// Calls visit(member) for each that plans share.
template <typename Visit> static void forShared(Visit visit) {
  visit(&fb::PlanT::producer);
  visit(&fb::PlanT::model);
  visit(&fb::PlanT::dtype);
  visit(&fb::PlanT::machine_hash);
  visit(&fb::PlanT::kernels);
  visit(&fb::PlanT::datasets);
  visit(&fb::PlanT::images);
  visit(&fb::PlanT::sources);
  visit(&fb::PlanT::parameters);
  visit(&fb::PlanT::settings);
  visit(&fb::PlanT::plateaus);
}

void dlrt::dropShared(fb::PlanT &plan) {
  fb::PlanT none;
  forShared([&](auto member) { plan.*member = std::move(none.*member); });
}

Expected<PlanSet> dlrt::gatherPlans(fb::PlanFileT file) {
  PlanSet set;
  DLRT_TRY(takeMesh(file, set.mesh));
  set.plans = std::move(file.plans);
  if (set.plans.empty())
    return planError("plans", "there is none");
  DLRT_TRY(placeRanks(set));
  for (auto &plan : set.plans)
    for (auto &state : plan->states)
      if (!state->init)
        state->init = std::make_unique<fb::InitT>();
  if (set.plans.size() == 1)
    return set;
  // A copy of the first is one of what plans share, as long as it has nothing
  // else.
  fb::PlanT &first = *set.plans[0];
  auto steps = std::exchange(first.steps, {});
  auto buffers = std::exchange(first.buffers, {});
  auto states = std::exchange(first.states, {});
  auto constants = std::exchange(first.constants, {});
  for (size_t p = 1; p < set.plans.size(); ++p) {
    fb::PlanT shared = first;
    forShared([&](auto member) {
      set.plans[p].get()->*member = std::move(shared.*member);
    });
  }
  first.steps = std::move(steps);
  first.buffers = std::move(buffers);
  first.states = std::move(states);
  first.constants = std::move(constants);
  return set;
}

static bool sameSplit(const Split &a, const Split &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i]->dim != b[i]->dim || a[i]->axes != b[i]->axes ||
        a[i]->sections != b[i]->sections)
      return false;
  return true;
}

static bool sameBits(const std::vector<double> &a,
                     const std::vector<double> &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

static bool sameRun(const fb::InitRun &a, const fb::InitRun &b) {
  return a.first() == b.first() && a.count() == b.count() &&
         a.given() == b.given();
}

static bool sameInit(const fb::InitT &a, const fb::InitT &b);

static bool samePart(const std::unique_ptr<fb::InitPartT> &a,
                     const std::unique_ptr<fb::InitPartT> &b) {
  return a->offset == b->offset && a->shape == b->shape &&
         a->strides == b->strides && a->whole == b->whole &&
         sameInit(*a->begins, *b->begins);
}

static bool sameInit(const fb::InitT &a, const fb::InitT &b) {
  return a.kind == b.kind && a.a == b.a && a.b == b.b && a.key == b.key &&
         a.low == b.low && a.high == b.high && sameBits(a.values, b.values) &&
         std::ranges::equal(a.runs, b.runs, sameRun) &&
         std::ranges::equal(a.parts, b.parts, samePart);
}

/// What is wrong between two plans' descriptions of one state, or an empty
/// string.
static std::string differs(const fb::StateT &a, const fb::StateT &b) {
  if (a.shape != b.shape || a.dtype != b.dtype)
    return "it has two shapes or dtypes";
  if (a.role != b.role || a.of != b.of || a.aliases != b.aliases)
    return "it has two roles or other names";
  if (!sameInit(*a.init, *b.init))
    return "it has two initial values";
  if (!sameSplit(a.split, b.split))
    return "it is split in two ways";
  return {};
}

/// Ranks must have all of each state between them.
static Status checkWhole(const PlanSet &set) {
  std::map<std::string, std::pair<const fb::StateT *, std::vector<uint32_t>>>
      states; // with the plans that have it
  for (uint32_t p = 0; p < set.plans.size(); ++p)
    for (const auto &state : set.plans[p]->states) {
      auto &[known, plans] = states[state->name];
      if (!known)
        known = state.get();
      else if (std::string what = differs(*known, *state); !what.empty())
        return planError(fmt::format("state '{}'", state->name), what);
      plans.push_back(p);
    }
  for (const auto &[name, found] : states) {
    const fb::StateT &state = *found.first;
    if (state.split.empty() || found.second.size() == set.plans.size())
      continue;
    uint64_t elements = 1, covered = 0;
    for (uint64_t extent : state.shape)
      elements *= extent;
    std::set<std::vector<uint64_t>> seen;
    for (uint32_t p : found.second)
      for (uint32_t rank : set.plans[p]->ranks) {
        Box box = boxOf(set.mesh, state.shape, state.split, rank);
        uint64_t part = 1;
        for (uint64_t extent : box.extent)
          part *= extent;
        if (part != 0 && seen.insert(box.begin).second)
          covered += part;
      }
    if (covered != elements)
      return planError(
          fmt::format("state '{}'", name),
          fmt::format("its parts are {} of {} elements", covered, elements));
  }
  return {};
}

using Scalars = std::vector<std::pair<std::string, fb::DType>>;

static Scalars scalarsOf(const fb::ProgramT &program) {
  Scalars scalars;
  for (const auto &metric : program.metrics)
    if (metric->shape.empty())
      scalars.emplace_back(metric->name, metric->dtype);
  return scalars;
}

/// Whatever a process's ranks run, it knows the same of a step.
static Status checkSteps(const fb::PlanT &a, const fb::PlanT &b, size_t plan) {
  std::string place = fmt::format("plan {}", plan);
  if (a.steps.size() != b.steps.size())
    return planError(place, fmt::format("it has {} steps, the first plan {}",
                                        b.steps.size(), a.steps.size()));
  for (size_t s = 0; s < a.steps.size(); ++s) {
    const fb::StepT &x = *a.steps[s], &y = *b.steps[s];
    auto error = [&](std::string_view what) {
      return planError(fmt::format("{} step '{}'", place, x.name), what);
    };
    if (x.name != y.name || x.training != y.training ||
        x.dataset != y.dataset || x.accumulate != y.accumulate ||
        x.predicts != y.predicts || x.window != y.window ||
        x.by_position != y.by_position ||
        x.programs.size() != y.programs.size())
      return error("it is not the first plan's");
    for (size_t p = 0; p < x.programs.size(); ++p) {
      if (x.programs[p]->kind != y.programs[p]->kind ||
          x.programs[p]->batch_items != y.programs[p]->batch_items)
        return error("its programs are not the first plan's");
      if (scalarsOf(*x.programs[p]) != scalarsOf(*y.programs[p]))
        return error("it reports other scalars than the first plan");
    }
  }
  return {};
}

Status dlrt::validatePlans(const PlanSet &set,
                           const std::vector<SectionView> &sections) {
  for (const auto &plan : set.plans)
    DLRT_TRY(validatePlan(set.mesh, *plan, sections));
  for (size_t p = 1; p < set.plans.size(); ++p)
    DLRT_TRY(checkSteps(set.first(), *set.plans[p], p));
  return checkWhole(set);
}

uint64_t dlrt::arenaBytes(const PlanSet &set) {
  uint64_t most = 0;
  for (const auto &plan : set.plans)
    most = std::max(most, plan->arena_bytes);
  return most;
}

static uint64_t sentBytes(const Mesh &mesh, const fb::ProgramT &program,
                          uint32_t rank) {
  uint64_t bytes = 0;
  for (const auto &command : program.commands)
    if (const auto *work = command->work.AsCommunicate())
      bytes += bytesOf(work->sends) -
               bytesTo(work->sends,
                       work->relative ? 0 : mesh.memberOf(rank, work->axes));
  return bytes;
}

uint64_t dlrt::communicatedBytes(const PlanSet &set, uint32_t step) {
  uint64_t most = 0;
  for (uint32_t rank = 0; rank < set.mesh.ranks(); ++rank) {
    const fb::StepT &own = *set.of(rank).steps[step];
    uint64_t bytes =
        own.accumulate * sentBytes(set.mesh, fullProgram(own), rank);
    if (const auto *update = programOf(own, fb::ProgramKind::Update))
      bytes += sentBytes(set.mesh, *update, rank);
    most = std::max(most, bytes);
  }
  return most;
}
