//! kernel  softmax  "D[i,j] = exp(x[i,j]) / sum over j of exp(x[i,j]), x = score(S[i,j])"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/softmax.cuh"
//!
//! param   THREADS = 128   in {64, 128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {0, 1}                "1: a row is kept in registers; 0: each pass over it reads it again, in parts"
//! param   WHOLE   = 1     in {1, 0, 2}             "1: every row begins at 16 bytes and is whole packs; 2: rows of S and D begin at the same place in 16 bytes"
//!
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! use     "device/reduce/alike_rows.cuh"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold at a time"
//!
//! require stride(S, 1) == 1                        "elements of a row of S are neighbours"
//! require stride(D, 1) == 1                        "elements of a row of D are neighbours"
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require KEPT == 1 || LANES == THREADS            "a row that is read in parts is a block's"
//! require KEPT == 0 || N + (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0 ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require WHOLE != 1 || (N * sizeof(T) % 16 == 0 && alignment(S) % 16 == 0 && stride(S, 0) * sizeof(T) % 16 == 0 && alignment(D) % 16 == 0 && stride(D, 0) * sizeof(O) % 16 == 0) "rows begin at 16 bytes and are whole packs"
//! require WHOLE != 2 || N % COUNT != 0 || stride(S, 0) % COUNT != 0 "rows of whole packs have no part of a pack"
//! require WHOLE != 2 || (sizeof(O) == sizeof(T) && alignment(S) % 16 == 0 && alignment(D) % 16 == 0 && stride(S, 0) >= N && (stride(D, 0) - stride(S, 0)) % COUNT == 0) "rows of S and D begin at the same place in 16 bytes"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//!
//! cluster CLUSTER
//! launch  grid GRID  block THREADS
//!
//! preset  WHOLE = 2, LANES = 16, THREADS = 128, PACKS = 1, BLOCKS = 40  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 1, BLOCKS = 40  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 2, BLOCKS = 40  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 4, BLOCKS = 40  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 2, BLOCKS = 8  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  LANES = 2, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 1
//! preset  LANES = 8, THREADS = 128, PACKS = 1
//! preset  LANES = 16, THREADS = 128, PACKS = 1
//! preset  LANES = 32, THREADS = 128, PACKS = 1
//! preset  LANES = 32, THREADS = 128, PACKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 1  when sizeof(T) < sizeof(O)
//! preset  LANES = 32, THREADS = 128, PACKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2
//! preset  LANES = 256, THREADS = 256, PACKS = 2  when sizeof(T) < sizeof(O)
//! preset  LANES = 128, THREADS = 128, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 2, KEPT = 0  when sizeof(T) < sizeof(O) && N <= 8192 && M >= device.sm_count
//! preset  LANES = 512, THREADS = 512, PACKS = 2, KEPT = 0  when sizeof(T) < sizeof(O) && N <= 16384 && M >= device.sm_count
//! preset  LANES = 512, THREADS = 512, PACKS = 4, KEPT = 0  when sizeof(T) < sizeof(O) && N <= 32768 && M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 2, PACKS = 8, KEPT = 0  when device.cluster_max >= 2 && sizeof(T) < sizeof(O) && N > 32768 && N <= 65536 && M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 4, PACKS = 8, KEPT = 0  when device.cluster_max >= 4 && sizeof(T) < sizeof(O) && N > 65536 && N <= 131072 && M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 4
//! preset  LANES = 1024, THREADS = 1024, PACKS = 4  when sizeof(T) == 4 && M >= device.sm_count
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0  when sizeof(T) == 2 && N <= 32768 && M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 4, PACKS = 8  when device.cluster_max >= 4 && sizeof(T) == 4
//! preset  LANES = 1024, THREADS = 1024, CLUSTER = 4, PACKS = 8, KEPT = 0  when device.cluster_max >= 4 && device.threads_per_sm >= 2048 && sizeof(T) == 4 && N > 65536 && N <= 131072
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 8  when device.cluster_max >= 8 && sizeof(T) == 4
//! preset  LANES = 1024, THREADS = 1024, PACKS = 4, KEPT = 0  when sizeof(T) == 2 && N <= 65536 && M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 4, PACKS = 4  when device.cluster_max >= 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4, KEPT = 0  when device.cluster_max >= 8 && sizeof(T) == 2 && N <= 131072
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 2, KEPT = 0  when device.cluster_max >= 8 && sizeof(T) == 2
//! preset  LANES = 1024, THREADS = 1024, CLUSTER = 8, PACKS = 4, KEPT = 0  when device.cluster_max >= 8 && device.threads_per_sm >= 2048
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 2, KEPT = 0  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0
//! preset  LANES = 4, THREADS = 256, PACKS = 2, WHOLE = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 4, WHOLE = 0
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/alike_rows.cuh"
#include "device/reduce/row_passes.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, 1) void softmax(View<const T, 2> S, View<O, 2> D, const Dims dims,
                                                                 const __grid_constant__ Hooks hooks) {
  const f32 none = -infinity();
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  RowOf<T, THREADS, LANES, CLUSTER, PACKS, WHOLE, 0>::Type row(S, dims.M, dims.N);
  const auto read = [&] {
    row.load(S, none, [&](f32 x, int column) { return hooks.score(x, row.row, column) * kLog2e; });
  };
  const T* const vectors[2] = {};
  row.each(apart(S, D, dims.M, dims.N), vectors, [&] {
    const Exponentials all = exponentials<KEPT, true>(row, smem, 1.0F, read);
    const f32 scale = 1.0F / all.sum;
    next_pass<KEPT>(row, read, [&] {
#pragma unroll
      for (f32& x : row.x) x = (KEPT ? x : ex2(x - all.greatest)) * scale;
      row.store(D);
    });
  });
}

#else

#include "device/reference/softmax.cuh"

#endif
