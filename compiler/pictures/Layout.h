// Places: every box, frame and line with its coordinates.
#pragma once

#include "compiler/pictures/Arrange.h"

namespace dl::pictures {

struct Point {
  double x, y;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  double centerX() const { return x + width / 2; }
  double centerY() const { return y + height / 2; }
};

/// Lines of text in a box, from the top.
struct BoxText {
  std::string title, detail;
  std::vector<std::string> states;
  std::vector<Member> members;
};

struct DrawnNode {
  Rect place;
  BoxText text;
};

struct DrawnFrame {
  Rect place;
  int frame; // of the arrangement
};

struct DrawnEdge {
  int edge; // of the picture
  std::vector<Point> points;
  bool far; // past other rows
};

struct Column {
  const char *title;
  double x; // of its middle
};

struct Drawing {
  double width = 0, height = 0;
  std::vector<DrawnNode> nodes; // as in the picture
  std::vector<DrawnFrame> frames;
  std::vector<DrawnEdge> edges;
  std::vector<Column> columns;
};

/// Sizes of text, which the writer must keep to.
namespace metrics {
constexpr double titleSize = 12, smallSize = 10.5;
constexpr double padX = 10, padY = 6, titleHeight = 16, lineHeight = 13.5;
constexpr double top = 74; // above the first row: title and columns
} // namespace metrics

Drawing layOut(const Picture &picture, const Arrangement &arrangement);

} // namespace dl::pictures
