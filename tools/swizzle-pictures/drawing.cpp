#include "drawing.h"

#include <array>

#include <fmt/format.h>

namespace tma_jit::pictures {
namespace {

constexpr std::array<std::string_view, 8> kColours = {"#a6cee3", "#fdbf6f", "#b2df8a", "#fb9a99",
                                                      "#cab2d6", "#ffff99", "#7fc9c0", "#d9b38c"};

std::string_view fill_of(int colour) {
  if (colour == Drawing::kBlank) return "#ffffff";
  if (colour == Drawing::kFilled) return "#d0d0d0";
  return kColours[static_cast<std::size_t>(colour) % kColours.size()];
}

std::string_view attribute_of(Anchor anchor) {
  return anchor == Anchor::start ? "" : anchor == Anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
}

std::string escaped(std::string_view words) {
  std::string text;
  for (const char c : words) {
    if (c == '<') {
      text += "&lt;";
    } else if (c == '>') {
      text += "&gt;";
    } else if (c == '&') {
      text += "&amp;";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Drawing::Drawing(int width, int height, std::string_view title) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"DejaVu Sans Mono, Consolas, monospace\" font-size=\"11\" stroke=\"none\">\n"
      "<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      width, height, escaped(title));
  text(16, 24, title);
}

void Drawing::cell(const Area& area, int colour, std::string_view label) {
  text_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#606060\"/>\n", area.x,
                       area.y, area.width, area.height, fill_of(colour));
  if (!label.empty()) small(area.x + area.width / 2, area.y + area.height / 2 + 4, label, Anchor::middle);
}

void Drawing::outline(const Area& area, std::string_view colour) {
  text_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"3\"/>\n", area.x,
      area.y, area.width, area.height, colour);
}

void Drawing::text(int x, int y, std::string_view words, Anchor anchor) {
  put_text(x, y, words, anchor, " font-size=\"14\"");
}

void Drawing::small(int x, int y, std::string_view words, Anchor anchor) {
  put_text(x, y, words, anchor, "");
}

void Drawing::put_text(int x, int y, std::string_view words, Anchor anchor, std::string_view size) {
  text_ += fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", x, y, size, attribute_of(anchor), escaped(words));
}

std::string Drawing::finished() const {
  return text_ + "</svg>\n";
}

}  // namespace tma_jit::pictures
