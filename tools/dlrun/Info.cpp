#include "runtime/base/Numbers.h"
#include "runtime/exec/Cpu.h"
#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/Layout.h"
#include "runtime/plan/MatrixProduct.h"
#include "runtime/plan/SourceText.h"
#include "runtime/plan/StepPrograms.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Progress.h"
#include "tools/dlrun/StartTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace dlrun;
using namespace dlrt;

static std::string initText(const fb::InitT &init) {
  switch (init.kind) {
  case fb::InitKind::Zero:
    return "0";
  case fb::InitKind::Constant:
    return shortest(init.a);
  case fb::InitKind::Uniform:
    return fmt::format("uniform [{:.4g}, {:.4g})", init.a, init.b);
  case fb::InitKind::Normal:
    return fmt::format("normal {:.4g}, {:.4g}", init.a, init.b);
  case fb::InitKind::Truncated:
    return fmt::format("normal {:.4g}, {:.4g} in [{:.4g}, {:.4g}]", init.a,
                       init.b, std::min(init.low, init.high),
                       std::max(init.low, init.high));
  case fb::InitKind::Padded:
    return fmt::format("normal {:.4g}, {:.4g}, row {} zero", init.a, init.b,
                       init.low);
  case fb::InitKind::Orthogonal:
    return fmt::format("orthogonal, times {:.4g}", init.a);
  case fb::InitKind::Dirac:
    return fmt::format("dirac, {} groups", init.a);
  case fb::InitKind::Sparse:
    return fmt::format("normal 0, {:.4g}, {:.4g} of it zero", init.b, init.a);
  }
  return "";
}

static std::string firstValues(const fb::InitT &init) {
  size_t parts = init.parts.size() + init.runs.size();
  return initText(init) + (parts == 0
                               ? ""
                               : fmt::format(", but for {} part{}", parts,
                                             parts == 1 ? "" : "s"));
}

static std::string headText(const LoadedPlan &loaded, const std::string &path) {
  const fb::PlanT &plan = loaded.first();
  std::string text = fmt::format("{}: {}, {}, by {}, {}\n", path, plan.model,
                                 nameOf(plan.dtype), plan.producer,
                                 humanBytes(loaded.file.bytes().size()));
  text += fmt::format("parameters  {}\narena       {} in {} buffers\n",
                      withCommas(plan.parameters), humanBytes(plan.arena_bytes),
                      plan.buffers.size());
  for (const auto &image : plan.images)
    text += fmt::format(
        "kernels     {} for {}{}, {}{}\n", plan.kernels.size(),
        image->target == fb::Target::Cuda ? "CUDA " : "", image->features,
        humanBytes(loaded.sections[image->section].bytes.size()),
        image->target != fb::Target::Cpu || cpuSupports(image->features)
            ? ""
            : " (not on this processor)");
  return text;
}

std::map<fb::StateRole, uint64_t> dlrun::stateBytes(const fb::PlanT &plan) {
  std::map<fb::StateRole, uint64_t> bytes;
  for (const auto &state : plan.states)
    bytes[state->role] += plan.buffers[state->buffer]->bytes;
  return bytes;
}

/// "ranks 0, 1, 2, 3 and 12 more"
static std::string ranksText(const std::vector<uint32_t> &ranks) {
  constexpr size_t shown = 8;
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (size_t i = 0; i < std::min(ranks.size(), shown); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", ranks[i]);
  if (ranks.size() > shown)
    text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

/// What each rank of a mesh has.
static std::string meshText(const LoadedPlan &loaded) {
  if (loaded.mesh.ranks() == 1)
    return "";
  std::string text =
      fmt::format("mesh        {}: {} ranks, {} program{}\n",
                  loaded.mesh.text(), loaded.mesh.ranks(), loaded.plans.size(),
                  loaded.plans.size() == 1 ? "" : "s");
  for (const auto &plan : loaded.plans) {
    text += fmt::format("  {}: {} each", ranksText(plan->ranks),
                        humanBytes(plan->arena_bytes));
    for (const auto &[role, bytes] : stateBytes(*plan))
      text +=
          fmt::format(", {} {}", EnumNameStateRole(role), humanBytes(bytes));
    text += "\n";
  }
  for (uint32_t s = 0; s < loaded.first().steps.size(); ++s)
    text += fmt::format("  step {}: a rank sends {}\n",
                        displayName(*loaded.first().steps[s]),
                        humanBytes(communicatedBytes(loaded, s)));
  return text;
}

static std::string settingsText(const fb::PlanT &plan) {
  if (plan.settings.empty())
    return "";
  std::string text = "\nsettings, for --set NAME=VALUE\n";
  for (const auto &setting : plan.settings)
    text +=
        fmt::format("  {:<40} {}\n", setting->name, shortest(setting->value));
  return text;
}

static std::string plateausText(const fb::PlanT &plan) {
  std::string text;
  for (const auto &plateau : plan.plateaus)
    for (uint32_t place : plateau->settings)
      text += fmt::format("  {:<40} times {} after more than {} evaluations "
                          "without a better {}\n",
                          plan.settings[place]->name, shortest(plateau->factor),
                          plateau->patience, plateau->metric);
  return text;
}

/// Buffers of states whose first values a program computes.
static std::set<uint32_t> computedAtStart(const fb::PlanT &plan) {
  std::set<uint32_t> buffers;
  for (const auto &step : plan.steps)
    if (const auto *program = programOf(*step, fb::ProgramKind::Initial))
      for (const auto &command : program->commands)
        for (const Access &access : accessesOf(plan, *command))
          if (access.writes)
            buffers.insert(access.range.buffer());
  return buffers;
}

static std::string statesText(const Mesh &mesh, const fb::PlanT &plan) {
  std::string text = "\nstates\n";
  const std::set<uint32_t> computed = computedAtStart(plan);
  for (const auto &state : plan.states)
    text += fmt::format(
        "  {:<40} {:<9} {} {:<14} {:<22} {}\n", state->name,
        EnumNameStateRole(state->role), nameOf(state->dtype),
        shapeText(state->shape),
        computed.contains(state->buffer) ? "computed"
                                         : firstValues(*state->init),
        layoutText(
            boxOf(mesh, state->shape, state->split, plan.ranks.front()).extent,
            state->layout));
  return text;
}

/// " of 256 threads, 16.0 KiB shared" behind the number of blocks; of a
/// library's product what it multiplies.
static std::string blockText(const fb::PlanT &plan,
                             const fb::CommandT &command) {
  if (const fb::MultiplyT *product = command.work.AsMultiply())
    return fmt::format(
        ", {}x{} by {}x{}{} in {}{}{}", product->m, product->k, product->k,
        product->n,
        product->batch == 1 ? "" : fmt::format(" {} times", product->batch),
        nameOf(product->arithmetic), product->matrices.size() > 3 ? " + c" : "",
        product->bias == -1 ? "" : " + bias");
  const fb::LaunchT *launch = command.work.AsLaunch();
  if (!launch || variantOf(*plan.kernels[launch->kernel]).threads == 0)
    return "";
  const fb::VariantT &variant = variantOf(*plan.kernels[launch->kernel]);
  return fmt::format(" of {} threads{}", variant.threads,
                     variant.shared_bytes == 0
                         ? ""
                         : ", " + humanBytes(variant.shared_bytes) + " shared");
}

static std::string programText(const fb::PlanT &plan,
                               const fb::ProgramT &program) {
  std::string text;
  for (size_t c = 0; c < program.commands.size(); ++c) {
    const fb::CommandT &command = *program.commands[c];
    CommandFacts facts = factsOf(plan, command);
    std::string ops;
    for (uint32_t op : command.ops)
      ops += (ops.empty() ? "" : ", ") + plan.sources[op]->op;
    std::string deps;
    for (uint32_t dep : command.deps)
      deps += fmt::format("{}{}", deps.empty() ? "" : ",", dep);
    text += fmt::format(
        "  {:>4}  {:<28} {:<9} {:>6} tiles{}{} {:>8} FLOP  "
        "after [{}]  {}\n",
        c, facts.title, facts.category, facts.tiles, blockText(plan, command),
        command.serial ? " (serial)" : "",
        countForPeople(static_cast<double>(facts.flops)), deps, ops);
  }
  for (const auto &metric : program.metrics)
    text += fmt::format("  metric {} {} {}\n", metric->name,
                        nameOf(metric->dtype), shapeText(metric->shape));
  for (const auto &flag : program.errors)
    text += fmt::format("  checks {} ({})\n", flag->message,
                        sourceText(*plan.sources[flag->source]));
  return text;
}

static std::string stepsText(const fb::PlanT &plan) {
  std::string text;
  for (const auto &step : plan.steps) {
    const fb::DatasetT &data = *plan.datasets[step->dataset];
    text += fmt::format("\nstep {} ({}): ", displayName(*step),
                        step->training      ? "training"
                        : step->window != 0 ? "generation"
                        : step->predicts    ? "prediction"
                                            : "evaluation");
    if (step->window != 0)
      text += fmt::format("windows of {} tokens{}", withCommas(step->window),
                          step->by_position ? ", one at a time" : "");
    else
      text += fmt::format(
          "{}, {}, in batches of {}{}{}", EnumNameDatasetKind(data.kind),
          itemsText(data, data.items), data.batch_size,
          step->training && data.shuffle ? ", shuffled" : "",
          step->training && data.drop_last ? ", last short batch dropped" : "");
    if (step->accumulate > 1)
      text += fmt::format(", {} batches a step", step->accumulate);
    text += '\n';
    for (size_t c = 0; c < data.classes.size(); ++c)
      text +=
          (c ? ", " : fmt::format("  classes of '{}': ", displayName(*step))) +
          data.classes[c] + (c + 1 == data.classes.size() ? "\n" : "");
    for (const auto &program : step->programs) {
      if (program->kind != fb::ProgramKind::Full)
        text += fmt::format("  {}\n", nameOf(program->kind));
      text += programText(plan, *program);
    }
  }
  return text;
}

Expected<int> dlrun::runInfo(const Options &options) {
  Expected<LoadedPlan> loaded = readPlan(options.plan);
  if (!loaded)
    return loaded.takeError();
  if (options.json) {
    writeStdout(planAsJson(*loaded, options.plan));
    return 0;
  }
  std::string text = headText(*loaded, options.plan) + meshText(*loaded) +
                     settingsText(loaded->first()) +
                     plateausText(loaded->first());
  for (const auto &plan : loaded->plans) {
    if (loaded->plans.size() > 1)
      text += fmt::format("\n{}\n", ranksText(plan->ranks));
    text += statesText(loaded->mesh, *plan) + stepsText(*plan);
  }
  writeStdout(text);
  return 0;
}
