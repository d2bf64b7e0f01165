#pragma once
// Stores register tiles, rounded, into shared tiles. The tile's first element goes to (row, column): a multiple of 8
// rows, and a multiple of 16 bytes of columns. Before TMA reads the tile, each storing thread must execute tma::fence
// and then a barrier with the thread that issues the copy.
#include "device/ptx/cvt.cuh"
#include "device/ptx/stmatrix.cuh"
#include "device/tile/pack.cuh"
#include "device/tile/register_tile.cuh"
#include "device/tile/shared_tile.cuh"

// Stores two neighbouring elements, rounded.
template <class Shared, class X> __device__ inline void store_pair(Shared& to, int row, int column, X lo, X hi) {
  using O = typename Shared::Element;
  if constexpr (sizeof(O) == 1)
    to.template at<u16>(row, column) = static_cast<u16>(pack<O>(lo, hi));
  else if constexpr (sizeof(O) == 2)
    to.template at<u32>(row, column) = pack<O>(lo, hi);
  else
    to.template at<Pack<O, 2>>(row, column) = {lo, hi};
}

// Accumulators of mma.sync and wgmma: 16-bit elements by stmatrix if the target has it, else one pair at a time.
template <class Shared, int Rows, int Columns, class X>
__device__ inline void store(Shared& to, int row, int column, const RegisterTile<layout::Mma<Rows, Columns>, X>& from) {
  using O = typename Shared::Element;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Rows / 16; ++i) {
    const X* x = &from.x[i * (Columns / 2)];
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
      store_pair(to, r, c, x[0], x[1]);
      store_pair(to, r + 8, c, x[2], x[3]);
    }
  }
}

// Stores the transpose: rows of the register tile become columns. The tile's first element goes to (row, column): a
// multiple of 8 rows, and a multiple of 16 bytes of columns.
template <class Shared, int Rows, int Columns, class X>
__device__ inline void store_transposed(Shared& to, int row, int column,
                                        const RegisterTile<layout::Mma<Rows, Columns>, X>& from) {
  using O = typename Shared::Element;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Rows / 16; ++i) {
    const X* x = &from.x[i * (Columns / 2)];
    const int across = column + i * 16 + lane / 8 % 2 * 8;
    if constexpr (sizeof(O) == 2) {
#pragma unroll
      for (int j = 0; j + 8 < Columns; j += 16, x += 8)
        mma::stmatrix_x4_trans(smem_address(&to.at(row + j + lane / 16 * 8 + lane % 8, across)), pack<O>(x[0], x[1]),
                               pack<O>(x[2], x[3]), pack<O>(x[4], x[5]), pack<O>(x[6], x[7]));
      if constexpr (Columns % 16 != 0)
        mma::stmatrix_x2_trans(smem_address(&to.at(row + Columns - 8 + lane % 8, across)), pack<O>(x[0], x[1]),
                               pack<O>(x[2], x[3]));
    } else {
#pragma unroll
      for (int j = 0; j < Columns; j += 8, x += 4) {
        const int r = row + j + lane % 4 * 2, c = column + i * 16 + lane / 4;
        to.at(r, c) = rounded<O>(x[0]);
        to.at(r + 1, c) = rounded<O>(x[1]);
        to.at(r, c + 8) = rounded<O>(x[2]);
        to.at(r + 1, c + 8) = rounded<O>(x[3]);
      }
    }
  }
}

// Returns four results of 8 bits each.
template <class O> __device__ inline u32 word_of(const f32* x) {
  return pack<O>(x[0], x[1]) | pack<O>(x[2], x[3]) << 16;
}
__device__ inline u32 bits_of(f32 x) {
  return __float_as_uint(x);
}
__device__ inline u32 bits_of(s32 x) {
  return static_cast<u32>(x);
}

// One row per lane, 16 bytes at a time.
template <class Shared, int Columns, class X>
__device__ inline void store(Shared& to, int row, int column, const RegisterTile<layout::Lane<Columns>, X>& from) {
  using O = typename Shared::Element;
  constexpr int kChunk = 16 / sizeof(O);
#pragma unroll
  for (int j = 0; j < Columns; j += kChunk) {
    const X* x = &from.x[j];
    uint4& chunk = to.template at<uint4>(row + threadIdx.x % 32, column + j);
    if constexpr (sizeof(O) == 2)
      chunk = make_uint4(pack<O>(x[0], x[1]), pack<O>(x[2], x[3]), pack<O>(x[4], x[5]), pack<O>(x[6], x[7]));
    else if constexpr (sizeof(O) == 1)
      chunk = make_uint4(word_of<O>(&x[0]), word_of<O>(&x[4]), word_of<O>(&x[8]), word_of<O>(&x[12]));
    else
      chunk = make_uint4(bits_of(x[0]), bits_of(x[1]), bits_of(x[2]), bits_of(x[3]));
  }
}
