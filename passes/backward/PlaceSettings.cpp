#include "dialects/graph/StepScalars.h"
#include "passes/backward/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace dl {
#define GEN_PASS_DEF_PLACESETTINGS
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct PlaceSettings : dl::impl::PlaceSettingsBase<PlaceSettings> {
  void runOnOperation() override {
    SmallVector<graph::SettingOp> ops;
    for (auto step : getOperation().getOps<graph::StepOp>())
      llvm::append_range(ops, step.getOps<graph::SettingOp>());
    for (graph::SettingOp op : ops)
      if (failed(number(op)))
        return signalPassFailure();
    if (ops.empty())
      return;
    for (graph::SettingOp op : ops)
      if (failed(place(op)))
        return signalPassFailure();
    SmallVector<Attribute> table;
    for (auto &[path, entry] : positions)
      table.push_back(entry.second);
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    graph::SettingsOp::create(builder, getOperation().getLoc(),
                              builder.getArrayAttr(table));
  }

private:
  /// In the order in which the steps name them first.
  LogicalResult number(graph::SettingOp op) {
    graph::SettingAttr setting = op.getSetting();
    int64_t next = graph::numStepScalars + positions.size();
    auto [at, isNew] = positions.try_emplace(setting.getPath(), next, setting);
    if (!isNew && at->second.second != setting)
      return op.emitError() << "the setting '" << setting.getPath()
                            << "' begins with two values, " << at->second.second
                            << " and " << setting;
    return success();
  }

  LogicalResult place(graph::SettingOp op) {
    Value scalars = op->getParentOfType<graph::StepOp>().getScalars();
    if (!scalars)
      return op.emitError() << "the setting '" << op.getSetting().getPath()
                            << "' needs the step's scalars as an argument";
    OpBuilder builder(op);
    scalars.setType(RankedTensorType::get(
        {graph::numStepScalars + static_cast<int64_t>(positions.size())},
        builder.getI64Type()));
    Value read = graph::ReadSettingOp::create(
        builder, op.getLoc(), scalars,
        positions.find(op.getSetting().getPath())->second.first);
    op->replaceAllUsesWith(ValueRange(read));
    op.erase();
    return success();
  }

  llvm::MapVector<StringRef, std::pair<int64_t, graph::SettingAttr>> positions;
};

} // namespace
