#pragma once
// Activation checkpointing: memory for time, as torch.utils.checkpoint.
#include "tensor.h"

namespace dl {

namespace detail {
struct CheckpointScope {
  CheckpointScope() { dl_checkpoint_begin(); }
  ~CheckpointScope() { dl_checkpoint_end(); }
  CheckpointScope(const CheckpointScope &) = delete;
};
} // namespace detail

/// function(arguments...), of which the backward keeps only what goes in and
/// computes the rest again (Chen et al., "Training Deep Nets with Sublinear
/// Memory Cost", 2016):
///
///   x = dl::checkpoint(block, x);
///   x = dl::checkpoint([&](dl::Tensor t) { return fc2(fc1(t).relu()); }, x);
///
/// Results are the same, dropout included. One within another is a part of it.
template <class F, class... A>
  requires requires(F &function, A &&...arguments) {
    function(static_cast<A &&>(arguments)...);
  }
auto checkpoint(F &&function, A &&...arguments) {
  detail::CheckpointScope scope;
  return function(static_cast<A &&>(arguments)...);
}
namespace utils::checkpoint {
using dl::checkpoint;
} // namespace utils::checkpoint

} // namespace dl
