// A picture as SVG text: cells, labels and outlines on white, in pixels. Equal calls give equal text, so that stored
// pictures can be compared with new ones.
#pragma once

#include <string>
#include <string_view>

namespace tma_jit::pictures {

struct Area {
  int x = 0, y = 0, width = 0, height = 0;
};

enum class Anchor { start, middle, end };

class Drawing {
 public:
  Drawing(int width, int height, std::string_view title);

  // Colours: eight that are distinguishable in black and white, by index; kBlank is white, kFilled marks what TMA
  // fills.
  static constexpr int kBlank = -1, kFilled = -2;
  void cell(const Area& area, int colour, std::string_view label = {});
  void outline(const Area& area, std::string_view colour);
  void text(int x, int y, std::string_view words, Anchor anchor = Anchor::start);
  void small(int x, int y, std::string_view words, Anchor anchor = Anchor::start);
  std::string finished() const;

 private:
  void put_text(int x, int y, std::string_view words, Anchor anchor, std::string_view size);

  std::string text_;
};

// A picture and its file name, without ".svg".
struct Picture {
  std::string name;
  std::string svg;
};

}  // namespace tma_jit::pictures
