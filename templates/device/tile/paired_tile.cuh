#pragma once
// Tiles of two matrices, one below the other, that a product reads as one: its columns are those of both.
#include "device/tile/operand_tile.cuh"

// Extent rows of each, along K.
template <class T, int Extent, int Depth> struct PairedTile : OperandTile<false, T, 2 * Extent, Depth> {
  using Half = OperandTile<false, T, Extent, Depth>;
  static constexpr int kExtent = Extent;
  static_assert(Half::kPanels == 1 && Extent % 8 == 0, "each half has whole swizzle atoms");

  __device__ Half& half(int i) { return reinterpret_cast<Half&>(this->panel[0][i * Extent]); }
};
