//! kernel  group_norm_quantize "Q[n,c,s] = y[n,c,s] / scale as e4m3, y[n,c,s] = (x[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], x = input(X[n,c,s]), mean and variance of x over the C / G channels of c's group and all s; scale = greatest |y| / 448 of a group, or is given"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/channel_groups.cuh"
//!
//! param   SCALES  = 1     in {0, 1}                "0: GIVEN is the scale of all; 1: each group has one"
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 128, 256, 512, 1024} "threads of a block that share a group: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a group"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {0, 1}                "1: a group is kept in registers; 0: each pass over it reads it again, in parts"
//! param   WHOLE   = 1     in {1, 0}                "1: every group begins at 16 bytes and is whole packs"
//! param   NARROW  = 0     in {0, 1}                "1: a channel has fewer elements than a pack"
//!
//! let     ROWS    = THREADS / LANES                "groups of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a group that its threads hold at a time"
//!
//! require N == 0 || S == 0 || ((S == 1 || stride(Q, 2) == 1) && (C <= 1 || stride(Q, 1) == S)) "elements of a group of Q are neighbours"
//! require SCALES == 0 || ((G <= 1 || stride(SCALE, 1) == 1) && (N <= 1 || stride(SCALE, 0) == G)) "scales are neighbours"
//! require LANES <= 32 || LANES == THREADS          "a group is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one group"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require KEPT == 1 || LANES == THREADS            "a group that is read in parts is a block's"
//! require KEPT == 0 || LENGTH + (alignment(X) % 16 == 0 && LENGTH % COUNT == 0 && (N <= 1 || stride(X, 0) % COUNT == 0) ? 0 : COUNT - 1) <= HELD "a group must fit into its threads' registers"
//! require WHOLE == 0 || (LENGTH % COUNT == 0 && alignment(X) % 16 == 0 && alignment(Q) % COUNT == 0 && (N <= 1 || (stride(X, 0) % COUNT == 0 && stride(Q, 0) % COUNT == 0))) "groups begin at 16 bytes and are whole packs"
//! require NARROW == (S < COUNT)                    "a channel may be narrower than a pack"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//!
//! tensor  GIVEN : f32[1]  when SCALES == 0
//! tensor  Q : e4m3[N, C, S]  out
//! tensor  SCALE : f32[N, G]  out  when SCALES == 1
//!
//! cluster CLUSTER
//! launch  grid ceil_div(N * G, ROWS) * CLUSTER  block THREADS
//! work    flops 8 * N * C * S  bytes N * C * S * (sizeof(T) + 1) + AFFINE * C * sizeof(T) + SCALES * N * G * 4
//! reference group_norm_quantize_reference  grid min(N * G, 65536)  block 256
//!
//! preset  LANES = 2, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 2
//! preset  LANES = 8, THREADS = 256, PACKS = 2
//! preset  LANES = 16, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 128, PACKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 2, KEPT = 0  when sizeof(T) == 2 && LENGTH > 8192 && N * G >= device.sm_count
//! preset  LANES = 512, THREADS = 512, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 8  when sizeof(T) == 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 4, PACKS = 4  when device.cluster_max >= 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 8  when device.cluster_max >= 8 && sizeof(T) == 4
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4, KEPT = 0  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, PACKS = 4, KEPT = 0
//! preset  LANES = 4, THREADS = 256, PACKS = 2, WHOLE = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 4, WHOLE = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 2, KEPT = 0, WHOLE = 0  when sizeof(T) == 2
//! preset  LANES = 512, THREADS = 512, PACKS = 4, KEPT = 0, WHOLE = 0  when sizeof(T) == 4

#include "device/ptx/cvt.cuh"
#include "device/reduce/quantized_row.cuh"
#include "device/reduce/row_moments.cuh"
#include "device/tile/channel_affine.cuh"
#include "device/tile/group_rows.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, THREADS < 512 ? 512 / THREADS : 1) void group_norm_quantize(
    View<const T, 3> X, View<const T, 1> W, View<const T, 1> B, View<const f32, 1> GIVEN, View<e4m3, 3> Q,
    View<f32, 2> SCALE, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 3> smem;
  smem.init();
  const ChannelGroup group(blockIdx.x / CLUSTER * ROWS + threadIdx.x / LANES, dims);
  const View<const T, 2> from = groups_of(X, group.n, dims.G, group.length);
  RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE> row(from, dims.N * dims.G, group.length);
  const auto read = [&] { row.load(from, 0.0F, group.input(hooks)); };
  const RowMoments moments = row_moments<KEPT>(row, smem, static_cast<f32>(group.length), eps, read);
  const auto normalise = [&] {
    if (group.length == 0) return;  // there may be no channel whose weight could be read
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      const ChannelAffine<T, COUNT, NARROW != 0, AFFINE> affine(W, B, dims.C, group.by_channel, group.first,
                                                                row.column_of(p, 0));
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        f32& y = row.x[p * COUNT + i];
        y = row.holds(p, i) ? affine(moments.standardized(y), i) : 0.0F;
      }
    }
  };
  f32 inverse = 0;
  if constexpr (SCALES == 1) {
    const auto greater = [](f32 a, f32 b) { return fmaxf(a, b); };
    f32 greatest = 0;
    next_pass<KEPT>(row, read, [&] {
      normalise();
      greatest = fmaxf(greatest, greatest_magnitude(row));
    });
    const Scale scale = scale_of(row.reduce(smem, 2, greatest, 0.0F, greater));
    if (group.index < dims.N * dims.G && row.column <= 0) SCALE.data[group.index] = scale.scale;
    inverse = scale.inverse;
  } else {
    inverse = inverse_of(GIVEN.data[0]);
  }
  next_pass<KEPT>(row, read, [&] {
    if constexpr (!KEPT || SCALES == 0) normalise();
    store_scaled(row, groups_of(Q, group.n, dims.G, group.length), inverse);
  });
}

#else

#include "device/reference/channel_groups.cuh"
#include "device/reference/quantize.cuh"
#include "device/tile/group_rows.cuh"

extern "C" __global__ void group_norm_quantize_reference(View<const T, 3> X, View<const T, 1> W, View<const T, 1> B,
                                                         View<const f32, 1> GIVEN, View<f64, 3> Q, View<f64, 2> SCALE,
                                                         f32 eps, const Dims dims,
                                                         const __grid_constant__ Hooks hooks) {
  const View<f64, 2> scales = {SCALE.data, {1, 1}};
  for (s64 group = blockIdx.x; group < s64{dims.N} * dims.G; group += gridDim.x) {
    const ReferenceGroup<AFFINE, T> y(group, X, W, B, eps, dims, hooks);
    quantize_row<SCALES>(group, y.length, y, GIVEN, groups_of(Q, y.n, dims.G, y.length), scales);
  }
}

#endif
