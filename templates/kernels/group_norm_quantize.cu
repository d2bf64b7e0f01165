//! kernel  group_norm_quantize "Q[n,c,s] = y[n,c,s] / scale as e4m3, y[n,c,s] = (x[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], x = input(X[n,c,s]), mean and variance of x over the C / G channels of c's group and all s; scale = greatest |y| / 448 of a group, or is given"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/channel_groups.cuh"
//! use     "device/reference/group_norm_quantize.cuh"
//!
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
//! require LANES <= 32 || LANES == THREADS          "a group is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one group"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require KEPT == 1 || LANES == THREADS            "a group that is read in parts is a block's"
//! require KEPT == 0 || LENGTH + (alignment(X) % 16 == 0 && LENGTH % COUNT == 0 && (N <= 1 || stride(X, 0) % COUNT == 0) ? 0 : COUNT - 1) <= HELD "a group must fit into its threads' registers"
//! require WHOLE == 0 || (LENGTH % COUNT == 0 && alignment(X) % 16 == 0 && alignment(Q) % COUNT == 0 && (N <= 1 || (stride(X, 0) % COUNT == 0 && stride(Q, 0) % COUNT == 0))) "groups begin at 16 bytes and are whole packs"
//! require NARROW == (S < COUNT)                    "a channel may be narrower than a pack"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(N * G, ROWS) * CLUSTER  block THREADS
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

// Blocks of an SM at least. Before sm_89 numbers are rounded to 8 bits by so much code that two large ones spill.
#if __CUDA_ARCH__ < 890
constexpr int kBlocks = THREADS < 256 ? 512 / THREADS : 1;
#else
constexpr int kBlocks = THREADS < 512 ? 512 / THREADS : 1;
#endif

extern "C" __global__ __launch_bounds__(THREADS, kBlocks) void group_norm_quantize(
    View<const T, 3> X, View<const T, 1> W, View<const T, 1> B, View<const f32, 1> GIVEN, View<e4m3, 3> Q,
    View<f32, 2> SCALE, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 3> smem;
  smem.init();
  const ChannelGroup group(blockIdx.x / CLUSTER * ROWS + threadIdx.x / LANES, dims);
  const View<const T, 2> from = groups_of(X, group.n, dims.G, group.length);
  RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE> row(from, dims.N * dims.G, group.length);
  const auto read = [&] { row.load(from, 0.0F, group.input(hooks)); };
  const RowMoments moments = row_moments<KEPT>(row, smem, static_cast<f32>(group.length), eps, read);
  const auto affine_of = [&](int p, f32 factor) {
    ChannelAffine<T, COUNT, NARROW != 0, AFFINE> affine(W, B, dims.C, group.by_channel, group.first,
                                                        row.column_of(p, 0));
    affine.weight.multiply(moments.scale * factor), affine.bias.multiply(factor);
    return affine;
  };
  f32 inverse = 0;
  if constexpr (SCALES == 1) {
    const auto greater = [](f32 a, f32 b) { return fmaxf(a, b); };
    f32 greatest = 0;
    next_pass<KEPT>(row, read, [&] {
#pragma unroll
      for (int p = 0; p < PACKS; ++p) {
        const auto affine = affine_of(p, 1);
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
          if (row.holds(p, i)) greatest = fmaxf(greatest, fabsf(affine(row.x[p * COUNT + i] - moments.origin, i)));
      }
    });
    const Scale scale = scale_of(row.reduce(smem, 2, greatest, 0.0F, greater));
    if (group.index < dims.N * dims.G && row.column <= 0) SCALE.data[group.index] = scale.scale;
    inverse = scale.inverse;
  } else {
    inverse = inverse_of(GIVEN.data[0]);
  }
  next_pass<KEPT>(row, read, [&] {
    row.store(groups_of(Q, group.n, dims.G, group.length), [&](int p) {
      const auto affine = affine_of(p, inverse);
      return [=, &row](int i) { return affine(row.x[p * COUNT + i] - moments.origin, i); };
    });
  });
}

#else

#include "device/reference/group_norm_quantize.cuh"

#endif
