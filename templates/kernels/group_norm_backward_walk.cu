//! kernel  group_norm_backward "the gradients of Y[n,c,s] = (X[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], mean and variance over the C / G channels of c's group and all s: DX of X, DW of W and DB of B, from DY of Y; blocks walk over tiles of groups, and load some while they work on others"
//! arch    sm_90a, sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/group_norm_backward.cuh"
//! use     "device/reduce/group_gradient.cuh"
//!
//! param   THREADS = 512   in {128, 256, 512}       "of a block that have elements of a tile; 64 others load and join"
//! param   PACKS   = 4     in {2, 4}                "packs of a tile that a thread has"
//! param   STAGES  = 3     in {2, 3, 4, 6}          "tiles that a block has in shared memory"
//! param   BLOCKS  = 1     in {1, 2, 3, 4}          "blocks of an SM"
//!
//! let     HELD    = THREADS * PACKS                "packs of a tile"
//! let     TILES   = ceil_div(GROUP_PACKS, HELD)    "of a group"
//! let     ITEMS   = 2 * N * G * TILES + (AFFINE > 0) * ceil_div(C, THREADS / 32)
//! let     SMEM    = STAGES * HELD * 32
//!
//! require WHOLE == 1 && S >= 32 * PACKS * COUNT    "a warp's part of a tile has elements of two channels at most"
//! require device.smem_per_sm >= 220000 && 3 * ceil_div(GROUP_PACKS, 1024) > device.sm_count * 5 "groups of which three fit into the shared memory of all SMs are read once"
//! require ITEMS + device.sm_count * BLOCKS <= 2147483647 "tiles are counted in 31 bits"
//! require SMEM + 2048 <= device.smem_per_block && (SMEM + 4096) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require BLOCKS * (THREADS + 64) <= 768           "the threads of an SM share its registers"
//!
//! workspace parts     N * G * TILES * 16           "what each tile gives"
//! workspace gradients N * G * 16                   "what each group gives"
//! workspace pairs     (AFFINE > 0) * N * G * (CHANNELS + TILES - 1) * 8 "of each batch, channel and tile of a group"
//! workspace counters  (4 + 2 * N * G) * 4  zero
//!
//! launch  grid min(ITEMS, device.sm_count * BLOCKS)  block THREADS + 64  smem SMEM
//!
//! preset  THREADS = 512, PACKS = 4, STAGES = 3, BLOCKS = 1

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/group_pairs.cuh"
#include "device/reduce/walked_tiles.cuh"
#include "device/tile/shared_memory.cuh"

using Tiles = WalkedTiles<T, THREADS, PACKS, STAGES, AFFINE>;

// With g = DY * W and h = (X - mean) * r: DX = r * (g - mean(g) - h * mean(g * h)); DW is the sum of DY * h and DB that
// of DY over batches and elements.
extern "C" __global__ __launch_bounds__(THREADS + 64, BLOCKS) void group_norm_backward(
    View<const T, 3> X, View<const T, 1> W, View<const T, 3> DY, View<T, 3> DX, View<D, 1> DW, View<D, 1> DB,
    unsigned char* parts, unsigned char* gradients, unsigned char* pairs, unsigned char* counters, f32 eps,
    const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ Tiles::Smem smem;
  const Tiles::Tensors tensors = {X, DY, W, DX, dims.N, dims.G, dims.C / dims.G, dims.S};
  const Tiles::Given given = {reinterpret_cast<PartSums*>(parts), reinterpret_cast<RowGradient*>(gradients),
                              reinterpret_cast<float2*>(pairs), reinterpret_cast<u32*>(counters)};
  Tiles tiles(tensors, smem, &shared_memory<u8>(), given);
  tiles.run(
      eps, [&](f32 dx, int n, int c, int s) { return hooks.output(dx, n, c, s); },
      [&](int c, const float2& sum) { store_sums<AFFINE>(DW, DB, c, sum); });
}

#else

#include "device/reference/group_norm_backward.cuh"

#endif
