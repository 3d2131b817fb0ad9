// Parameters of several sections, of which each rank has a part of each.
#pragma once

#include "passes/partition/Mesh.h"

namespace dl::partition {

/// Where what a placed parameter makes is taken apart into equal sections
/// behind it, each section is divided on its own: 3E rows of queries, keys and
/// values into `[[3], [E, "tp"]]` instead of blocks of 3E, which would be
/// gathered first. So are the gates of an LSTM and two halves of a gated linear
/// unit (Megatron-LM's fused projections; Shoeybi et al., 2019).
///
/// Slices, the pads and cats that are their gradients, and draws become those
/// of a dim of sections: slice [B, 3E] at 2E is reshape to [B, 3, E], slice at
/// 2, reshape to [B, E].
void divideInSections(mlir::ModuleOp module, const Mesh &mesh);

/// What is put together along a dim and viewed as a dim of parts at once is put
/// together along that one: cat of three [B, E] and reshape of [3 B, E] to [3,
/// B, E] is cat of three [1, B, E]. So the items of a batch stay divided where
/// queries, keys and values are parts of one view, whose gradients meet again.
void joinAsParts(mlir::ModuleOp module);

} // namespace dl::partition
