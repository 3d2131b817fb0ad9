#include "compiler/pictures/Ranks.h"
#include "dialects/graph/Communication.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/TensorBytes.h"
#include <algorithm>
#include <set>

using namespace mlir;

namespace dl::pictures {

/// "0 to 3, 8".
static std::string runs(const std::vector<int64_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    bool shortened = end - i > 2;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (shortened)
      text += " to " + std::to_string(numbers[end - 1]);
    i = shortened ? end : i + 1;
  }
  return text;
}

std::string rankText(const std::vector<int64_t> &ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + runs(ranks);
}

RankNames::RankNames(ModuleOp unit) : unit(unit) {
  for (auto known : unit.getOps<graph::MeshOp>())
    mesh = known;
  if (mesh)
    for (auto axis : mesh.getAxes().getAsRange<graph::AxisAttr>())
      axes.push_back({axis.getName().str(), axis.getSize()});
}

std::string RankNames::model() const {
  graph::ProgramOp program = graph::programOf(unit);
  StringRef path = program ? program.getModel() : "model";
  StringRef base = path.rsplit('/').second;
  return base.empty() ? path.str() : base.str();
}

int64_t RankNames::coordinate(int64_t rank, size_t axis) const {
  for (size_t a = axes.size(); a-- > axis + 1;)
    rank /= axes[a].size;
  return rank % axes[axis].size;
}

graph::Pipeline RankNames::pipeline() const {
  return mesh ? graph::pipelineOf(mesh) : graph::Pipeline();
}

int64_t RankNames::pipelineRankOf(int64_t rank) const {
  for (size_t a = 0; a < axes.size(); ++a)
    if (axes[a].name == mesh.getStages())
      return coordinate(rank, a);
  return 0;
}

std::vector<int64_t> RankNames::ranksOf(ModuleOp unit) const {
  if (auto ranks = unit->getAttrOfType<DenseI64ArrayAttr>(graph::kRanks))
    return ranks.asArrayRef().vec();
  return {0};
}

std::string RankNames::placeOf(const std::vector<int64_t> &ranks) const {
  std::string text;
  for (size_t a = 0; a < axes.size(); ++a) {
    std::set<int64_t> seen;
    for (int64_t rank : ranks)
      seen.insert(coordinate(rank, a));
    text += (text.empty() ? "" : " · ") + axes[a].name + " " +
            runs({seen.begin(), seen.end()});
  }
  return text;
}

int64_t exchangedBytes(graph::CommunicationOpInterface op) {
  int64_t sent = 0, received = 0;
  auto bytesOf = [](Value value, ArrayRef<graph::RowTransfer> transfers) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t rows = type.getRank() == 0 ? 1 : type.getDimSize(0), moved = 0;
    for (const graph::RowTransfer &transfer : transfers)
      moved += transfer.allRows();
    return rows == 0 ? 0 : graph::tensorBytes(type) / rows * moved;
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    sent += bytesOf(operand, op.getSentRows(i));
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    received += bytesOf(result, op.getReceivedRows(i));
  return std::max(sent, received);
}

std::string axesText(graph::CommunicationOpInterface op) {
  std::string text;
  for (StringRef axis : op.getAxes().getAsValueRange<StringAttr>())
    text += (text.empty() ? "" : ", ") + axis.str();
  return text;
}

} // namespace dl::pictures
