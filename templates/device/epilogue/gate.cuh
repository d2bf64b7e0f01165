#pragma once
// The hook `gate` of two products, which makes one element of two that have the same place. Operands that
// own_operands.cuh can read beforehand are.
#include "device/epilogue/own_operands.cuh"

// The gate of a tile of layout L whose first element is (row, column), which is even. It is constructed when the
// operands are to be read.
template <class L, class H, class = void> class Gate {
  const H& hooks_;
  int row_, column_;

 public:
  __device__ Gate(const H& hooks, int row, int column)
      : hooks_(hooks), row_(row + L::row(0)), column_(column + L::column(0)) {}
  // Returns what it makes of what register i of each has: x, and g, which gates it.
  __device__ f32 operator()(int i, f32 x, f32 g) const {
    return hooks_.gate(x, g, row_ + L::down(i), column_ + L::across(i));
  }
};

#ifdef TMA_JIT_OPERANDS
template <class L, class H> class Gate<L, H, decltype(void(&H::gate_with))> {
  struct Call {
    const H& hooks;
    template <class... Values> __device__ f32 operator()(Values... values) const { return hooks.gate_with(values...); }
  };
  using Reader = OwnReader<L, false, void>;
  const H& hooks_;
  int row_, column_;
  decltype(static_cast<const H*>(nullptr)->gate_own(Reader{})) elements_;

 public:
  __device__ Gate(const H& hooks, int row, int column)
      : hooks_(hooks), row_(row), column_(column), elements_(hooks.gate_own(Reader{row, column})) {}
  __device__ f32 operator()(int i, f32 x, f32 g) const {
    return elements_.give(i, Call{hooks_}, x, g, row_ + L::row(L::slot(i)), column_ + L::column(i));
  }
};
#endif

// The sums of a product with a PairedTile, whose first element goes to (row, column) of the result: `columns` returns
// what the hook `gate` makes of the same Columns columns of both, and its argument x is the second's. Sums has
// `columns`, as a RegisterTile.
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
