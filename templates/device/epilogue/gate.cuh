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
