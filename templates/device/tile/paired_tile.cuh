#pragma once
// Tiles of two matrices, one below the other, that a product reads as one: its columns are those of both.
#include "device/tile/operand_tile.cuh"
#include "device/tile/register_tile.cuh"

// Extent rows of each, along K.
template <class T, int Extent, int Depth> struct PairedTile : OperandTile<false, T, 2 * Extent, Depth> {
  using Half = OperandTile<false, T, Extent, Depth>;
  static constexpr int kExtent = Extent;
  static_assert(Half::kPanels == 1 && Extent % 8 == 0, "each half has whole swizzle atoms");

  __device__ Half& half(int i) { return reinterpret_cast<Half&>(this->panel[0][i * Extent]); }
};

// The sums of such a product, a RegisterTile, of which `columns` returns what the hook `gate` makes of the same columns
// of both: its argument x is the second's.
template <class Sums, class H> struct GatedSums {
  static constexpr int kColumns = Sums::Layout::kColumns / 2;
  const Sums& sums;
  const H& hooks;

  template <int N> __device__ auto columns(int first) const {
    const auto gates = sums.template columns<N>(first);
    auto results = sums.template columns<N>(kColumns + first);
#pragma unroll
    for (int i = 0; i < decltype(results)::Layout::kRegisters; ++i) results.x[i] = hooks.gate(results.x[i], gates.x[i]);
    return results;
  }
};
