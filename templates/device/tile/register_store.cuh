#pragma once
// Stores register tiles, rounded, into shared tiles. The tile's first element goes to (row, column): a multiple of 8
// rows, and a multiple of 16 bytes of columns. Before TMA reads the tile, each storing thread must execute tma::fence
// and then a barrier with the thread that issues the copy.
#include "device/ptx/cvt.cuh"
#include "device/ptx/stmatrix.cuh"
#include "device/tile/register_tile.cuh"
#include "device/tile/shared_tile.cuh"

// Accumulators of mma.sync and wgmma: 16-bit elements by stmatrix if the target has it, else one pair at a time.
template <class Shared, int Rows, int Columns>
__device__ inline void store(Shared& to, int row, int column, const RegisterTile<layout::Mma<Rows, Columns>>& from) {
  using O = typename Shared::Element;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Rows / 16; ++i) {
    const f32* x = &from.x[i * (Columns / 2)];
#if __CUDA_ARCH__ >= 900
    if constexpr (sizeof(O) == 2) {
#pragma unroll
      for (int j = 0; j + 8 < Columns; j += 16, x += 8)
        mma::stmatrix_x4(smem_address(&to.at(row + i * 16 + lane % 16, column + j + lane / 16 * 8)),
                         pack<O>(x[0], x[1]), pack<O>(x[2], x[3]), pack<O>(x[4], x[5]), pack<O>(x[6], x[7]));
      if constexpr (Columns % 16 != 0)
        mma::stmatrix_x2(smem_address(&to.at(row + i * 16 + lane % 16, column + Columns - 8)), pack<O>(x[0], x[1]),
                         pack<O>(x[2], x[3]));
      continue;
    }
#endif
#pragma unroll
    for (int j = 0; j < Columns; j += 8, x += 4) {
      const int r = row + i * 16 + lane / 4, c = column + j + lane % 4 * 2;
      if constexpr (sizeof(O) == 2) {
        to.template at<u32>(r, c) = pack<O>(x[0], x[1]);
        to.template at<u32>(r + 8, c) = pack<O>(x[2], x[3]);
      } else {
        to.template at<float2>(r, c) = make_float2(x[0], x[1]);
        to.template at<float2>(r + 8, c) = make_float2(x[2], x[3]);
      }
    }
  }
}

// Stores the transpose: rows of the register tile become columns. The tile's first element goes to (row, column): a
// multiple of 8 rows, and a multiple of 16 bytes of columns.
template <class Shared, int Rows, int Columns>
__device__ inline void store_transposed(Shared& to, int row, int column,
                                        const RegisterTile<layout::Mma<Rows, Columns>>& from) {
  using O = typename Shared::Element;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Rows / 16; ++i) {
    const f32* x = &from.x[i * (Columns / 2)];
#pragma unroll
    for (int j = 0; j < Columns; j += 8, x += 4) {
      if constexpr (sizeof(O) == 2) {
        mma::stmatrix_x2_trans(smem_address(&to.at(row + j + lane % 8, column + i * 16 + lane / 8 % 2 * 8)),
                               pack<O>(x[0], x[1]), pack<O>(x[2], x[3]));
      } else {
        const int r = row + j + lane % 4 * 2, c = column + i * 16 + lane / 4;
        to.at(r, c) = x[0];
        to.at(r + 1, c) = x[1];
        to.at(r, c + 8) = x[2];
        to.at(r + 1, c + 8) = x[3];
      }
    }
  }
}

// One row per lane, 16 bytes at a time.
template <class Shared, int Columns>
__device__ inline void store(Shared& to, int row, int column, const RegisterTile<layout::Lane<Columns>>& from) {
  using O = typename Shared::Element;
  constexpr int kChunk = 16 / sizeof(O);
#pragma unroll
  for (int j = 0; j < Columns; j += kChunk) {
    const f32* x = &from.x[j];
    uint4& chunk = to.template at<uint4>(row + threadIdx.x % 32, column + j);
    if constexpr (sizeof(O) == 2)
      chunk = make_uint4(pack<O>(x[0], x[1]), pack<O>(x[2], x[3]), pack<O>(x[4], x[5]), pack<O>(x[6], x[7]));
    else
      chunk = make_uint4(__float_as_uint(x[0]), __float_as_uint(x[1]), __float_as_uint(x[2]), __float_as_uint(x[3]));
  }
}
