#include "compiler/pictures/BoxText.h"
#include "compiler/pictures/Text.h"
#include <algorithm>

namespace dl::pictures {

static constexpr double kWidest = 290, kNarrowest = 84;
static constexpr size_t kMostLines = 9;

/// "conv1: conv2d, add" for ops of one module and one part; broken where it
/// gets too long.
static std::vector<Member> memberLines(const std::vector<Member> &members) {
  std::vector<Member> lines;
  std::string module;
  for (const Member &member : members) {
    size_t slash = member.text.rfind('/');
    std::string path =
        slash == std::string::npos ? "" : member.text.substr(0, slash);
    std::string op = slash == std::string::npos ? member.text
                                                : member.text.substr(slash + 1);
    bool joins = !lines.empty() && lines.back().part == member.part &&
                 path == module &&
                 textWidth(lines.back().text + ", " + op, metrics::smallSize) <
                     kWidest - 2 * metrics::padX - 12;
    if (joins)
      lines.back().text += ", " + op;
    else
      lines.push_back({path.empty() ? op : path + ": " + op, member.part});
    module = path;
  }
  if (lines.size() > kMostLines) {
    size_t hidden = lines.size() - (kMostLines - 1);
    lines.resize(kMostLines - 1);
    lines.push_back(
        {"… " + std::to_string(hidden) + " lines more", members.back().part});
  }
  return lines;
}

BoxText textOf(const Node &node) {
  double room = kWidest - 2 * metrics::padX;
  BoxText text;
  text.title = shortened(node.title, metrics::titleSize * 1.1, room);
  text.detail = shortened(node.detail, metrics::smallSize, room);
  for (const std::string &state : node.states)
    text.states.push_back(shortened(state, metrics::smallSize, room));
  for (Member &line : text.members = memberLines(node.members))
    line.text = shortened(line.text, metrics::smallSize, room - 12);
  return text;
}

Point sizeOf(const BoxText &text) {
  double width = textWidth(text.title, metrics::titleSize, true);
  width = std::max(width, textWidth(text.detail, metrics::smallSize));
  for (const std::string &state : text.states)
    width = std::max(width, textWidth(state, metrics::smallSize));
  for (const Member &line : text.members)
    width = std::max(width, textWidth(line.text, metrics::smallSize) + 12);
  double lines = static_cast<double>(text.states.size() + text.members.size()) +
                 (text.detail.empty() ? 0 : 1);
  double height =
      2 * metrics::padY + metrics::titleHeight + lines * metrics::lineHeight;
  if (!text.states.empty())
    height += 5;
  return {std::max(kNarrowest, width + 2 * metrics::padX), height};
}

} // namespace dl::pictures
