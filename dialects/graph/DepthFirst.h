// Depth-first order on graphs that are too deep for recursion.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace dl::graph {

/// Calls `visit` on what `root` needs, one after the other and each after what
/// it needs itself, and then on `root`. What is done is left out; `visit` makes
/// a node done. The graph has no cycle.
template <typename Node>
void visitDepthFirst(Node root, llvm::function_ref<bool(Node)> isDone,
                     llvm::function_ref<llvm::SmallVector<Node>(Node)> needsOf,
                     llvm::function_ref<void(Node)> visit) {
  struct Frame {
    Node node;
    llvm::SmallVector<Node> needs;
    size_t next = 0;
  };
  std::vector<Frame> path;
  auto enter = [&](Node node) {
    if (!isDone(node))
      path.push_back({node, needsOf(node)});
  };
  enter(root);
  while (!path.empty()) {
    Frame &last = path.back();
    if (last.next < last.needs.size()) {
      enter(last.needs[last.next++]);
      continue;
    }
    visit(last.node);
    path.pop_back();
  }
}

} // namespace dl::graph
