// lower-to-plan: functions of kernels become a plan.
#include "dialects/graph/Graph.h"
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
  func::FuncOp full, rest, update;
};

class PlanLowering {
public:
  PlanLowering(ModuleOp module, const plan::MachineModel &machine)
      : module(module), machine(machine),
        parts{nullptr, OpBuilder(module.getContext()), {}, {}, {}} {}

  LogicalResult run() {
    makePlan();
    for (auto state : module.getOps<graph::StateOp>())
      if (failed(lowerState(state)))
        return failure();
    if (auto datasets = module->getAttrOfType<ArrayAttr>("graph.datasets"))
      for (auto dataset : datasets.getAsRange<DictionaryAttr>())
        if (failed(lowerDataset(dataset)))
          return failure();
    llvm::MapVector<StringAttr, Step> steps;
    for (auto func : module.getOps<func::FuncOp>())
      if (auto name = func->getAttrOfType<StringAttr>("graph.step")) {
        Step &step = steps[name];
        (func->hasAttr("graph.update")  ? step.update
         : func->hasAttr("graph.short") ? step.rest
                                        : step.full) = func;
      }
    for (auto &[name, step] : steps)
      if (failed(lowerStep(name, step)))
        return failure();
    return success();
  }

private:
  void makePlan() {
    OpBuilder &builder = parts.builder;
    builder.setInsertionPointToEnd(module.getBody());
    auto model = module->getAttrOfType<StringAttr>("graph.model");
    auto dtype = module->getAttrOfType<TypeAttr>("graph.dtype");
    int64_t parameters = 0;
    for (auto state : module.getOps<graph::StateOp>())
      if (state.getRole() == "parameter")
        parameters += cast<RankedTensorType>(state.getType()).getNumElements();
    parts.plan = plan::PlanOp::create(
        builder, module.getLoc(), model ? model : builder.getStringAttr(""),
        dtype ? dtype : TypeAttr::get(builder.getF32Type()),
        builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(parameters),
        builder.getStringAttr(machine.hash()));
    builder.setInsertionPointToEnd(&parts.plan.getBody().emplaceBlock());
  }

  LogicalResult lowerState(graph::StateOp state) {
    OpBuilder &builder = parts.builder;
    auto type = cast<RankedTensorType>(state.getType());
    auto role = plan::symbolizeStateRole(state.getRole());
    DictionaryAttr init = state.getInitAttr();
    StringAttr kindName = get<StringAttr>(init, "kind");
    auto kind =
        plan::symbolizeInitKind(kindName ? kindName.getValue() : "zero");
    if (!role || !kind)
      return state.emitOpError("has an unknown role or distribution");
    auto zero = builder.getF64FloatAttr(0);
    auto key = get<IntegerAttr>(init, "key");
    Value buffer = plan::BufferOp::create(
        builder, state.getLoc(), builder.getType<plan::BufferType>(),
        state.getSymNameAttr(), plan::Space::Arena,
        builder.getI64IntegerAttr(bytesOf(type)), /*offset=*/IntegerAttr(),
        builder.getUnitAttr(), /*source=*/plan::SourceAttr());
    parts.states[state.getSymName()] = plan::StateOp::create(
        builder, state.getLoc(), state.getSymNameAttr(), *role, buffer,
        TypeAttr::get(type), physicalDims(type, state.getLayoutAttr()),
        plan::InitAttr::get(builder.getContext(), *kind,
                            get<FloatAttr>(init, "a", zero),
                            get<FloatAttr>(init, "b", zero),
                            key ? key.getValue().getZExtValue() : 0),
        state.getOfAttr(),
        state.getAliasesAttr() ? state.getAliasesAttr()
                               : builder.getArrayAttr({}));
    return success();
  }

  LogicalResult lowerDataset(DictionaryAttr dataset) {
    OpBuilder &builder = parts.builder;
    auto kindName = get<StringAttr>(dataset, "kind");
    auto kind = plan::symbolizeDatasetKind(kindName ? kindName.getValue() : "");
    if (!kind)
      return module.emitError("unknown kind of dataset in ") << dataset;
    SmallVector<Attribute> components;
    for (auto component : get(dataset, "components", builder.getArrayAttr({}))
                              .getAsRange<DictionaryAttr>()) {
      SmallVector<int64_t> shape;
      if (auto dense = component.getAs<DenseI64ArrayAttr>("shape"))
        shape.assign(dense.asArrayRef().begin(), dense.asArrayRef().end());
      else if (auto list = component.getAs<ArrayAttr>("shape"))
        for (auto extent : list.getAsRange<IntegerAttr>())
          shape.push_back(extent.getInt());
      auto dtype = component.getAs<TypeAttr>("dtype");
      if (!dtype)
        return module.emitError("a component without dtype in ") << dataset;
      components.push_back(
          TypeAttr::get(RankedTensorType::get(shape, dtype.getValue())));
    }
    auto flag = [&](StringRef name) {
      auto value = dataset.getAs<BoolAttr>(name);
      return dataset.getAs<UnitAttr>(name) || (value && value.getValue())
                 ? builder.getUnitAttr()
                 : UnitAttr();
    };
    auto zero = builder.getI64IntegerAttr(0);
    plan::DatasetOp::create(
        builder, module.getLoc(), *kind,
        get(dataset, "root", builder.getStringAttr("")),
        get(dataset, "paths", builder.getArrayAttr({})), flag("train"),
        get(dataset, "items", zero), get(dataset, "batch_size", zero),
        flag("shuffle"), flag("drop_last"), builder.getArrayAttr(components));
    return success();
  }

  LogicalResult lowerStep(StringAttr name, Step step) {
    OpBuilder &builder = parts.builder;
    if (!step.full)
      return module.emitError("the step '")
             << name.getValue() << "' has no function for a full batch";
    bool training = step.full->hasAttr("graph.training");
    auto accumulate = module->getAttrOfType<IntegerAttr>("graph.accumulate");
    auto dataset = step.full->getAttrOfType<IntegerAttr>("graph.dataset");
    int64_t micros = training && accumulate ? accumulate.getInt() : 1;
    auto stepOp = plan::StepOp::create(
        builder, step.full.getLoc(), name,
        training ? builder.getUnitAttr() : UnitAttr(),
        builder.getI64IntegerAttr(dataset ? dataset.getInt() : 0),
        builder.getI64IntegerAttr(micros));
    OpBuilder programs =
        OpBuilder::atBlockEnd(&stepOp.getBody().emplaceBlock());
    // Buffers and kernels stand before the step that uses them.
    builder.setInsertionPoint(stepOp);
    using Kind = plan::ProgramKind;
    for (auto [func, kind] :
         {std::pair{step.full, Kind::Full}, std::pair{step.rest, Kind::Short},
          std::pair{step.update, Kind::Update}}) {
      if (!func)
        continue;
      auto batch = func->getAttrOfType<IntegerAttr>("graph.batch");
      auto program = plan::ProgramOp::create(
          programs, func.getLoc(), kind,
          builder.getI64IntegerAttr(batch ? batch.getInt() : 0));
      program.getBody().emplaceBlock();
      if (failed(lowerProgram(func, program, parts)))
        return failure();
    }
    builder.setInsertionPointToEnd(&parts.plan.getBody().front());
    return success();
  }

  ModuleOp module;
  const plan::MachineModel &machine;
  PlanParts parts;
};

struct LowerToPlan : impl::LowerToPlanBase<LowerToPlan> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(PlanLowering(getOperation(), machine).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace dl::schedule
