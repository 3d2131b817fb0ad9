// Against all cuts of small random networks.
#include "passes/saved/MinimumCut.h"
#include "gtest/gtest.h"
#include <random>

using dl::saved::FlowNetwork;

namespace {

struct Edge {
  unsigned from, to;
  int64_t capacity;
};

/// What it costs to part the nodes in `behind` from the others; unlimited where
/// an unlimited edge crosses.
int64_t costOf(const std::vector<Edge> &edges, unsigned behind) {
  int64_t cost = 0;
  for (const Edge &edge : edges)
    if (!(behind >> edge.from & 1) && (behind >> edge.to & 1)) {
      if (edge.capacity == FlowNetwork::unlimited)
        return FlowNetwork::unlimited;
      cost += edge.capacity;
    }
  return cost;
}

FlowNetwork networkOf(const std::vector<Edge> &edges, unsigned nodes) {
  FlowNetwork network;
  for (unsigned node = 2; node < nodes; ++node)
    network.addNode();
  for (const Edge &edge : edges)
    network.addEdge(edge.from, edge.to, edge.capacity);
  return network;
}

TEST(MinimumCut, AgainstAllCuts) {
  std::mt19937 random(7);
  int compared = 0;
  for (int round = 0; round < 2000; ++round) {
    unsigned nodes = 3 + random() % 6;
    std::vector<Edge> edges;
    for (unsigned i = 0; i < nodes * 2; ++i)
      edges.push_back(
          {unsigned(random() % nodes), unsigned(random() % nodes),
           random() % 4 ? int64_t(random() % 9) : FlowNetwork::unlimited});
    int64_t best = FlowNetwork::unlimited;
    unsigned closest = 0; // what all best cuts have behind them
    for (unsigned behind = 0; behind < 1u << nodes; ++behind) {
      if ((behind & 1) || !(behind >> 1 & 1))
        continue;
      int64_t cost = costOf(edges, behind);
      if (cost < best) {
        best = cost;
        closest = behind;
      } else if (cost == best) {
        closest &= behind;
      }
    }
    if (best == FlowNetwork::unlimited)
      continue;
    ++compared;
    FlowNetwork network = networkOf(edges, nodes);
    EXPECT_EQ(network.maximise(), best);
    unsigned found = 0;
    std::vector<bool> behind = network.sinkSide();
    for (unsigned node = 0; node < nodes; ++node)
      found |= unsigned(behind[node]) << node;
    EXPECT_EQ(found, closest);
  }
  EXPECT_GT(compared, 1000);
}

/// Two chains of 100,000 nodes, with a bottleneck each.
TEST(MinimumCut, LongChains) {
  constexpr unsigned length = 100000;
  FlowNetwork network;
  for (int64_t least : {3, 5}) {
    FlowNetwork::Node last = FlowNetwork::source;
    for (unsigned i = 0; i < length; ++i) {
      FlowNetwork::Node node = network.addNode();
      network.addEdge(last, node, i == length / 2 ? least : 10);
      last = node;
    }
    network.addEdge(last, FlowNetwork::sink, FlowNetwork::unlimited);
  }
  EXPECT_EQ(network.maximise(), 8);
}

} // namespace
