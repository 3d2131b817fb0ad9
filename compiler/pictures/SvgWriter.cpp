#include "compiler/pictures/SvgWriter.h"
#include "compiler/pictures/Style.h"
#include "compiler/pictures/Text.h"
#include <algorithm>
#include <cmath>

namespace dl::pictures {
namespace {

constexpr double legendHeight = 44;

struct LegendItem {
  const char *text;
  Paint paint;
};

/// What the picture has of it.
std::vector<LegendItem> legendOf(const Picture &picture) {
  auto has = [&](Part part) {
    return std::any_of(
        picture.nodes.begin(), picture.nodes.end(), [&](const Node &node) {
          return node.part == part ||
                 std::any_of(
                     node.members.begin(), node.members.end(),
                     [&](const Member &member) { return member.part == part; });
        });
  };
  bool states =
      std::any_of(picture.nodes.begin(), picture.nodes.end(),
                  [](const Node &node) { return !node.states.empty(); });
  std::vector<LegendItem> items;
  if (has(Part::Forward))
    items.push_back({"forward", paintOf(Part::Forward)});
  if (states)
    items.push_back({"parameters and state", {parameterFill, "#C9A94F"}});
  if (has(Part::Saved))
    items.push_back({"saved for the backward", paintOf(Part::Saved)});
  if (has(Part::Backward))
    items.push_back({"backward", paintOf(Part::Backward)});
  if (has(Part::Update))
    items.push_back({"update", paintOf(Part::Update)});
  items.push_back({"batch, metrics", paintOf(Part::Output)});
  return items;
}

double legendWidth(const std::vector<LegendItem> &items) {
  double width = 0;
  for (const LegendItem &item : items)
    width += 22 + textWidth(item.text, metrics::smallSize) + 18;
  return width;
}

class Writer {
public:
  Writer(const Picture &picture, const Arrangement &arrangement)
      : picture(picture), arrangement(arrangement),
        drawing(layOut(picture, arrangement)) {}

  std::string run() {
    begin();
    for (const DrawnFrame &frame : drawing.frames)
      writeFrame(frame);
    // Lines to far rows lie below the others.
    for (bool far : {true, false})
      for (const DrawnEdge &edge : drawing.edges)
        if (edge.far == far)
          writeEdge(edge);
    for (size_t i = 0; i < picture.nodes.size(); ++i)
      writeNode(picture.nodes[i], drawing.nodes[i]);
    for (const DrawnFrame &frame : drawing.frames)
      writeFrameLabel(frame);
    writeLegend();
    svg += "</svg>\n";
    return std::move(svg);
  }

private:
  void begin();
  void writeFrame(const DrawnFrame &frame);
  void writeFrameLabel(const DrawnFrame &frame);
  void writeEdge(const DrawnEdge &edge);
  void writeNode(const Node &node, const DrawnNode &drawn);
  void writeMember(const Node &node, const Member &member, double x,
                   double center, double y);
  void writeLegend();
  void text(double x, double y, const std::string &content,
            const std::string &attributes);
  void rect(const Rect &place, const std::string &attributes);

  const Picture &picture;
  const Arrangement &arrangement;
  Drawing drawing;
  std::string svg;
};

std::string attribute(const char *name, const std::string &value) {
  return std::string(" ") + name + "=\"" + escaped(value) + "\"";
}

} // namespace

void Writer::text(double x, double y, const std::string &content,
                  const std::string &attributes) {
  svg += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + attributes +
         ">" + escaped(content) + "</text>\n";
}

void Writer::rect(const Rect &place, const std::string &attributes) {
  svg += "<rect x=\"" + number(place.x) + "\" y=\"" + number(place.y) +
         "\" width=\"" + number(place.width) + "\" height=\"" +
         number(place.height) + "\"" + attributes + "/>\n";
}

void Writer::begin() {
  double width = std::max({drawing.width, legendWidth(legendOf(picture)) + 40,
                           textWidth(picture.title, 17, true) + 40});
  double height = drawing.height + legendHeight;
  svg = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  svg += "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) +
         "\" height=\"" + number(height) + "\" viewBox=\"0 0 " + number(width) +
         " " + number(height) + "\" font-family=\"" + fontFamily + "\">\n";
  svg += "<title>" + escaped(picture.title) + "</title>\n<defs>\n";
  for (Part part :
       {Part::Input, Part::Forward, Part::Saved, Part::Backward, Part::Update})
    svg += std::string("<marker id=\"to-") + nameOf(part) +
           "\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
           "markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" "
           "orient=\"auto\"><path d=\"M0 0.8 L8 4 L0 7.2 z\" fill=\"" +
           paintOf(part).line + "\"/></marker>\n";
  svg += "</defs>\n";
  rect({0, 0, width, height}, " fill=\"white\"");
  text(20, 28, picture.title,
       " font-size=\"17\" font-weight=\"bold\" fill=\"#1F2933\"");
  text(20, 46, picture.subtitle, " font-size=\"11.5\" fill=\"#52606D\"");
  for (const Column &column : drawing.columns)
    text(column.x, metrics::top - 6, column.title,
         " font-size=\"11\" font-weight=\"bold\" fill=\"#7B8794\" "
         "text-anchor=\"middle\"");
}

void Writer::writeFrame(const DrawnFrame &frame) {
  const Frame &of = arrangement.frames[frame.frame];
  bool repeated = !of.badge.empty();
  rect(frame.place, std::string(" rx=\"7\" class=\"module\" fill=\"") +
                        (of.depth % 2 ? "#FFFFFF" : frameFill) +
                        "\" stroke=\"" + (repeated ? "#5C7A99" : frameLine) +
                        "\" stroke-width=\"" + (repeated ? "1.6" : "1") + "\"" +
                        attribute("data-module", of.label));
}

void Writer::writeFrameLabel(const DrawnFrame &frame) {
  const Frame &of = arrangement.frames[frame.frame];
  double x = frame.place.x + 8, y = frame.place.y + 14;
  // Written twice: not all renderers know `paint-order`, and draw a border over
  // the letters.
  std::string font = " font-size=\"11.5\" font-weight=\"bold\"";
  text(x, y, of.label,
       font + " class=\"halo\" fill=\"white\" stroke=\"white\" "
              "stroke-width=\"3\" stroke-linejoin=\"round\"");
  text(x, y, of.label, font + " fill=\"#3E4C59\"");
  if (of.badge.empty())
    return;
  Rect badge{x + textWidth(of.label, 11.5, true) + 8, frame.place.y + 3.5,
             textWidth(of.badge, 11, true) + 12, 15};
  rect(badge, " rx=\"7.5\" fill=\"#5C7A99\"");
  text(badge.centerX(), y, of.badge,
       " font-size=\"11\" font-weight=\"bold\" fill=\"white\" "
       "text-anchor=\"middle\"");
}

void Writer::writeEdge(const DrawnEdge &drawn) {
  const Edge &edge = picture.edges[drawn.edge];
  Part part = picture.nodes[edge.from].part;
  if (edge.kind == Edge::Keep)
    part = Part::Saved;
  if (part == Part::Output)
    part = Part::Input;
  Part reader = picture.nodes[edge.to].part;
  if (reader == Part::Update ||
      (reader == Part::Backward && edge.kind == Edge::Data))
    part = reader;
  bool dashed = edge.kind == Edge::Keep || edge.kind == Edge::Use;
  const std::vector<Point> &points = drawn.points;
  std::string path =
      "M" + number(points.front().x) + " " + number(points.front().y);
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &at = points[i];
    if (i + 1 == points.size()) {
      path += " L" + number(at.x) + " " + number(at.y);
      break;
    }
    // A round corner.
    auto toward = [&](const Point &other) {
      double length = std::hypot(other.x - at.x, other.y - at.y);
      double step = std::min(5.0, length / 2) / std::max(length, 0.01);
      return Point{at.x + (other.x - at.x) * step,
                   at.y + (other.y - at.y) * step};
    };
    Point before = toward(points[i - 1]), after = toward(points[i + 1]);
    path += " L" + number(before.x) + " " + number(before.y) + " Q" +
            number(at.x) + " " + number(at.y) + " " + number(after.x) + " " +
            number(after.y);
  }
  const char *kinds[] = {"data", "keep", "use", "turn"};
  svg += "<path d=\"" + path + "\" class=\"edge " + kinds[edge.kind] +
         "\" fill=\"none\" stroke=\"" + paintOf(part).line +
         "\" stroke-width=\"" + (drawn.far ? "1" : "1.4") + "\"" +
         (drawn.far ? " stroke-opacity=\"0.6\"" : "") +
         (dashed ? " stroke-dasharray=\"4 3\"" : "") +
         (edge.kind == Edge::Keep
              ? std::string()
              : std::string(" marker-end=\"url(#to-") + nameOf(part) + ")\"") +
         attribute("data-from", picture.nodes[edge.from].id) +
         attribute("data-to", picture.nodes[edge.to].id) + "/>\n";
}

void Writer::writeMember(const Node &node, const Member &member, double x,
                         double center, double y) {
  bool isMixed =
      std::any_of(node.members.begin(), node.members.end(),
                  [&](const Member &one) { return one.part != node.part; });
  if (!isMixed) {
    text(center, y, member.text,
         " font-size=\"10.5\" fill=\"#323F4B\" text-anchor=\"middle\"");
    return;
  }
  rect({x, y - 8.5, 8, 8}, std::string(" rx=\"1.5\" fill=\"") +
                               paintOf(member.part).fill + "\" stroke=\"" +
                               paintOf(member.part).line +
                               "\" stroke-width=\"0.7\"");
  text(x + 12, y, member.text, " font-size=\"10.5\" fill=\"#323F4B\"");
}

void Writer::writeNode(const Node &node, const DrawnNode &drawn) {
  const Rect &place = drawn.place;
  std::string ops;
  for (const std::string &op : node.ops)
    ops += (ops.empty() ? "" : " ") + op;
  svg +=
      std::string("<g class=\"node ") + nameOf(node.part) + "\"" +
      attribute("id", node.id) +
      (ops.empty() ? "" : attribute("data-ops", ops)) +
      (node.count == 1 ? ""
                       : attribute("data-count", std::to_string(node.count))) +
      ">\n";
  std::string hint = node.id;
  for (const std::string &line : {node.title + " " + node.detail, node.where})
    hint += line.empty() ? "" : "\n" + line;
  for (const Member &member : node.members)
    hint += "\n  " + member.text;
  svg += "<title>" + escaped(hint) + "</title>\n";
  bool round = node.part == Part::Input || node.part == Part::Output;
  Paint paint = node.isExchange ? exchangePaint : paintOf(node.part);
  rect(place, std::string(" rx=\"") +
                  (round ? number(place.height / 2) : std::string("4")) +
                  "\" fill=\"" + paint.fill + "\" stroke=\"" + paint.line +
                  "\"");
  double y = place.y + metrics::padY + 11;
  text(place.centerX(), y, drawn.text.title,
       " font-size=\"12\" font-weight=\"bold\" fill=\"#1F2933\" "
       "text-anchor=\"middle\"");
  y += 2;
  if (!drawn.text.detail.empty()) {
    y += metrics::lineHeight;
    text(place.centerX(), y, drawn.text.detail,
         " font-size=\"10.5\" fill=\"#323F4B\" text-anchor=\"middle\"");
  }
  for (const Member &line : drawn.text.members) {
    y += metrics::lineHeight;
    writeMember(node, line, place.x + metrics::padX, place.centerX(), y);
  }
  if (!drawn.text.states.empty()) {
    double height =
        metrics::lineHeight * static_cast<double>(drawn.text.states.size()) + 3;
    rect({place.x + 3, y + 5, place.width - 6, height},
         std::string(" rx=\"2.5\" class=\"state\" fill=\"") + parameterFill +
             "\"");
    y += 3;
    for (const std::string &state : drawn.text.states) {
      y += metrics::lineHeight;
      text(place.centerX(), y, state,
           " font-size=\"10.5\" fill=\"#5C4A13\" text-anchor=\"middle\"");
    }
  }
  svg += "</g>\n";
}

void Writer::writeLegend() {
  double x = 20, y = drawing.height + 12;
  svg += "<g class=\"legend\">\n";
  for (const LegendItem &item : legendOf(picture)) {
    rect({x, y, 15, 12}, std::string(" rx=\"2.5\" fill=\"") + item.paint.fill +
                             "\" stroke=\"" + item.paint.line + "\"");
    text(x + 21, y + 10, item.text, " font-size=\"10.5\" fill=\"#323F4B\"");
    x += 22 + textWidth(item.text, metrics::smallSize) + 18;
  }
  svg += "</g>\n";
}

std::string writeSvg(const Picture &picture, const Arrangement &arrangement) {
  return Writer(picture, arrangement).run();
}

} // namespace dl::pictures
