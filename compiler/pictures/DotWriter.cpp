#include "compiler/pictures/DotWriter.h"
#include "compiler/pictures/BoxText.h"
#include "compiler/pictures/Style.h"

namespace dl::pictures {
namespace {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

class DotWriter {
public:
  DotWriter(const Picture &picture, const Arrangement &arrangement)
      : picture(picture), arrangement(arrangement),
        inRank(picture.nodes.size(), -1) {}

  std::string run() {
    dot = "digraph " + quoted(picture.title) +
          " {\n"
          "  newrank=true;\n  rankdir=TB;\n  nodesep=0.25;\n"
          "  ranksep=0.35;\n  label=" +
          quoted(picture.title + " — " + picture.subtitle) +
          ";\n  labelloc=t;\n  labeljust=l;\n  fontname=\"Helvetica\";\n"
          "  node [shape=box, style=filled, fontname=\"Helvetica\", "
          "fontsize=10, margin=\"0.1,0.05\"];\n"
          "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.6];\n";
    writeRows(0, static_cast<int>(arrangement.rows.size()) - 1, 0, "  ");
    for (const Row &row : arrangement.rows)
      writeRank(row);
    for (const Edge &edge : picture.edges)
      writeEdge(edge);
    writeLegend();
    dot += "}\n";
    return std::move(dot);
  }

private:
  void writeRows(int first, int last, size_t frame, const std::string &indent);
  void writeNode(int index, const std::string &indent);
  void writeRank(const Row &row);
  void writeEdge(const Edge &edge);
  void writeLegend();
  std::string name(int node) const { return quoted(picture.nodes[node].id); }

  const Picture &picture;
  const Arrangement &arrangement;
  std::vector<int> inRank; // the first node of the rank
  std::string dot;
};

} // namespace

void DotWriter::writeNode(int index, const std::string &indent) {
  const Node &node = picture.nodes[index];
  BoxText text = textOf(node);
  std::string label = text.title;
  auto line = [&](const std::string &more) {
    label += more.empty() ? "" : "\n" + more;
  };
  line(text.detail);
  for (const Member &member : text.members)
    line(member.text);
  for (const std::string &state : text.states)
    line(state);
  std::string escapedLabel;
  for (char c : label)
    escapedLabel += c == '\n'               ? "\\n"
                    : c == '"' || c == '\\' ? std::string("\\") + c
                                            : std::string(1, c);
  bool round = node.part == Part::Input || node.part == Part::Output;
  Paint paint = node.isExchange ? exchangePaint : paintOf(node.part);
  dot += indent + name(index) + " [label=\"" + escapedLabel +
         "\", fillcolor=\"" + paint.fill + "\", color=\"" + paint.line + "\"" +
         (round ? ", style=\"filled,rounded\"" : "") +
         (node.where.empty() ? "" : ", tooltip=" + quoted(node.where)) + "];\n";
}

/// The nodes of rows, in the clusters of their frames. Frames come in the order
/// of their first rows, outer ones first.
void DotWriter::writeRows(int first, int last, size_t frame,
                          const std::string &indent) {
  for (int row = first; row <= last; ++row) {
    while (frame < arrangement.frames.size() &&
           arrangement.frames[frame].first < row)
      ++frame;
    if (frame < arrangement.frames.size() &&
        arrangement.frames[frame].first == row) {
      const Frame &of = arrangement.frames[frame];
      std::string label =
          of.badge.empty() ? of.label : of.label + "  " + of.badge;
      dot += indent + "subgraph cluster_" + std::to_string(frame) + " {\n" +
             indent + "  label=" + quoted(label) + ";\n" + indent +
             "  labeljust=l;\n" + indent + "  style=\"filled,rounded\";\n" +
             indent + "  fillcolor=\"" +
             (of.depth % 2 ? "#FFFFFF" : frameFill) + "\";\n" + indent +
             "  color=\"" + frameLine + "\";\n";
      writeRows(of.first, of.last, frame + 1, indent + "  ");
      dot += indent + "}\n";
      row = of.last;
      continue;
    }
    const Row &of = arrangement.rows[row];
    for (const std::vector<int> *side : {&of.forward, &of.saved, &of.update})
      for (int node : *side)
        writeNode(node, indent);
    for (const Row::Layer &layer : of.backward)
      for (int node : layer.nodes)
        writeNode(node, indent);
  }
}

/// Forward, saved, backward and update side by side. The lower layers of the
/// backward follow from their edges.
void DotWriter::writeRank(const Row &row) {
  std::vector<int> nodes = row.forward;
  nodes.insert(nodes.end(), row.saved.begin(), row.saved.end());
  if (!row.backward.empty())
    nodes.insert(nodes.end(), row.backward.back().nodes.begin(),
                 row.backward.back().nodes.end());
  nodes.insert(nodes.end(), row.update.begin(), row.update.end());
  if (nodes.size() < 2)
    return;
  dot += "  { rank=same;";
  for (int node : nodes) {
    dot += " " + name(node) + ";";
    inRank[node] = nodes.front();
  }
  dot += " }\n";
  // From left to right in this order.
  for (size_t i = 1; i < nodes.size(); ++i)
    dot += "  " + name(nodes[i - 1]) + " -> " + name(nodes[i]) +
           " [style=invis];\n";
}

void DotWriter::writeEdge(const Edge &edge) {
  Part from = picture.nodes[edge.from].part, to = picture.nodes[edge.to].part;
  std::string line = edge.kind == Edge::Keep ? paintOf(Part::Saved).line
                     : to == Part::Update    ? paintOf(to).line
                                             : paintOf(from).line;
  std::string attributes = "color=\"" + line + "\"";
  // The backward runs up, beside the forward: Graphviz sees it the other way.
  bool up = from == Part::Backward && to == Part::Backward;
  if (up)
    attributes += ", dir=back, weight=10";
  else if (from == Part::Forward && to == Part::Forward)
    attributes += ", weight=10";
  if (edge.kind == Edge::Keep)
    attributes += ", style=dashed, arrowhead=none";
  else if (edge.kind == Edge::Use)
    attributes += ", style=dashed";
  else if (edge.kind == Edge::Turn)
    attributes += ", style=bold";
  bool sameRank =
      inRank[edge.from] >= 0 && inRank[edge.from] == inRank[edge.to];
  bool isChain = up || (from != Part::Backward && to != Part::Backward &&
                        from != Part::Update && to != Part::Update);
  if (!isChain && !sameRank)
    attributes += ", constraint=false";
  dot += "  " + name(up ? edge.to : edge.from) + " -> " +
         name(up ? edge.from : edge.to) + " [" + attributes + "];\n";
}

void DotWriter::writeLegend() {
  dot += "  subgraph cluster_legend {\n    label=\"legend\";\n    color=\"" +
         std::string(frameLine) + "\";\n";
  std::string before;
  for (Part part : {Part::Forward, Part::Saved, Part::Backward, Part::Update}) {
    std::string id = quoted(std::string("legend/") + nameOf(part));
    dot +=
        "    " + id + " [label=" +
        quoted(part == Part::Saved ? "saved for the backward" : nameOf(part)) +
        ", fillcolor=\"" + paintOf(part).fill + "\", color=\"" +
        paintOf(part).line + "\"];\n";
    if (!before.empty())
      dot += "    " + before + " -> " + id + " [style=invis];\n";
    before = id;
  }
  dot += "  }\n";
}

std::string writeDot(const Picture &picture, const Arrangement &arrangement) {
  return DotWriter(picture, arrangement).run();
}

} // namespace dl::pictures
