// Which channels each line runs through. Boxes stand in rows and columns;
// between rows run horizontal channels, between columns vertical ones, so that
// a line never crosses a box.
#pragma once

#include "compiler/pictures/Arrange.h"
#include <map>

namespace dl::pictures {

/// Vertical channels from left to right.
enum Channel {
  LeftOfForward,
  RightOfForward,
  LeftOfBackward,
  RightOfBackward,
  RightOfUpdate,
  channels
};

/// A horizontal channel: below row `row` where `layer` is 0, else between the
/// layers `layer` - 1 and `layer` of the backward of that row. Row -1: above
/// all.
struct Gap {
  int row, layer;
  auto operator<=>(const Gap &) const = default;
};

enum class Side { Top, Bottom, Left, Right };

/// Leaves a box, runs along gaps and channels, enters the other box.
struct Route {
  int edge;
  Side exit, entry;
  /// The gap at a top or bottom; in a route without a channel both are the same
  /// gap.
  Gap exitGap{}, entryGap{};
  int channel = -1;                // none: straight through the one gap
  int lane = 0;                    // of the channel
  int exitLane = 0, entryLane = 0; // of the gaps
  bool far = false;
};

struct Routes {
  std::vector<Route> routes;
  int lanes[channels] = {};    // how many
  std::map<Gap, int> gapLanes; // how many
};

/// Where a node stands.
struct Seat {
  int row = -1;
  int layer = 0;        // of the backward
  bool isFirst = false; // in its layer or row
  bool isLast = false;
  bool inChain = false; // in the main one of the forward, of the backward
};

std::vector<Seat> seatsOf(const Picture &picture,
                          const Arrangement &arrangement);

Routes route(const Picture &picture, const Arrangement &arrangement,
             const std::vector<Seat> &seats);

/// Where a route runs in a gap, in pixels.
struct GapRun {
  size_t route;
  bool isEntry;
  Gap gap;
  double low, high;
};

/// Gives each run a lane of its gap.
void assignGapLanes(Routes &routes, const Picture &picture,
                    const std::vector<GapRun> &runs);

} // namespace dl::pictures
