//! kernel  group_norm "Y[n,c,s] = output((x[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c]), x = input(X[n,c,s]), mean and variance of x over the C / G channels of c's group and all s; many blocks share a group"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/channel_groups.cuh"
//! use     "device/reference/group_norm.cuh"
//!
//! param   THREADS = 512   in {128, 256, 512}       "of a block, which keeps a tile in registers"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread"
//! param   BLOCKS  = 2     in {1, 2, 3, 4, 6, 8}    "blocks that an SM is to have room for"
//!
//! let     HELD    = THREADS * PACKS * COUNT        "elements of a tile"
//! let     TILES   = ceil_div(LENGTH, HELD)         "of a group"
//!
//! require LENGTH * sizeof(T) > 524288              "smaller groups are kept in registers or shared memory"
//! require S % COUNT == 0 && alignment(X) % 16 == 0 && alignment(Y) % 16 == 0 && (N <= 1 || (stride(X, 0) % COUNT == 0 && stride(Y, 0) % COUNT == 0)) "channels begin at 16 bytes and are whole packs"
//! require 2 * N * G * TILES <= 2147483647          "tiles are counted in 31 bits"
//! require BLOCKS * THREADS <= device.threads_per_sm && PACKS * COUNT * BLOCKS * THREADS <= 32768 "the threads of an SM share its registers"
//!
//! workspace moments  N * G * TILES * 8             "the mean of each tile, and the sum of the squares of its distances from it"
//! workspace counters (1 + 2 * N * G) * 4  zero
//!
//! launch  grid 2 * N * G * TILES  block THREADS

#include "device/ptx/cvt.cuh"
#include "device/reduce/phased_tiles.cuh"
#include "device/reduce/register_row.cuh"
#include "device/tile/channel_affine.cuh"
#include "device/tile/group_rows.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  f32 warps[4][THREADS / 32];
};

struct Moments {
  f32 mean, squares;  // squares: the sum of the squared distances from the mean
};

__device__ inline f32 block_sum(f32 x, f32 (&partial)[THREADS / 32]) {
  return block_reduce<THREADS>(x, partial, 0.0F, [](f32 a, f32 b) { return a + b; });
}

// Of the `count` elements that the block's threads hold.
template <class Row> __device__ inline Moments moments_of(const Row& row, int count, Smem& smem) {
  f32 sum = 0, squares = 0;
#pragma unroll
  for (const f32 x : row.x) sum += x;
  const f32 mean = block_sum(sum, smem.warps[0]) / static_cast<f32>(count);
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const f32 distance = row.whole(p) ? row.x[p * COUNT + i] - mean : 0.0F;
      squares += distance * distance;
    }
  }
  return {mean, block_sum(squares, smem.warps[1])};
}

// Of a group whose tiles have these, by the distances of their means from that of all.
__device__ inline Moments moments_of(const Moments* tiles, int count, int length, Smem& smem) {
  const auto size = [&](int tile) { return static_cast<f32>(min(HELD, length - tile * HELD)); };
  f32 sum = 0, squares = 0;
  for (int tile = threadIdx.x; tile < count; tile += THREADS) sum += tiles[tile].mean * size(tile);
  const f32 mean = block_sum(sum, smem.warps[2]) / static_cast<f32>(length);
  for (int tile = threadIdx.x; tile < count; tile += THREADS) {
    const f32 distance = tiles[tile].mean - mean;
    squares += tiles[tile].squares + distance * distance * size(tile);
  }
  return {mean, block_sum(squares, smem.warps[3])};
}

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void group_norm(
    View<const T, 3> X, View<const T, 1> W, View<const T, 1> B, View<O, 3> Y, unsigned char* moments,
    unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ Smem smem;
  const int channels = dims.C / dims.G, length = channels * dims.S;
  const PhasedTile own = PhasedTile::next(reinterpret_cast<u32*>(counters), ceil_div(length, HELD));
  const int n = own.row / dims.G, first = own.row % dims.G * channels;
  const Divisor by_channel(dims.S);
  const View<const T, 2> from = groups_of(X, n, dims.G, length);
  RegisterRow<THREADS, THREADS, 1, COUNT, PACKS, true> row(dims.N * dims.G, length, own.row);
  row.advance_parts(own.tile);
  row.load(from, 0.0F, [&](f32 x, int j) {
    const int c = by_channel.quotient(j);
    return hooks.input(x, n, first + c, j - c * dims.S);
  });
  Moments* const of_tiles = reinterpret_cast<Moments*>(moments) + s64{own.row} * own.tiles;
  if (!own.second) {
    const Moments of_tile = moments_of(row, min(HELD, length - own.tile * HELD), smem);
    if (threadIdx.x > 0) return;
    of_tiles[own.tile] = of_tile;
    own.arrive();
    return;
  }
  own.wait();
  const Moments all = moments_of(of_tiles, own.tiles, length, smem);
  const f32 scale = rsqrtf(all.squares / static_cast<f32>(length) + eps);
  row.store(groups_of(Y, n, dims.G, length), [&](int p) {
    const int c = by_channel.quotient(row.column_of(p, 0)), s = row.column_of(p, 0) - c * dims.S;
    const int channel = min(first + c, dims.C - 1);
    const PackAffine affine = PackAffine::of<AFFINE>(W, B, channel, all.mean, scale);
    return [=, &row, &hooks](int i) {
      const f32 y = affine(row.x[p * COUNT + i]);
      return hooks.output(y, n, channel, s + i);
    };
  });
}

#else

#include "device/reference/group_norm.cuh"

#endif
