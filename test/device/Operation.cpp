#include "test/device/Operation.h"

#include <iterator>
#include <map>
#include <unordered_map>

namespace emulated {

OperationRef makeOperation(std::function<Result()> run,
                           std::vector<OperationRef> after) {
  static uint64_t issued = 0;
  auto made = std::make_shared<Operation>();
  made->run = std::move(run);
  made->number = ++issued;
  for (OperationRef &before : after)
    if (before && !before->done)
      made->after.push_back(std::move(before));
  return made;
}

namespace {
struct Pending {
  OperationRef operation;
  unsigned waitsFor = 0;
  std::vector<Pending *> followers;
};
} // namespace

Result finish(const OperationRef &last, const std::function<uint64_t()> &draw) {
  if (!last || last->done)
    return Success;
  std::unordered_map<Operation *, Pending> pending;
  std::vector<Pending *> open = {&pending[last.get()]};
  open[0]->operation = last;
  while (!open.empty()) {
    Pending *now = open.back();
    open.pop_back();
    for (const OperationRef &before : now->operation->after) {
      if (before->done)
        continue;
      auto [found, isNew] = pending.try_emplace(before.get());
      if (isNew) {
        found->second.operation = before;
        open.push_back(&found->second);
      }
      found->second.followers.push_back(now);
      ++now->waitsFor;
    }
  }
  // By issue, wherever they lie in memory: a seed must mean the same again.
  std::map<uint64_t, Pending *> ready;
  for (auto &[operation, p] : pending)
    if (p.waitsFor == 0)
      ready[operation->number] = &p;
  Result result = Success;
  bool waits = false;
  while (!ready.empty()) {
    auto chosen =
        draw ? std::next(ready.begin(), draw() % ready.size()) : ready.begin();
    Pending *now = chosen->second;
    ready.erase(chosen);
    if (now->operation->run && result == Success)
      result = now->operation->run();
    if (result == NotReady) {
      waits = true;
      result = Success;
      continue;
    }
    now->operation->done = true;
    now->operation->after.clear();
    now->operation->run = nullptr;
    for (Pending *follower : now->followers)
      if (--follower->waitsFor == 0)
        ready[follower->operation->number] = follower;
  }
  return result == Success && waits ? NotReady : result;
}

} // namespace emulated
