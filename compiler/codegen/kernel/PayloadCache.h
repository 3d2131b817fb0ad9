// What the ops of a kernel do with one element each.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/Payload.h"

namespace dl::kernel {

/// The payloads of a kernel's ops, built once for all functions and variants.
class PayloadCache {
public:
  const graph::PayloadBlock &get(graph::LoopNestOpInterface op);
  /// Why what is emitted from them cannot be used; empty if it can.
  std::string error;

private:
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<graph::PayloadBlock>>
      payloads;
};

} // namespace dl::kernel
