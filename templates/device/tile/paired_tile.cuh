#pragma once
// Tiles of two matrices, one below the other, that a product reads as one: its columns are those of both.
#include "device/epilogue/gate.cuh"
#include "device/tile/operand_tile.cuh"
#include "device/tile/register_tile.cuh"

// Extent rows of each, along K.
template <class T, int Extent, int Depth> struct PairedTile : OperandTile<false, T, 2 * Extent, Depth> {
  using Half = OperandTile<false, T, Extent, Depth>;
  static constexpr int kExtent = Extent;
  static_assert(Half::kPanels == 1 && Extent % 8 == 0, "each half has whole swizzle atoms");

  __device__ Half& half(int i) { return reinterpret_cast<Half&>(this->panel[0][i * Extent]); }
};

// The sums of such a product, whose first element goes to (row, column) of the result: `columns` returns what the hook
// `gate` makes of the same Columns columns of both, and its argument x is the second's. Sums has `columns`, as a
// RegisterTile.
template <int Columns, class Sums, class H> struct GatedSums {
  const Sums& sums;
  const H& hooks;
  int row, column;

  template <int N> __device__ auto columns(int first) const {
    const auto gates = sums.template columns<N>(first).template as<f32>();
    auto results = sums.template columns<N>(Columns + first).template as<f32>();
    using L = typename decltype(results)::Layout;
    const Gate<L, H> gate(hooks, row, column + first);
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) results.x[i] = gate(i, results.x[i], gates.x[i]);
    return results;
  }
};
// Makes them of sums and their place.
template <int Columns, class H> struct Gating {
  const H& hooks;
  template <class Sums> __device__ GatedSums<Columns, Sums, H> operator()(const Sums& sums, int row, int column) const {
    return {sums, hooks, row, column};
  }
};
template <int Columns, class H> __device__ inline Gating<Columns, H> gated(const H& hooks) {
  return {hooks};
}
