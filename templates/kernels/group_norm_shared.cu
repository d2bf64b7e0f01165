//! kernel  group_norm "Y[n,c,s] = output((x[n,c,s] - mean) / sqrt(variance + eps) * W[c] + B[c]), x = input(X[n,c,s]), mean and variance of x over the C / G channels of c's group and all s; a group is kept in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/channel_groups.cuh"
//! use     "device/reference/group_norm.cuh"
//!
//! let     LINES   = N * G
//! let     VECTORS = 0
//! use     "device/reduce/copied_row.cuh"
//!
//! require LENGTH * sizeof(T) > 32768               "smaller groups are kept in registers"
//! require S % COUNT == 0 && alignment(X) % 16 == 0 && alignment(Y) % 16 == 0 && (N <= 1 || (stride(X, 0) % COUNT == 0 && stride(Y, 0) % COUNT == 0)) "channels begin at 16 bytes and are whole packs"

#include "device/ptx/cvt.cuh"
#include "device/reduce/copied_row.cuh"
#include "device/reduce/row_moments.cuh"
#include "device/tile/channel_affine.cuh"
#include "device/tile/group_rows.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void group_norm(View<const T, 3> X, View<const T, 1> W,
                                                                         View<const T, 1> B, View<O, 3> Y, f32 eps,
                                                                         const Dims dims,
                                                                         const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  const int length = dims.C / dims.G * dims.S;
  CopiedRow<T, THREADS, CLUSTER, PACKS> row(&shared_memory<u8>(), dims.N * dims.G, length,
                                            GroupBeginnings<T>{X, dims.G, length});
  const ChannelGroup group(row.row, dims);
  const auto read = [&] { row.read(0.0F, group.input(hooks)); };
  const RowMoments moments = row_moments<false>(row, smem, static_cast<f32>(length), eps, read);
  next_pass<false>(row, read, [&] {
    row.store(groups_of(Y, group.n, dims.G, length), [&](int p) {
      const int c = group.by_channel.quotient(row.column_of(p, 0)), s = row.column_of(p, 0) - c * dims.S;
      const int channel = min(group.first + c, dims.C - 1);
      const PackAffine affine = PackAffine::of<AFFINE>(W, B, channel, moments.origin, moments.scale);
      return [=, &row, &hooks](int i) {
        const f32 y = affine(row.x[p * COUNT + i]);
        return hooks.output(y, group.n, channel, s + i);
      };
    });
  });
}

#else

#include "device/reference/group_norm.cuh"

#endif
