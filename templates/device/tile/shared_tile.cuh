#pragma once
// A tile in shared memory: Rows rows of Columns elements, as TMA writes it with that swizzle and as the matrix units
// read it. It consists of consecutive panels of one swizzle width, each of which is one box of the tensor map: box
// [Rows, kPanel] swizzle Swizzle. Swizzle 0 is a single panel of plain rows.
#include "device/ptx/matrix_descriptor.cuh"
#include "device/tile/swizzle.cuh"

template <class T, int Columns>  // the widest that divides a row
constexpr int kWidestSwizzle = Columns * sizeof(T) % 128 == 0  ? 128
                               : Columns * sizeof(T) % 64 == 0 ? 64
                                                               : 32;

template <class T, int Rows, int Columns, int Swizzle = kWidestSwizzle<T, Columns>>
struct alignas(Swizzle == 0 ? 128 : 8 * Swizzle) SharedTile {
  using Element = T;
  static constexpr int kRows = Rows, kColumns = Columns, kSwizzle = Swizzle;
  static constexpr int kPanel = Swizzle == 0 ? Columns : Swizzle / int{sizeof(T)};  // columns of a panel
  static constexpr int kPanels = Columns / kPanel;
  static constexpr int kRowBytes = kPanel * sizeof(T);
  static constexpr int kBytes = Rows * Columns * sizeof(T);  // the bytes to announce on a barrier
  static_assert(Columns % kPanel == 0, "a tile has whole panels");

  T panel[kPanels][Rows][kPanel];

  __device__ u32 address() const { return smem_address(this); }

  // One of its panels, as a tile.
  using Part = SharedTile<T, Rows, kPanel, Swizzle>;
  __device__ Part& part(int p) { return reinterpret_cast<Part&>(panel[p]); }
  __device__ const Part& part(int p) const { return reinterpret_cast<const Part&>(panel[p]); }

  // Returns the element, or as an E the 4, 8 or 16 bytes that start with it.
  template <class E = T> __device__ E& at(int row, int column) {
    return reinterpret_cast<E&>(panel[panel_of(column)][row][swizzled(row, column)]);
  }
  template <class E = T> __device__ const E& at(int row, int column) const {
    return reinterpret_cast<const E&>(panel[panel_of(column)][row][swizzled(row, column)]);
  }

  // Returns the address of a row's 16 bytes at `byte` + `along` in the first panel, for ldmatrix. `along` is a multiple
  // of 32 and may be added last, so that one register serves every step along the row.
  __device__ u32 row_address(int row, int byte, int along) const {
    static_assert(Swizzle != 0);
    return address() + ((row * Swizzle + swizzle::chunk<Swizzle>(row, byte / 16) * 16) ^ along);
  }

  // Returns the rows from `row` on, a multiple of 8, as an operand of wgmma whose rows lie along K. An instruction
  // covers 32 bytes of K; adding 2 advances to the next 32 bytes within a panel.
  __device__ u64 k_major(int row = 0, int p = 0) const {
    return matrix::descriptor<Swizzle>(smem_address(panel[p][row]), 16, 8 * Swizzle);
  }
  // Returns the rows from `row` on, a multiple of 8, as an operand whose rows lie along M or N, beginning with those of
  // panel p: each is one element of K.
  __device__ u64 mn_major(int row, int p = 0) const {
    return matrix::descriptor<Swizzle>(smem_address(panel[p][row]), Rows * Swizzle, 8 * Swizzle);
  }

 private:
  __device__ static constexpr int panel_of(int column) { return kPanels == 1 ? 0 : column / kPanel; }
  // Returns the position of an element within its row of a panel.
  __device__ static constexpr int swizzled(int row, int column) {
    constexpr int kChunk = 16 / sizeof(T);
    const int c = kPanels == 1 ? column : column % kPanel;
    return swizzle::chunk<Swizzle>(row, c / kChunk) * kChunk + c % kChunk;
  }
};
