#include "compiler/pictures/Routes.h"
#include <algorithm>
#include <tuple>

namespace dl::pictures {
namespace {

class Router {
public:
  Router(const Picture &picture, const Arrangement &arrangement,
         const std::vector<Seat> &seats)
      : picture(picture), arrangement(arrangement), seats(seats) {}

  Routes run() {
    for (size_t i = 0; i < picture.edges.size(); ++i)
      add(static_cast<int>(i));
    assignLanes();
    return std::move(result);
  }

private:
  bool isForward(int node) const {
    Part part = picture.nodes[node].part;
    return part == Part::Input || part == Part::Forward || part == Part::Output;
  }
  Part partOf(int node) const { return picture.nodes[node].part; }

  Gap below(int node) const {
    const Seat &seat = seats[node];
    return partOf(node) == Part::Backward && seat.layer > 0
               ? Gap{seat.row, seat.layer}
               : Gap{seat.row, 0};
  }
  Gap above(int node) const {
    const Seat &seat = seats[node];
    size_t layers = arrangement.rows[seat.row].backward.size();
    return partOf(node) == Part::Backward &&
                   seat.layer + 1 < static_cast<int>(layers)
               ? Gap{seat.row, seat.layer + 1}
               : Gap{seat.row - 1, 0};
  }

  /// The main chain of the backward has a place for a line between the two.
  bool isChainFree(int low, int high) const {
    if (!seats[low].inChain)
      return false;
    for (int r = seats[high].row; r <= seats[low].row; ++r) {
      const auto &layers = arrangement.rows[r].backward;
      for (int i = 0; i < static_cast<int>(layers.size()); ++i) {
        bool above = r == seats[low].row && i <= seats[low].layer;
        bool past = r == seats[high].row && i >= seats[high].layer;
        if (layers[i].inChain && !above && !past)
          return false;
      }
    }
    return true;
  }

  /// The same for the forward.
  bool passesRows(int high, int low) const {
    if (!seats[high].inChain || seats[high].row >= seats[low].row)
      return false;
    for (int r = seats[high].row + 1; r < seats[low].row; ++r)
      if (arrangement.rows[r].inChain)
        return false;
    return true;
  }

  void add(int index);
  Route fromForward(const Edge &edge) const;
  Route fromBackward(const Edge &edge) const;
  Route fromUpdate(const Edge &edge) const;
  Route use(const Edge &edge) const;
  void assignLanes();

  const Picture &picture;
  const Arrangement &arrangement;
  const std::vector<Seat> &seats;
  Routes result;
};

} // namespace

void Router::add(int index) {
  const Edge &edge = picture.edges[index];
  if (seats[edge.from].row < 0 || seats[edge.to].row < 0)
    return;
  Route route;
  switch (edge.kind) {
  case Edge::Keep:
    route = {index, Side::Right, Side::Left};
    route.channel = RightOfForward;
    if (!seats[edge.from].isLast) {
      route.exit = Side::Bottom;
      route.exitGap = below(edge.from);
    }
    break;
  case Edge::Use:
    route = use(edge);
    break;
  default:
    route = isForward(edge.from)                  ? fromForward(edge)
            : partOf(edge.from) == Part::Backward ? fromBackward(edge)
                                                  : fromUpdate(edge);
  }
  route.edge = index;
  result.routes.push_back(route);
}

Route Router::fromForward(const Edge &edge) const {
  Route route{-1, Side::Bottom, Side::Top};
  route.exitGap = below(edge.from);
  if (isForward(edge.to)) {
    route.entryGap = above(edge.to);
    if (route.exitGap == route.entryGap)
      return route;
    if (passesRows(edge.from, edge.to)) {
      route.exitGap = route.entryGap; // straight down, and there to the side
      return route;
    }
    route.channel = LeftOfForward;
    route.far = true;
    return route;
  }
  if (partOf(edge.to) == Part::Backward) {
    route.entry = Side::Bottom;
    route.entryGap = below(edge.to);
    if (route.exitGap != route.entryGap)
      route.channel = LeftOfBackward;
    return route;
  }
  route.entry = Side::Left;
  route.channel = RightOfBackward;
  return route;
}

Route Router::fromBackward(const Edge &edge) const {
  Route route{-1, Side::Top, Side::Bottom};
  route.exitGap = above(edge.from);
  if (partOf(edge.to) == Part::Backward) {
    route.entryGap = below(edge.to);
    if (route.exitGap == route.entryGap)
      return route;
    if (isChainFree(edge.from, edge.to)) {
      route.exitGap = route.entryGap; // straight up, and there to the side
      return route;
    }
    route.channel = RightOfBackward;
    route.far = seats[edge.from].row != seats[edge.to].row;
    if (seats[edge.from].isLast)
      route.exit = Side::Right;
    return route;
  }
  route.channel = RightOfBackward;
  if (seats[edge.from].isLast)
    route.exit = Side::Right;
  if (isForward(edge.to)) {
    route.entry = Side::Top;
    route.entryGap = above(edge.to);
    route.far = true;
    return route;
  }
  route.entry = Side::Left;
  route.far = seats[edge.from].row != seats[edge.to].row;
  return route;
}

Route Router::fromUpdate(const Edge &edge) const {
  if (partOf(edge.to) == Part::Update) {
    Route route{-1, Side::Right, Side::Right};
    route.channel = RightOfUpdate;
    route.far = seats[edge.from].row != seats[edge.to].row;
    return route;
  }
  Route route{-1, Side::Left, Side::Top};
  route.channel = RightOfBackward;
  route.far = true;
  if (partOf(edge.to) == Part::Backward) {
    route.entry = Side::Bottom;
    route.entryGap = below(edge.to);
  } else {
    route.entryGap = above(edge.to);
  }
  return route;
}

Route Router::use(const Edge &edge) const {
  Route route{-1, Side::Right, Side::Left};
  route.channel = LeftOfBackward;
  route.far = seats[edge.from].row != seats[edge.to].row;
  if (!seats[edge.to].isFirst) {
    route.entry = Side::Bottom;
    route.entryGap = below(edge.to);
  }
  return route;
}

/// Lines in a channel that would lie on one another get lanes of their own;
/// those from one box are one line that branches.
void Router::assignLanes() {
  struct Bundle {
    int low, high;
    std::vector<size_t> routes;
  };
  for (int channel = 0; channel < channels; ++channel) {
    std::map<std::pair<int, int>, Bundle> bundles; // by source and kind
    for (size_t i = 0; i < result.routes.size(); ++i) {
      const Route &route = result.routes[i];
      if (route.channel != channel)
        continue;
      const Edge &edge = picture.edges[route.edge];
      int from = seats[edge.from].row, to = seats[edge.to].row;
      Bundle &bundle =
          bundles
              .try_emplace({edge.from, edge.kind},
                           Bundle{std::min(from, to), std::max(from, to), {}})
              .first->second;
      bundle.low = std::min({bundle.low, from, to});
      bundle.high = std::max({bundle.high, from, to});
      bundle.routes.push_back(i);
    }
    std::vector<Bundle> sorted;
    for (auto &[key, bundle] : bundles)
      sorted.push_back(std::move(bundle));
    // Short lines close to the boxes.
    std::sort(sorted.begin(), sorted.end(),
              [](const Bundle &a, const Bundle &b) {
                return std::pair(a.high - a.low, a.routes.front()) <
                       std::pair(b.high - b.low, b.routes.front());
              });
    std::vector<std::vector<std::pair<int, int>>> taken;
    for (const Bundle &bundle : sorted) {
      size_t lane = 0;
      auto overlaps = [&](std::pair<int, int> other) {
        return bundle.low <= other.second && other.first <= bundle.high;
      };
      while (lane < taken.size() &&
             std::any_of(taken[lane].begin(), taken[lane].end(), overlaps))
        ++lane;
      if (lane == taken.size())
        taken.emplace_back();
      taken[lane].push_back({bundle.low, bundle.high});
      for (size_t i : bundle.routes)
        result.routes[i].lane = static_cast<int>(lane);
    }
    result.lanes[channel] = static_cast<int>(taken.size());
  }
}

void assignGapLanes(Routes &routes, const Picture &picture,
                    const std::vector<GapRun> &runs) {
  // What comes from one box shares a lane.
  using Key = std::tuple<Gap, int, int, bool>;
  std::map<Key, GapRun> bundles;
  auto keyOf = [&](const GapRun &run) {
    const Edge &edge = picture.edges[routes.routes[run.route].edge];
    int shared = run.isEntry ? edge.to : edge.from;
    return Key{run.gap, shared, edge.kind, run.isEntry};
  };
  for (const GapRun &run : runs) {
    GapRun &bundle = bundles.try_emplace(keyOf(run), run).first->second;
    bundle.low = std::min(bundle.low, run.low);
    bundle.high = std::max(bundle.high, run.high);
  }
  std::map<Gap, std::vector<std::vector<std::pair<double, double>>>> taken;
  std::map<Key, int> lanes;
  for (const auto &[key, bundle] : bundles) {
    if (bundle.high - bundle.low < 1) // straight through
      continue;
    auto &of = taken[bundle.gap];
    size_t lane = 0;
    auto overlaps = [&bundle = bundle](std::pair<double, double> other) {
      return bundle.low - 4 < other.second && other.first < bundle.high + 4;
    };
    while (lane < of.size() &&
           std::any_of(of[lane].begin(), of[lane].end(), overlaps))
      ++lane;
    if (lane == of.size())
      of.emplace_back();
    of[lane].push_back({bundle.low, bundle.high});
    lanes[key] = static_cast<int>(lane);
    routes.gapLanes[bundle.gap] = static_cast<int>(of.size());
  }
  for (const GapRun &run : runs) {
    Route &route = routes.routes[run.route];
    (run.isEntry ? route.entryLane : route.exitLane) = lanes[keyOf(run)];
  }
}

std::vector<Seat> seatsOf(const Picture &picture,
                          const Arrangement &arrangement) {
  std::vector<Seat> seats(picture.nodes.size());
  auto place = [&](const std::vector<int> &side, int row, int layer) {
    for (int node : side)
      seats[node] = {row, layer, node == side.front(), node == side.back(),
                     false};
  };
  for (size_t r = 0; r < arrangement.rows.size(); ++r) {
    const Row &row = arrangement.rows[r];
    auto number = static_cast<int>(r);
    place(row.forward, number, 0);
    if (row.inChain)
      seats[row.forward.back()].inChain = true;
    place(row.saved, number, 0);
    place(row.update, number, 0);
    for (size_t layer = 0; layer < row.backward.size(); ++layer) {
      place(row.backward[layer].nodes, number, static_cast<int>(layer));
      if (row.backward[layer].inChain)
        seats[row.backward[layer].nodes.front()].inChain = true;
    }
  }
  return seats;
}

Routes route(const Picture &picture, const Arrangement &arrangement,
             const std::vector<Seat> &seats) {
  return Router(picture, arrangement, seats).run();
}

} // namespace dl::pictures
