//! kernel  cross_entropy_backward "the gradient of cross_entropy's scores: DS[i,j] = (softmax of S[i,:] at j - (j == L[i])) * G[i]; 0 where L[i] is no column"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/cross_entropy_backward.cuh"
//!
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {0, 1}                "1: a row is kept in registers; 0: each pass over it reads it again, in parts"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold at a time"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require KEPT == 1 || LANES == THREADS            "a row that is read in parts is a block's"
//! require KEPT == 0 || N + (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0 ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0 && alignment(DS) % 16 == 0 && stride(DS, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(M, ROWS) * CLUSTER  block THREADS
//!
//! preset  LANES = 2, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 2
//! preset  LANES = 8, THREADS = 256, PACKS = 2
//! preset  LANES = 16, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 128, PACKS = 4
//! preset  LANES = 32, THREADS = 128, PACKS = 8  when sizeof(T) == 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 4, KEPT = 0  when N <= 32768 && M >= device.sm_count
//! preset  LANES = 1024, THREADS = 1024, PACKS = 4, KEPT = 0  when M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 4, PACKS = 4  when device.cluster_max >= 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, CLUSTER = 8, PACKS = 4, KEPT = 0  when device.cluster_max >= 8 && device.threads_per_sm >= 2048
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 2, KEPT = 0  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0
//! preset  LANES = 4, THREADS = 256, PACKS = 2, WHOLE = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 4, WHOLE = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 2, KEPT = 0, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/row_passes.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS) void cross_entropy_backward(View<const T, 2> S, View<const I, 1> L,
                                                                             View<const f32, 1> G, View<T, 2> DS,
                                                                             const Dims dims) {
  const f32 none = -infinity();
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE> row(S, dims.M, dims.N);
  s64 label = -1;
  f32 gradient = 0;
  if (row.row < dims.M) label = L.data[row.row * L.stride[0]], gradient = G.data[row.row * G.stride[0]];
  const auto read = [&] { row.load(S, none, [&](f32 x, int) { return x * kLog2e; }); };
  const Exponentials all = exponentials<KEPT, true>(row, smem, 1.0F, read);
  const bool counts = label >= 0 && label < dims.N;
  const f32 scale = gradient / all.sum;
  next_pass<KEPT>(row, read, [&] {
    row.store(DS, [&](int p) {
      return [=, &row](int i) {
        const f32 x = row.x[p * COUNT + i], ds = (KEPT ? x : ex2(x - all.greatest)) * scale;
        return counts ? (row.column_of(p, i) == label ? ds - gradient : ds) : 0.0F;
      };
    });
  });
}

#else

#include "device/reference/cross_entropy_backward.cuh"

#endif
