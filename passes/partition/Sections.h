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
/// Slices, and the pads and cats that are their gradients, become those of a
/// dim of sections: slice [B, 3E] at 2E is reshape to [B, 3, E], slice at 2,
/// reshape to [B, E].
void divideInSections(mlir::ModuleOp module, const Mesh &mesh);

} // namespace dl::partition
