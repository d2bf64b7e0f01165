#pragma once
// Accumulators out to global memory from registers: the four lanes that share a row exchange words, so that each has 16
// bytes of it.
#include "device/ptx/cvt.cuh"
#include "device/tile/register_tile.cuh"

// Word i of lane q of each four neighbouring lanes becomes word q of lane i. Called by all lanes of a warp.
__device__ inline uint4 transpose_quad(u32 a, u32 b, u32 c, u32 d) {
  const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
  const auto exchange = [](u32& x, u32& y, bool second, int distance) {
    const u32 from = __shfl_xor_sync(0xffffffff, second ? x : y, distance);
    (second ? x : y) = from;
  };
  exchange(a, b, odd, 1);
  exchange(c, d, odd, 1);
  exchange(a, c, upper, 2);
  exchange(b, d, upper, 2);
  return make_uint4(a, b, c, d);
}

// Stores a warp's 16 rows by 32 columns: pair(block, i) are this lane's two neighbouring numbers of a block of 8
// columns in its row lane / 4 + 8 * i, which are stored by two where T has 4 bytes. `to` is the first row's first
// column; of the rows those before `rows` exist, and of the columns those before `columns`. Rows begin at multiples of
// 16 bytes. Called by all lanes of the warp.
template <class T, class Pair>
__device__ inline void store_32_columns(const View<T, 2>& to, const Pair& pair, int rows, int columns) {
  const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 8;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int block = 0; block < 4; ++block)
        if (row + 8 * i < rows && block * 8 < columns)
          *reinterpret_cast<float2*>(to.data + (row + 8 * i) * to.stride[0] + block * 8 + lane % 4 * 2) =
              pair(block, i);
    } else {
      const auto word = [&](int block) {
        const float2 x = pair(block, i);
        return pack<T>(x.x, x.y);
      };
      const uint4 words = transpose_quad(word(0), word(1), word(2), word(3));
      if (row + 8 * i < rows && column < columns)
        *reinterpret_cast<uint4*>(to.data + (row + 8 * i) * to.stride[0] + column) = words;
    }
  }
}

// Stores all columns of `scale` times a warp's 16 rows likewise.
template <class T, int Columns>
__device__ inline void store_gradient(const View<T, 2>& to, const RegisterTile<layout::Mma<16, Columns>>& x, f32 scale,
                                      int rows, int columns) {
#pragma unroll
  for (int c = 0; c < Columns; c += 32) {
    const auto pair = [&](int block, int i) {
      const f32* const two = &x.x[c / 2 + 4 * block + 2 * i];
      return make_float2(two[0] * scale, two[1] * scale);
    };
    store_32_columns(View<T, 2>{to.data + c, {to.stride[0], 1}}, pair, rows, columns - c);
  }
}
