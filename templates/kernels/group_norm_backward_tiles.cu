//! kernel  group_norm_backward "the gradients of Y[n,c,s] = (X[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], mean and variance over the C / G channels of c's group and all s: DX of X, DW of W and DB of B, from DY of Y; many blocks share a group, of which each keeps a tile in shared memory"
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
//! param   KEEP    = 0     in {0, 1}                "1: blocks keep tiles until all of a group are reduced; 0: tiles are read twice"
//! param   PATIENCE = 200  in {200, 0}              "microseconds that a block keeps a tile while not all of its group are reduced"
//!
//! let     HELD    = THREADS * PACKS                "packs of a tile"
//! let     TILES   = ceil_div(GROUP_PACKS, HELD)    "of a group"
//! let     BLOCKS_EACH = TILES + (KEEP == 1 ? ceil_div(TILES, 32) : TILES) "of a group"
//! let     SMEM    = align_up(HELD * 32 + (AFFINE > 0) * (HELD + min(CHANNELS, HELD * COUNT)) * 8, 16)
//!
//! require TILES > 1                                "smaller groups are kept in shared memory"
//! require AHEAD == 0 || device.compute_capability >= 90 "bulk prefetches to L2 are from sm_90 on"
//! require N * G * BLOCKS_EACH + AHEAD <= 2147483647 "blocks are counted in 31 bits"
//! require KEEP == 0 || 3 * TILES <= device.sm_count * BLOCKS "the blocks of three groups, which keep tiles, must run at once"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 2048) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require BLOCKS * THREADS <= device.threads_per_sm && BLOCKS * THREADS <= (WHOLE == 1 ? 1280 : 1024) "the threads of an SM share its registers"
//!
//! workspace parts    N * G * TILES * 16            "what each tile gives"
//! workspace pairs    (AFFINE > 0) * N * G * (CHANNELS + TILES - 1) * 8 "of each batch, channel and tile of a group"
//! workspace counters (1 + N * G * (2 + KEEP * TILES) + G) * 4  zero
//!
//! launch  grid N * G * BLOCKS_EACH  block THREADS  smem SMEM
//!
//! preset  THREADS = 128, PACKS = 8, BLOCKS = 5, AHEAD = 256, KEEP = 1  when device.compute_capability >= 90 && device.smem_per_sm >= 220000
//! preset  THREADS = 128, PACKS = 8, BLOCKS = 5, AHEAD = 256  when device.compute_capability >= 90 && device.smem_per_sm >= 220000
//! preset  THREADS = 128, PACKS = 8, BLOCKS = 3  when device.smem_per_sm >= 130000
//! preset  THREADS = 128, PACKS = 8, BLOCKS = 2
//! preset  THREADS = 128, PACKS = 4, BLOCKS = 2

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/ptx/fence.cuh"
#include "device/reduce/group_pairs.cuh"
#include "device/reduce/kept_tiles.cuh"
#include "device/tile/shared_memory.cuh"

struct Smem {
  Sums<1> means[THREADS / 32];
  Sums<3> sums[THREADS / 32];
  Sums<2> joined[2][THREADS / 32];
  Barrier full[2];
  bool last, kept;
  u32 left;
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

// What the blocks of a launch share.
struct Launch {
  const View<const T, 3>&X, &DY;
  const View<const T, 1>& W;
  const View<T, 3>& DX;
  const View<D, 1>&DW, &DB;
  PartSums* parts;
  GroupPairs pairs;
  u32* counts;  // of each group
  f32 eps;
  const Dims& dims;
  const Divisor by_channel;

  // Group number `row` of all batches.
  __device__ Group group(int row) const { return {X, DY, DX, row / dims.G, row % dims.G, pairs.channels, dims.S}; }
  __device__ Part part(const Group& group, int tile) const {
    return {group, W, by_channel, tile * HELD, HELD, &shared_memory<u8>(), HELD};
  }
  __device__ float2* pairs_of(const Group& group, int tile) const {
    return pairs.of(group.n, group.first / pairs.channels) + tile;
  }
};

// Adds up a tile, and leaves what it gives. Called by all threads of a first block.
__device__ inline void add_up(const Launch& launch, const Part& part, const KeptTile& own, Smem& smem) {
  part.wait_x(smem.full);
  const Sums<1> sum = block_sums(Sums<1>{part.sum()}, smem.means);
  const f32 mean = sum.x[0] / static_cast<f32>(max(part.size(), 1));
  part.wait_dy(smem.full);
  const Sums<3> sums = block_sums(part.add_up(mean), smem.sums);
  if constexpr (AFFINE > 0) {
    float2* const to = launch.pairs_of(part.group, own.tile);
    part.each_channel([&](int c, const float2& pair, float2&) { to[c] = pair; });
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  launch.parts[s64{own.row} * own.order.tiles + own.tile] = {mean, sums.x[0], sums.x[1], sums.x[2]};
  own.arrive();
  if (own.order.keeps) smem.kept = own.wait_for(PATIENCE * 1000);
}

// Stores DX of a tile in shared memory, and adds up the pairs of all tiles if it is the last one. Called by all threads
// of a block when the group's tiles have been reduced.
template <class Output>
__device__ inline void finish(const Launch& launch, const Part& part, int row, int tile, int tiles, int parity,
                              Smem& smem, Output output) {
  const Group& group = part.group;
  const PartSums* const of_tiles = launch.parts + s64{row} * tiles;
  const RowGradient gradient =
      RowGradient::of<true>(joined_tiles(of_tiles, tiles, group, smem), 1 / static_cast<f32>(group.length), launch.eps);
  const int g = group.first / launch.pairs.channels;
  if constexpr (AFFINE > 0) {
    const f32 distance = of_tiles[tile].mean - gradient.mean;
    for (int i = threadIdx.x; i < part.channels(); i += THREADS) {
      float2& pair = launch.pairs_of(group, tile)[part.first_channel() + i];
      pair.y = gradient.r * (pair.y + distance * pair.x);
    }
    __syncthreads();
    // Before DX is stored: the fence waits for stores.
    if (threadIdx.x == 0) smem.last = last_arriver(launch.counts + g, launch.dims.N * tiles);
  }
  part.wait_x(smem.full, parity);
  part.wait_dy(smem.full, parity);
  part.store(gradient, output);
  if constexpr (AFFINE > 0) {
    __syncthreads();
    if (!smem.last) return;
    launch.pairs.add_batches<THREADS>(
        launch.dims.N, g, launch.dims.S, reinterpret_cast<float2*>(&shared_memory<u8>()),
        [&](int batch) { return launch.group(batch * launch.dims.G + g).skip; },
        [&](int c, const float2& sum) { store_sums<AFFINE>(launch.DW, launch.DB, group.first + c, sum); });
  }
}

// With g = DY * W and h = (X - mean) * r: DX = r * (g - mean(g) - h * mean(g * h)); DW is the sum of DY * h and DB that
// of DY over batches and elements.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void group_norm_backward(
    View<const T, 3> X, View<const T, 1> W, View<const T, 3> DY, View<T, 3> DX, View<D, 1> DW, View<D, 1> DB,
    unsigned char* parts, unsigned char* pairs, unsigned char* counters, f32 eps, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  __shared__ Smem smem;
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    smem.full[0].init(1), smem.full[1].init(1);
    fence_barrier_init();
  }
#endif
  const int channels = dims.C / dims.G, rows = dims.N * dims.G;
  const int tiles = ceil_div(ceil_div(channels * dims.S + (RAGGED ? Part::kCount - 1 : 0), Part::kCount), HELD);
  const TileOrder order = {rows, tiles, KEEP == 1};
  u32* const counts = reinterpret_cast<u32*>(counters);
  const KeptTile own(order, counts);
  const Launch launch = {X,
                         DY,
                         W,
                         DX,
                         DW,
                         DB,
                         reinterpret_cast<PartSums*>(parts),
                         {reinterpret_cast<float2*>(pairs), dims.G, channels, tiles, HELD * Part::kCount},
                         counts + 1 + s64{rows} * order.counters(),
                         eps,
                         dims,
                         Divisor(dims.S)};
  const Group group = launch.group(own.row);
  const bool searches = own.second && order.keeps;
  if (!searches) launch.part(group, own.tile).load(smem.full);
  if (AHEAD > 0 && threadIdx.x == 0 && !own.second) {
    const int tile = own.tile + AHEAD, row = own.row + tile / tiles;
    if (row < rows) {
      const Group other = launch.group(row);
      launch.part(other, tile % tiles).prefetch();
    }
  }
  u32 tiles_left = 1;
  if (!own.second) {
    add_up(launch, launch.part(group, own.tile), own, smem);
    if (!own.order.keeps) return;
    __syncthreads();
    if (threadIdx.x == 0) own.settle(smem.kept);
    if (!smem.kept) return;
  } else {
    if (searches && threadIdx.x < 32) smem.left = own.left();
    __syncwarp();
    if (threadIdx.x == 0) own.wait();
    __syncthreads();
    if (searches) tiles_left = smem.left;
  }
  for (int i = 0, turn = 0; tiles_left != 0; ++i, tiles_left >>= 1) {
    if ((tiles_left & 1) == 0) continue;
    const Part part = launch.part(group, own.tile + i);
    if (searches) part.load(smem.full);
    finish(launch, part, own.row, own.tile + i, tiles, turn++ & 1, smem,
           [&](f32 dx, int n, int c, int s) { return hooks.output(dx, n, c, s); });
    if (searches) {
      if constexpr (Part::kBulk) fence::proxy_async_shared();
      __syncthreads();
    }
  }
}

#else

#include "device/reference/group_norm_backward.cuh"

#endif
