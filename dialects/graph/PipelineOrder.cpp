#include "dialects/graph/PipelineOrder.h"
#include <algorithm>

namespace dl::graph {

std::vector<std::vector<PipelineWork>>
pipelineOrder(int64_t stages, int64_t micros, bool gpipe) {
  std::vector<std::vector<PipelineWork>> lists(stages);
  for (int64_t stage = 0; stage < stages; ++stage) {
    int64_t ahead = gpipe ? micros : std::min(stages - 1 - stage, micros);
    for (int64_t m = 0; m < ahead; ++m)
      lists[stage].push_back({true, m});
    for (int64_t m = 0; m < micros; ++m) {
      if (m + ahead < micros)
        lists[stage].push_back({true, m + ahead});
      lists[stage].push_back({false, m});
    }
  }
  return lists;
}

} // namespace dl::graph
