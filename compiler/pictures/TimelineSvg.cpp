#include "compiler/pictures/Style.h"
#include "compiler/pictures/SvgText.h"
#include "compiler/pictures/Text.h"
#include "compiler/pictures/Timeline.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace dl::pictures {
namespace {

constexpr double top = 74, rowHeight = 34, rowGap = 6, plot = 900, right = 24,
                 axisHeight = 30, legendHeight = 34;

std::string timeText(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.3g µs", seconds * 1e6);
  else
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  return text;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

std::string subtitle(const Timeline &timeline) {
  std::string text = "one core a rank, communication without time";
  if (timeline.rows.size() > 1 || timeline.pipeline.micros > 1)
    text = nameOf(timeline.pipeline.schedule).str() + " · " +
           std::to_string(timeline.pipeline.micros) + " micro-batches · " +
           text;
  if (timeline.pipeline.stagesPerRank > 1)
    text += " · later stages of a rank are paler";
  return text;
}

/// A round number of seconds, of which five or so fit into the whole.
double tickOf(double whole) {
  double rough = whole / 5;
  double unit = std::pow(10.0, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0})
    if (unit * factor >= rough)
      return unit * factor;
  return unit * 10;
}

/// What a fragment is, and its colours: a phase of a micro-batch or the update.
struct FragmentKind {
  std::optional<graph::PipelinePhase> phase;
  const char *name, *cssClass;
  Paint paint;
};

const std::array<FragmentKind, 4> &fragmentKinds() {
  using graph::PipelinePhase;
  static const std::array<FragmentKind, 4> kinds = {{
      {PipelinePhase::Forward, "forward", "forward", paintOf(Part::Forward)},
      {PipelinePhase::InputGradient, "gradients of inputs", "backward",
       paintOf(Part::Backward)},
      {PipelinePhase::WeightGradient, "gradients of weights", "weights",
       weightGradientPaint},
      {std::nullopt, "update", "update", paintOf(Part::Update)},
  }};
  return kinds;
}

const FragmentKind &kindOf(const Fragment &fragment) {
  return *llvm::find_if(fragmentKinds(), [&](const FragmentKind &kind) {
    return kind.phase ==
           (fragment.work ? std::optional(fragment.work->phase) : std::nullopt);
  });
}

class TimelineWriter {
public:
  explicit TimelineWriter(const Timeline &timeline) : timeline(timeline) {
    for (const TimelineRow &row : timeline.rows)
      left = std::max(left, 40 + textWidth(row.name, 11));
    scale = timeline.end > 0 ? plot / timeline.end : 0;
  }

  std::string run() {
    auto rows = static_cast<double>(timeline.rows.size());
    double bottom = top + rows * (rowHeight + rowGap);
    for (auto [number, row] : llvm::enumerate(timeline.rows)) {
      double y = placeOf(static_cast<int64_t>(number));
      body += svg::text(left - 10, y + rowHeight / 2 + 4, row.name, 11,
                        " text-anchor=\"end\"");
      body += svg::rect(left, y, plot, rowHeight,
                        " class=\"stage\" fill=\"#F5F7FA\"/>\n");
    }
    for (const Fragment &fragment : timeline.fragments)
      write(fragment);
    writeAxis(bottom);
    writeLegend(bottom + axisHeight);
    double height = bottom + axisHeight + legendHeight;
    return svg::document(
        timeline.title, left + plot + right, height,
        svg::text(20, 28, timeline.title, 17,
                  " font-weight=\"bold\" fill=\"#1F2933\"") +
            svg::text(20, 46, subtitle(timeline), 11.5, " fill=\"#52606D\"") +
            svg::text(20, 62, idleText(), 11.5,
                      " class=\"idle\" fill=\"#52606D\"") +
            body);
  }

private:
  static double placeOf(int64_t row) {
    return top + static_cast<double>(row) * (rowHeight + rowGap);
  }

  std::string idleText() const {
    std::string text = "step " + timeText(timeline.end) + " · idle " +
                       percent(timeline.idle());
    if (timeline.rows.size() > 1)
      text += " (" + percent(timeline.idleOfEqual()) +
              " if all phases took equally long); with exchanges and filled "
              "waits, step after step: " +
              timeText(timeline.course.period) + ", idle " +
              percent(timeline.course.idle);
    return text;
  }

  void write(const Fragment &fragment) {
    double x = left + fragment.begin * scale,
           w = (fragment.end - fragment.begin) * scale;
    double y = placeOf(fragment.row);
    const FragmentKind &kind = kindOf(fragment);
    std::string number =
        std::to_string(fragment.work ? fragment.work->micro + 1 : 1);
    std::string title = kind.name, stage;
    if (fragment.work)
      title += " of micro-batch " + number;
    if (fragment.work && timeline.pipeline.stagesPerRank > 1) {
      stage = std::to_string(fragment.work->stage);
      title += " at stage " + stage;
      stage = " data-stage=\"" + stage + "\"";
    }
    body += svg::rect(
        x, y, w, rowHeight,
        std::string(" class=\"fragment ") + kind.cssClass + "\" data-micro=\"" +
            number + "\"" + stage + " fill=\"" + kind.paint.fill +
            "\" stroke=\"" + kind.paint.line + "\" stroke-width=\"" +
            (w < 4 ? "0.2" : "0.8") + "\"" + shadeOf(fragment) + "><title>" +
            escaped(title + "\n" + timeText(fragment.end - fragment.begin) +
                    " from " + timeText(fragment.begin)) +
            "</title></rect>\n");
    if (fragment.work && w > textWidth(number, 11) + 3)
      body += svg::text(x + w / 2, y + rowHeight / 2 + 4, number, 11,
                        " text-anchor=\"middle\" pointer-events=\"none\"");
  }

  std::string shadeOf(const Fragment &fragment) const {
    int64_t turn =
        fragment.work ? fragment.work->stage / timeline.pipeline.ranks : 0;
    if (turn == 0)
      return {};
    char text[40];
    std::snprintf(
        text, sizeof text, " fill-opacity=\"%.2f\"",
        1 - 0.45 * static_cast<double>(turn) /
                static_cast<double>(timeline.pipeline.stagesPerRank - 1));
    return text;
  }

  void writeAxis(double y) {
    if (timeline.end <= 0)
      return;
    double tick = tickOf(timeline.end);
    for (int i = 0; tick * i <= timeline.end * 1.0001; ++i) {
      double x = left + tick * i * scale;
      body += svg::line(x, y, x, y + 4, " stroke=\"#7B8794\"");
      body += svg::text(x, y + 16, i == 0 ? "0" : timeText(tick * i), 10,
                        " text-anchor=\"middle\" fill=\"#7B8794\"");
    }
  }

  void writeLegend(double y) {
    double x = 20;
    for (const FragmentKind &kind : fragmentKinds()) {
      body += svg::rect(x, y, 15, 12,
                        std::string(" rx=\"2.5\" fill=\"") + kind.paint.fill +
                            "\" stroke=\"" + kind.paint.line + "\"/>\n");
      body += svg::text(x + 21, y + 10, kind.name, 10.5);
      x += 40 + textWidth(kind.name, 10.5);
    }
  }

  const Timeline &timeline;
  double left = 0, scale = 0;
  std::string body;
};

} // namespace

std::string writeTimelineSvg(const Timeline &timeline) {
  return TimelineWriter(timeline).run();
}

} // namespace dl::pictures
