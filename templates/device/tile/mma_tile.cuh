#pragma once
// Products of a warp on shared tiles by mma.sync, 32 bytes of K at a time: 16 elements of 16 bits, 32 of 8, or 8 f32,
// which the unit reads as tf32: without their low 13 bits. Operands are loaded by ldmatrix from K-major tiles of one
// panel, as TMA writes them with that swizzle and cp.async can write them too. The fragments of all types agree in
// bytes. PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16 with floating point type" and the next, "ldmatrix".
#include "device/ptx/cvt.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/ptx/mma.cuh"
#include "device/tile/operand_tile.cuh"
#include "device/tile/register_tile.cuh"
#include "device/tile/shared_tile.cuh"
#include "device/tile/tf32_terms.cuh"
#include "device/tile/unit_types.cuh"

namespace mma {

template <class T> constexpr int kDepth = 32 / sizeof(T);  // elements of K in one product

// The operands of one product along K: M rows of A, whose elements are T, and N rows of B, whose elements are U.
template <class T, int M, int N, class U = T> struct Operands {
  u32 a[M / 16][4], b[N / 8][2];

  // Loads the 32 bytes of K that start with column k, of the rows from `row` on, a multiple of 16. The swizzle repeats
  // every 16 rows, so that one address serves all blocks of 16 rows. Matrices: rows 0-7 | 8-15, then the second half of
  // K.
  template <class Tile> __device__ void load_a(const Tile& from, int row, int k) {
    const int lane = threadIdx.x % 32;
    const u32 at = from.row_address(row + lane % 16, lane / 16 * 16, k * int{sizeof(T)});
#pragma unroll
    for (int i = 0; i < M / 16; ++i) {
      const Matrices<4> f = ldmatrix_x4(at + i * 16 * Tile::kRowBytes);
#pragma unroll
      for (int r = 0; r < 4; ++r) a[i][r] = f.r[r];
    }
  }
  // The same for a tile whose rows are columns of the product, two blocks of 8 at a time.
  template <class Tile> __device__ void load_b(const Tile& from, int column, int k) {
    const int lane = threadIdx.x % 32;
    const u32 at = from.row_address(column + lane / 16 * 8 + lane % 8, lane / 8 % 2 * 16, k * int{sizeof(T)});
#pragma unroll
    for (int j = 0; j < N / 8; j += 2) {
      const Matrices<4> f = ldmatrix_x4(at + j * 8 * Tile::kRowBytes);
#pragma unroll
      for (int r = 0; r < 4; ++r) b[j + r / 2][r % 2] = f.r[r];
    }
  }
  // Loads rows k to k + 15 of a tile whose rows lie along the columns of the product, from `column` on, a multiple of
  // 16.
  template <class Tile> __device__ void load_b_transposed(const Tile& from, int k, int column = 0) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < N / 8; j += 2) {
      const int p = (column + j * 8) / Tile::kPanel;
      const Matrices<4> f = ldmatrix_x4_trans(
          from.part(p).row_address(k + lane % 16, lane / 16 * 16, (column + j * 8 - p * Tile::kPanel) * 2));
#pragma unroll
      for (int r = 0; r < 4; ++r) b[j + r / 2][r % 2] = f.r[r];
    }
  }
  // The same of one whose rows lie along the rows of the product.
  template <class Tile> __device__ void load_a_transposed(const Tile& from, int k, int row) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < M / 16; ++i) {
      const int p = (row + i * 16) / Tile::kPanel;
      const Matrices<4> f = ldmatrix_x4_trans(from.part(p).row_address(k + lane / 16 * 8 + lane % 8, lane / 8 % 2 * 16,
                                                                       (row + i * 16 - p * Tile::kPanel) * 2));
#pragma unroll
      for (int r = 0; r < 4; ++r) a[i][r] = f.r[r];
    }
  }
  template <class TileA, class TileB>
  __device__ void load(const TileA& from_a, int row, const TileB& from_b, int column, int k) {
    load_a(from_a, row, k);
    load_b(from_b, column, k);
  }
  // Operands in either major order.
  template <bool TransposedA, bool TransposedB, int ExtentA, int ExtentB, int K>
  __device__ void load(const OperandTile<TransposedA, T, ExtentA, K>& from_a, int row,
                       const OperandTile<TransposedB, U, ExtentB, K>& from_b, int column, int k) {
    if constexpr (TransposedA)
      load_a_transposed(from_a, k, row);
    else
      load_a(from_a, row, k);
    if constexpr (TransposedB)
      load_b_transposed(from_b, k, column);
    else
      load_b(from_b, column, k);
  }
  // Rounds columns k to k + 15 of another product's accumulators, whose layout is that of operands.
  template <int Columns> __device__ void round_a(const RegisterTile<layout::Mma<M, Columns>>& from, int k) {
#pragma unroll
    for (int i = 0; i < M / 16; ++i)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const f32* const x = &from.x[(i * (Columns / 8) + k / 8 + r / 2) * 4 + r % 2 * 2];
        a[i][r] = pack<T>(x[0], x[1]);
      }
  }

  // d += a * b^T, of f32 by as many products of tf32 as `Terms`. Traverses every other row of products backwards, so
  // that consecutive products share an operand.
  template <int Terms = 1> __device__ void multiply(RegisterTile<layout::Mma<M, N>, typename Unit<T>::Sum>& d) const {
    if constexpr (Terms == 3) {
      multiply_terms(d);
    } else {
#pragma unroll
      for (int i = 0; i < M / 16; ++i)
#pragma unroll
        for (int n = 0; n < N / 8; ++n) {
          const int j = i % 2 == 0 ? n : N / 8 - 1 - n;
          Product::multiply(reinterpret_cast<Sums&>(d.block(i, j)), a[i], b[j]);
        }
    }
  }

 private:
  using Product = Mma<16, 8, kDepth<T>, typename Unit<T>::Type, typename Unit<U>::Type, typename Unit<T>::Sum>;
  using Sums = typename Product::Accumulator[4];

  // The three products of an f32's terms, the small ones first. The unit cuts sums off, which f32 additions round: so
  // each product along K has sums of its own.
  __device__ void multiply_terms(RegisterTile<layout::Mma<M, N>>& d) const {
    u32 high[N / 8][2], low[N / 8][2];
#pragma unroll
    for (int j = 0; j < N / 8; ++j) split_terms(b[j], high[j], low[j]);
#pragma unroll
    for (int i = 0; i < M / 16; ++i) {
      u32 high_a[4], low_a[4];
      split_terms(a[i], high_a, low_a);
#pragma unroll
      for (int j = 0; j < N / 8; ++j) {
        f32 part[4] = {};
        Product::multiply(part, low_a, high[j]);
        Product::multiply(part, high_a, low[j]);
        Product::multiply(part, high_a, high[j]);
#pragma unroll
        for (int r = 0; r < 4; ++r) d.block(i, j)[r] += part[r];
      }
    }
  }
};

// d += a * b^T: the M rows of `a` from `row` on, all rows of `b`, over 16 columns of both from k on.
template <int M, class T, int RowsA, int N, int K, int Swizzle>
__device__ inline void multiply_at(RegisterTile<layout::Mma<M, N>>& d, const SharedTile<T, RowsA, K, Swizzle>& a,
                                   int row, const SharedTile<T, N, K, Swizzle>& b, int k) {
  constexpr int kPanel = SharedTile<T, N, K, Swizzle>::kPanel;
  Operands<T, M, N> operands;
  operands.load(a.part(k / kPanel), row, b.part(k / kPanel), 0, k % kPanel);
  operands.multiply(d);
}
// The same over all columns.
template <int M, class T, int RowsA, int N, int K, int Swizzle>
__device__ inline void multiply(RegisterTile<layout::Mma<M, N>>& d, const SharedTile<T, RowsA, K, Swizzle>& a, int row,
                                const SharedTile<T, N, K, Swizzle>& b) {
#pragma unroll
  for (int k = 0; k < K; k += 16) multiply_at(d, a, row, b, k);
}

// d += a * b, where a is the rounded accumulators of other products, and b has a row for each column of a and a column
// for each column of the product.
template <int M, class T, int K, int N, int Swizzle>
__device__ inline void multiply_rounded(RegisterTile<layout::Mma<M, N>>& d, const RegisterTile<layout::Mma<M, K>>& a,
                                        const SharedTile<T, K, N, Swizzle>& b) {
#pragma unroll
  for (int k = 0; k < K; k += 16) {
    Operands<T, M, N> operands;
    operands.round_a(a, k);
    operands.load_b_transposed(b, k);
    operands.multiply(d);
  }
}

}  // namespace mma
