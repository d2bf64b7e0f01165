#pragma once
// Products of a warp on shared tiles of e4m3 with operands of 16 bits, by mma.sync: the bytes are converted in
// registers, exactly. A lane gets four neighbouring bytes where the unit wants two pairs that are apart, which is the
// same product if its other operand, or its result, is permuted likewise.
#include "device/tile/mma_tile.cuh"

namespace layout {

// Accumulators of products whose columns were taken two by two: four neighbouring columns of 16 are a lane's.
template <int Rows, int Columns> struct Quads {
  static constexpr int kRows = Rows, kColumns = Columns;
  static constexpr int kRegisters = Rows * Columns / 32, kRowSlots = Rows / 8, kLanes = 4;
  static_assert(Rows % 16 == 0 && Columns % 16 == 0);

  __device__ static int row(int s) { return Mma<Rows, Columns>::row(s); }
  __device__ static constexpr int slot(int i) { return i / (Columns / 2) * 2 + i / 4 % 2; }
  __device__ static int column(int i) { return i % (Columns / 2) / 8 * 16 + threadIdx.x % 4 * 4 + i % 4; }
};

}  // namespace layout

namespace mma {

// d += a * b^T: the M rows of `a` from `row` on, all rows of `b`, over 32 columns of both from k on. Lane 4g + q
// multiplies columns 4q to 4q + 3 of 16 where the instruction has 2q, 2q + 1, 2q + 8 and 2q + 9.
template <int M, class T, int RowsA, int N, int K, int SwizzleA, int SwizzleB>
__device__ inline void multiply_at(RegisterTile<layout::Mma<M, N>>& d, const SharedTile<T, RowsA, K, SwizzleA>& a,
                                   int row, const SharedTile<e4m3, N, K, SwizzleB>& b, int k) {
  constexpr int kPanel = SharedTile<e4m3, N, K, SwizzleB>::kPanel;
  const int lane = threadIdx.x % 32;
  Operands<e4m3, M, N> bytes;
  bytes.load_b(b.part(k / kPanel), 0, k % kPanel);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Operands<T, M, N> operands;
#pragma unroll
    for (int i = 0; i < M / 16; ++i)
#pragma unroll
      for (int below = 0; below < 2; ++below) {
        const auto four = a.template at<uint2>(row + i * 16 + below * 8 + lane / 4, k + half * 16 + lane % 4 * 4);
        operands.a[i][below] = four.x, operands.a[i][2 + below] = four.y;
      }
#pragma unroll
    for (int j = 0; j < N / 8; ++j)
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) operands.b[j][pair] = widen<T>(bytes.b[j][half] >> pair * 16);
    operands.multiply(d);
  }
}
// The same over all columns.
template <int M, class T, int RowsA, int N, int K, int SwizzleA, int SwizzleB>
__device__ inline void multiply(RegisterTile<layout::Mma<M, N>>& d, const SharedTile<T, RowsA, K, SwizzleA>& a, int row,
                                const SharedTile<e4m3, N, K, SwizzleB>& b) {
#pragma unroll
  for (int k = 0; k < K; k += 32) multiply_at(d, a, row, b, k);
}

// d += a * b, where a is the rounded accumulators of other products, and b has a row for each column of a and a column
// for each column of the product. Blocks 2j and 2j + 1 of d are the even and the odd columns of 16: see `in_order`.
// Weights are at most 1, so that f16 rounds them.
template <int M, int K, int N, int Swizzle>
__device__ inline void multiply_rounded(RegisterTile<layout::Mma<M, N>>& d, const RegisterTile<layout::Mma<M, K>>& a,
                                        const SharedTile<e4m3, K, N, Swizzle>& b) {
  constexpr int kPanel = SharedTile<e4m3, K, N, Swizzle>::kPanel;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < K; k += 16) {
    Operands<f16, M, N> operands;
    operands.round_a(a, k);
#pragma unroll
    for (int column = 0; column < N; column += 32) {
      const u32 at = b.part(column / kPanel).row_address(k + lane % 16, lane / 16 * 16, column % kPanel);
      const Matrices<4> f = ldmatrix_x4_trans(at);  // rows k and k + 8 of columns 0 to 15, then of 16 to 31
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const u32 bytes = __byte_perm(f.r[r], 0, 0x3120);  // the even column's two rows, then the odd one's
        operands.b[column / 8 + r / 2 * 2][r % 2] = widen<f16>(bytes);
        operands.b[column / 8 + r / 2 * 2 + 1][r % 2] = widen<f16>(bytes >> 16);
      }
    }
    operands.multiply(d);
  }
}

// Returns what multiply_rounded has made, as it is stored: of a tile of 16 bits, or of e4m3.
template <class T, int M, int N> __device__ inline auto in_order(const RegisterTile<layout::Mma<M, N>>& d) {
  if constexpr (sizeof(T) > 1) {
    return d;
  } else {
    RegisterTile<layout::Quads<M, N>> ordered;
#pragma unroll
    for (int i = 0; i < M * N / 32; ++i) ordered.x[i] = d.x[i / 8 * 8 + i % 2 * 4 + i / 4 % 2 * 2 + i / 2 % 2];
    return ordered;
  }
}

}  // namespace mma
