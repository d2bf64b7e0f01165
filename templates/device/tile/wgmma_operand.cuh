#pragma once
// Operands of wgmma in shared memory, of which a loop keeps one register each: the lower word of the descriptor, to
// which an instruction adds its distance. wgmma_tile.cuh computes each instruction's descriptor, which is fine where
// there is room for as many.
#include "device/ptx/wgmma.cuh"
#include "device/tile/register_tile.cuh"
#include "device/tile/shared_tile.cuh"
#include "device/tile/wgmma_tile.cuh"

namespace wgmma {

template <class T, int Rows, int Columns, Major Order> class Operand {
 public:
  using Tile = SharedTile<T, Rows, Columns>;
  static constexpr Major kOrder = Order;

  // `row` is a multiple of 8.
  __device__ explicit Operand(const Tile& tile, int row = 0)
      : low_(static_cast<u32>(Order == Major::k ? tile.k_major(row) : tile.mn_major(row))) {}

  // Returns it computed anew from the tile's address, for a loop that has no register left to keep it in.
  __device__ static Operand anew(const Tile& tile, int row = 0) {
    u32 address = tile.address();
    asm volatile("" : "+r"(address));
    constexpr int kLeading = Order == Major::k ? 16 : Rows * Tile::kSwizzle;
    return Operand(matrix::descriptor<Tile::kSwizzle>(address + row * Tile::kRowBytes, kLeading, 8 * Tile::kSwizzle));
  }

  // Has the compiler take the register as changed, so that it computes no descriptor ahead of a loop.
  __device__ void keep() { asm volatile("" : "+r"(low_)); }

  // Returns the descriptor of the 16 elements of K from `k` on, and of MN-major operands the panel from which on.
  __device__ u64 at(int k, int panel = 0) const {
    constexpr int kPanelBytes = Rows * Tile::kRowBytes;
    const int bytes = Order == Major::k ? k / Tile::kPanel * kPanelBytes + k % Tile::kPanel * int{sizeof(T)}
                                        : panel * kPanelBytes + k * Tile::kRowBytes;
    return u64{static_cast<u32>(matrix::descriptor<Tile::kSwizzle>(0, 0, 8 * Tile::kSwizzle) >> 32)} << 32 |
           (low_ + bytes / 16);
  }

 private:
  __device__ explicit Operand(u64 descriptor) : low_(static_cast<u32>(descriptor)) {}

  u32 low_;
};

// Returns the rows of a tile from `row` on as an operand; Order says whether they lie along K or along M or N.
template <Major Order, class T, int Rows, int Columns>
__device__ inline Operand<T, Rows, Columns, Order> operand(const SharedTile<T, Rows, Columns>& tile, int row = 0) {
  return Operand<T, Rows, Columns, Order>(tile, row);
}

// Starts d (+)= a * b^T over K elements of depth, as one group.
template <int K, class T, int RowsA, int ColumnsA, Major OrderA, int RowsB, int ColumnsB, Major OrderB, int N>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const Operand<T, RowsA, ColumnsA, OrderA>& a,
                                const Operand<T, RowsB, ColumnsB, OrderB>& b, bool accumulate) {
  fence();
#pragma unroll
  for (int k = 0; k < K; k += 16)
    Mma<N, T>::template ss<Mode<OrderA, OrderB>>(d.x, a.at(k), b.at(k), accumulate || k > 0);
  commit();
}

// Starts d += a * b as one group for an `a` in registers, which must not change until the group has been waited for; b
// has a row for each column of a and a column for each column of the product.
template <class T, int K, int RowsB, int N>
__device__ inline void multiply(RegisterTile<layout::Mma<16, N>>& d, const Words<T, K>& a,
                                const Operand<T, RowsB, N, Major::mn>& b) {
  fence();
#pragma unroll
  for (int k = 0; k < K; k += 16) Mma<N, T>::template rs<Mode<Major::k, Major::mn>>(d.x, a.x[k / 16], b.at(k), true);
  commit();
}

}  // namespace wgmma
