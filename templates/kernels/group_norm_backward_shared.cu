//! kernel  group_norm_backward "the gradients of Y[n,c,s] = (X[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], mean and variance over the C / G channels of c's group and all s: DX of X, DW of W and DB of B, from DY of Y; a group is kept in shared memory"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/group_norm_backward.cuh"
//! use     "device/reduce/group_gradient.cuh"
//!
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 256   in {32, 128, 256, 512}   "threads that share a group: a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a group"
//! param   BLOCKS  = 4     in {1, 2, 3, 4, 5, 8, 10} "of an SM"
//! param   AHEAD   = 0     in {0, 16, 32, 64, 128, 256, 512, 1024} "by how many groups a block brings one to L2 before another block copies it"
//!
//! let     ROWS    = THREADS / LANES                "batches of a block"
//! let     BATCHES = ceil_div(N, ROWS)
//! let     EACH    = ceil_div(GROUP_PACKS, CLUSTER) "packs of a block's part of a group"
//! let     ROOM    = align_up(EACH * 32 + (AFFINE > 0) * (EACH + min(CHANNELS, EACH * COUNT)) * 8, 16)
//! let     SMEM    = max(ROWS * ROOM, THREADS * 8)
//!
//! require LANES == 32 || LANES == THREADS          "a group is a warp's or a block's"
//! require LANES == THREADS || CLUSTER == 1         "blocks of a cluster share one group"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 2048) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require EACH <= 3000 || device.compute_capability < 90 || device.smem_per_sm < 220000 "tiles that blocks keep are faster than larger parts from sm_90 on, where shared memory has room for them"
//! require BLOCKS * THREADS <= device.threads_per_sm && BLOCKS * THREADS <= (WHOLE == 1 ? 1280 : 1024) "the threads of an SM share its registers"
//!
//! require AHEAD == 0 || device.compute_capability >= 90 "bulk prefetches to L2 are from sm_90 on"
//! require (BATCHES + AHEAD) * G * CLUSTER <= 2147483647 "blocks are counted in 31 bits"
//!
//! workspace pairs    (AFFINE > 0) * BATCHES * G * (CHANNELS + CLUSTER - 1) * 8 "of each batch, channel and part of a group"
//! workspace counters (AFFINE > 0) * G * 4  zero    "blocks of a group that have come"
//!
//! cluster CLUSTER
//! launch  grid BATCHES * G * CLUSTER  block THREADS  smem SMEM
//!
//! preset  LANES = 32, THREADS = 128, BLOCKS = 8  when GROUP_PACKS <= 128
//! preset  LANES = 32, THREADS = 128, BLOCKS = 5  when GROUP_PACKS <= 300 && S % COUNT != 0
//! preset  LANES = 128, THREADS = 128, BLOCKS = 8
//! preset  LANES = 256, THREADS = 256, BLOCKS = 4, AHEAD = 256  when device.compute_capability >= 90
//! preset  LANES = 512, THREADS = 512, BLOCKS = 2, AHEAD = 256  when device.compute_capability >= 90
//! preset  LANES = 256, THREADS = 256, CLUSTER = 2, BLOCKS = 3, AHEAD = 128  when device.cluster_max >= 2
//! preset  LANES = 256, THREADS = 256, CLUSTER = 2, BLOCKS = 2, AHEAD = 64  when device.cluster_max >= 2
//! preset  LANES = 128, THREADS = 128, CLUSTER = 8, BLOCKS = 5, AHEAD = 32  when device.cluster_max >= 8
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, BLOCKS = 4, AHEAD = 32  when device.cluster_max >= 8
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, BLOCKS = 3, AHEAD = 32  when device.cluster_max >= 8
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, BLOCKS = 2, AHEAD = 32  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, BLOCKS = 1, AHEAD = 16  when device.cluster_max >= 8
//! preset  LANES = 256, THREADS = 256, BLOCKS = 4
//! preset  LANES = 256, THREADS = 256, BLOCKS = 2
//! preset  LANES = 512, THREADS = 512, BLOCKS = 1

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/ptx/st_async.cuh"
#include "device/reduce/group_pairs.cuh"
#include "device/tile/shared_memory.cuh"

struct Smem {
  f32 means[THREADS / 32];
  Sums<3> sums[THREADS / 32];
  alignas(16) PartSums told[CLUSTER];
  Barrier full[THREADS / LANES][2], all_told;
  bool last;
};

// Combines a value of each thread of a part into one that all get.
template <class X> __device__ inline X combined(X x, X (&partial)[THREADS / 32], X neutral) {
  const auto plus = [](const X& a, const X& b) { return a + b; };
  if constexpr (LANES == THREADS) return block_reduce<THREADS>(x, partial, neutral, plus);
  return warp_reduce(x, plus);
}

using Group = GradientGroup<T, RAGGED>;

// Joins what the parts of a group give, of which `own` is the block's.
__device__ inline PartSums joined_parts(const PartSums& own, const Group& group, int each, Smem& smem) {
  if constexpr (CLUSTER == 1) {
    return own;
  } else {
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) smem.all_told.expect(sizeof(smem.told));
    PartSums given = own;
    if (threadIdx.x < CLUSTER)
      remote::store(threadIdx.x, reinterpret_cast<u32*>(&smem.told[cluster::rank()]),
                    reinterpret_cast<u32(&)[4]>(given), smem.all_told);
    smem.all_told.wait_cluster(0);
    const int size = lane < CLUSTER ? group.size(lane * each, (lane + 1) * each) : 0;
    return joined<true>(lane < CLUSTER ? smem.told[lane] : PartSums{}, size, group.length);
  }
}

using Part = GroupPart<T, LANES, WHOLE, NARROW, RAGGED, AFFINE>;
constexpr int kRows = THREADS / LANES;

// How the blocks divide groups, and the block's group. Each of its rows of threads has that of another batch.
struct Division {
  int channels, each, room;  // of a group; packs of a part, and its bytes in shared memory
  int batch, g, rank;

  __device__ explicit Division(const Dims& dims) {
    channels = dims.C / dims.G;
    each = ceil_div(ceil_div(channels * dims.S + (RAGGED ? Part::kCount - 1 : 0), Part::kCount), CLUSTER);
    room = ceil_div(each * 32 + (AFFINE > 0 ? (each + min(channels, each * Part::kCount)) * 8 : 0), 16) * 16;
    const int block = blockIdx.x / CLUSTER;
    batch = block / dims.G, g = block % dims.G, rank = CLUSTER == 1 ? 0 : static_cast<int>(blockIdx.x % CLUSTER);
  }
};

struct Tensors {
  const View<const T, 3>&X, &DY;
  const View<const T, 1>& W;
  const View<T, 3>& DX;
  const Dims& dims;

  __device__ Group group(int n, int g) const { return {X, DY, DX, n, g, dims.C / dims.G, dims.S}; }
};

// Adds up the pairs that the block's rows have left in shared memory, at pair_of() of each channel. Called by all
// threads, before a barrier.
__device__ inline void add_rows(const Tensors& of, const Division& block, const Divisor& by_channel, u8* memory,
                                float2* to) {
  for (int c = threadIdx.x; c < block.channels; c += THREADS) {
    float2 sum = {};
    for (int row = 0; row < kRows && block.batch * kRows + row < of.dims.N; ++row) {
      const Group group = of.group(block.batch * kRows + row, block.g);
      const Part part(group, of.W, by_channel, 0, block.each, memory + row * block.room, block.each);
      const float2 more = part.pair(part.pair_of(c));
      sum.x += more.x, sum.y += more.y;
    }
    to[c] = sum;
  }
}

// Begins to bring to L2 what the thread's row copies of the group AHEAD groups on. Called by a thread of each row.
__device__ inline void prefetch(const Tensors& of, const Division& block, const Divisor& by_channel, int row) {
  const int ahead = blockIdx.x / CLUSTER + AHEAD, n = ahead / of.dims.G * kRows + row;
  if (n >= of.dims.N) return;
  const Group group = of.group(n, ahead % of.dims.G);
  Part(group, of.W, by_channel, block.rank * block.each, block.each, nullptr, 0).prefetch();
}

// With g = DY * W and h = (X - mean) * r: DX = r * (g - mean(g) - h * mean(g * h)); DW is the sum of DY * h and DB that
// of DY over batches and elements.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void group_norm_backward(
    View<const T, 3> X, View<const T, 1> W, View<const T, 3> DY, View<T, 3> DX, View<D, 1> DW, View<D, 1> DB,
    unsigned char* pairs, unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ Smem smem;
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    for (auto& full : smem.full) full[0].init(1), full[1].init(1);
    smem.all_told.init(1);
    fence_barrier_init();
  }
  if constexpr (CLUSTER > 1) cluster::arrive_relaxed();
  __syncthreads();
#endif
  u8* const memory = &shared_memory<u8>();
  const Division block(dims);
  const int row = threadIdx.x / LANES, n = block.batch * kRows + row;
  const Divisor by_channel(dims.S);
  const Tensors of = {X, DY, W, DX, dims};
  const Group group = of.group(n, block.g);
  const Part part(group, W, by_channel, block.rank * block.each, n < dims.N ? block.each : 0, memory + row * block.room,
                  block.each);
  part.load(smem.full[row]);
  if (AHEAD > 0 && threadIdx.x % LANES == 0) prefetch(of, block, by_channel, row);
  part.wait_x(smem.full[row]);
  const f32 mean = combined(part.sum(), smem.means, 0.0F) / static_cast<f32>(max(part.size(), 1));
  part.wait_dy(smem.full[row]);
  const Sums<3> sums = combined(part.add_up(mean), smem.sums, Sums<3>{});
  if constexpr (CLUSTER > 1) cluster::wait();
  const PartSums all = joined_parts({mean, sums.x[0], sums.x[1], sums.x[2]}, group, block.each, smem);
  const RowGradient gradient = RowGradient::of<true>(all, 1 / static_cast<f32>(group.length), eps);

  const GroupPairs in_memory = {reinterpret_cast<float2*>(pairs), dims.G, block.channels, CLUSTER,
                                block.each * Part::kCount};
  const int batches = ceil_div(dims.N, kRows);
  if constexpr (AFFINE > 0) {
    float2* const of_batch = in_memory.of(block.batch, block.g);
    if constexpr (LANES == 32) __syncwarp();
    part.each_channel([&](int c, const float2& sum, float2& own) {
      (kRows == 1 ? of_batch[c + block.rank] : own) = {sum.x, gradient.r * (sum.y + (mean - gradient.mean) * sum.x)};
    });
    __syncthreads();
    if constexpr (kRows > 1) {
      add_rows(of, block, by_channel, memory, of_batch);
      __syncthreads();
    }
    // Before DX is stored: the fence waits for stores.
    if (threadIdx.x == 0) smem.last = last_arriver(reinterpret_cast<u32*>(counters) + block.g, batches * CLUSTER);
  }
  part.store(gradient, [&](f32 dx, int n, int c, int s) { return hooks.output(dx, n, c, s); });
  if constexpr (AFFINE > 0) {
    __syncthreads();
    if (!smem.last) return;
    in_memory.add_batches<THREADS>(
        batches, block.g, dims.S, reinterpret_cast<float2*>(memory),
        [&](int batch) { return of.group(batch, block.g).skip; },
        [&](int c, const float2& sum) { store_sums<AFFINE>(DW, DB, group.first + c, sum); });
  }
}

#else

#include "device/reference/group_norm_backward.cuh"

#endif
