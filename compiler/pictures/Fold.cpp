#include "compiler/pictures/Fold.h"
#include "compiler/pictures/Text.h"
#include <algorithm>
#include <map>
#include <set>

namespace dl::pictures {
namespace {

/// Finds blocks, modules or sequences of them, that follow one another and are
/// equal in their ops, shapes, gradients and updates.
class BlockFolder {
public:
  explicit BlockFolder(const Picture &picture)
      : picture(picture), beside(picture.nodes.size()),
        stands(picture.nodes.size()) {
    for (size_t i = 0; i < picture.nodes.size(); ++i) {
      const Node &node = picture.nodes[i];
      stands[i] = static_cast<int>(i);
      if (node.part == Part::Forward)
        forward.push_back(static_cast<int>(i));
      else if (node.anchor >= 0)
        beside[node.anchor].push_back(static_cast<int>(i));
    }
  }

  Picture run() {
    foldIn(0, forward.size(), 0);
    return rebuild();
  }

private:
  /// Ops [begin, end) of the forward; `path` is that of a module, or empty for
  /// an op beside modules.
  struct Item {
    size_t begin, end;
    std::string path, signature;
  };

  std::vector<Item> itemsOf(size_t begin, size_t end, size_t prefix) const;
  std::string signatureOf(int node, size_t prefix) const;
  bool isInside(size_t at, const std::string &path) const {
    const std::string &module = picture.nodes[forward[at]].module;
    return module.compare(0, path.size(), path) == 0 &&
           (module.size() == path.size() || module[path.size()] == '.');
  }
  void foldIn(size_t begin, size_t end, size_t prefix);
  void foldItems(const std::vector<Item> &items, size_t at, size_t period,
                 size_t count);
  void standFor(int copy, int original);
  Picture rebuild() const;

  const Picture &picture;
  std::vector<int> forward;
  std::vector<std::vector<int>> beside; // of each forward node
  std::vector<int> stands;              // the node that is shown for each
  std::vector<Repeat> repeats;
};

} // namespace

std::string BlockFolder::signatureOf(int index, size_t prefix) const {
  auto describe = [](const Node &node) {
    std::string text = std::string(nameOf(node.part)) + "|" + node.title + "|" +
                       node.detail + "|" + std::to_string(node.states.size());
    for (const std::string &op : node.ops) // a kernel's tells its body
      text += "|" + op;
    return text + ";";
  };
  const Node &node = picture.nodes[index];
  std::string text =
      (node.module.size() > prefix ? node.module.substr(prefix) : "") + ":" +
      describe(node);
  for (int other : beside[index])
    text += describe(picture.nodes[other]);
  return text;
}

std::vector<BlockFolder::Item> BlockFolder::itemsOf(size_t begin, size_t end,
                                                    size_t prefix) const {
  std::vector<Item> items;
  for (size_t at = begin; at < end;) {
    const std::string &module = picture.nodes[forward[at]].module;
    Item item{at, at + 1, "", ""};
    size_t inner = prefix;
    if (module.size() > prefix) {
      item.path = module.substr(0, module.find('.', prefix));
      while (item.end < end && isInside(item.end, item.path))
        ++item.end;
      // "h" that holds nothing but "h.1" here is "h.1".
      while (item.path.size() < module.size()) {
        std::string deeper =
            module.substr(0, module.find('.', item.path.size() + 1));
        size_t i = item.begin;
        while (i < item.end && isInside(i, deeper))
          ++i;
        if (i < item.end)
          break;
        item.path = deeper;
      }
      inner = item.path.size() + 1;
    }
    for (size_t i = item.begin; i < item.end; ++i)
      item.signature += signatureOf(forward[i], inner);
    at = item.end;
    items.push_back(std::move(item));
  }
  return items;
}

void BlockFolder::foldIn(size_t begin, size_t end, size_t prefix) {
  std::vector<Item> items = itemsOf(begin, end, prefix);
  for (size_t at = 0; at < items.size();) {
    size_t bestPeriod = 0, bestCount = 1;
    for (size_t period = 1; at + 2 * period <= items.size(); ++period) {
      bool anyModule = false;
      for (size_t i = at; i < at + period; ++i)
        anyModule |= !items[i].path.empty();
      size_t count = 1;
      auto repeats = [&] {
        if (at + (count + 1) * period > items.size())
          return false;
        for (size_t i = 0; i < period; ++i)
          if (items[at + i].signature !=
              items[at + count * period + i].signature)
            return false;
        return true;
      };
      while (anyModule && repeats())
        ++count;
      if (count > 1 && count * period > bestCount * bestPeriod) {
        bestPeriod = period;
        bestCount = count;
      }
    }
    if (bestCount > 1)
      foldItems(items, at, bestPeriod, bestCount);
    // What is shown may repeat itself inside.
    size_t shown = std::max<size_t>(1, bestPeriod);
    for (size_t i = at; i < at + shown; ++i)
      if (!items[i].path.empty() && items[i].end - items[i].begin > 1)
        foldIn(items[i].begin, items[i].end, items[i].path.size() + 1);
    at += shown * bestCount;
  }
}

void BlockFolder::foldItems(const std::vector<Item> &items, size_t at,
                            size_t period, size_t count) {
  const Item &first = items[at], &last = items[at + period - 1];
  size_t length = last.end - first.begin;
  for (size_t copy = 1; copy < count; ++copy)
    for (size_t i = 0; i < length; ++i)
      standFor(forward[first.begin + copy * length + i],
               forward[first.begin + i]);
  auto nameAt = [&](size_t begin) {
    std::string name;
    for (size_t i = begin; i < begin + period; ++i)
      if (!items[i].path.empty())
        name += (name.empty() ? "" : ", ") + items[i].path;
    return name;
  };
  repeats.push_back({forward[first.begin], forward[last.end - 1],
                     static_cast<int>(count),
                     nameAt(at) + " … " + nameAt(at + period * (count - 1))});
}

void BlockFolder::standFor(int copy, int original) {
  stands[copy] = original;
  for (size_t i = 0; i < beside[copy].size() && i < beside[original].size();
       ++i)
    stands[beside[copy][i]] = beside[original][i];
}

/// Without the nodes for which others stand.
Picture BlockFolder::rebuild() const {
  Picture result = picture;
  if (picture.view == View::Ops)
    result.view = View::Blocks;
  result.nodes.clear();
  result.edges.clear();
  std::vector<int> at(picture.nodes.size(), -1);
  for (size_t i = 0; i < picture.nodes.size(); ++i)
    if (stands[i] == static_cast<int>(i)) {
      at[i] = static_cast<int>(result.nodes.size());
      result.nodes.push_back(picture.nodes[i]);
    }
  auto shown = [&](int node) {
    while (stands[node] != node)
      node = stands[node];
    return at[node];
  };
  for (size_t i = 0; i < picture.nodes.size(); ++i)
    if (stands[i] != static_cast<int>(i))
      ++result.nodes[shown(static_cast<int>(i))].count;
  for (Node &node : result.nodes)
    if (node.anchor >= 0)
      node.anchor = shown(node.anchor);
  std::set<Edge> known;
  for (const Edge &edge : picture.edges) {
    Edge mapped{shown(edge.from), shown(edge.to), edge.kind};
    // From a block to the next equal one: it would lead back to itself.
    bool forward = picture.nodes[edge.from].part == Part::Forward &&
                   picture.nodes[edge.to].part == Part::Forward;
    bool backward = picture.nodes[edge.from].part == Part::Backward &&
                    picture.nodes[edge.to].part == Part::Backward;
    int from = result.nodes[mapped.from].anchor,
        to = result.nodes[mapped.to].anchor;
    bool leadsBack =
        (forward && mapped.to <= mapped.from) ||
        (backward && stands[edge.from] != edge.from && to > from) ||
        mapped.from == mapped.to;
    if (!leadsBack && known.insert(mapped).second)
      result.edges.push_back(mapped);
  }
  for (const Repeat &repeat : repeats)
    if (stands[repeat.first] == repeat.first)
      result.repeats.push_back({shown(repeat.first), shown(repeat.last),
                                repeat.count, repeat.names});
  return result;
}

Picture foldBlocks(const Picture &picture) {
  return BlockFolder(picture).run();
}

namespace {

/// Modules with nothing but ops in them.
std::set<std::string> leavesOf(const Picture &picture) {
  std::set<std::string> leaves, others{""};
  for (const Node &node : picture.nodes) {
    leaves.insert(node.module);
    for (size_t dot = node.module.rfind('.'); dot != std::string::npos && dot;
         dot = node.module.rfind('.', dot - 1))
      others.insert(node.module.substr(0, dot));
  }
  for (const std::string &path : others)
    leaves.erase(path);
  return leaves;
}

/// Gives every node the box that it goes into.
std::vector<int> groupsOf(const Picture &picture,
                          const std::set<std::string> &leaves) {
  std::set<int> firsts, lasts; // no box is half in a block
  for (const Repeat &repeat : picture.repeats) {
    firsts.insert(repeat.first);
    lasts.insert(repeat.last);
  }
  std::vector<int> group(picture.nodes.size(), -1);
  std::map<std::pair<int, Part>, int> besideOf; // by the forward group
  int groups = 0, last = -1;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    if (picture.nodes[i].part != Part::Forward)
      continue;
    // Beside modules only what is one after the other.
    bool joins =
        last >= 0 && picture.nodes[last].module == picture.nodes[i].module &&
        !firsts.count(static_cast<int>(i)) && !lasts.count(last) &&
        (leaves.count(picture.nodes[i].module) ||
         std::any_of(picture.edges.begin(), picture.edges.end(),
                     [&](const Edge &edge) {
                       return edge.to == static_cast<int>(i) &&
                              edge.kind == Edge::Data &&
                              group[edge.from] == group[last] &&
                              picture.nodes[edge.from].part == Part::Forward;
                     }));
    group[i] = joins ? group[last] : groups++;
    last = static_cast<int>(i);
  }
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const Node &node = picture.nodes[i];
    if (node.part == Part::Forward)
      continue;
    bool alone = node.anchor < 0 || node.part == Part::Input ||
                 node.part == Part::Output;
    if (alone) {
      group[i] = groups++;
      continue;
    }
    auto [slot, isNew] =
        besideOf.try_emplace({group[node.anchor], node.part}, groups);
    groups += isNew;
    group[i] = slot->second;
  }
  return group;
}

/// "weight" once for all that has it.
void addAll(std::vector<std::string> &to,
            const std::vector<std::string> &from) {
  for (const std::string &one : from)
    if (std::find(to.begin(), to.end(), one) == to.end())
      to.push_back(one);
}

std::string lastOf(const std::string &path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

void nameGroup(Node &box, size_t count, bool isModule) {
  switch (box.part) {
  case Part::Forward:
    if (isModule) {
      box.title = lastOf(box.module);
    } else if (box.members.size() <= 2) {
      box.title = box.members.front().text;
      for (size_t i = 1; i < box.members.size(); ++i)
        box.title += ", " + box.members[i].text;
      box.members.clear();
    } else {
      box.title = std::to_string(box.members.size()) + " ops";
    }
    break;
  case Part::Saved:
    box.title = count == 1 ? box.title : std::to_string(count) + " values";
    box.detail = byteText(box.bytes);
    break;
  case Part::Backward:
    box.title = isModule ? lastOf(box.module) + " backward" : "backward";
    break;
  case Part::Update:
    // The optimizer comes last, behind what is done to gradients before.
    box.title = box.members.back().text;
    box.members.pop_back();
    break;
  default:
    break;
  }
}

} // namespace

Picture foldModules(const Picture &picture) {
  Picture result = picture;
  result.view = View::Modules;
  result.nodes.clear();
  result.edges.clear();
  std::set<std::string> leaves = leavesOf(picture);
  std::vector<int> group = groupsOf(picture, leaves);
  std::map<int, int> boxOf;
  std::map<int, size_t> counts;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const Node &node = picture.nodes[i];
    auto [slot, isNew] =
        boxOf.try_emplace(group[i], static_cast<int>(result.nodes.size()));
    if (isNew) {
      result.nodes.push_back(node);
      result.nodes.back().members.clear();
      result.nodes.back().bytes = 0;
      result.nodes.back().ops.clear();
      result.nodes.back().states.clear();
    }
    Node &box = result.nodes[slot->second];
    ++counts[slot->second];
    box.bytes += node.bytes;
    box.ops.insert(box.ops.end(), node.ops.begin(), node.ops.end());
    addAll(box.states, node.states);
    bool isKnown =
        node.part == Part::Update &&
        std::any_of(box.members.begin(), box.members.end(),
                    [&](const Member &one) { return one.text == node.title; });
    if (node.part == Part::Forward || node.part == Part::Backward ||
        (node.part == Part::Update && !isKnown))
      box.members.push_back({node.title, node.part});
    if (node.part == Part::Forward)
      box.detail = node.detail;
    else if (node.part == Part::Backward)
      box.detail.clear();
  }
  auto box = [&](int node) { return boxOf[group[node]]; };
  for (Repeat &repeat : result.repeats) {
    repeat.first = box(repeat.first);
    repeat.last = box(repeat.last);
  }
  for (size_t i = 0; i < result.nodes.size(); ++i) {
    Node &node = result.nodes[i];
    if (node.anchor >= 0)
      node.anchor = box(node.anchor);
    bool isModule = leaves.count(node.module) > 0;
    nameGroup(node, counts[static_cast<int>(i)], isModule);
    if (!isModule)
      continue;
    // The box has the module's name; around it is what the module is part of.
    size_t dot = node.module.rfind('.');
    node.module = dot == std::string::npos ? "" : node.module.substr(0, dot);
  }
  std::set<Edge> known;
  for (const Edge &edge : picture.edges) {
    Edge mapped{box(edge.from), box(edge.to), edge.kind};
    if (mapped.from != mapped.to && known.insert(mapped).second)
      result.edges.push_back(mapped);
  }
  return result;
}

} // namespace dl::pictures
