#include "compiler/pictures/Arrange.h"
#include <algorithm>
#include <string_view>
#include <tuple>

namespace dl::pictures {
namespace {

constexpr size_t kMostAbreast = 4;

class Arranger {
public:
  explicit Arranger(const Picture &picture)
      : picture(picture), readers(picture.nodes.size()),
        makers(picture.nodes.size()), begins(picture.nodes.size()),
        rowOf(picture.nodes.size(), -1) {
    for (const Edge &edge : picture.edges) {
      begins[edge.to] = begins[edge.to] || edge.kind == Edge::Turn;
      if (edge.kind != Edge::Data)
        continue;
      readers[edge.from].push_back(edge.to);
      makers[edge.to].push_back(edge.from);
    }
  }

  Arrangement run() {
    findDepths();
    orderForward();
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin + 1;
      while (end < order.size() && sameRun(order[begin], order[end]))
        ++end;
      addRun(begin, end);
      begin = end;
    }
    putMainChainLast();
    addBesides();
    addFrames(0, static_cast<int>(result.rows.size()) - 1, 0, 0);
    return std::move(result);
  }

private:
  const Node &node(int index) const { return picture.nodes[index]; }
  bool isForward(int index) const {
    Part part = node(index).part;
    return part == Part::Input || part == Part::Forward || part == Part::Output;
  }
  /// The repeat that shows a forward node, or -1.
  int repeatOf(int index) const {
    for (size_t i = 0; i < picture.repeats.size(); ++i)
      if (picture.repeats[i].first <= index && index <= picture.repeats[i].last)
        return static_cast<int>(i);
    return -1;
  }
  bool sameRun(int a, int b) const {
    return node(a).module == node(b).module &&
           (node(a).module.empty() || repeatOf(a) == repeatOf(b));
  }

  void findDepths();
  void orderForward();
  size_t outputLayer(size_t begin, size_t end, size_t base) const;
  void sink(size_t at);
  void addRun(size_t begin, size_t end);
  void putMainChainLast();
  void addBesides();
  void addBackward(int index);
  void orderBackward();
  void orderUpdates();
  void addFrames(int first, int last, size_t prefix, int depth);
  bool addRepeatFrame(int &row, int last, size_t prefix, int depth);

  const Picture &picture;
  std::vector<std::vector<int>> readers, makers;
  std::vector<bool> begins; // a gradient that starts from the loss
  std::vector<int> rowOf;
  std::vector<int> depth;    // of forward nodes: the longest way to them
  std::vector<bool> trained; // a parameter takes part in it
  std::vector<int> order;    // of the forward
  Arrangement result;
  std::vector<int> framed; // repeats that have a frame
};

std::string_view outermost(const std::string &module) {
  return std::string_view(module).substr(0, module.find('.'));
}

} // namespace

void Arranger::findDepths() {
  depth.assign(picture.nodes.size(), 0);
  trained.assign(picture.nodes.size(), false);
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    trained[i] = !picture.nodes[i].states.empty();
    for (int maker : makers[i])
      if (isForward(maker) && maker < static_cast<int>(i)) {
        depth[i] = std::max(depth[i], depth[maker] + 1);
        trained[i] = trained[i] || trained[maker];
      }
  }
}

/// The row that all outputs share: the last one.
size_t Arranger::outputLayer(size_t begin, size_t end, size_t base) const {
  size_t layer = 0;
  for (size_t at = begin; at < end; ++at) {
    if (node(order[at]).part != Part::Output) {
      layer = std::max<size_t>(layer, rowOf[order[at]] - base);
      continue;
    }
    for (int maker : makers[order[at]])
      if (rowOf[maker] >= static_cast<int>(base))
        layer = std::max<size_t>(layer, rowOf[maker] - base + 1);
  }
  return layer;
}

void Arranger::orderForward() {
  for (Part part : {Part::Input, Part::Forward, Part::Output})
    for (size_t i = 0; i < picture.nodes.size(); ++i)
      if (picture.nodes[i].part == part)
        order.push_back(static_cast<int>(i));
  for (size_t at = order.size(); at-- > 0;)
    sink(at);
  std::vector<int> outputs;
  for (int index : order)
    if (node(index).part == Part::Output)
      outputs.push_back(index);
  std::erase_if(order,
                [&](int index) { return node(index).part == Part::Output; });
  order.insert(order.end(), outputs.begin(), outputs.end());
}

/// What stands outside of modules comes just before its first reader, so that
/// labels wait beside the loss and not at the top.
void Arranger::sink(size_t at) {
  int index = order[at];
  if (!node(index).module.empty() || node(index).part == Part::Output)
    return;
  size_t before = order.size();
  for (size_t i = at + 1; i < order.size() && before == order.size(); ++i)
    if (std::find(readers[index].begin(), readers[index].end(), order[i]) !=
        readers[index].end())
      before = i;
  if (before == order.size())
    return;
  // Not into the middle of a module.
  while (before > at + 1 && !node(order[before]).module.empty() &&
         outermost(node(order[before]).module) ==
             outermost(node(order[before - 1]).module))
    --before;
  order.insert(order.begin() + static_cast<long>(before), index);
  order.erase(order.begin() + static_cast<long>(at));
}

/// Neighbours of one module in layers: what is independent stands side by side.
void Arranger::addRun(size_t begin, size_t end) {
  std::vector<Row> rows;
  size_t base = result.rows.size();
  for (size_t at = begin; at < end; ++at) {
    int index = order[at];
    size_t layer = 0;
    for (int maker : makers[index])
      if (rowOf[maker] >= static_cast<int>(base))
        layer = std::max(layer, rowOf[maker] - base + 1);
    if (node(index).part == Part::Output)
      layer = std::max(layer, outputLayer(begin, end, base));
    while (layer < rows.size() && rows[layer].forward.size() >= kMostAbreast)
      ++layer;
    if (layer == rows.size())
      rows.push_back({node(index).module, {}, false, {}, {}, {}});
    rows[layer].forward.push_back(index);
    rowOf[index] = static_cast<int>(base + layer);
  }
  // What no parameter takes part in waits just above its first reader.
  for (size_t at = end; at-- > begin;) {
    int index = order[at], lowest = -1;
    if (trained[index])
      continue;
    for (int reader : readers[index])
      if (rowOf[reader] >= static_cast<int>(base) && isForward(reader))
        lowest = lowest < 0 ? rowOf[reader] - 1
                            : std::min(lowest, rowOf[reader] - 1);
    if (lowest <= rowOf[index] ||
        rows[lowest - base].forward.size() >= kMostAbreast)
      continue;
    std::erase(rows[rowOf[index] - base].forward, index);
    rows[lowest - base].forward.push_back(index);
    rowOf[index] = lowest;
  }
  for (size_t i = rows.size(); i-- > 0;)
    if (rows[i].forward.empty()) {
      for (size_t at = begin; at < end; ++at)
        rowOf[order[at]] -= rowOf[order[at]] > static_cast<int>(base + i);
      rows.erase(rows.begin() + static_cast<long>(i));
    }
  result.rows.insert(result.rows.end(), rows.begin(), rows.end());
}

/// The chain leads from the loss back along the longest way.
void Arranger::putMainChainLast() {
  std::vector<bool> inChain(picture.nodes.size());
  int end = -1;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    auto index = static_cast<int>(i);
    if (node(index).part == Part::Forward && !readers[index].empty())
      end = index;
  }
  for (size_t i = picture.nodes.size(); i-- > 0;)
    if (node(static_cast<int>(i)).part == Part::Output)
      for (int maker : makers[i])
        if (node(maker).part == Part::Forward) {
          end = maker;
          inChain[i] = true;
        }
  // Only one output is in line.
  for (size_t i = 0, outputs = 0; i < picture.nodes.size(); ++i)
    if (inChain[i] && ++outputs > 1)
      inChain[i] = false;
  while (end >= 0) {
    inChain[end] = true;
    int next = -1;
    auto weight = [&](int index) {
      return std::pair(depth[index], node(index).bytes);
    };
    for (int maker : makers[end])
      if (isForward(maker) && rowOf[maker] < rowOf[end] &&
          (next < 0 || weight(maker) > weight(next)))
        next = maker;
    end = next;
  }
  for (Row &row : result.rows) {
    auto main = std::find_if(row.forward.begin(), row.forward.end(),
                             [&](int index) { return inChain[index]; });
    row.inChain = main != row.forward.end();
    if (row.inChain)
      std::rotate(main, main + 1, row.forward.end());
  }
}

void Arranger::addBesides() {
  auto last = static_cast<int>(result.rows.size()) - 1;
  std::vector<int> tail;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    auto index = static_cast<int>(i);
    if (isForward(index))
      continue;
    int anchor = node(index).anchor;
    int row = anchor >= 0 ? rowOf[anchor] : last;
    if (node(index).part == Part::Update && anchor < 0) {
      tail.push_back(index);
      continue;
    }
    if (row < 0) {
      result.rows.push_back({});
      row = last = 0;
    }
    rowOf[index] = row;
    if (node(index).part == Part::Saved)
      result.rows[row].saved.push_back(index);
    else if (node(index).part == Part::Update)
      result.rows[row].update.push_back(index);
    else
      addBackward(index);
  }
  // What uses all gradients, each below what it reads.
  for (int index : tail) {
    rowOf[index] = static_cast<int>(result.rows.size());
    result.rows.push_back({});
    result.rows.back().update.push_back(index);
  }
  orderBackward();
  orderUpdates();
}

/// The main chain of the backward leads up to another row.
void Arranger::orderBackward() {
  auto isBackward = [&](int index) {
    return node(index).part == Part::Backward;
  };
  // What reads values that were saved, and no gradient, only helps the chain.
  auto leads = [&](int index) {
    return std::any_of(readers[index].begin(), readers[index].end(),
                       isBackward) &&
           (begins[index] || !makers[index].empty());
  };
  for (Row &row : result.rows)
    for (Row::Layer &layer : row.backward) {
      auto first = std::find_if(layer.nodes.begin(), layer.nodes.end(), leads);
      layer.inChain = first != layer.nodes.end();
      if (layer.inChain)
        std::rotate(layer.nodes.begin(), first, first + 1);
    }
}

/// Updates from the top in the order in which lines leave the gradients.
void Arranger::orderUpdates() {
  auto place = [&](int index) {
    for (int maker : makers[index]) {
      const auto &layers = result.rows[rowOf[index]].backward;
      for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer)
        for (size_t i = 0; i < layers[layer].nodes.size(); ++i)
          if (layers[layer].nodes[i] == maker)
            return std::tuple(-layer, i, index);
    }
    return std::tuple(1, size_t(0), index);
  };
  for (Row &row : result.rows)
    std::sort(row.update.begin(), row.update.end(),
              [&](int a, int b) { return place(a) < place(b); });
}

void Arranger::addBackward(int index) {
  Row &row = result.rows[rowOf[index]];
  size_t layer = 0;
  for (size_t i = 0; i < row.backward.size(); ++i)
    for (int below : row.backward[i].nodes)
      if (std::find(makers[index].begin(), makers[index].end(), below) !=
          makers[index].end())
        layer = i + 1;
  while (layer < row.backward.size() &&
         row.backward[layer].nodes.size() >= kMostAbreast)
    ++layer;
  if (layer == row.backward.size())
    row.backward.emplace_back();
  row.backward[layer].nodes.push_back(index);
}

/// One frame around blocks that stand for several.
bool Arranger::addRepeatFrame(int &row, int last, size_t prefix, int depth) {
  if (result.rows[row].forward.empty())
    return false;
  int repeat = repeatOf(result.rows[row].forward.front());
  if (repeat < 0 ||
      std::find(framed.begin(), framed.end(), repeat) != framed.end())
    return false;
  framed.push_back(repeat);
  int end = row;
  while (end < last && !result.rows[end + 1].forward.empty() &&
         repeatOf(result.rows[end + 1].forward.front()) == repeat)
    ++end;
  const Repeat &shown = picture.repeats[repeat];
  result.frames.push_back(
      {shown.names, "× " + std::to_string(shown.count), row, end, depth});
  // A block that is one module has the frame of that module.
  const std::string &first = result.rows[row].module;
  size_t dot = first.find('.', prefix);
  std::string path = first.substr(0, dot);
  bool isOne = !path.empty() && path.size() > prefix;
  for (int i = row; i <= end; ++i) {
    const std::string &module = result.rows[i].module;
    isOne &= module.compare(0, path.size(), path) == 0 &&
             (module.size() == path.size() || module[path.size()] == '.');
  }
  addFrames(row, end, isOne ? path.size() + 1 : prefix, depth + 1);
  row = end;
  return true;
}

/// Frames of the modules that rows lie in, from the component of the path that
/// starts at `prefix`.
void Arranger::addFrames(int first, int last, size_t prefix, int depth) {
  for (int row = first; row <= last; ++row) {
    if (addRepeatFrame(row, last, prefix, depth))
      continue;
    const std::string &module = result.rows[row].module;
    if (module.size() <= prefix)
      continue;
    size_t dot = module.find('.', prefix);
    std::string path = module.substr(0, dot);
    int repeat = repeatOf(result.rows[row].forward.empty()
                              ? -1
                              : result.rows[row].forward.front());
    int end = row;
    while (end < last) {
      const Row &next = result.rows[end + 1];
      bool inside = next.module == path ||
                    next.module.compare(0, path.size() + 1, path + ".") == 0;
      int nextRepeat =
          next.forward.empty() ? -1 : repeatOf(next.forward.front());
      if (!inside || (nextRepeat != repeat && nextRepeat < 0 && repeat >= 0))
        break;
      ++end;
    }
    result.frames.push_back({path, "", row, end, depth});
    addFrames(row, end, path.size() + 1, depth + 1);
    row = end;
  }
}

Arrangement arrange(const Picture &picture) { return Arranger(picture).run(); }

} // namespace dl::pictures
