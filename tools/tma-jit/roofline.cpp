#include "roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "markup.h"

namespace tma_jit::cli {
namespace {

constexpr double kWidth = 720, kHeight = 440;
constexpr double kLeft = 78, kRight = 700, kTop = 60, kBottom = 384;

constexpr const char* kStyle = R"(<style>
  .page { fill: #ffffff } text { fill: #1f2328; font: 13px sans-serif } .title { font-size: 15px }
  .grid { stroke: #d8dee4 } .axis, .roof { stroke: #57606a; fill: none } .roof { stroke-width: 2 }
  .point { fill: #0969da; fill-opacity: 0.45 } .chosen { fill: #cf222e }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } .axis, .roof { stroke: #9198a1 }
    .point { fill: #58a6ff } .chosen { fill: #ff7b72 }
  }
</style>
)";

// A logarithmic axis; `from` and `to` are where its ends lie in the picture.
class Axis {
 public:
  Axis(double least, double most, double from, double to) : least_(least), most_(most), from_(from), to_(to) {}
  double at(double value) const { return from_ + std::log(value / least_) / std::log(most_ / least_) * (to_ - from_); }
  double least() const { return least_; }
  double most() const { return most_; }
  // Visits 1, 2 and 5 of each decade; over more than three decades only 1.
  template <class Visit> void each_mark(Visit&& visit) const {
    const bool wide = most_ / least_ > 1000;
    for (double decade = std::pow(10, std::floor(std::log10(least_))); decade <= most_; decade *= 10) {
      for (const int digit : {1, 2, 5}) {
        const double value = decade * digit;
        if (value >= least_ && value <= most_ && (digit == 1 || !wide)) visit(value);
      }
    }
  }

 private:
  double least_, most_, from_, to_;
};

std::string line(const char* kind, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1, y1, x2,
                     y2);
}

std::string words(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped_markup(text));
}

std::string axes_of(const Roofline& roofline, const Axis& x, const Axis& y) {
  std::string svg;
  x.each_mark([&](double value) {
    svg += line("grid", x.at(value), kTop, x.at(value), kBottom);
    svg += words(x.at(value), kBottom + 18, "middle", fmt::format("{:g}", value));
  });
  y.each_mark([&](double value) {
    svg += line("grid", kLeft, y.at(value), kRight, y.at(value));
    svg += words(kLeft - 8, y.at(value) + 4, "end", fmt::format("{:g}", value));
  });
  svg += line("axis", kLeft, kBottom, kRight, kBottom) + line("axis", kLeft, kTop, kLeft, kBottom);
  svg += words((kLeft + kRight) / 2, kHeight - 14, "middle", roofline.x_label);
  svg += words(0, 0, "middle", roofline.y_label,
               fmt::format(" transform=\"translate(20 {:.1f}) rotate(-90)\"", (kTop + kBottom) / 2).c_str());
  return svg;
}

std::string roof_of(const Roofline& roofline, const Axis& x, const Axis& y) {
  const double ridge = roofline.peak / roofline.slope;
  const double begin = std::max(x.least(), y.least() / roofline.slope);
  std::string svg =
      fmt::format("<polyline class=\"roof\" points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"/>\n", x.at(begin),
                  y.at(begin * roofline.slope), x.at(ridge), y.at(roofline.peak), x.at(x.most()), y.at(roofline.peak));
  svg += words(kRight - 4, y.at(roofline.peak) - 8, "end", roofline.peak_label);
  const double middle = std::sqrt(begin * ridge);
  return svg + words(x.at(middle) - 10, y.at(middle * roofline.slope) - 6, "end", roofline.slope_label);
}

std::string point_of(const RooflinePoint& point, const Axis& x, const Axis& y) {
  std::string svg =
      fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}</title></circle>\n",
                  point.chosen ? "chosen" : "point", x.at(point.x), y.at(point.y), escaped_markup(point.label));
  if (!point.chosen) return svg;
  const bool right = x.at(point.x) < (kLeft + kRight) / 2;
  return svg + words(x.at(point.x) + (right ? 10 : -10), y.at(point.y) + 30, right ? "start" : "end", point.name);
}

}  // namespace

std::string svg_of(const Roofline& roofline) {
  const double ridge = roofline.peak / roofline.slope;
  double x_least = ridge, x_most = ridge, y_least = roofline.peak;
  for (const RooflinePoint& point : roofline.points) {
    x_least = std::min(x_least, point.x);
    x_most = std::max(x_most, point.x);
    y_least = std::min(y_least, point.y);
  }
  const Axis x(x_least / 4, x_most * 4, kLeft, kRight), y(y_least / 4, roofline.peak * 1.6, kBottom, kTop);
  std::string svg =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n",
                  kWidth, kHeight);
  svg += kStyle;
  svg += fmt::format("<rect class=\"page\" width=\"{}\" height=\"{}\"/>\n", kWidth, kHeight);
  svg += words(kWidth / 2, 24, "middle", roofline.title, " class=\"title\"");
  svg += words(kWidth / 2, 42, "middle", roofline.subtitle);
  svg += axes_of(roofline, x, y) + roof_of(roofline, x, y);
  for (const bool chosen : {false, true}) {
    for (const RooflinePoint& point : roofline.points) {
      if (point.chosen == chosen) svg += point_of(point, x, y);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace tma_jit::cli
