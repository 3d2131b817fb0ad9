// How pictures name the ranks of a mesh.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/PipelineOrder.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dl::pictures {

/// "rank 3", "ranks 0, 2", "ranks 0 to 3, 8".
std::string rankText(const std::vector<int64_t> &ranks);

/// What a rank sends, or where it only receives, receives.
int64_t exchangedBytes(graph::CommunicationOpInterface op);
/// "dp, tp".
std::string axesText(graph::CommunicationOpInterface op);

/// The mesh of a module, or one rank.
class RankNames {
public:
  explicit RankNames(mlir::ModuleOp unit);

  std::string model() const;
  /// One rank where there is none.
  graph::Pipeline pipeline() const;
  /// Along the axis of the pipeline.
  int64_t pipelineRankOf(int64_t rank) const;
  /// Those that run the module.
  std::vector<int64_t> ranksOf(mlir::ModuleOp unit) const;
  /// Where ranks are: "pp 0, tp 0 to 1"; empty where there is no mesh.
  std::string placeOf(const std::vector<int64_t> &ranks) const;

private:
  struct Axis {
    std::string name;
    int64_t size;
  };
  int64_t coordinate(int64_t rank, size_t axis) const;

  mlir::ModuleOp unit;
  mutable graph::MeshOp mesh; // a handle, or null
  std::vector<Axis> axes;
};

} // namespace dl::pictures
