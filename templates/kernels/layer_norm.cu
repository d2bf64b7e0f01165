//! kernel  layer_norm "Y[i,j] = output((x[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]), x = input(X[i,j]), mean and variance of x[i,:]"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/layer_norm.cuh"
//!
//! param   THREADS = 128   in {64, 128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {0, 1}                "1: a row is kept in registers; 0: each pass over it reads it again, in parts"
//! param   WHOLE   = 1     in {1, 0, 2}             "1: every row begins at 16 bytes and is whole packs; 2: rows of X and Y begin at the same place in 16 bytes"
//!
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! use     "device/reduce/alike_rows.cuh"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold at a time"
//!
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//! require AFFINE < 1 || stride(W, 0) == 1          "elements of W are neighbours"
//! require AFFINE < 2 || stride(B, 0) == 1          "elements of B are neighbours"
//! require SUM == 0 || stride(S, 1) == 1            "elements of a row of S are neighbours"
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require KEPT == 1 || LANES == THREADS            "a row that is read in parts is a block's"
//! require KEPT == 0 || N + (alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require WHOLE != 1 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Y) % 16 == 0 && stride(Y, 0) * sizeof(O) % 16 == 0) "rows begin at 16 bytes and are whole packs"
//! require WHOLE != 1 || AFFINE == 0 || alignment(W) % 16 == 0 "W is read in packs"
//! require WHOLE != 1 || AFFINE < 2 || alignment(B) % 16 == 0 "B is read in packs"
//! require WHOLE != 1 || SUM == 0 || (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows of S are stored in packs"
//! require WHOLE != 2 || N % COUNT != 0 || stride(X, 0) % COUNT != 0 "rows of whole packs have no part of a pack"
//! require WHOLE != 2 || (sizeof(O) == sizeof(T) && alignment(X) % 16 == 0 && alignment(Y) % 16 == 0 && stride(X, 0) >= N && (stride(Y, 0) - stride(X, 0)) % COUNT == 0 && (SUM == 0 || (alignment(S) % 16 == 0 && (stride(S, 0) - stride(X, 0)) % COUNT == 0))) "rows of X and Y begin at the same place in 16 bytes"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//!
//! cluster CLUSTER
//! launch  grid GRID  block THREADS
//!
//! preset  WHOLE = 2, LANES = 16, THREADS = 128, PACKS = 1, BLOCKS = 16  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 1, BLOCKS = 16  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 2, BLOCKS = 8  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 64, THREADS = 64, PACKS = 2, BLOCKS = 16  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 2, BLOCKS = 8  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 256, THREADS = 256, PACKS = 2, BLOCKS = 4  when sizeof(T) == 2 && N > 57 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 16, THREADS = 128, PACKS = 1, BLOCKS = 128  when sizeof(T) == 4 && N > 29 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 1, BLOCKS = 128  when sizeof(T) == 4 && N > 29 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 32, THREADS = 128, PACKS = 2, BLOCKS = 40  when sizeof(T) == 4 && N > 29 && M >= device.sm_count * 32
//! preset  WHOLE = 2, LANES = 128, THREADS = 128, PACKS = 2, BLOCKS = 128  when sizeof(T) == 4 && N > 509 && M >= device.sm_count * 32
//! preset  LANES = 2, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 1
//! preset  LANES = 8, THREADS = 128, PACKS = 1
//! preset  LANES = 16, THREADS = 128, PACKS = 1
//! preset  LANES = 32, THREADS = 128, PACKS = 1
//! preset  LANES = 32, THREADS = 128, PACKS = 2
//! preset  LANES = 32, THREADS = 128, PACKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 8  when sizeof(T) == 4 && M >= device.sm_count
//! preset  LANES = 1024, THREADS = 1024, PACKS = 4  when sizeof(T) == 2 && M >= device.sm_count
//! preset  LANES = 1024, THREADS = 1024, PACKS = 4, KEPT = 0  when sizeof(T) == 2 && N <= 65536 && M >= device.sm_count
//! preset  LANES = 1024, THREADS = 1024, PACKS = 8  when sizeof(T) == 4 && M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 8  when device.cluster_max >= 8 && sizeof(T) == 4
//! preset  LANES = 512, THREADS = 512, CLUSTER = 4, PACKS = 4, KEPT = 0  when device.cluster_max >= 4 && sizeof(T) == 2 && N > 65536 && N <= 131072
//! preset  LANES = 256, THREADS = 256, CLUSTER = 4, PACKS = 4  when device.cluster_max >= 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 8  when device.cluster_max >= 8 && sizeof(T) == 4
//! preset  LANES = 1024, THREADS = 1024, CLUSTER = 8, PACKS = 8  when device.cluster_max >= 8 && device.threads_per_sm >= 2048 && sizeof(T) == 4
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4, KEPT = 0  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0
//! preset  LANES = 4, THREADS = 256, PACKS = 2, WHOLE = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 4, WHOLE = 0
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/alike_rows.cuh"
#include "device/reduce/row_input.cuh"
#include "device/reduce/row_moments.cuh"

#ifndef TMA_JIT_REFERENCE

// Blocks for which an SM has registers: those of rows that begin alike keep a part of W and B too.
constexpr int kResident = THREADS >= 512 ? 1 : (WHOLE == 2 ? (PACKS * COUNT > 16 ? 512 : 1024) : 768) / THREADS;

extern "C" __global__ __launch_bounds__(THREADS, kResident) void layer_norm(View<const T, 2> X, View<const T, 1> W,
                                                                            View<const T, 1> B, View<O, 2> Y,
                                                                            View<T, 2> S, f32 eps, const Dims dims,
                                                                            const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  RowOf<T, THREADS, LANES, CLUSTER, PACKS, WHOLE, AFFINE>::Type row(X, dims.M, dims.N);
  const auto read = [&] {
    load_input(row, X, hooks);
    if constexpr (SUM && KEPT) row.store(S);
  };
  const bool alone = apart(X, Y, dims.M, dims.N) && (SUM == 0 || apart(X, S, dims.M, dims.N));
  const T* const vectors[2] = {W.data, B.data};
  row.each(alone, vectors, [&] {
    const RowMoments moments = row_moments<KEPT>(row, smem, static_cast<f32>(dims.N), eps, read);
    next_pass<KEPT>(row, read, [&] {
      if constexpr (SUM && !KEPT) row.store(S);  // S may be X, or what the hook reads
      row.store(Y, [&](int p) {
        Words<T, COUNT> weight, bias;
        if constexpr (AFFINE >= 1) weight = row.template vector<0>(W, p);
        if constexpr (AFFINE >= 2) bias = row.template vector<1>(B, p);
        return [=, &row, &hooks](int i) {
          f32 y = moments.standardized(row.x[p * COUNT + i]);
          if constexpr (AFFINE >= 1) y *= to_f32(weight.at(i));
          if constexpr (AFFINE >= 2) y += to_f32(bias.at(i));
          return hooks.output(y, row.row, row.column_of(p, i));
        };
      });
    });
  });
}

#else

#include "device/reference/layer_norm.cuh"

#endif
