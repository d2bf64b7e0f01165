//! kernel  cross_entropy_backward "the gradient of cross_entropy's scores: DS[i,j] = (softmax of S[i,:] at j - (j == L[i])) * G[i]; 0 where L[i] is no column; a row is kept in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/cross_entropy_backward.cuh"
//!
//! let     LINES   = M
//! let     LENGTH  = N
//! let     VECTORS = 0
//! use     "device/reduce/copied_row.cuh"
//!
//! require N * sizeof(T) > 32768                    "shorter rows are kept in registers"
//! require N % COUNT == 0 && alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0 && alignment(DS) % 16 == 0 && stride(DS, 0) % COUNT == 0 "rows begin at 16 bytes and are whole packs"

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/copied_row.cuh"
#include "device/reduce/row_passes.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void cross_entropy_backward(View<const T, 2> S,
                                                                                     View<const I, 1> L,
                                                                                     View<const f32, 1> G,
                                                                                     View<T, 2> DS, const Dims dims) {
  const f32 none = -infinity();
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  const auto begin_of = [&](int m) { return S.data + m * S.stride[0]; };
  CopiedRow<T, THREADS, CLUSTER, PACKS> row(&shared_memory<u8>(), dims.M, dims.N, begin_of);
  const s64 label = L.data[row.row * L.stride[0]];
  const f32 gradient = G.data[row.row * G.stride[0]];
  const auto read = [&] { row.read(none, [&](f32 x, int) { return x * kLog2e; }); };
  const Exponentials all = exponentials<false>(row, smem, 1.0F, read);
  const bool counts = label >= 0 && label < dims.N;
  const f32 scale = gradient / all.sum;
  next_pass<false>(row, read, [&] {
    row.store(DS, [&](int p) {
      return [=, &row](int i) {
        const f32 ds = ex2(row.x[p * COUNT + i] - all.greatest) * scale;
        return counts ? (row.column_of(p, i) == label ? ds - gradient : ds) : 0.0F;
      };
    });
  });
}

#else

#include "device/reference/cross_entropy_backward.cuh"

#endif
