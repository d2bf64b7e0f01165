// The roofline of a problem as an SVG picture: what a device can do at most, and estimates below it.
#pragma once

#include <string>
#include <vector>

namespace tma_jit::cli {

struct RooflinePoint {
  double x = 0, y = 0;
  std::string label;    // shown under the pointer
  std::string name;     // shown beside it if it is chosen
  bool chosen = false;  // drawn in front
};

// The roof is min(slope * x, peak). Both axes are logarithmic; everything must be positive.
struct Roofline {
  std::string title, subtitle, x_label, y_label;
  std::string slope_label, peak_label;
  double slope = 0, peak = 0;
  std::vector<RooflinePoint> points;
};

// Returns the text of the SVG file. Its colours follow the viewer's choice of light or dark.
std::string svg_of(const Roofline& roofline);

}  // namespace tma_jit::cli
