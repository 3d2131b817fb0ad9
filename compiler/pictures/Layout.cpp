#include "compiler/pictures/Layout.h"
#include "compiler/pictures/BoxText.h"
#include "compiler/pictures/Routes.h"
#include <algorithm>

namespace dl::pictures {
namespace {

constexpr double margin = 20, frameInset = 10, frameLabel = 22, frameEnd = 9;
constexpr double besides = 16; // between boxes of a row
constexpr double stacked = 8;  // between boxes one above the other
constexpr double laneWidth = 8, laneHeight = 7;

class Layouter {
public:
  Layouter(const Picture &picture, const Arrangement &arrangement)
      : picture(picture), arrangement(arrangement), rows(arrangement.rows),
        seats(seatsOf(picture, arrangement)),
        routes(route(picture, arrangement, seats)), rowTop(rows.size()),
        rowBottom(rows.size()), rowHeight(rows.size()) {}

  Drawing run() {
    measure();
    placeColumns();
    laneGaps();
    placeRows();
    drawFrames();
    drawEdges();
    return std::move(drawing);
  }

private:
  Rect &rect(int node) { return drawing.nodes[node].place; }
  void measure();
  void placeColumns();
  double channelWidth(int channel) const;
  double widest(const std::vector<int> &nodes);
  void centerAt(int node, double x) { rect(node).x = x - rect(node).width / 2; }
  double placeForward(double x);
  double placeBackward(double x);
  double placeStacks(double x, bool update);
  void laneGaps();
  void placeRows();
  double stackHeight(const std::vector<int> &nodes);
  double backwardHeight(int row);
  void placeStack(const std::vector<int> &nodes, int row);
  void placeBackwardLayers(int row);
  double gapHeight(Gap gap, double least) const;
  void drawFrames();
  void drawEdges();
  double portX(const Route &route, bool entry);
  double portY(const Route &route, bool entry);
  double laneX(const Route &route) const;
  double gapY(Gap gap, int lane);
  std::vector<Point> trace(const Route &route);

  const Picture &picture;
  const Arrangement &arrangement;
  const std::vector<Row> &rows;
  std::vector<Seat> seats;
  Routes routes;
  Drawing drawing;
  std::vector<double> rowTop, rowBottom, rowHeight;
  double channelX[channels + 1] = {}; // their left ends
  double framesLeft = 0, framesRight = 0;
  int depths = 0;
  std::map<Gap, double> gapTop;
};

} // namespace

void Layouter::measure() {
  drawing.nodes.resize(picture.nodes.size());
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    drawing.nodes[i].text = textOf(picture.nodes[i]);
    Point size = sizeOf(drawing.nodes[i].text);
    drawing.nodes[i].place.width = size.x;
    drawing.nodes[i].place.height = size.y;
  }
  for (const Frame &frame : arrangement.frames)
    depths = std::max(depths, frame.depth + 1);
}

double Layouter::channelWidth(int channel) const {
  int lanes = routes.lanes[channel];
  return lanes == 0 ? 12 : 2 * 14 + laneWidth * (lanes - 1);
}

double Layouter::widest(const std::vector<int> &nodes) {
  double width = 0;
  for (int node : nodes)
    width = std::max(width, rect(node).width);
  return width;
}

void Layouter::placeColumns() {
  framesLeft = margin;
  double x = margin + depths * frameInset;
  auto pass = [&](int channel) {
    channelX[channel] = x;
    x += channelWidth(channel);
  };
  bool anySaved = false, anyBackward = false, anyUpdate = false;
  for (const Row &row : rows) {
    anySaved |= !row.saved.empty();
    anyBackward |= !row.backward.empty();
    anyUpdate |= !row.update.empty();
  }
  pass(LeftOfForward);
  x = placeForward(x);
  pass(RightOfForward);
  if (anySaved)
    x = placeStacks(x, false);
  pass(LeftOfBackward);
  if (anyBackward)
    x = placeBackward(x);
  pass(RightOfBackward);
  if (anyUpdate)
    x = placeStacks(x, true);
  pass(RightOfUpdate);
  framesRight = x + depths * frameInset;
  drawing.width = framesRight + margin;
}

double Layouter::placeForward(double x) {
  double side = 0, chain = 0;
  for (const Row &row : rows) {
    if (row.inChain)
      chain = std::max(chain, rect(row.forward.back()).width);
  }
  for (const Row &row : rows) {
    double width =
        row.inChain ? rect(row.forward.back()).width / 2 - chain / 2 : 0;
    for (size_t i = 0; i + (row.inChain ? 1 : 0) < row.forward.size(); ++i)
      width += rect(row.forward[i]).width + besides;
    side = std::max(side, width);
  }
  double center = x + side + chain / 2;
  for (const Row &row : rows) {
    double right = center - chain / 2;
    for (size_t i = row.forward.size(); i-- > 0;) {
      int node = row.forward[i];
      if (row.inChain && i + 1 == row.forward.size())
        centerAt(node, center);
      else
        rect(node).x = right - besides - rect(node).width;
      right = rect(node).x;
    }
  }
  drawing.columns.push_back({"forward ↓", center});
  return x + side + chain;
}

double Layouter::placeBackward(double x) {
  double chain = 0, end = x;
  for (const Row &row : rows)
    for (const Row::Layer &layer : row.backward)
      if (layer.inChain)
        chain = std::max(chain, rect(layer.nodes.front()).width);
  for (const Row &row : rows)
    for (const Row::Layer &layer : row.backward) {
      double left = x + chain + (chain > 0 ? besides : 0);
      for (int node : layer.nodes) {
        if (layer.inChain && node == layer.nodes.front())
          centerAt(node, x + chain / 2);
        else
          rect(node).x = left;
        left = rect(node).right() + besides;
        end = std::max(end, rect(node).right());
      }
    }
  drawing.columns.push_back({"backward ↑", x + chain / 2});
  return end;
}

double Layouter::placeStacks(double x, bool update) {
  double width = 0;
  for (const Row &row : rows)
    width = std::max(width, widest(update ? row.update : row.saved));
  for (const Row &row : rows)
    for (int node : update ? row.update : row.saved) {
      rect(node).width = width;
      rect(node).x = x;
    }
  drawing.columns.push_back({update ? "update" : "saved", x + width / 2});
  return x + width;
}

double Layouter::portX(const Route &route, bool entry) {
  const Edge &edge = picture.edges[route.edge];
  const Rect &box = rect(entry ? edge.to : edge.from);
  switch (entry ? route.entry : route.exit) {
  case Side::Left:
    return box.x;
  case Side::Right:
    return box.right();
  default:
    if (edge.kind == Edge::Use && entry)
      return box.centerX() - std::min(20.0, box.width / 4);
    if (edge.kind == Edge::Keep)
      return box.centerX() + std::min(20.0, box.width / 4);
    return box.centerX();
  }
}

double Layouter::laneX(const Route &route) const {
  int lane = route.lane;
  // The first lanes are next to the boxes that most of their lines lead to.
  if (route.channel == LeftOfForward)
    lane = routes.lanes[route.channel] - 1 - lane;
  return channelX[route.channel] + 14 + laneWidth * lane;
}

/// Where each route runs horizontally, and so how high the gaps are.
void Layouter::laneGaps() {
  std::vector<GapRun> runs;
  for (size_t i = 0; i < routes.routes.size(); ++i) {
    const Route &route = routes.routes[i];
    auto add = [&](bool entry, double a, double b) {
      runs.push_back({i, entry, entry ? route.entryGap : route.exitGap,
                      std::min(a, b), std::max(a, b)});
    };
    bool exits = route.exit == Side::Top || route.exit == Side::Bottom;
    bool enters = route.entry == Side::Top || route.entry == Side::Bottom;
    double from = portX(route, false), to = portX(route, true);
    if (route.channel < 0) {
      add(false, from, to);
      continue;
    }
    if (exits)
      add(false, from, laneX(route));
    if (enters)
      add(true, laneX(route), to);
  }
  assignGapLanes(routes, picture, runs);
}

double Layouter::gapHeight(Gap gap, double least) const {
  auto lanes = routes.gapLanes.find(gap);
  int count = lanes == routes.gapLanes.end() ? 0 : lanes->second;
  return std::max(least, 18 + laneHeight * std::max(0, count - 1));
}

double Layouter::stackHeight(const std::vector<int> &nodes) {
  double height = 0;
  for (int node : nodes)
    height += rect(node).height + (height > 0 ? stacked : 0);
  return height;
}

double Layouter::backwardHeight(int row) {
  double height = 0;
  const auto &layers = rows[row].backward;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    double tallest = 0;
    for (int node : layers[layer].nodes)
      tallest = std::max(tallest, rect(node).height);
    height += tallest;
    if (layer > 0)
      height += gapHeight({row, static_cast<int>(layer)}, 18);
  }
  return height;
}

void Layouter::placeStack(const std::vector<int> &nodes, int row) {
  double y = rowTop[row] + (rowHeight[row] - stackHeight(nodes)) / 2;
  for (int node : nodes) {
    rect(node).y = y;
    y += rect(node).height + stacked;
  }
}

void Layouter::placeBackwardLayers(int row) {
  const auto &layers = rows[row].backward;
  double y = rowTop[row] + (rowHeight[row] - backwardHeight(row)) / 2;
  for (size_t layer = layers.size(); layer-- > 0;) {
    double tallest = 0;
    for (int node : layers[layer].nodes)
      tallest = std::max(tallest, rect(node).height);
    for (int node : layers[layer].nodes)
      rect(node).y = y + (tallest - rect(node).height) / 2;
    y += tallest;
    Gap gap{row, static_cast<int>(layer)};
    if (layer > 0) {
      gapTop[gap] = y;
      y += gapHeight(gap, 18);
    }
  }
}

void Layouter::placeRows() {
  double y = metrics::top;
  gapTop[{-1, 0}] = y;
  y += gapHeight({-1, 0}, 8);
  for (size_t r = 0; r < rows.size(); ++r) {
    auto row = static_cast<int>(r);
    for (const Frame &frame : arrangement.frames)
      y += frame.first == row ? frameLabel : 0;
    double height =
        std::max({stackHeight(rows[r].saved), stackHeight(rows[r].update),
                  backwardHeight(row)});
    for (int node : rows[r].forward)
      height = std::max(height, rect(node).height);
    rowTop[r] = y;
    rowHeight[r] = height;
    rowBottom[r] = y + height;
    for (int node : rows[r].forward)
      rect(node).y = y + (height - rect(node).height) / 2;
    placeStack(rows[r].saved, row);
    placeStack(rows[r].update, row);
    placeBackwardLayers(row);
    y += height;
    gapTop[{row, 0}] = y;
    y += gapHeight({row, 0}, 22);
    for (const Frame &frame : arrangement.frames)
      y += frame.last == row ? frameEnd : 0;
  }
  drawing.height = y + margin;
}

void Layouter::drawFrames() {
  for (size_t i = 0; i < arrangement.frames.size(); ++i) {
    const Frame &frame = arrangement.frames[i];
    // How many frames begin at this row inside of it, and end with it.
    int inside = 0, within = 0;
    for (const Frame &other : arrangement.frames) {
      inside += other.depth > frame.depth && other.first == frame.first;
      within += other.depth > frame.depth && other.last == frame.last;
    }
    Rect place;
    place.x = framesLeft + frame.depth * frameInset;
    place.width = framesRight - frame.depth * frameInset - place.x;
    place.y = rowTop[frame.first] - frameLabel * (inside + 1) + 2;
    double end = rowBottom[frame.last] + gapHeight({frame.last, 0}, 22) - 8 +
                 frameEnd * within;
    place.height = end - place.y;
    drawing.frames.push_back({place, static_cast<int>(i)});
  }
}

double Layouter::gapY(Gap gap, int lane) {
  return gapTop[gap] + 9 + laneHeight * lane;
}

double Layouter::portY(const Route &route, bool entry) {
  const Edge &edge = picture.edges[route.edge];
  const Rect &box = rect(entry ? edge.to : edge.from);
  switch (entry ? route.entry : route.exit) {
  case Side::Top:
    return box.y;
  case Side::Bottom:
    return box.bottom();
  default:
    break;
  }
  // Straight across where that is possible.
  const Rect &other = rect(entry ? edge.from : edge.to);
  bool saved = edge.kind == Edge::Keep ? !entry : entry;
  if (edge.kind != Edge::Data && saved)
    return std::clamp(other.centerY(), box.y + 8, box.bottom() - 8);
  return box.centerY();
}

std::vector<Point> Layouter::trace(const Route &route) {
  Point from{portX(route, false), portY(route, false)};
  Point to{portX(route, true), portY(route, true)};
  std::vector<Point> points{from};
  bool exits = route.exit == Side::Top || route.exit == Side::Bottom;
  bool enters = route.entry == Side::Top || route.entry == Side::Bottom;
  Point at = from;
  auto go = [&](double x, double y) {
    at = {x, y};
    points.push_back(at);
  };
  if (exits)
    go(from.x, gapY(route.exitGap, route.exitLane));
  if (route.channel >= 0) {
    go(laneX(route), at.y);
    double y = enters ? gapY(route.entryGap, route.entryLane) : to.y;
    go(at.x, y);
  }
  if (enters)
    go(to.x, at.y);
  points.push_back(to);
  // Without points that change nothing.
  std::vector<Point> simple;
  for (const Point &point : points) {
    while (simple.size() >= 2) {
      const Point &a = simple[simple.size() - 2], &b = simple.back();
      bool vertical =
          std::abs(a.x - b.x) < 0.5 && std::abs(b.x - point.x) < 0.5;
      bool level = std::abs(a.y - b.y) < 0.5 && std::abs(b.y - point.y) < 0.5;
      if (!vertical && !level)
        break;
      simple.pop_back();
    }
    simple.push_back(point);
  }
  return simple;
}

void Layouter::drawEdges() {
  for (const Route &route : routes.routes)
    drawing.edges.push_back({route.edge, trace(route), route.far});
}

Drawing layOut(const Picture &picture, const Arrangement &arrangement) {
  return Layouter(picture, arrangement).run();
}

} // namespace dl::pictures
