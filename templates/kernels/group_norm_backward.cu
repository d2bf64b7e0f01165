//! kernel  group_norm_backward "the gradients of Y[n,c,s] = (X[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], mean and variance over the C / G channels of c's group and all s: DX of X, DW of W and DB of B, from DY of Y; each pass over a group reads it again"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/group_norm_backward.cuh"
//!
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 32    in {32, 128, 256, 512}   "threads that share a channel: a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a group"
//! param   UNROLL  = 2     in {1, 2, 4}             "reads of X and of DY that a thread has in flight"
//!
//! require N * G * CLUSTER <= 2147483647            "blocks are counted in 31 bits"
//! require LANES == 32 || LANES == THREADS          "a channel is a warp's or a block's"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//!
//! workspace sums     (AFFINE > 0) * (2 * N * C + N * G) * 4 "of each batch and channel, and the deviations of the groups"
//! workspace counters (AFFINE > 0) * G * 4  zero    "blocks of a group that have come"
//!
//! cluster CLUSTER
//! launch  grid C == 0 || N == 0 ? ceil_div(C, THREADS) : N * G * CLUSTER  block THREADS
//!
//! preset  LANES = 32, THREADS = 256, CLUSTER = 8   when device.cluster_max >= 8 && N * G < device.sm_count && CHANNELS >= 64
//! preset  LANES = 32, THREADS = 256, CLUSTER = 2   when device.cluster_max >= 2 && N * G < device.sm_count && CHANNELS >= 16
//! preset  LANES = 32, THREADS = 256                when CHANNELS >= 8 || S <= 1024
//! preset  LANES = 32, THREADS = 128                when CHANNELS >= 4
//! preset  LANES = 512, THREADS = 512, CLUSTER = 2  when device.cluster_max >= 2 && CHANNELS == 2
//! preset  LANES = 512, THREADS = 512

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/aligned_row.cuh"
#include "device/reduce/block.cuh"
#include "device/reduce/cluster.cuh"
#include "device/reduce/grid.cuh"
#include "device/tile/pack.cuh"

constexpr int kUnits = THREADS / LANES;  // channels that a block works on at a time

struct Smem {
  Sums<3> warps[3][THREADS / 32];
  ClusterReduction<CLUSTER, f32> cluster[4];
  bool last;
};

__device__ inline f32 add(f32 a, f32 b) {
  return a + b;
}

// A batch's group, of which the block has every so many channels.
struct Group {
  int n, first, channels, unit, lane;

  __device__ explicit Group(const Dims& dims) {
    const int group = blockIdx.x / CLUSTER;
    n = group / dims.G;
    channels = dims.C / dims.G;
    first = group % dims.G * channels;
    unit = (CLUSTER == 1 ? 0 : static_cast<int>(cluster::rank()) * kUnits) + static_cast<int>(threadIdx.x) / LANES;
    lane = threadIdx.x % LANES;
  }
  template <class E> __device__ E* channel(const View<E, 3>& of, int c) const {
    return of.data + n * of.stride[0] + (first + c) * of.stride[1];
  }
  // Calls f(c) for each channel of the thread.
  template <class F> __device__ void each(F f) const {
    for (int c = unit; c < channels; c += CLUSTER * kUnits) f(c);
  }
  // Calls f(x, dy, at, range) for each pack of the thread in channel c: element i of it is s = at + i of the channel if
  // the range has i. With First dy is 0.
  template <bool First, class F>
  __device__ void packs(const View<const T, 3>& X, const View<const T, 3>& DY, int c, int length, F f) const {
    const AlignedRow<T> row(channel(X, c), length);
    const T* const dy = channel(DY, c);
    row.each<UNROLL>(lane, LANES, LANES * UNROLL, [&](s64 p, const Elements<T>& x, PackRange range) {
      Pack<T, COUNT> y = {};
      const int at = static_cast<int>(row.index_of(p, 0));
      if (!First && is_pack(dy + at, range)) {
        y = load_whole_pack<COUNT>(dy + at);
      } else if (!First) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
          if (range.has(i)) y.x[i] = dy[at + i];
      }
      f(x, y, at, range);
    });
  }
  // Calls f(x, dy) for each element of the thread in channel c.
  template <bool First, class F>
  __device__ void elements(const View<const T, 3>& X, const View<const T, 3>& DY, int c, int length, F f) const {
    packs<First>(X, DY, c, length, [&](const Elements<T>& x, const Pack<T, COUNT>& dy, int, PackRange range) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i)
        if (range.has(i)) f(to_f32(x[i]), to_f32(dy.x[i]));
    });
  }
  __device__ static void store(T* to, const Pack<T, COUNT>& pack, PackRange range) {
    if (is_pack(to, range)) {
      store_whole_pack(to, pack);
      return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (range.has(i)) to[i] = pack.x[i];
  }
  __device__ static bool is_pack(const T* at, PackRange range) {
    return range.end - range.first == COUNT && reinterpret_cast<u64>(at) % 16 == 0;
  }
};

// The sum of a value of each thread over the group.
__device__ inline f32 group_sum(f32 x, Smem& smem, int turn, int reduction) {
  const Sums<3> all = block_reduce<THREADS>(Sums<3>{x}, smem.warps[turn], Sums<3>{},
                                            [](const Sums<3>& a, const Sums<3>& b) { return a + b; });
  return smem.cluster[reduction](all.x[0], add);
}

// Adds up what all batches have of a group's channels, in their order. Called by the last block of the group.
__device__ inline void add_batches(const f32* sums, const f32* deviations, const Group& group, const View<D, 1>& DW,
                                   const View<D, 1>& DB, const Dims& dims) {
  const int lane = threadIdx.x % 32;
  for (int c = static_cast<int>(threadIdx.x) / 32; c < group.channels; c += THREADS / 32) {
    const int channel = group.first + c;
    Sums<2> all = {};
    for (int n = lane; n < dims.N; n += 32) {
      const f32* const of = sums + (s64{n} * dims.C + channel) * 2;
      all.x[0] += of[0];
      all.x[1] += of[1] * deviations[s64{n} * dims.G + group.first / group.channels];
    }
    all = warp_reduce(all, [](const Sums<2>& a, const Sums<2>& b) { return a + b; });
    if (lane > 0) continue;
    DW.data[channel * DW.stride[0]] = from_f32<D>(all.x[1]);
    if constexpr (AFFINE >= 2) DB.data[channel * DB.stride[0]] = from_f32<D>(all.x[0]);
  }
}

// Blocks of an SM at least. Before sm_90 the code of large ones spills with the 64 registers that this leaves for two.
#if __CUDA_ARCH__ < 900
constexpr int kBlocks = THREADS == 512 ? 1 : 2;
#else
constexpr int kBlocks = 2;
#endif

// With g = DY * W and h = (X - mean) * r: DX = r * (g - mean(g) - h * mean(g * h)); DW is the sum of DY * h and DB that
// of DY over batches and elements. The sums over the elements of a channel give both.
extern "C" __global__ __launch_bounds__(THREADS, kBlocks) void group_norm_backward(
    View<const T, 3> X, View<const T, 1> W, View<const T, 3> DY, View<T, 3> DX, View<D, 1> DW, View<D, 1> DB,
    unsigned char* sums, unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ Smem smem;
  if (dims.N == 0) {
    const int c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= dims.C) return;
    if constexpr (AFFINE >= 1) DW.data[c * DW.stride[0]] = from_f32<D>(0);
    if constexpr (AFFINE >= 2) DB.data[c * DB.stride[0]] = from_f32<D>(0);
    return;
  }
  if constexpr (CLUSTER > 1) {
    if (threadIdx.x == 0)
      for (auto& reduction : smem.cluster) reduction.init();
    cluster::arrive_relaxed();
  }
  const Group group(dims);
  const auto weight = [&](int c) { return AFFINE == 0 ? 1.0F : to_f32(W.data[(group.first + c) * W.stride[0]]); };
  const f32 count = static_cast<f32>(group.channels) * static_cast<f32>(dims.S);
  f32 mean = 0;
  group.each([&](int c) { group.elements<true>(X, DY, c, dims.S, [&](f32 x, f32) { mean += x; }); });
  if constexpr (CLUSTER > 1) cluster::wait();
  mean = group_sum(mean, smem, 0, 0) / count;

  Sums<3> all = {};  // of (x - mean)^2, of g and of g * (x - mean)
  f32* const of_channels = reinterpret_cast<f32*>(sums);
  group.each([&](int c) {
    Sums<3> own = {};
    group.elements<false>(X, DY, c, dims.S, [&](f32 x, f32 dy) {
      own.x[0] += (x - mean) * (x - mean), own.x[1] += dy, own.x[2] += dy * (x - mean);
    });
    const auto plus = [](const Sums<3>& a, const Sums<3>& b) { return a + b; };
    if constexpr (LANES == 32) {
      own = warp_reduce(own, plus);
    } else {
      __syncthreads();  // the sums of the channel before have been read
      own = block_reduce<THREADS>(own, smem.warps[1], Sums<3>{}, plus);
    }
    if (group.lane > 0) return;
    all.x[0] += own.x[0], all.x[1] += weight(c) * own.x[1], all.x[2] += weight(c) * own.x[2];
    if constexpr (AFFINE >= 1) {
      f32* const to = of_channels + (s64{group.n} * dims.C + group.first + c) * 2;
      to[0] = own.x[1], to[1] = own.x[2];
    }
  });
  all = block_reduce<THREADS>(all, smem.warps[2], Sums<3>{}, [](const Sums<3>& a, const Sums<3>& b) { return a + b; });
#pragma unroll
  for (int i = 0; i < 3; ++i) all.x[i] = smem.cluster[1 + i](all.x[i], add) / count;
  const f32 r = count > 0 ? rsqrtf(all.x[0] + eps) : 0.0F, mean_g = all.x[1], mean_gh = all.x[2] * r;

  group.each([&](int c) {
    const f32 of_channel = weight(c);
    T* const to = group.channel(DX, c);
    const auto store = [&](const Elements<T>& x, const Pack<T, COUNT>& dy, int at, PackRange range) {
      Pack<T, COUNT> out;
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const f32 h = (to_f32(x[i]) - mean) * r, dx = r * (to_f32(dy.x[i]) * of_channel - mean_g - h * mean_gh);
        out.x[i] = from_f32<T>(hooks.output(dx, group.n, group.first + c, at + i));
      }
      Group::store(to + at, out, range);
    };
    group.packs<false>(X, DY, c, dims.S, store);
  });
  if constexpr (AFFINE >= 1) {
    f32* const deviations = of_channels + 2 * s64{dims.N} * dims.C;
    const int g = group.first / max(group.channels, 1);
    if (threadIdx.x == 0 && (CLUSTER == 1 || cluster::rank() == 0)) deviations[s64{group.n} * dims.G + g] = r;
    __syncthreads();
    if (threadIdx.x == 0) smem.last = last_arriver(reinterpret_cast<u32*>(counters) + g, dims.N * CLUSTER);
    __syncthreads();
    if (smem.last) add_batches(of_channels, deviations, group, DW, DB, dims);
  }
}

#else

#include "device/reference/group_norm_backward.cuh"

#endif
