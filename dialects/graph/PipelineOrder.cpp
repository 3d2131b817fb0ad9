#include "dialects/graph/PipelineOrder.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

namespace dl::graph {

std::optional<PipelineSchedule> pipelineScheduleOf(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<PipelineSchedule>>(name)
      .Case("gpipe", PipelineSchedule::GPipe)
      .Case("1f1b", PipelineSchedule::OneForwardOneBackward)
      .Case("zb-h1", PipelineSchedule::ZeroBubbleH1)
      .Default(std::nullopt);
}

std::vector<std::vector<PipelineWork>>
pipelineOrder(int64_t stages, int64_t micros, PipelineSchedule schedule) {
  std::vector<std::vector<PipelineWork>> lists(stages);
  for (int64_t stage = 0; stage < stages; ++stage) {
    std::vector<PipelineWork> &list = lists[stage];
    int64_t ahead = schedule == PipelineSchedule::GPipe
                        ? micros
                        : std::min(stages - 1 - stage, micros);
    int64_t late = schedule == PipelineSchedule::ZeroBubbleH1 ? stage : 0;
    for (int64_t m = 0; m < ahead; ++m)
      list.push_back({PipelinePhase::Forward, m});
    for (int64_t m = 0; m < micros; ++m) {
      if (m + ahead < micros)
        list.push_back({PipelinePhase::Forward, m + ahead});
      list.push_back({PipelinePhase::InputGradient, m});
      if (m >= late)
        list.push_back({PipelinePhase::WeightGradient, m - late});
    }
    for (int64_t m = std::max<int64_t>(micros - late, 0); m < micros; ++m)
      list.push_back({PipelinePhase::WeightGradient, m});
  }
  return lists;
}

} // namespace dl::graph
