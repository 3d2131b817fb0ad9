// ReduceLROnPlateau: learning rates that dlrun changes after evaluations.
#include "compiler/frontend/Graph.h"
#include "compiler/frontend/Locations.h"
#include "compiler/frontend/Suggest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dl::frontend;

int Graph::makePlateau(const dl_plateau_options &given) {
  plateaus.push_back({given, {}, ""});
  return static_cast<int>(plateaus.size()) - 1;
}

/// Called in each trace of a step that the optimizer updates in. Outside of
/// steps a rate is a number or a setting; the first has become one.
void Graph::addPlateauRate(int plateau, int number) {
  dl::graph::SettingAttr setting = get(number, "ReduceLROnPlateau").setting;
  auto &settings = plateaus[static_cast<size_t>(plateau)].settings;
  std::string path = setting.getPath().str();
  if (!llvm::is_contained(settings, path))
    settings.push_back(path);
}

void Graph::stepPlateau(int plateau, const std::string &metric) {
  epochChanges = true;
  Plateau &one = plateaus[static_cast<size_t>(plateau)];
  if (trace)
    reporter.fail("ReduceLROnPlateau.step: this belongs into dl_main() or "
                  "p.each_epoch(); it happens after each evaluation");
  if (!one.metric.empty())
    reporter.fail("ReduceLROnPlateau.step: it was called before, with '" +
                  one.metric + "'");
  one.metric = metric;
  one.stepped = reporter.stack.userFrames();
}

/// The metric's whole name; that of the metric alone will do where one
/// evaluation has it.
std::string Graph::evaluationMetric(const Plateau &plateau) const {
  std::vector<std::string> names, same;
  for (const auto &one : traces) {
    if (one->training || one->predicts || one->isShort)
      continue;
    for (const Metric &metric : one->metrics)
      if (cast<RankedTensorType>(metric.value.getType()).getRank() == 0)
        names.push_back(one->step + "." + metric.name);
  }
  for (const std::string &name : names) {
    if (name == plateau.metric)
      return name;
    if (StringRef(name).ends_with("." + plateau.metric))
      same.push_back(name);
  }
  if (same.size() == 1)
    return same.front();
  std::string near = same.empty() ? nearest(plateau.metric, names) : "";
  reporter.failAt(
      plateau.stepped,
      "ReduceLROnPlateau.step: " +
          std::string(same.empty()
                          ? "no evaluation has a metric '"
                          : "more than one evaluation has a metric '") +
          plateau.metric + "'" +
          (near.empty() ? "" : ", did you mean '" + near + "'?") +
          "; evaluations report " +
          (names.empty() ? "none" : llvm::join(names, ", ")));
}

void Graph::writePlateaus() {
  for (const Plateau &one : plateaus) {
    if (one.metric.empty())
      continue;
    SmallVector<StringRef> settings(one.settings.begin(), one.settings.end());
    auto number = [&](double value) { return builder.getF64FloatAttr(value); };
    dl::graph::PlateauOp::create(
        builder, locationOf(one.stepped, &context),
        builder.getStringAttr(evaluationMetric(one)),
        builder.getStrArrayAttr(settings),
        one.options.max ? builder.getUnitAttr() : UnitAttr(),
        number(one.options.factor),
        builder.getI64IntegerAttr(one.options.patience),
        number(one.options.threshold),
        one.options.absolute ? builder.getUnitAttr() : UnitAttr(),
        builder.getI64IntegerAttr(one.options.cooldown),
        number(one.options.min_lr), number(one.options.eps));
  }
}
