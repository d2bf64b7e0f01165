//! kernel  softmax  "D[i,j] = exp(x[i,j]) / sum over j of exp(x[i,j]), x = score(S[i,j]); a row is kept in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/softmax.cuh"
//!
//! let     LINES   = M
//! let     LENGTH  = N
//! let     VECTORS = 0
//! use     "device/reduce/copied_row.cuh"
//!
//! require stride(S, 1) == 1                        "elements of a row of S are neighbours"
//! require stride(D, 1) == 1                        "elements of a row of D are neighbours"
//! require N * sizeof(T) > 32768                    "shorter rows are kept in registers"
//! require N * sizeof(T) % 16 == 0 && alignment(S) % 16 == 0 && stride(S, 0) * sizeof(T) % 16 == 0 && alignment(D) % 16 == 0 && stride(D, 0) * sizeof(O) % 16 == 0 "rows begin at 16 bytes and are whole packs"

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/copied_row.cuh"
#include "device/reduce/row_passes.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void softmax(View<const T, 2> S, View<O, 2> D, const Dims dims,
                                                                      const __grid_constant__ Hooks hooks) {
  const f32 none = -infinity();
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  const auto begin_of = [&](int m) { return S.data + m * S.stride[0]; };
  CopiedRow<T, THREADS, CLUSTER, PACKS> row(&shared_memory<u8>(), dims.M, dims.N, begin_of);
  const auto read = [&] {
    row.read(none, [&](f32 x, int column) { return hooks.score(x, row.row, column) * kLog2e; });
  };
  const Exponentials all = exponentials<false>(row, smem, 1.0F, read);
  const f32 scale = 1.0F / all.sum;
  next_pass<false>(row, read, [&] {
#pragma unroll
    for (f32& x : row.x) x = ex2(x - all.greatest) * scale;
    row.store(D);
  });
}

#else

#include "device/reference/softmax.cuh"

#endif
