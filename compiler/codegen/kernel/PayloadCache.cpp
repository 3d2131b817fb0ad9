#include "compiler/codegen/kernel/PayloadCache.h"

namespace dl::kernel {

const graph::PayloadBlock &PayloadCache::get(graph::LoopNestOpInterface op) {
  std::unique_ptr<graph::PayloadBlock> &slot = payloads[op];
  if (!slot)
    slot = std::make_unique<graph::PayloadBlock>(
        op, op.getLoopNest().extents.size());
  return *slot;
}

} // namespace dl::kernel
