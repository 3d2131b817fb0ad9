#include "compiler/pictures/DevicesPicture.h"
#include "compiler/pictures/Style.h"
#include "compiler/pictures/SvgText.h"
#include "compiler/pictures/Text.h"
#include <algorithm>

namespace dl::pictures {
namespace {

constexpr double top = 66, headHeight = 62, boxHeight = 36, gap = 8,
                 columnWidth = 230, columnGap = 60, margin = 20;

/// Exchanges stand at one height in all columns: each as high as the column
/// that has most before it wants, in the order in which the first column that
/// has it does.
class DevicesWriter {
public:
  explicit DevicesWriter(const DevicesPicture &picture) : picture(picture) {}

  std::string run() {
    place();
    lines();
    for (size_t c = 0; c < picture.columns.size(); ++c)
      column(c);
    double width =
        margin * 2 + columnX(picture.columns.size()) - columnX(0) - columnGap;
    return svg::document(
        picture.title, std::max(width, 620.0), bottom + margin,
        svg::text(margin, 28, picture.title, 17,
                  " font-weight=\"bold\" fill=\"#1F2933\"") +
            svg::text(margin, 46, picture.subtitle, 11.5, " fill=\"#52606D\"") +
            body);
  }

private:
  static double columnX(size_t column) {
    return margin + static_cast<double>(column) * (columnWidth + columnGap);
  }

  /// Goes through all columns at once; an exchange waits for its members.
  void place() {
    size_t count = picture.columns.size();
    std::vector<size_t> next(count, 0);
    std::vector<double> y(count, top + headHeight);
    ys.resize(count);
    auto exchangeAt = [&](size_t c) {
      const auto &items = picture.columns[c].items;
      return next[c] < items.size() ? items[next[c]].exchange : -2;
    };
    auto put = [&](size_t c, double at) {
      ys[c].push_back(at);
      y[c] = at + boxHeight + gap;
      ++next[c];
    };
    for (;;) {
      for (size_t c = 0; c < count; ++c)
        while (exchangeAt(c) == -1)
          put(c, y[c]);
      int chosen = choose(next);
      if (chosen < 0)
        break;
      double at = 0;
      for (size_t c = 0; c < count; ++c)
        if (exchangeAt(c) == chosen)
          at = std::max(at, y[c]);
      for (size_t c = 0; c < count; ++c)
        if (exchangeAt(c) == chosen)
          put(c, at);
    }
    bottom = *std::max_element(y.begin(), y.end());
  }

  /// An exchange for which no column has something else before it; where rows
  /// that fold micro-batches cross each other, the one that is first in some
  /// column.
  int choose(const std::vector<size_t> &next) const {
    int any = -1;
    for (size_t c = 0; c < next.size(); ++c) {
      const auto &items = picture.columns[c].items;
      if (next[c] >= items.size())
        continue;
      int exchange = items[next[c]].exchange;
      if (any < 0)
        any = exchange;
      bool free = true;
      for (size_t d = 0; d < next.size(); ++d) {
        const auto &others = picture.columns[d].items;
        for (size_t i = next[d] + 1; i < others.size(); ++i)
          free = free && others[i].exchange != exchange;
      }
      if (free)
        return exchange;
    }
    return any;
  }

  void lines() {
    for (int exchange = 0; exchange < picture.exchanges; ++exchange) {
      std::vector<std::pair<size_t, double>> members;
      for (size_t c = 0; c < picture.columns.size(); ++c)
        for (size_t i = 0; i < picture.columns[c].items.size(); ++i)
          if (picture.columns[c].items[i].exchange == exchange)
            members.push_back({c, ys[c][i] + boxHeight / 2});
      for (size_t m = 1; m < members.size(); ++m)
        body += svg::line(columnX(members[m - 1].first) + columnWidth,
                          members[m - 1].second, columnX(members[m].first),
                          members[m].second,
                          std::string(" class=\"exchange\" stroke-width=\"1.5\""
                                      " stroke=\"") +
                              exchangePaint.line + "\"");
    }
  }

  void column(size_t index) {
    const DeviceColumn &column = picture.columns[index];
    double x = columnX(index);
    body += "<g class=\"device\">\n";
    body += svg::rect(x - 6, top - 6, columnWidth + 12, bottom - top + 6,
                      std::string(" rx=\"6\" fill=\"none\" stroke=\"") +
                          frameLine + "\"/>\n");
    body += svg::text(x + 4, top + 14, column.title, 13,
                      " font-weight=\"bold\" fill=\"#1F2933\"");
    body += svg::text(x + 4, top + 30, column.place, 11, " fill=\"#52606D\"");
    body += svg::text(x + 4, top + 45, column.memory, 11, " fill=\"#52606D\"");
    for (size_t i = 0; i < column.items.size(); ++i)
      box(x, ys[index][i], column.items[i]);
    body += "</g>\n";
  }

  void box(double x, double y, const DeviceItem &item) {
    bool isExchange = item.exchange >= 0;
    Paint paint = isExchange ? exchangePaint : paintOf(item.part);
    body += svg::rect(
        x, y, columnWidth, boxHeight,
        std::string(" rx=\"4\" class=\"") +
            (isExchange ? "communication" : nameOf(item.part)) + "\" fill=\"" +
            paint.fill + "\" stroke=\"" + paint.line + "\"><title>" +
            escaped(item.title + "\n" + item.detail + "  " + item.where) +
            "</title></rect>\n");
    body +=
        svg::text(x + 8, y + 15, shortened(item.title, 12.5, columnWidth - 16),
                  12, " font-weight=\"bold\" pointer-events=\"none\"");
    body +=
        svg::text(x + 8, y + 29,
                  shortened(std::string(nameOf(item.part)) + ": " + item.detail,
                            11, columnWidth - 16),
                  11, " pointer-events=\"none\" fill=\"#52606D\"");
  }

  const DevicesPicture &picture;
  std::vector<std::vector<double>> ys; ///< of the items of each column
  double bottom = 0;
  std::string body;
};

} // namespace

std::string writeDevicesSvg(const DevicesPicture &picture) {
  return DevicesWriter(picture).run();
}

} // namespace dl::pictures
