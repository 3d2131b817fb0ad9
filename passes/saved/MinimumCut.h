// The cheapest set of edges that parts a source from a sink.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace dl::saved {

/// By Dinic's algorithm ("Algorithm for solution of a problem of maximum flow
/// in networks with power estimation", 1970), without recursion.
class FlowNetwork {
public:
  using Node = unsigned;
  static constexpr Node source = 0, sink = 1;
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

  FlowNetwork() : outgoing(2) {}

  Node addNode();
  void addEdge(Node from, Node to, int64_t capacity);

  /// Sends as much from source to sink as can go, which is the cost of a
  /// minimum cut. Every path must have an edge that is not unlimited.
  int64_t maximise();
  /// Behind the cut, afterwards: from where the sink can still be reached. Of
  /// all minimum cuts this is the one closest to the sink.
  std::vector<bool> sinkSide() const;

private:
  struct Edge {
    Node to;
    int64_t capacity; // what is left
  };
  bool findLevels();
  int64_t pushPath();

  std::vector<Edge> edges; // 2i, and its reverse 2i + 1
  std::vector<std::vector<unsigned>> outgoing;
  std::vector<unsigned> level, next;
};

} // namespace dl::saved
