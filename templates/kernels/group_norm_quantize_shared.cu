//! kernel  group_norm_quantize "Q[n,c,s] = y[n,c,s] / scale as e4m3, y[n,c,s] = (x[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c], x = input(X[n,c,s]), mean and variance of x over the C / G channels of c's group and all s; scale = greatest |y| / 448 of a group, or is given; a group is kept in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/channel_groups.cuh"
//! use     "device/reference/group_norm_quantize.cuh"
//!
//! let     LINES   = N * G
//! let     VECTORS = 0
//!
//! preset  CLUSTER = 1, BLOCKS = 4, PACKS = 2, THREADS = 256  when N * G >= 4 * device.sm_count && device.smem_per_sm >= 4 * 32768
//! preset  CLUSTER = 1, BLOCKS = 2, PACKS = 2, THREADS = 512  when N * G >= 4 * device.sm_count
//!
//! use     "device/reduce/copied_row.cuh"
//!
//! require LENGTH * sizeof(T) > 32768               "smaller groups are kept in registers"
//! require S % COUNT == 0 && alignment(X) % 16 == 0 && alignment(Q) % COUNT == 0 && (N <= 1 || (stride(X, 0) % COUNT == 0 && stride(Q, 0) % COUNT == 0)) "channels begin at 16 bytes and are whole packs"

#include "device/ptx/cvt.cuh"
#include "device/reduce/copied_row.cuh"
#include "device/reduce/quantized_row.cuh"
#include "device/reduce/row_moments.cuh"
#include "device/tile/channel_affine.cuh"
#include "device/tile/group_rows.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

// Blocks of an SM at least. From sm_100 on the code of six spills with the 40 registers that they leave.
#if __CUDA_ARCH__ >= 1000
constexpr int kBlocks = BLOCKS * THREADS > 1280 ? 1280 / THREADS : BLOCKS;
#else
constexpr int kBlocks = BLOCKS;
#endif

extern "C" __global__ __launch_bounds__(THREADS, kBlocks) void group_norm_quantize(
    View<const T, 3> X, View<const T, 1> W, View<const T, 1> B, View<const f32, 1> GIVEN, View<e4m3, 3> Q,
    View<f32, 2> SCALE, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 3> smem;
  smem.init();
  const int length = dims.C / dims.G * dims.S;
  CopiedRow<T, THREADS, CLUSTER, PACKS> row(&shared_memory<u8>(), dims.N * dims.G, length,
                                            GroupBeginnings<T>{X, dims.G, length});
  const ChannelGroup group(row.row, dims);
  const auto read = [&] { row.read(0.0F, group.input(hooks)); };
  const RowMoments moments = row_moments<false>(row, smem, static_cast<f32>(length), eps, read);
  const auto affine_of = [&](int p, f32 factor) {
    const int channel = min(group.first + static_cast<int>(group.by_channel.quotient(row.column_of(p, 0))), dims.C - 1);
    return PackAffine::of<AFFINE>(W, B, channel, moments.origin, moments.scale, factor);
  };
  f32 inverse = 0;
  if constexpr (SCALES == 1) {
    f32 greatest = 0;
    next_pass<false>(row, read, [&] {
#pragma unroll
      for (int p = 0; p < PACKS; ++p) {
        const PackAffine affine = affine_of(p, 1);
        if (!row.whole(p)) continue;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) greatest = fmaxf(greatest, fabsf(affine(row.x[p * COUNT + i])));
      }
    });
    const Scale scale = scale_of(row.reduce(smem, 2, greatest, 0.0F, [](f32 a, f32 b) { return fmaxf(a, b); }));
    if (row.column == 0) SCALE.data[row.row] = scale.scale;
    inverse = scale.inverse;
  } else {
    inverse = 1 / GIVEN.data[0];
  }
  next_pass<false>(row, read, [&] {
    row.store(groups_of(Q, group.n, dims.G, length), [&](int p) {
      const PackAffine affine = affine_of(p, inverse);
      return [=, &row](int i) { return affine(row.x[p * COUNT + i]); };
    });
  });
}

#else

#include "device/reference/group_norm_quantize.cuh"

#endif
