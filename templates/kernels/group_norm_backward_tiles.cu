//! kernel  group_norm_backward "the gradients of Y[n,c,s] = (X[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], mean and variance over the C / G channels of c's group and all s: DX of X, DW of W and DB of B, from DY of Y; many blocks share a group, which they read twice"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/group_norm_backward.cuh"
//! use     "device/reduce/group_gradient.cuh"
//!
//! param   THREADS = 256   in {128, 256, 512}       "of a block, which has a tile in shared memory"
//! param   PACKS   = 4     in {2, 4, 8}             "packs of a tile that a thread has"
//! param   BLOCKS  = 2     in {1, 2, 3, 4, 5, 8}    "of an SM"
//! param   AHEAD   = 0     in {0, 128, 256, 512}    "by how many tiles a block brings one to L2 before another block copies it"
//!
//! let     HELD    = THREADS * PACKS                "packs of a tile"
//! let     TILES   = ceil_div(GROUP_PACKS, HELD)    "of a group"
//! let     SMEM    = align_up(HELD * 32 + (AFFINE > 0) * (HELD + min(CHANNELS, HELD * COUNT)) * 8, 16)
//!
//! require TILES > 1                                "smaller groups are kept in shared memory"
//! require AHEAD == 0 || device.compute_capability >= 90 "bulk prefetches to L2 are from sm_90 on"
//! require 2 * N * G * TILES + AHEAD <= 2147483647  "tiles are counted in 31 bits"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 2048) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require BLOCKS * THREADS <= device.threads_per_sm && BLOCKS * THREADS <= (WHOLE == 1 ? 1280 : 1024) "the threads of an SM share its registers"
//!
//! workspace parts    N * G * TILES * 16            "what each tile gives"
//! workspace pairs    (AFFINE > 0) * N * G * (CHANNELS + TILES - 1) * 8 "of each batch, channel and tile of a group"
//! workspace counters (1 + 2 * N * G + G) * 4  zero
//!
//! launch  grid 2 * N * G * TILES  block THREADS  smem SMEM
//!
//! preset  THREADS = 128, PACKS = 8, BLOCKS = 5, AHEAD = 256  when device.compute_capability >= 90 && device.smem_per_sm >= 220000
//! preset  THREADS = 128, PACKS = 8, BLOCKS = 3  when device.smem_per_sm >= 130000
//! preset  THREADS = 128, PACKS = 8, BLOCKS = 2
//! preset  THREADS = 128, PACKS = 4, BLOCKS = 2

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/group_pairs.cuh"
#include "device/reduce/phased_tiles.cuh"
#include "device/tile/shared_memory.cuh"

struct Smem {
  Sums<1> means[THREADS / 32];
  Sums<3> sums[THREADS / 32];
  Sums<2> joined[2][THREADS / 32];
  Barrier full[2];
  bool last;
};

template <int Count>
__device__ inline Sums<Count> block_sums(const Sums<Count>& x, Sums<Count> (&partial)[THREADS / 32]) {
  return block_reduce<THREADS>(x, partial, Sums<Count>{},
                               [](const Sums<Count>& a, const Sums<Count>& b) { return a + b; });
}

using Group = GradientGroup<T, RAGGED>;

// Joins what the tiles of a group give.
__device__ inline PartSums joined_tiles(const PartSums* tiles, int count, const Group& group, Smem& smem) {
  const auto size_of = [&](int tile) { return static_cast<f32>(group.size(tile * HELD, (tile + 1) * HELD)); };
  Sums<2> means = {}, squares = {};
  for (int tile = threadIdx.x; tile < count; tile += THREADS)
    means.x[0] += tiles[tile].mean * size_of(tile), means.x[1] += tiles[tile].g;
  means = block_sums(means, smem.joined[0]);
  const f32 mean = means.x[0] / static_cast<f32>(group.length);
  for (int tile = threadIdx.x; tile < count; tile += THREADS) {
    const PartSums of_tile = tiles[tile];
    const f32 distance = of_tile.mean - mean;
    squares.x[0] += of_tile.squares + distance * distance * size_of(tile);
    squares.x[1] += of_tile.gx + distance * of_tile.g;
  }
  squares = block_sums(squares, smem.joined[1]);
  return {mean, squares.x[0], means.x[1], squares.x[1]};
}

using Part = GroupPart<T, THREADS, WHOLE, NARROW, RAGGED, AFFINE>;

// Adds up a tile, and leaves what it gives. Called by all threads of a block of the first phase.
__device__ inline void add_up(const Part& part, const PhasedTile& own, PartSums& of_part, float2* of_tile, Smem& smem) {
  part.wait_x(smem.full);
  const Sums<1> sum = block_sums(Sums<1>{part.sum()}, smem.means);
  const f32 mean = sum.x[0] / static_cast<f32>(max(part.size(), 1));
  part.wait_dy(smem.full);
  const Sums<3> sums = block_sums(part.add_up(mean), smem.sums);
  if constexpr (AFFINE > 0) {
    part.each_channel([&](int c, const float2& pair, float2&) { of_tile[c] = pair; });
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  of_part = {mean, sums.x[0], sums.x[1], sums.x[2]};
  own.arrive();
}

// With g = DY * W and h = (X - mean) * r: DX = r * (g - mean(g) - h * mean(g * h)); DW is the sum of DY * h and DB that
// of DY over batches and elements.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void group_norm_backward(
    View<const T, 3> X, View<const T, 1> W, View<const T, 3> DY, View<T, 3> DX, View<D, 1> DW, View<D, 1> DB,
    unsigned char* parts, unsigned char* pairs, unsigned char* counters, f32 eps, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  __shared__ Smem smem;
  u8* const memory = &shared_memory<u8>();
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    smem.full[0].init(1), smem.full[1].init(1);
    fence_barrier_init();
  }
#endif
  const int channels = dims.C / dims.G, packs = ceil_div(channels * dims.S + (RAGGED ? Part::kCount - 1 : 0), Part::kCount);
  u32* const counts = reinterpret_cast<u32*>(counters);
  const PhasedTile own = PhasedTile::next(counts, ceil_div(packs, HELD));
  const int n = own.row / dims.G, g = own.row % dims.G;
  const Divisor by_channel(dims.S);
  const Group group(X, DY, DX, n, g, channels, dims.S);
  const Part part(group, W, by_channel, own.tile * HELD, HELD, memory, HELD);
  PartSums* const of_tiles = reinterpret_cast<PartSums*>(parts) + s64{own.row} * own.tiles;
  const GroupPairs in_memory = {reinterpret_cast<float2*>(pairs), dims.G, channels, own.tiles, HELD * Part::kCount};
  float2* const of_tile = in_memory.of(n, g) + own.tile;
  part.load(smem.full);
  if (AHEAD > 0 && threadIdx.x == 0 && !own.second) {
    const int tile = own.row * own.tiles + own.tile + AHEAD, row = tile / own.tiles;
    if (row < dims.N * dims.G) {
      const Group other(X, DY, DX, row / dims.G, row % dims.G, channels, dims.S);
      Part(other, W, by_channel, tile % own.tiles * HELD, HELD, memory, HELD).prefetch();
    }
  }
  if (!own.second) {
    add_up(part, own, of_tiles[own.tile], of_tile, smem);
    return;
  }
  own.wait();
  const RowGradient gradient =
      RowGradient::of<true>(joined_tiles(of_tiles, own.tiles, group, smem), static_cast<f32>(group.length), eps);
  if constexpr (AFFINE > 0) {
    const f32 distance = of_tiles[own.tile].mean - gradient.mean;
    for (int i = threadIdx.x; i < part.channels(); i += THREADS) {
      float2& pair = of_tile[part.first_channel() + i];
      pair.y = gradient.r * (pair.y + distance * pair.x);
    }
    __syncthreads();
    // Before DX is stored: the fence waits for stores.
    if (threadIdx.x == 0) smem.last = last_arriver(counts + 1 + 2 * dims.N * dims.G + g, dims.N * own.tiles);
  }
  part.wait_x(smem.full);
  part.wait_dy(smem.full);
  part.store(gradient, [&](f32 dx, int n, int c, int s) { return hooks.output(dx, n, c, s); });
  if constexpr (AFFINE > 0) {
    __syncthreads();
    if (!smem.last) return;
    in_memory.add_batches<THREADS>(dims.N, g, dims.S, reinterpret_cast<float2*>(memory),
                                   [&](int batch) { return Group(X, DY, DX, batch, g, channels, dims.S).skip; },
                                   [&](int c, const float2& sum) { store_sums<AFFINE>(DW, DB, group.first + c, sum); });
  }
}

#else

#include "device/reference/group_norm_backward.cuh"

#endif
