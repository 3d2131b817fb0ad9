#include "tools/dlrun/StartTable.h"

#include "runtime/base/Numbers.h"
#include "runtime/plan/DTypes.h"
#include "tools/dlrun/Events.h"

#include <fmt/format.h>

using namespace dlrun;
using namespace dlrt;

static void row(const char *name, const std::string &text) {
  if (!text.empty())
    writeStderr(fmt::format("{:<11} {}\n", name, text));
}

static std::string dataRow(Session &session, uint32_t index) {
  const auto &step = *session.plan().steps[index];
  const auto &plan = *session.plan().datasets[step.dataset];
  const Dataset &data = session.dataset(index);
  std::string text =
      fmt::format("{}: {}, batches of {}", displayName(step),
                  itemsText(plan, data.items), withCommas(plan.batch_size));
  if (step.accumulate > 1)
    text += fmt::format(" x {} a step", step.accumulate);
  if (plan.shuffle && session.options().shuffle && step.training)
    text += ", shuffled";
  bool drops = plan.drop_last || session.options().dropLast;
  if (drops && step.training && data.items % plan.batch_size != 0)
    text += ", last short batch dropped";
  return fmt::format("{}, {}", text, data.source);
}

/// What carries bytes between ranks.
static const char *engineOf(Session &session) {
  if (!session.options().ranks)
    return "virtual";
  return session.device().network().empty() ? "mpi" : "nccl";
}

static std::string filesText(const std::vector<WeightSource> &sources) {
  std::string text;
  for (const WeightSource &source : sources)
    text += (text.empty() ? "" : ", ") + source.path;
  return text;
}

void dlrun::reportStart(Session &session, const Options &options,
                        const std::string &length, uint64_t stepsDone) {
  const fb::PlanT &plan = session.plan();
  if (options.json) {
    Event start("start");
    start.field("plan", options.plan)
        .field("parameters", plan.parameters)
        .field("arena_bytes", arenaBytes(session.plans()))
        .field("threads", session.options().threads);
    if (const Mesh &mesh = session.plans().mesh; mesh.ranks() > 1)
      start.field("mesh", mesh.text())
          .field("ranks", mesh.ranks())
          .field("engine", engineOf(session));
    if (const std::string &network = session.device().network();
        !network.empty())
      start.field("network", network);
    if (const std::string &library = session.device().library();
        !library.empty())
      start.field("library", library);
    if (stepsDone != 0)
      start.field("steps_done", stepsDone);
    start.send();
    return;
  }
  if (options.quiet)
    return;
  row("model", fmt::format("{}, {}, by {}", plan.model, nameOf(plan.dtype),
                           plan.producer));
  row("parameters", withCommas(plan.parameters));
  if (const Mesh &mesh = session.plans().mesh; mesh.ranks() > 1)
    row("mesh", fmt::format("{}: {} ranks, {}", mesh.text(), mesh.ranks(),
                            engineOf(session)));
  row("memory", fmt::format("{} for tensors, {} with batches and scratch",
                            humanBytes(arenaBytes(session.plans())),
                            humanBytes(session.device().memoryBytes())));
  std::string isa =
      plan.images.empty()
          ? ""
          : fmt::format(" for {}",
                        plan.images[session.device().image()]->features);
  row("kernels", fmt::format("{}{}, {} thread{}", plan.kernels.size(), isa,
                             session.options().threads,
                             session.options().threads == 1 ? "" : "s"));
  row("network", session.device().network());
  row("products", session.device().library());
  const char *title = "data";
  for (uint32_t s = 0; s < plan.steps.size(); ++s)
    if (session.hasData(s)) {
      row(title, dataRow(session, s));
      title = "";
    }
  if (stepsDone != 0)
    row("weights", fmt::format("of step {}", withCommas(stepsDone)));
  else
    row("weights", options.init.empty()
                       ? fmt::format("initial, seed {}", options.seed)
                       : fmt::format("{}, seed {}", filesText(options.init),
                                     options.seed));
  std::string settings;
  for (const SettingValue &setting : session.changedSettings())
    settings += fmt::format("{}{} {}", settings.empty() ? "" : ", ",
                            setting.name, shortest(setting.value));
  row("settings", settings);
  row("run", length);
}
