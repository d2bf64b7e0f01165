#pragma once
// Shared by the probes of wgmma: the descriptors of the tiles that probe::fill makes, the output of a thread's
// accumulators, and the expected product.
#include "device/probe/operands.cuh"
#include "device/ptx/wgmma_words.cuh"

namespace probe {

// Returns the descriptor of a tile of `rows` rows by 128 bytes of K, for the `step`-th product of 32 bytes along K.
__device__ inline u64 warpgroup_descriptor(const u8* tile, Layout layout, int rows, int step) {
  const u32 base = smem_address(tile), width = layout.swizzle;
  u64 bits;
  if (layout.mn_major)
    bits = width == 0 ? matrix::descriptor<0>(base + step * 256, 128, 1024)
                      : matrix::descriptor<0>(base + step * 16 * width, 64 * width, 8 * width);
  else
    bits = width == 0
               ? matrix::descriptor<0>(base + step * rows * 32, rows * 16, 128)
               : matrix::descriptor<0>(base + step * 32 / width * rows * width + step * 32 % width, 16, 8 * width);
  return bits | matrix::swizzle_code(width) << 62;
}

// The tiles of one product of 64 rows and `Columns` columns.
template <int Columns> struct WarpgroupTiles {
  alignas(1024) u8 a[64 * 128];
  alignas(1024) u8 b[(Columns + 63) / 64 * 64 * 128];
};

template <class TD, int Columns, class Register>
__device__ inline void store_warpgroup(const View<f32, 3>& D, int layout, const Register* d) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < Columns / 2; ++i)
    D.data[layout * D.stride[0] + (row + i / 2 % 2 * 8) * D.stride[1] + i / 4 * 8 + lane % 4 * 2 + i % 2] =
        accumulator<TD>(d, i);
}

// Computes the product once per layout, each by its own block.
template <class TA, class TB, int Columns, int Depth>
__device__ inline void reference_warpgroup(const View<const s8, 2>& A, const View<const s8, 2>& B,
                                           const View<f64, 3>& D) {
  for (int i = threadIdx.x; i < 64 * Columns; i += blockDim.x) {
    const int row = i / Columns, column = i % Columns;
    s32 sum = 0;
    for (int k = 0; k < Depth; ++k)
      sum += value<TA>(A.data[row * A.stride[0] + k * A.stride[1]]) *
             value<TB>(B.data[column * B.stride[0] + k * B.stride[1]]);
    D.data[blockIdx.x * D.stride[0] + row * D.stride[1] + column * D.stride[2]] = sum;
  }
}

}  // namespace probe
