#pragma once
// Maps the registers of a lane to elements of a tile, for each unit that produces or consumes tiles. A layout has
//   kRegisters     registers of a lane
//   kRowSlots      rows that a lane holds parts of
//   kLanes         neighbouring lanes that share a row
//   slot(i)        which of the lane's rows register i belongs to
//   row(s)         the tile's row of slot s
//   column(i)      the tile's column of register i
//   kPairs         pairs of neighbouring columns of a row that a lane holds: registers i and i + 1, for even i, are one
//   pair(i)        which of them register i belongs to
//   down(i)        rows of register i below the lane's first one
//   across(i)      columns beside it
#include "device/types.cuh"

namespace layout {

// Accumulators of mma.sync and, for the 16 rows of each warp, of wgmma: blocks of 16 rows by 8 columns, four registers
// each. Four lanes share a row.
template <int Rows, int Columns> struct Mma {
  static constexpr int kRows = Rows, kColumns = Columns;
  static constexpr int kRegisters = Rows * Columns / 32, kRowSlots = Rows / 8, kLanes = 4;
  static_assert(Rows % 16 == 0 && Columns % 8 == 0, "accumulators are blocks of 16 by 8");
  template <int N> using WithColumns = Mma<Rows, N>;

  static constexpr int kPairs = Columns / 8;

  __device__ static constexpr int slot(int i) { return i / (Columns / 2) * 2 + i / 2 % 2; }
  __device__ static constexpr int down(int i) { return slot(i) * 8; }
  __device__ static constexpr int across(int i) { return i % (Columns / 2) / 4 * 8 + i % 2; }
  __device__ static constexpr int pair(int i) { return i % (Columns / 2) / 4; }
  __device__ static int row(int s) { return threadIdx.x % 32 / 4 + s * 8; }
  __device__ static int column(int i) { return i % (Columns / 2) / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }
  // Returns the register in this layout that is register i of the N columns from `first` on.
  template <int N> __device__ static constexpr int within(int first, int i) {
    return i / (N / 2) * (Columns / 2) + first / 2 + i % (N / 2);
  }
};

// tcgen05.ld of shape 32x32b: a lane of tensor memory is a row, and a lane of the warp holds all of it.
template <int Columns> struct Lane {
  static constexpr int kRows = 32, kColumns = Columns;
  static constexpr int kRegisters = Columns, kRowSlots = 1, kLanes = 1;
  template <int N> using WithColumns = Lane<N>;

  static constexpr int kPairs = Columns / 2;

  __device__ static constexpr int slot(int) { return 0; }
  __device__ static constexpr int down(int) { return 0; }
  __device__ static constexpr int across(int i) { return i; }
  __device__ static constexpr int pair(int i) { return i / 2; }
  __device__ static int row(int) { return threadIdx.x % 32; }
  __device__ static constexpr int column(int i) { return i; }
  template <int N> __device__ static constexpr int within(int first, int i) { return first + i; }
};

}  // namespace layout
