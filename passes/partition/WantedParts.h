// Where a partial sum is better added up in parts than whole.
#pragma once

#include "passes/partition/Mesh.h"

namespace dl::partition {

/// How tensors lie, of those that are placed so far; null for others.
using KnownShardings = llvm::function_ref<const TensorSharding *(mlir::Value)>;

/// A partial sum along an axis is about to meet, element by element, a tensor
/// that is divided along that axis, or a graph.shard that says so: how that one
/// lies. Each rank then adds up its part of the sum alone, and what is in
/// between, such as a bias, is computed in parts, too. Nothing where the sum
/// meets another one first, for sums of sums are added up once.
///
/// Or it comes, by elementwise ops, to a product over a dim with such a tensor.
///
/// Examples: residual connections that are divided along the sequence, x
/// [B, T/tp, C], and a product along tp: x + (product + bias). Gradients of
/// keys, sums over cp, which meet the rows that the keys were made of, [B,
/// T/cp, C].
std::optional<TensorSharding> partsWantedOf(mlir::Value sum, unsigned axis,
                                            const Mesh &mesh,
                                            KnownShardings known);

/// Whether some reader of a partial sum needs all of it, so that it is added up
/// in any case and others had better read that, too.
///
/// Example: x - mean, of which a layer norm also takes the square.
bool isNeededWhole(mlir::Value sum, unsigned axis, KnownShardings known);

/// How a graph.shard of a value that lies so wants it.
TensorSharding wantedBy(graph::ShardOp shard, const TensorSharding &has,
                        const Mesh &mesh);

} // namespace dl::partition
