#include "boxes.h"

#include <fmt/format.h>

#include "plan/tensor_map_rules.h"

namespace tma_jit::pictures {
namespace {

constexpr int kCell = 30;  // pixels
constexpr std::string_view kBoxColour = "#c00000", kTensorColour = "#0000a0";

// A grid of cells, row by row.
struct Grid {
  int x, y;
  Area cell(int row, int column) const { return {x + column * kCell, y + row * kCell, kCell, kCell}; }
  Area cells(int row, int column, int rows, int columns) const {
    return {x + column * kCell, y + row * kCell, columns * kCell, rows * kCell};
  }
};

bool within(int at, int first, int count) {
  return at >= first && at < first + count;
}

// A box of 4 x 8 of s32[6, 10] at row -1, column -4: the innermost coordinate is a multiple of 16 bytes.
Picture halo() {
  constexpr int kRows = 6, kColumns = 10, kBoxRows = 4, kBoxColumns = 8, kTopRow = -1, kLeftColumn = -4;
  Drawing drawing(850, 330, "S : s32[6, 10]  box [4, 8], loaded at row -1, column -4");
  const Grid tensor{150, 100}, shared{530, 100};
  for (int row = kTopRow; row < kRows; ++row) {
    for (int column = kLeftColumn; column < kColumns; ++column) {
      const bool in_tensor = within(row, 0, kRows) && within(column, 0, kColumns);
      const bool in_box = within(row, kTopRow, kBoxRows) && within(column, kLeftColumn, kBoxColumns);
      if (!in_tensor && !in_box) continue;
      drawing.cell(tensor.cell(row, column),
                   !in_tensor ? Drawing::kFilled
                   : in_box   ? row
                              : Drawing::kBlank,
                   in_tensor ? fmt::format("{},{}", row, column) : "");
      if (!in_box) continue;
      drawing.cell(shared.cell(row - kTopRow, column - kLeftColumn), in_tensor ? row : Drawing::kFilled,
                   in_tensor ? fmt::format("{},{}", row, column) : "0");
    }
  }
  drawing.outline(tensor.cells(0, 0, kRows, kColumns), kTensorColour);
  drawing.outline(tensor.cells(kTopRow, kLeftColumn, kBoxRows, kBoxColumns), kBoxColour);
  drawing.outline(shared.cells(0, 0, kBoxRows, kBoxColumns), kBoxColour);
  drawing.small(30, 58, "the tensor in global memory, and the box");
  drawing.small(530, 58, "the box in shared memory: all 128 bytes arrive");
  drawing.small(30, 310, "grey: outside the tensor; a load fills it, a store leaves it out");
  return {"halo", drawing.finished()};
}

// The rows that a box of 8 with a step of 3 takes from 12, and its size in bytes as the planner computes it.
Picture steps() {
  constexpr int kRows = 12, kColumns = 4, kExtent = 8, kStep = 3, kFirst = 2;
  TensorMapSpec spec;
  spec.dtype = DType::s32;
  spec.rank = 2;
  spec.box = {kColumns, kExtent};
  spec.element_strides = {1, kStep};
  Drawing drawing(700, 480, "S : s32[12, 4]  box [8, 4]  steps [3, 1], loaded at row 2, column 0");
  const Grid tensor{60, 70}, shared{330, 70};
  int taken = 0;
  for (int row = 0; row < kRows; ++row) {
    const bool takes = within(row, kFirst, kExtent) && (row - kFirst) % kStep == 0;
    for (int column = 0; column < kColumns; ++column) {
      const std::string label = fmt::format("{},{}", row, column);
      drawing.cell(tensor.cell(row, column), takes ? taken : Drawing::kBlank, label);
      if (takes) drawing.cell(shared.cell(taken, column), taken, label);
    }
    taken += takes ? 1 : 0;
  }
  drawing.outline(tensor.cells(kFirst, 0, kExtent, kColumns), kBoxColour);
  drawing.outline(shared.cells(0, 0, taken, kColumns), kBoxColour);
  drawing.small(60, 58, "the tensor, and the box");
  drawing.small(330, 58, "shared memory");
  drawing.small(330, 190,
                fmt::format("ceil({} / {}) = {} rows: {} bytes", kExtent, kStep, taken, plan::box_bytes(spec)));
  drawing.small(60, 460, "the extent counts rows of the tensor, from the first that is taken");
  return {"steps", drawing.finished()};
}

// Two slices of 16 bytes of each of six pixels, in the order of their addresses.
void draw_order(Drawing& drawing, int y, bool interleaved) {
  constexpr int kPixels = 6, kSlices = 2, kWidth = 62;
  for (int i = 0; i < kPixels * kSlices; ++i) {
    const int pixel = interleaved ? i % kPixels : i / kSlices, slice = interleaved ? i / kPixels : i % kSlices;
    drawing.cell({30 + i * kWidth, y, kWidth, kCell}, slice, fmt::format("p{} {}-{}", pixel, 8 * slice, 8 * slice + 7));
    drawing.small(30 + i * kWidth, y + kCell + 14, fmt::format("{}", 16 * i));
  }
}

Picture interleave() {
  Drawing drawing(800, 230, "Six pixels of sixteen 16-bit channels: 16 bytes a cell, with the bytes' offset below");
  drawing.small(30, 62, "not interleaved, NHWC: the channels of a pixel lie together");
  draw_order(drawing, 72, false);
  drawing.small(30, 152, "interleave 16, NC/8HWC8: slices of 8 channels, in each all pixels");
  draw_order(drawing, 162, true);
  return {"interleave", drawing.finished()};
}

// A column of pixels of an image of 4 x 6 with corners [-1, -1] and [-1, -1]: the first tap of a filter of 3 x 3 over
// an image with a padding of one.
Picture column() {
  constexpr int kHeight = 4, kWidth = 6, kCorner = -1, kPixels = 8, kFirstColumn = 1;
  Drawing drawing(760, 330, "X : T[N, 4, 6, C]  im2col [-1, -1] [-1, -1]  box [8, C], loaded at h -1, w 1");
  const Grid image{90, 110};
  for (int row = kCorner; row < kHeight; ++row) {
    for (int column = kCorner; column < kWidth; ++column) {
      const bool in_image = row >= 0 && column >= 0;
      // The pixel's index in the bounding box, which has as many rows and columns as the image.
      const bool in_box = row < kHeight + kCorner && column < kWidth + kCorner;
      const int number = (row - kCorner) * kWidth + column - kFirstColumn;
      const bool taken = in_box && number >= 0 && number < kPixels;
      if (!in_image && !in_box) continue;
      drawing.cell(image.cell(row, column),
                   !in_image && !taken ? Drawing::kFilled
                   : taken             ? (in_image ? 0 : 1)
                                       : Drawing::kBlank,
                   taken ? fmt::format("{}", number) : "");
    }
  }
  drawing.outline(image.cells(0, 0, kHeight, kWidth), kTensorColour);
  drawing.outline(image.cells(kCorner, kCorner, kHeight, kWidth), kBoxColour);
  drawing.small(330, 92, "blue: the image, H x W");
  drawing.small(330, 112, "red: the bounding box of base pixels, from the lower corner");
  drawing.small(330, 132, "to the upper one; both count from the image's own corners");
  drawing.small(330, 162, "0 to 7: the pixels of one load, in the order in which they");
  drawing.small(330, 182, "lie in shared memory, C channels each. At the end of a row");
  drawing.small(330, 202, "they go on in the next, after the last row in the next image.");
  drawing.small(330, 232, "The offsets of the instruction move all of it to another tap;");
  drawing.small(330, 252, "pixels outside the image (orange here) arrive as the fill.");
  return {"im2col", drawing.finished()};
}

}  // namespace

std::vector<Picture> boxes() {
  return {halo(), steps(), interleave(), column()};
}

}  // namespace tma_jit::pictures
