//! kernel  cross_entropy "Y[i] = log(sum over j of exp(x[i,j])) - x[i,label], x = score(S[i,j]), label = L[i]; 0 where L[i] is no column"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/cross_entropy.cuh"
//!
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {0, 1}                "1: a row is kept in registers; 0: each pass over it reads it again, in parts"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold at a time"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require KEPT == 1 || LANES == THREADS            "a row that is read in parts is a block's"
//! require KEPT == 0 || N + (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0 ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//! require stride(S, 1) == 1                        "elements of a row of S are neighbours"
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
//! preset  LANES = 512, THREADS = 512, PACKS = 2, KEPT = 0  when M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, CLUSTER = 8, PACKS = 4, KEPT = 0  when device.cluster_max >= 8 && device.threads_per_sm >= 2048
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 2, KEPT = 0  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0
//! preset  LANES = 4, THREADS = 256, PACKS = 2, WHOLE = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 4, WHOLE = 0
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/row_passes.cuh"

#ifndef TMA_JIT_REFERENCE

// The first thread of a row stores its loss.
extern "C" __global__ __launch_bounds__(THREADS) void cross_entropy(View<const T, 2> S, View<const I, 1> L,
                                                                    View<f32, 1> Y, const Dims dims,
                                                                    const __grid_constant__ Hooks hooks) {
  const f32 none = -infinity();
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE> row(S, dims.M, dims.N);
  const bool first = row.row < dims.M && row.column <= 0;
  s64 label = -1;
  if (first) label = L.data[row.row * L.stride[0]];
  const auto read = [&] { row.load(S, none, [&](f32 x, int column) { return hooks.score(x, row.row, column); }); };
  const Exponentials all = exponentials<KEPT>(row, smem, kLog2e, read);
  if (!first) return;
  f32 loss = 0;
  if (label >= 0 && label < dims.N) {
    const f32 x = to_f32(S.data[row.row * S.stride[0] + label]);
    loss = all.greatest + logf(all.sum) - hooks.score(x, row.row, static_cast<int>(label));
  }
  Y.data[row.row * Y.stride[0]] = loss;
}

#else

#include "device/reference/cross_entropy.cuh"

#endif
