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
  // Returns what it makes of what register i of each has: x, and g, which gates it. `more` are the hook's arguments
  // after the row and the column.
  template <class... More> __device__ f32 operator()(int i, f32 x, f32 g, More... more) const {
    return hooks_.gate(x, g, row_ + L::down(i), column_ + L::across(i), more...);
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
  template <class... More> __device__ f32 operator()(int i, f32 x, f32 g, More... more) const {
    return elements_.give(i, Call{hooks_}, x, g, row_ + L::row(L::slot(i)), column_ + L::column(i), more...);
  }
};
#endif

// x = what the hook makes of each x and g.
template <class L, class H, class... More>
__device__ inline void apply_gate(const H& hooks, RegisterTile<L, f32>& x, const RegisterTile<L, f32>& g, int row,
                                  int column, More... more) {
  const Gate<L, H> gate(hooks, row, column);
#pragma unroll
  for (int i = 0; i < L::kRegisters; ++i) x.x[i] = gate(i, x.x[i], g.x[i], more...);
}

// The sums of a product with a PairedTile, whose first element goes to (row, column) of the result: `columns` returns
// what `apply` makes of the same Columns columns of both, of which the second's are the first argument. Sums has
// `columns`, as a RegisterTile.
template <int Columns, class Sums, class Apply> struct GatedSums {
  const Sums& sums;
  Apply apply;
  int row, column;

  template <int N> __device__ auto columns(int first) const {
    const auto gates = sums.template columns<N>(first).template as<f32>();
    auto results = sums.template columns<N>(Columns + first).template as<f32>();
    apply(results, gates, row, column + first);
    return results;
  }
};
// Makes them of sums and their place.
template <int Columns, class Apply> struct Gating {
  Apply apply;
  template <class Sums>
  __device__ GatedSums<Columns, Sums, Apply> operator()(const Sums& sums, int row, int column) const {
    return {sums, apply, row, column};
  }
};
template <class H> struct MatrixGate {
  const H& hooks;
  template <class X> __device__ void operator()(X& x, const X& g, int row, int column) const {
    apply_gate(hooks, x, g, row, column);
  }
};
template <class H> struct BatchGate {
  const H& hooks;
  int matrix;
  template <class X> __device__ void operator()(X& x, const X& g, int row, int column) const {
    apply_gate(hooks, x, g, row, column, matrix);
  }
};
template <int Columns, class H> __device__ inline Gating<Columns, MatrixGate<H>> gated(const H& hooks) {
  return {{hooks}};
}
// The same of a matrix of a batch.
template <int Columns, class H> __device__ inline Gating<Columns, BatchGate<H>> gated(const H& hooks, int matrix) {
  return {{hooks, matrix}};
}
