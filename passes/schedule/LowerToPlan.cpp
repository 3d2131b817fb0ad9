// lower-to-plan: functions of kernels become a plan.
#include "dialects/graph/Check.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/Step.h"
#include "dialects/plan/Plan.h"
#include "passes/schedule/Passes.h"
#include "passes/schedule/PhysicalLayout.h"
#include "passes/schedule/ProgramLowering.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "passes/schedule/Passes.h.inc"
} // namespace dl

namespace dl::schedule {
namespace {

template <typename Attr>
Attr get(DictionaryAttr dict, StringRef name, Attr otherwise = {}) {
  auto attr = dict ? dict.getAs<Attr>(name) : Attr();
  return attr ? attr : otherwise;
}

/// The functions of one step.
struct Step {
  graph::StepOp full, rest, update, item, initial;
};

class PlanLowering {
public:
  PlanLowering(ModuleOp module, const plan::MachineModel &machine,
               plan::Target target)
      : module(module), machine(machine), target(target),
        parts{nullptr, OpBuilder(module.getContext()), {}, {}, {}} {}

  LogicalResult run() {
    makePlan();
    for (auto state : module.getOps<graph::StateOp>())
      if (failed(lowerState(state)))
        return failure();
    lowerSettings();
    lowerPlateaus();
    for (auto dataset : module.getOps<graph::DatasetOp>())
      if (failed(lowerDataset(dataset)))
        return failure();
    llvm::MapVector<StringAttr, Step> steps;
    for (auto func : module.getOps<graph::StepOp>())
      if (StringAttr name = func.getOfAttr()) {
        Step &step = steps[name];
        (func.getPart() == graph::Part::Update    ? step.update
         : func.getPart() == graph::Part::Initial ? step.initial
         : func->hasAttr(graph::kForItem)         ? step.item
         : func.getIsShort()                      ? step.rest
                                                  : step.full) = func;
      }
    for (auto &[name, step] : steps)
      if (failed(lowerStep(name, step)))
        return failure();
    return success();
  }

private:
  void lowerSettings() {
    for (auto table : module.getOps<graph::SettingsOp>())
      for (auto setting :
           table.getSettings().getAsRange<graph::SettingAttr>()) {
        ++parts.settings;
        plan::SettingOp::create(parts.builder, table.getLoc(),
                                parts.builder.getStringAttr(setting.getPath()),
                                setting.getValue());
      }
  }

  /// After the settings. One that no step reads has nothing to change.
  void lowerPlateaus() {
    std::map<StringRef, int64_t> places;
    for (auto table : module.getOps<graph::SettingsOp>())
      for (auto setting : table.getSettings().getAsRange<graph::SettingAttr>())
        places.try_emplace(setting.getPath(),
                           static_cast<int64_t>(places.size()));
    for (auto op : module.getOps<graph::PlateauOp>()) {
      SmallVector<int64_t> settings;
      for (auto path : op.getSettings().getAsValueRange<StringAttr>())
        if (auto place = places.find(path); place != places.end())
          settings.push_back(place->second);
      plan::PlateauOp::create(parts.builder, op.getLoc(), op.getMetricAttr(),
                              parts.builder.getDenseI64ArrayAttr(settings),
                              op.getMaxAttr(), op.getFactorAttr(),
                              op.getPatienceAttr(), op.getThresholdAttr(),
                              op.getAbsoluteAttr(), op.getCooldownAttr(),
                              op.getMinLrAttr(), op.getEpsAttr());
    }
  }

  void makePlan() {
    OpBuilder &builder = parts.builder;
    builder.setInsertionPointToEnd(module.getBody());
    graph::ProgramOp program = graph::programOf(module);
    int64_t parameters = 0;
    for (auto state : module.getOps<graph::StateOp>())
      if (state.getRole() == "parameter")
        parameters +=
            cast<RankedTensorType>(state.getWhole().value_or(state.getType()))
                .getNumElements();
    SmallVector<Attribute> mesh;
    for (auto op : module.getOps<graph::MeshOp>())
      for (auto axis : op.getAxes().getAsRange<graph::AxisAttr>())
        mesh.push_back(plan::AxisAttr::get(builder.getContext(), axis.getName(),
                                           axis.getSize()));
    auto ranks = module->getAttrOfType<DenseI64ArrayAttr>(graph::kRanks);
    if (!ranks)
      mesh.clear();
    parts.plan = plan::PlanOp::create(
        builder, module.getLoc(), program ? program.getModel() : "",
        program ? program.getDtype() : builder.getF32Type(),
        /*arena_bytes=*/0, parameters, machine.hash(),
        builder.getArrayAttr(mesh),
        ranks ? ranks : builder.getDenseI64ArrayAttr({}), target,
        program ? program.getConstantsAttr() : ArrayAttr());
    builder.setInsertionPointToEnd(&parts.plan.getBody().emplaceBlock());
  }

  /// Null if the distribution is unknown.
  plan::InitAttr initOf(DictionaryAttr init) {
    OpBuilder &builder = parts.builder;
    StringAttr kindName = get<StringAttr>(init, "kind");
    auto kind =
        plan::symbolizeInitKind(kindName ? kindName.getValue() : "zero");
    if (!kind)
      return {};
    SmallVector<Attribute> initParts;
    if (auto list = get<ArrayAttr>(init, "parts"))
      for (auto part : list.getAsRange<DictionaryAttr>()) {
        plan::InitAttr begins = initOf(get<DictionaryAttr>(part, "begins"));
        if (!begins)
          return {};
        initParts.push_back(plan::InitPartAttr::get(
            builder.getContext(), get<IntegerAttr>(part, "offset").getInt(),
            get<DenseI64ArrayAttr>(part, "shape"),
            get<DenseI64ArrayAttr>(part, "strides"), part.contains("whole"),
            begins));
      }
    auto zero = builder.getF64FloatAttr(0);
    auto key = get<IntegerAttr>(init, "key");
    return plan::InitAttr::get(
        builder.getContext(), *kind, get<FloatAttr>(init, "a", zero),
        get<FloatAttr>(init, "b", zero), get<FloatAttr>(init, "low"),
        get<FloatAttr>(init, "high"), key ? key.getValue().getZExtValue() : 0,
        get<DenseI64ArrayAttr>(init, "runs"),
        get<DenseF64ArrayAttr>(init, "values"),
        initParts.empty() ? ArrayAttr() : builder.getArrayAttr(initParts));
  }

  LogicalResult lowerState(graph::StateOp state) {
    OpBuilder &builder = parts.builder;
    auto type = cast<RankedTensorType>(state.getType());
    auto role = plan::symbolizeStateRole(state.getRole());
    plan::InitAttr init = initOf(state.getInitAttr());
    if (!role || !init)
      return state.emitOpError("has an unknown role or distribution");
    Value buffer = plan::BufferOp::create(
        builder, state.getLoc(), builder.getType<plan::BufferType>(),
        state.getSymNameAttr(), plan::Space::Arena,
        builder.getI64IntegerAttr(bytesOf(type)), /*offset=*/IntegerAttr(),
        builder.getUnitAttr(), /*source=*/plan::SourceAttr(),
        plan::memoryOf(target));
    parts.states[state.getSymName()] = plan::StateOp::create(
        builder, state.getLoc(), state.getSymNameAttr(), *role, buffer,
        TypeAttr::get(type), physicalDims(type, state.getLayoutAttr()), init,
        state.getOfAttr(),
        state.getAliasesAttr() ? state.getAliasesAttr()
                               : builder.getArrayAttr({}),
        splitOf(state), state.getWholeAttr());
    return success();
  }

  ArrayAttr splitOf(graph::StateOp state) {
    SmallVector<Attribute> split;
    if (graph::ShardingAttr sharding = state.getShardingAttr();
        sharding && state.getWhole())
      for (auto [dim, axes] :
           llvm::enumerate(sharding.getDims().getAsRange<ArrayAttr>()))
        if (!axes.empty())
          split.push_back(splitOf(dim, axes));
    return parts.builder.getArrayAttr(split);
  }

  /// Of axes, or of digits: sections, and how each is divided.
  plan::SplitAttr splitOf(size_t dim, ArrayAttr given) {
    MLIRContext *context = given.getContext();
    if (isa<StringAttr>(given[0]))
      return plan::SplitAttr::get(context, dim, given, 1);
    int64_t sections = 1;
    SmallVector<ArrayAttr> digits(given.getAsRange<ArrayAttr>());
    for (ArrayAttr digit : ArrayRef(digits).drop_back()) {
      DL_CHECK(digit.size() == 1, "a state lies in blocks, or in those of "
                                  "equal sections");
      sections *= cast<IntegerAttr>(digit[0]).getInt();
    }
    auto axes = ArrayAttr::get(context, digits.back().getValue().drop_front());
    return plan::SplitAttr::get(context, dim, axes, sections);
  }

  ArrayAttr selectionsOf(graph::DatasetOp dataset) {
    if (!dataset.getSelections())
      return nullptr;
    SmallVector<Attribute> selections;
    for (auto one : dataset.getSelections()->getAsRange<graph::SelectionAttr>())
      selections.push_back(plan::SelectionAttr::get(
          dataset.getContext(), one.getItems(), one.getFirst(), one.getOf(),
          one.getShuffled(), one.getSeed()));
    return parts.builder.getArrayAttr(selections);
  }

  plan::SamplerAttr samplerOf(graph::DatasetOp dataset) {
    auto sampler = dataset.getSamplerAttr();
    return sampler
               ? plan::SamplerAttr::get(dataset.getContext(),
                                        sampler.getWeights(), sampler.getOf())
               : nullptr;
  }

  LogicalResult lowerDataset(graph::DatasetOp dataset) {
    OpBuilder &builder = parts.builder;
    auto kind = plan::symbolizeDatasetKind(dataset.getKind());
    if (!kind)
      return dataset.emitOpError("is of the unknown kind ")
             << dataset.getKindAttr();
    SmallVector<Attribute> transforms;
    if (dataset.getTransforms())
      for (auto transform :
           dataset.getTransforms()->getAsRange<graph::ImageTransformAttr>()) {
        auto which = plan::symbolizeImageTransformKind(transform.getKind());
        if (!which)
          return dataset.emitOpError("has the unknown transform ") << transform;
        transforms.push_back(plan::ImageTransformAttr::get(
            dataset.getContext(), *which, transform.getHeight(),
            transform.getWidth(), transform.getNumbers()));
      }
    plan::DatasetOp::create(
        builder, dataset.getLoc(), *kind, dataset.getRootAttr(),
        dataset.getPathsAttr(), dataset.getTrainAttr(), dataset.getItemsAttr(),
        dataset.getBatchAttr(), dataset.getShuffleAttr(),
        dataset.getDropLastAttr(), dataset.getComponentsAttr(),
        dataset.getStrideAttr(),
        transforms.empty() ? ArrayAttr() : builder.getArrayAttr(transforms),
        dataset.getClassesAttr(), selectionsOf(dataset), samplerOf(dataset));
    return success();
  }

  LogicalResult lowerStep(StringAttr name, Step step) {
    OpBuilder &builder = parts.builder;
    if (!step.full)
      return module.emitError("the step '")
             << name.getValue() << "' has no function for a full batch";
    bool training = step.full.getTraining();
    int64_t micros = training ? graph::accumulationOf(module) : 1;
    auto stepOp = plan::StepOp::create(
        builder, step.full.getLoc(), name,
        training ? builder.getUnitAttr() : UnitAttr(),
        step.full->hasAttr(graph::kPredicts) ? builder.getUnitAttr()
                                             : UnitAttr(),
        builder.getI64IntegerAttr(step.full.getDataset().value_or(0)),
        builder.getI64IntegerAttr(micros),
        step.full->getAttrOfType<StringAttr>(graph::kMixes),
        step.full->getAttrOfType<IntegerAttr>(graph::kWindow),
        step.full->hasAttr(graph::kByPosition) ? builder.getUnitAttr()
                                               : UnitAttr());
    OpBuilder programs =
        OpBuilder::atBlockEnd(&stepOp.getBody().emplaceBlock());
    // Buffers and kernels stand before the step that uses them.
    builder.setInsertionPoint(stepOp);
    using Kind = plan::ProgramKind;
    for (auto [func, kind] :
         {std::pair{step.full, Kind::Full}, std::pair{step.rest, Kind::Short},
          std::pair{step.update, Kind::Update},
          std::pair{step.item, Kind::Item},
          std::pair{step.initial, Kind::Initial}}) {
      if (!func)
        continue;
      auto program = plan::ProgramOp::create(
          programs, func.getLoc(), kind,
          builder.getI64IntegerAttr(func.getBatch().value_or(0)),
          func->hasAttr(graph::kBatchAxes)
              ? func->getAttrOfType<ArrayAttr>(graph::kBatchAxes)
              : builder.getArrayAttr({}));
      program.getBody().emplaceBlock();
      if (Attribute sum = func->getAttr(graph::kMadeAgainSum))
        program->setAttr(graph::kMadeAgainSum, sum);
      if (failed(lowerProgram(func, program, parts)))
        return failure();
    }
    builder.setInsertionPointToEnd(&parts.plan.getBody().front());
    return success();
  }

  ModuleOp module;
  const plan::MachineModel &machine;
  plan::Target target;
  PlanParts parts;
};

struct LowerToPlan : impl::LowerToPlanBase<LowerToPlan> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(PlanLowering(getOperation(), machine, target).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace dl::schedule
