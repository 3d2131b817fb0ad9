#include "passes/schedule/LastUsers.h"

namespace dl::schedule {

LastUsers::Stretches::iterator LastUsers::cut(int64_t begin, int64_t end) {
  for (int64_t border : {begin, end}) {
    auto next = stretches.lower_bound(border);
    if (next == stretches.begin() ||
        (next != stretches.end() && next->first == border))
      continue;
    Stretch &before = std::prev(next)->second;
    if (before.end <= border)
      continue;
    stretches.emplace_hint(next, border, before);
    before.end = border;
  }
  return stretches.lower_bound(begin);
}

void LastUsers::read(int64_t begin, int64_t end, unsigned command,
                     llvm::SmallVectorImpl<unsigned> &deps) {
  auto next = cut(begin, end);
  for (int64_t at = begin; at < end; at = std::prev(next)->second.end) {
    if (next == stretches.end() || next->first > at) {
      // Nobody touched these yet.
      int64_t gap = next == stretches.end() ? end : std::min(end, next->first);
      stretches.emplace_hint(next, at, Stretch{gap, std::nullopt, {command}});
      continue;
    }
    Stretch &stretch = next->second;
    if (stretch.writer)
      deps.push_back(*stretch.writer);
    stretch.readers.push_back(command);
    ++next;
  }
}

void LastUsers::write(int64_t begin, int64_t end, unsigned command,
                      llvm::SmallVectorImpl<unsigned> &deps) {
  if (begin >= end)
    return;
  auto next = cut(begin, end);
  while (next != stretches.end() && next->first < end) {
    const Stretch &stretch = next->second;
    deps.append(stretch.readers.begin(), stretch.readers.end());
    if (stretch.writer)
      deps.push_back(*stretch.writer);
    next = stretches.erase(next);
  }
  stretches.emplace_hint(next, begin, Stretch{end, command, {}});
}

} // namespace dl::schedule
