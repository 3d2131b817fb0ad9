#include "compiler/pictures/MemoryPicture.h"
#include "compiler/pictures/Style.h"
#include "compiler/pictures/SvgText.h"
#include "compiler/pictures/Text.h"
#include <algorithm>
#include <cmath>
#include <tuple>

namespace dl::pictures {
namespace {

constexpr double left = 78, top = 74, curveHeight = 130, between = 34,
                 listGap = 96, listWidth = 400, headHeight = 52,
                 namesHeight = 146, legendHeight = 44, lineHeight = 29;
constexpr size_t mostListed = 16;

std::string totals(const MemoryPicture &picture) {
  std::string text;
  for (const auto &[name, bytes] : picture.fixed)
    text += name + " " + byteText(bytes) + " + ";
  return text + "temporaries " + byteText(picture.packed()) + " = " +
         byteText(picture.fixedBytes() + picture.packed());
}

/// Draws one program, from (0, 0) on.
class MemoryWriter {
public:
  MemoryWriter(const MemoryMap &map, const MemoryPicture &picture)
      : map(map), fixed(picture.fixedBytes()) {
    size_t count = std::max<size_t>(1, map.commands.size());
    step = std::clamp(760.0 / static_cast<double>(count), 2.0, 44.0);
    plot = step * static_cast<double>(count);
    frame = std::max(plot, 200.0);
    mapHeight = std::min(340.0, 42 * static_cast<double>(map.blocks.size()));
    mapTop = top + curveHeight + (map.blocks.empty() ? 0 : between);
  }

  double width() const { return left + frame + listGap + listWidth; }
  double height() const {
    double list = top + 60 + lineHeight * static_cast<double>(listed());
    return std::max(mapTop + mapHeight + namesHeight,
                    map.blocks.empty() ? 0 : list);
  }

  std::string run() {
    writeTitle();
    writeCurve();
    if (!map.blocks.empty()) {
      writeMap();
      writeList();
    }
    writeCommands();
    return std::move(out);
  }

private:
  void writeTitle();
  void writeCurve();
  void writeMap();
  void writePeak();
  void writeCommands();
  void writeList();
  void writeAxis(double y0, double extent, int64_t most, const char *what);
  void rect(double x, double y, double w, double h, const std::string &rest) {
    out += svg::rect(x, y, w, h, rest);
  }
  void text(double x, double y, const std::string &content, double size,
            const std::string &rest = "") {
    out += svg::text(x, y, content, size, rest);
  }
  void line(double x1, double y1, double x2, double y2,
            const std::string &rest);
  double xOf(int command) const { return left + step * command; }
  size_t listed() const {
    auto alive = std::count_if(
        map.blocks.begin(), map.blocks.end(),
        [this](const MemoryBlock &block) { return isAliveAtPeak(block); });
    return std::min(mostListed, static_cast<size_t>(alive));
  }
  bool isAliveAtPeak(const MemoryBlock &block) const {
    return block.first <= map.peak && map.peak <= block.last;
  }
  int64_t peakBytes() const {
    return map.commands.empty() ? 0 : map.commands[map.peak].alive;
  }

  const MemoryMap &map;
  int64_t fixed;
  double step, plot, frame, mapTop, mapHeight;
  std::string out;
};

} // namespace

void MemoryWriter::line(double x1, double y1, double x2, double y2,
                        const std::string &rest) {
  out += svg::line(x1, y1, x2, y2, rest);
}

void MemoryWriter::writeTitle() {
  text(20, 28, map.title, 14, " font-weight=\"bold\" fill=\"#1F2933\"");
  text(20, 46,
       map.blocks.empty() ? "no temporaries"
                          : "temporaries " + byteText(map.packed) + ", " +
                                byteText(peakBytes()) + " alive at the peak",
       11.5, " fill=\"#52606D\"");
}

/// Lines at round numbers of bytes, from the bottom `y0` up.
void MemoryWriter::writeAxis(double y0, double extent, int64_t most,
                             const char *what) {
  double rough = static_cast<double>(std::max<int64_t>(1, most)) / 4;
  double unit = std::pow(10.0, std::floor(std::log10(rough)));
  double tick = unit;
  for (double factor : {1.0, 2.0, 5.0, 10.0})
    if (tick < rough * 0.8)
      tick = unit * factor;
  tick = std::max(1.0, tick);
  for (double bytes = 0; bytes <= static_cast<double>(most); bytes += tick) {
    double y =
        y0 - extent * bytes / static_cast<double>(std::max<int64_t>(1, most));
    line(left, y, left + frame, y, " stroke=\"#E4E7EB\" stroke-width=\"1\"");
    text(left - 6, y + 3.5, byteText(static_cast<int64_t>(bytes)), 10,
         " text-anchor=\"end\" fill=\"#7B8794\"");
  }
  text(left, y0 - extent - 9, what, 11,
       " font-weight=\"bold\" fill=\"#7B8794\"");
}

/// Bytes in use: states, and on top of them the temporaries that are alive.
void MemoryWriter::writeCurve() {
  double bottom = top + curveHeight;
  int64_t most = std::max<int64_t>(1, fixed + map.packed);
  double scale = curveHeight / static_cast<double>(most);
  writeAxis(bottom, curveHeight, most, "bytes in use");
  double base = bottom - static_cast<double>(fixed) * scale;
  rect(left, base, plot, bottom - base,
       std::string(" class=\"states\" fill=\"") + parameterFill +
           "\"><title>states, metrics: " + byteText(fixed) +
           "</title></rect>\n");
  std::string path = "M" + number(left) + " " + number(base);
  for (size_t i = 0; i < map.commands.size(); ++i) {
    double y = base - static_cast<double>(map.commands[i].alive) * scale;
    path += " L" + number(xOf(static_cast<int>(i))) + " " + number(y) + " L" +
            number(xOf(static_cast<int>(i) + 1)) + " " + number(y);
  }
  path += " L" + number(left + plot) + " " + number(base) + " z";
  out += "<path d=\"" + path +
         "\" class=\"alive\" fill=\"#9DB8D2\" stroke=\"#4F7599\" "
         "stroke-width=\"1.2\"/>\n";
  double mostY = bottom - static_cast<double>(most) * scale;
  line(left, mostY, left + frame, mostY,
       " stroke=\"#4F7599\" stroke-dasharray=\"5 3\"");
  text(left + frame + 5, mostY + 3.5, "at most " + byteText(most), 10,
       " fill=\"#4F7599\"");
}

/// Where each temporary lies, and from which command to which.
void MemoryWriter::writeMap() {
  double bottom = mapTop + mapHeight;
  int64_t most = std::max<int64_t>(1, map.packed);
  double scale = mapHeight / static_cast<double>(most);
  writeAxis(bottom, mapHeight, most, "temporaries by offset");
  for (const MemoryBlock &block : map.blocks) {
    bool atPeak = isAliveAtPeak(block);
    double x = xOf(block.first), w = xOf(block.last + 1) - x;
    double h = static_cast<double>(block.bytes) * scale;
    double y = bottom - static_cast<double>(block.offset) * scale - h;
    Paint paint = paintOf(block.part);
    rect(x, y, w, std::max(0.4, h),
         std::string(" class=\"buffer ") + nameOf(block.part) +
             (atPeak ? " peak" : "") + "\" fill=\"" + paint.fill +
             "\" stroke=\"" + (atPeak ? "#C0392B" : paint.line) +
             "\" stroke-width=\"" +
             (h < 2    ? "0.2"
              : atPeak ? "1.3"
                       : "0.7") +
             "\"><title>" +
             escaped(block.name + "\n" + byteText(block.bytes) + "  " +
                     block.where) +
             "</title></rect>\n");
  }
  writePeak();
  for (const MemoryBlock &block : map.blocks) {
    double x = xOf(block.first), w = xOf(block.last + 1) - x;
    double h = static_cast<double>(block.bytes) * scale;
    double y = bottom - static_cast<double>(block.offset) * scale - h;
    if (h < 12 || w < 40)
      continue;
    text(x + w / 2, y + h / 2 + (h > 26 ? -1 : 3.5),
         shortened(block.name, 10, w - 8), 10, " text-anchor=\"middle\"");
    if (h > 26)
      text(x + w / 2, y + h / 2 + 11,
           shortened(byteText(block.bytes), 9.5, w - 8), 9.5,
           " text-anchor=\"middle\" fill=\"#52606D\"");
  }
}

void MemoryWriter::writePeak() {
  if (map.blocks.empty())
    return;
  double x = xOf(map.peak) + step / 2;
  line(x, top - 4, x, mapTop + mapHeight,
       " class=\"peak\" stroke=\"#C0392B\" stroke-width=\"1.2\" "
       "stroke-dasharray=\"3 2\"");
  bool atRight = x > left + plot - 40 && x > left + 120;
  bool isUnderTitle = !atRight && x < left + 80;
  text(x + (atRight ? -4 : 4), isUnderTitle ? top + 11 : top - 6, "peak", 10.5,
       std::string(" font-weight=\"bold\" fill=\"#C0392B\"") +
           (atRight ? " text-anchor=\"end\"" : ""));
}

/// A mark for each command, in the colour of its part, and names where there
/// is room.
void MemoryWriter::writeCommands() {
  double y = mapTop + mapHeight + 5;
  auto every = static_cast<size_t>(std::ceil(13 / step));
  for (size_t i = 0; i < map.commands.size(); ++i) {
    const MemoryCommand &command = map.commands[i];
    double x = xOf(static_cast<int>(i));
    Paint paint = paintOf(command.part);
    rect(x + 0.5, y, std::max(1.0, step - 1), 8,
         std::string(" class=\"command\" fill=\"") + paint.fill +
             "\" stroke=\"" + paint.line + "\" stroke-width=\"0.6\"><title>" +
             escaped(std::to_string(i) + ": " + command.name) +
             "</title></rect>\n");
    if (i % every)
      continue;
    std::string place = number(x + step / 2 + 3) + " " + number(y + 20);
    bool isPeak = static_cast<int>(i) == map.peak && !map.blocks.empty();
    text(x + step / 2 + 3, y + 20, shortened(command.name, 9.5, 150), 9.5,
         " text-anchor=\"end\" transform=\"rotate(-50 " + place + ")\"" +
             (isPeak ? " font-weight=\"bold\" fill=\"#C0392B\"" : ""));
  }
}

/// Who is alive at the peak.
void MemoryWriter::writeList() {
  std::vector<const MemoryBlock *> alive;
  for (const MemoryBlock &block : map.blocks)
    if (isAliveAtPeak(block))
      alive.push_back(&block);
  std::sort(alive.begin(), alive.end(),
            [](const MemoryBlock *a, const MemoryBlock *b) {
              return std::tie(b->bytes, a->name, a->where, a->offset) <
                     std::tie(a->bytes, b->name, b->where, b->offset);
            });
  double x = left + frame + listGap, y = top - 6;
  text(x, y, "alive at the peak", 11, " font-weight=\"bold\" fill=\"#7B8794\"");
  if (!map.commands.empty())
    text(x, y + 15,
         shortened("in " + map.commands[map.peak].name, 10.5, listWidth - 20),
         10.5, " fill=\"#C0392B\"");
  y += 24;
  for (size_t i = 0; i < alive.size() && i < mostListed; ++i) {
    const MemoryBlock &block = *alive[i];
    Paint paint = paintOf(block.part);
    rect(x, y, 11, 11,
         std::string(" rx=\"2\" fill=\"") + paint.fill + "\" stroke=\"" +
             paint.line + "\"/>\n");
    text(x + 76, y + 9.5, byteText(block.bytes), 10.5,
         " text-anchor=\"end\" font-weight=\"bold\"");
    text(x + 84, y + 9.5, shortened(block.name, 10.5, listWidth - 100), 10.5,
         " class=\"alive-name\"");
    text(x + 84, y + 21.5, shortened(block.where, 9, listWidth - 100), 9,
         " fill=\"#7B8794\"");
    y += lineHeight;
  }
  if (alive.size() > mostListed) {
    int64_t rest = 0;
    for (size_t i = mostListed; i < alive.size(); ++i)
      rest += alive[i]->bytes;
    text(x + 84, y + 9,
         std::to_string(alive.size() - mostListed) + " more, " + byteText(rest),
         10.5, " fill=\"#52606D\"");
  }
}

static std::string legendText(double y) {
  struct Item {
    const char *name;
    Paint paint;
  };
  const Item items[] = {
      {"states", {parameterFill, "#C9A94F"}},
      {"forward", paintOf(Part::Forward)},
      {"saved for the backward", paintOf(Part::Saved)},
      {"backward", paintOf(Part::Backward)},
      {"update", paintOf(Part::Update)},
      {"alive at the peak", {"white", "#C0392B"}},
  };
  double x = 20;
  std::string out = "<g class=\"legend\">\n";
  for (const Item &item : items) {
    out += svg::rect(x, y, 15, 12,
                     std::string(" rx=\"2.5\" fill=\"") + item.paint.fill +
                         "\" stroke=\"" + item.paint.line + "\"/>\n");
    out += svg::text(x + 21, y + 10, item.name, 10.5);
    x += 40 + textWidth(item.name, 10.5);
  }
  return out + "</g>\n";
}

std::string writeMemorySvg(const MemoryPicture &picture) {
  double width = 760, height = headHeight;
  std::string programs;
  for (const MemoryMap &map : picture.programs) {
    MemoryWriter writer(map, picture);
    programs += "<g class=\"program\" data-program=\"" + escaped(map.title) +
                "\" transform=\"translate(0 " + number(height) + ")\">\n" +
                writer.run() + "</g>\n";
    width = std::max(width, writer.width());
    height += writer.height();
  }
  std::string legend = legendText(height + legendHeight - 26);
  height += legendHeight;
  return svg::document(
      picture.title, width, height,
      svg::text(20, 28, picture.title, 17,
                " font-weight=\"bold\" fill=\"#1F2933\"") +
          svg::text(20, 46, totals(picture), 11.5, " fill=\"#52606D\"") +
          programs + legend);
}

} // namespace dl::pictures
