#include "compiler/pictures/DevicesPicture.h"
#include "compiler/pictures/Ranks.h"
#include "compiler/pictures/StepParts.h"
#include "compiler/pictures/Text.h"
#include "dialects/graph/SourceLine.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <tuple>

using namespace mlir;

namespace dl::pictures {

namespace {

/// Rows of exchanges: those of all micro-batches share one, and all members of
/// one do.
class ExchangeRows {
public:
  int of(graph::CommunicationOpInterface op, Part part) {
    auto known = rowOfOrder.find(op.getOrder());
    if (known != rowOfOrder.end())
      return known->second;
    graph::SourceLine place = graph::sourceLineOf(op->getLoc());
    bool isPair = isa<graph::SendOp, graph::ReceiveOp>(op);
    Key key = {isPair ? "send" : op->getName().stripDialect().str(),
               axesText(op),
               place.lineText(),
               place.module.str(),
               part,
               exchangedBytes(op)};
    int row = rowOfKey.try_emplace(key, static_cast<int>(rowOfKey.size()))
                  .first->second;
    rowOfOrder[op.getOrder()] = row;
    return row;
  }
  int count() const { return static_cast<int>(rowOfKey.size()); }

private:
  using Key = std::tuple<std::string, std::string, std::string, std::string,
                         Part, int64_t>;
  std::map<Key, int> rowOfKey;
  llvm::DenseMap<uint64_t, int> rowOfOrder;
};

/// The items of one class.
class ColumnBuilder {
public:
  ColumnBuilder(DeviceColumn &column, ExchangeRows &rows)
      : column(column), rows(rows) {}

  void run(graph::StepOp function) {
    StepParts parts(function);
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (auto kernel = dyn_cast<graph::KernelOp>(op))
        compute(kernel, parts.of(kernel));
      else if (auto exchange = dyn_cast<graph::CommunicationOpInterface>(op))
        communicate(exchange, parts.of(&op));
    }
    for (const Item &item : items) {
      DeviceItem shown = item.shown;
      if (item.shown.exchange < 0)
        shown.detail = std::to_string(item.count) +
                       (item.count == 1 ? " kernel" : " kernels");
      else if (item.count > 1)
        shown.detail += ", " + std::to_string(item.count) + " times";
      column.items.push_back(std::move(shown));
    }
  }

private:
  struct Item {
    DeviceItem shown;
    int count = 0;
  };

  void add(DeviceItem shown) {
    // Of several micro-batches where the first one has it.
    for (Item &item : items)
      if (item.shown.exchange == shown.exchange &&
          item.shown.part == shown.part && item.shown.title == shown.title) {
        ++item.count;
        return;
      }
    items.push_back({std::move(shown), 1});
  }

  void compute(graph::KernelOp kernel, Part part) {
    graph::SourceLine place = graph::sourceLineOf(kernel.getLoc());
    DeviceItem item;
    item.part = part;
    item.title = place.module.empty() ? kernel.getName().rsplit('_').first.str()
                                      : place.module.str();
    if (part == Part::Update)
      item.title = "update";
    item.where = place.lineText();
    add(std::move(item));
  }

  void communicate(graph::CommunicationOpInterface op, Part part) {
    DeviceItem item;
    item.exchange = rows.of(op, part);
    item.part = part;
    item.title = op->getName().stripDialect().str() + " over " + axesText(op);
    item.detail = byteText(exchangedBytes(op));
    item.where = graph::sourceLineOf(op->getLoc()).lineText();
    add(std::move(item));
  }

  DeviceColumn &column;
  ExchangeRows &rows;
  std::vector<Item> items;
};

} // namespace

DevicesPicture describeDevices(ArrayRef<ModuleOp> units, StringRef step) {
  DevicesPicture picture;
  RankNames names(units.front());
  picture.title = names.model() + ": step " + step.str() + ", by devices";
  picture.subtitle = "a column for each class of ranks with equal parts; "
                     "exchanges in rows, with the bytes of one rank";
  ExchangeRows rows;
  for (ModuleOp unit : units) {
    std::vector<int64_t> ranks = names.ranksOf(unit);
    DeviceColumn column;
    column.title = rankText(ranks);
    column.place = names.placeOf(ranks);
    int64_t bytes = 0;
    for (auto state : unit.getOps<graph::StateOp>())
      bytes += graph::tensorBytes(state.getType());
    column.memory = "states " + byteText(bytes);
    StepFunctions functions = findStep(unit, step);
    ColumnBuilder builder(column, rows);
    if (functions.step)
      builder.run(functions.step);
    picture.columns.push_back(std::move(column));
  }
  picture.exchanges = rows.count();
  return picture;
}

} // namespace dl::pictures
