#include "passes/saved/MinimumCut.h"
#include <algorithm>
#include <queue>

namespace dl::saved {

FlowNetwork::Node FlowNetwork::addNode() {
  outgoing.emplace_back();
  return outgoing.size() - 1;
}

void FlowNetwork::addEdge(Node from, Node to, int64_t capacity) {
  outgoing[from].push_back(edges.size());
  edges.push_back({to, capacity});
  outgoing[to].push_back(edges.size());
  edges.push_back({from, 0});
}

/// How far each node is from the source along edges with room; false where the
/// sink cannot be reached.
bool FlowNetwork::findLevels() {
  level.assign(outgoing.size(), 0);
  level[source] = 1;
  std::queue<Node> open({source});
  while (!open.empty()) {
    Node node = open.front();
    open.pop();
    for (unsigned edge : outgoing[node])
      if (Node to = edges[edge].to; edges[edge].capacity && !level[to]) {
        level[to] = level[node] + 1;
        open.push(to);
      }
  }
  return level[sink];
}

/// One path from level to level; 0 where there is none any more.
int64_t FlowNetwork::pushPath() {
  std::vector<unsigned> path; // edges
  Node node = source;
  while (node != sink) {
    unsigned &at = next[node];
    if (at == outgoing[node].size()) { // a dead end: back by one
      if (path.empty())
        return 0;
      node = edges[path.back() ^ 1].to;
      path.pop_back();
      ++next[node];
      continue;
    }
    unsigned edge = outgoing[node][at];
    if (Node to = edges[edge].to;
        edges[edge].capacity && level[to] == level[node] + 1) {
      path.push_back(edge);
      node = to;
    } else {
      ++at;
    }
  }
  int64_t amount = unlimited;
  for (unsigned edge : path)
    amount = std::min(amount, edges[edge].capacity);
  for (unsigned edge : path) {
    if (edges[edge].capacity != unlimited)
      edges[edge].capacity -= amount;
    if (edges[edge ^ 1].capacity != unlimited)
      edges[edge ^ 1].capacity += amount;
  }
  return amount;
}

int64_t FlowNetwork::maximise() {
  int64_t total = 0;
  while (findLevels()) {
    next.assign(outgoing.size(), 0);
    while (int64_t amount = pushPath())
      total += amount;
  }
  return total;
}

std::vector<bool> FlowNetwork::sinkSide() const {
  std::vector<bool> reached(outgoing.size(), false);
  reached[sink] = true;
  std::queue<Node> open({sink});
  while (!open.empty()) {
    Node node = open.front();
    open.pop();
    // The reverse of an edge that leaves is one that comes in.
    for (unsigned edge : outgoing[node])
      if (Node from = edges[edge].to;
          edges[edge ^ 1].capacity && !reached[from]) {
        reached[from] = true;
        open.push(from);
      }
  }
  return reached;
}

} // namespace dl::saved
