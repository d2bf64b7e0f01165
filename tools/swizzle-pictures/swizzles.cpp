#include "swizzles.h"

#include <set>

#include <fmt/format.h>

#include "plan/swizzle.h"

namespace tma_jit::pictures {
namespace {

constexpr std::uint32_t kLine = 128;  // bytes of shared memory in one row of all 32 banks
constexpr std::uint32_t kLines = 8;
constexpr std::uint32_t kBank = 4;    // bytes
constexpr int kLeft = 90, kTop = 76;  // position of the first line, in pixels
constexpr int kByte = 4, kHeight = 28;

struct Subject {
  Swizzle swizzle;
  std::string_view name;   // of the file
  std::string_view words;  // as written in a template
};

constexpr Subject kSubjects[] = {
    {Swizzle::none, "swizzle-0", "no swizzle"},
    {Swizzle::b32, "swizzle-32", "swizzle 32"},
    {Swizzle::b64, "swizzle-64", "swizzle 64"},
    {Swizzle::b128, "swizzle-128", "swizzle 128"},
    {Swizzle::b128_atom_b32, "swizzle-128-atom-32", "swizzle 128  atom 32 (128B_ATOM_32B)"},
    {Swizzle::b128_atom_b32_flip_b8, "swizzle-128-atom-32-flip", "swizzle 128  atom 32  flip (128B_ATOM_32B_FLIP_8B)"},
    {Swizzle::b128_atom_b64, "swizzle-128-atom-64", "swizzle 128  atom 64 (128B_ATOM_64B)"},
};

// Returns the bytes in a row of the box: the largest that the swizzle permits.
std::uint32_t row_of(Swizzle swizzle) {
  return swizzle == Swizzle::none ? kLine : span_of(swizzle);
}

// Returns the bytes that stay together.
std::uint32_t piece_of(Swizzle swizzle) {
  return swizzle == Swizzle::b128_atom_b32_flip_b8 ? 8 : 16;
}

// Returns how many of the banks contain the first 16 bytes of the first eight rows: 32 if there are no conflicts.
std::size_t banks_of_column(Swizzle swizzle) {
  std::set<std::uint32_t> banks;
  for (std::uint32_t row = 0; row < 8; ++row) {
    for (std::uint32_t byte = 0; byte < 16; byte += kBank)
      banks.insert(plan::swizzled(swizzle, row * row_of(swizzle) + byte) % kLine / kBank);
  }
  return banks.size();
}

void draw_banks(Drawing& drawing) {
  for (std::uint32_t first = 0; first < kLine / kBank; first += 4) {
    drawing.small(kLeft + static_cast<int>(first * kBank * kByte) + 16 * kByte / 2, kTop - 8,
                  fmt::format("{}-{}", first, first + 3), Anchor::middle);
  }
  drawing.small(kLeft - 10, kTop - 8, "banks", Anchor::end);
}

// The byte of the box at a given position follows from the same formula, because every swizzle is its own inverse.
void draw_line(Drawing& drawing, Swizzle swizzle, std::uint32_t line) {
  const std::uint32_t piece = piece_of(swizzle), row = row_of(swizzle);
  const int y = kTop + static_cast<int>(line) * kHeight;
  drawing.small(kLeft - 10, y + 18, fmt::format("0x{:03x}", line * kLine), Anchor::end);
  for (std::uint32_t at = 0; at < kLine; at += piece) {
    const std::uint32_t from = plan::swizzled(swizzle, line * kLine + at);
    const std::uint32_t column = from % row / 16;
    const std::string_view half = piece == 16 ? "" : from % 16 == 0 ? "l" : "h";
    drawing.cell({kLeft + static_cast<int>(at) * kByte, y, static_cast<int>(piece) * kByte, kHeight},
                 static_cast<int>(column), fmt::format("{}.{}{}", from / row, column, half));
  }
}

Picture picture_of(const Subject& subject) {
  const int below = kTop + static_cast<int>(kLines) * kHeight + 22;
  Drawing drawing(kLeft + static_cast<int>(kLine) * kByte + 16, below + 40,
                  fmt::format("{}: rows of {} bytes", subject.words, row_of(subject.swizzle)));
  draw_banks(drawing);
  for (std::uint32_t line = 0; line < kLines; ++line) draw_line(drawing, subject.swizzle, line);
  drawing.small(kLeft, below,
                piece_of(subject.swizzle) == 16
                    ? "r.c: the c-th 16 bytes of the box's row r"
                    : "r.c: the c-th 16 bytes of the box's row r, l their low half, h the high");
  drawing.small(kLeft, below + 18,
                fmt::format("repeats after {} bytes; the first 16 bytes of 8 rows lie in {} of 32 banks",
                            plan::period_of(subject.swizzle), banks_of_column(subject.swizzle)));
  return {std::string(subject.name), drawing.finished()};
}

}  // namespace

std::vector<Picture> swizzles() {
  std::vector<Picture> pictures;
  for (const Subject& subject : kSubjects) pictures.push_back(picture_of(subject));
  return pictures;
}

}  // namespace tma_jit::pictures
