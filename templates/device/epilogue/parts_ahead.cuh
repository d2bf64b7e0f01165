#pragma once
// What the hook `epilogue` reads for the parts of a tile, read before they are written.
#include "device/epilogue/own_operands.cuh"

// The operands of Parts parts of a tile, each of which is a Part, an Epilogue: in registers, those of as many of the
// first as fit into Registers, and then those of another part after each that has been applied. If not even one fits,
// nothing is read. `read(n)` returns the n-th part. Before the first is applied, read_first(m) is called for each m
// below kAhead, some time apart: the loads of a whole tile at once hold up those of the products' operands. (On an H200
// a warp that issues all of 128 x 256 elements waits 2000 cycles, and its tensor cores with it.)
template <class Part, int Parts, int Registers> class PartsAhead {
  static constexpr bool kAny = Part::kRegisters > 0 && Part::kRegisters <= Registers;
  static constexpr int kFit = kAny ? Registers / (Part::kRegisters + !kAny) : 0;

 public:
  static constexpr int kAhead = kFit < Parts ? kFit : Parts;

  template <class Read> __device__ void read_first(int m, Read read) {
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      if (m == n) next_[n] = read(n);
    }
  }
  // Applies the n-th part, of 0, 1, ..., which has been read.
  template <class Through, class Tile, class... More>
  __device__ void apply(int n, Through& through, int row, int column, Tile& tile, More... more) const {
    next_[n % kAhead].apply_through(through, row, column, tile, more...);
  }
  // Called when the n-th part has been applied.
  template <class Read> __device__ void applied(int n, Read read) {
    if (n + kAhead < Parts) next_[n % kAhead] = read(n + kAhead);
  }

 private:
  Part next_[kAhead > 0 ? kAhead : 1];
};
