//! kernel  layer_norm_backward "the gradients of Y[i,j] = (X[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]: DX of X, DW of W and DB of B, from DY of Y; many blocks share a row, which they read twice"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/layer_norm_backward.cuh"
//!
//! let     VECTORS = AFFINE
//! use     "device/reduce/tiled_gradient.cuh"
//!
//! preset  AT_ONCE = 4, BLOCKS = 3, WHOLE = 1  when sizeof(T) == 4
//! preset  BLOCKS = 4, WHOLE = 1
//! preset  BLOCKS = 3, WHOLE = 0  when sizeof(T) == 4
//! preset  BLOCKS = 2, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/tiled_gradient.cuh"

#ifndef TMA_JIT_REFERENCE

using Gradient = TiledGradient<T, THREADS, PACKS, ROWS, AT_ONCE, WHOLE, true, AFFINE>;

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void layer_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, View<G, 1> DB,
    unsigned char* sums, unsigned char* parts, unsigned char* counters, f32 eps, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  __shared__ Gradient::Smem smem;
  const int tiles = ceil_div(dims.N, HELD), batches = ceil_div(dims.M, ROWS);
  u32* const begun = reinterpret_cast<u32*>(counters);
  u32* const counted = begun + 1 + 2 * batches;
  f32* const of_batches = reinterpret_cast<f32*>(parts);
  const u32 number = PhasedTile::next_number(begun), workers = 2U * batches * tiles;
  if (number >= workers) {
    const s64 width = s64{tiles} * HELD;
    add_parts<THREADS>(of_batches, batches, AFFINE * width, number - workers, counted, workers / 2, gridDim.x - workers,
                       [&](s64 i, f32 sum) {
                         const s64 column = i % width;
                         if (column >= dims.N) return;
                         if (i < width)
                           DW.data[column * DW.stride[0]] = from_f32<G>(sum);
                         else
                           DB.data[column * DB.stride[0]] = from_f32<G>(sum);
                       });
    return;
  }
  const PhasedTile tile = PhasedTile::of(number, begun, batches, tiles);
  const Gradient::Matrices matrices = {X, DY, dims.M, dims.N};
  Gradient gradient(matrices, W, tile, reinterpret_cast<TileSums*>(sums), smem);
  if (!tile.second) {
    gradient.reduce();
    if (threadIdx.x == 0) tile.arrive();
    return;
  }
  tile.wait();
  gradient.store(DX, eps, of_batches + s64{tile.row} * tiles * HELD * AFFINE,
                 [&](f32 dx, int row, int column) { return hooks.output(dx, row, column); });
  if constexpr (AFFINE > 0) count_part(counted);
}

#else

#include "device/reference/layer_norm_backward.cuh"

#endif
