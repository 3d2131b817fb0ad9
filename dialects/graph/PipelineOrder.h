// Schedules of a pipeline: what each stage does in which order.
#pragma once

#include <cstdint>
#include <vector>

namespace dl::graph {

/// One direction of one micro-batch at one stage.
struct PipelineWork {
  bool forward;
  int64_t micro;
};

/// The work of each stage in its order. gpipe (Huang et al., 2019): all
/// micro-batches forward, then all backward. 1f1b (Narayanan et al.,
/// "PipeDream", 2019): as soon as a micro-batch has come back, it goes first.
std::vector<std::vector<PipelineWork>>
pipelineOrder(int64_t stages, int64_t micros, bool gpipe);

} // namespace dl::graph
