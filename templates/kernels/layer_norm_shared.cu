//! kernel  layer_norm "Y[i,j] = output((x[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j]), x = input(X[i,j]), mean and variance of x[i,:]; a row is kept in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/layer_norm.cuh"
//!
//! let     LINES   = M
//! let     LENGTH  = N
//! let     VECTORS = AFFINE
//! use     "device/reduce/copied_row.cuh"
//!
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//! require AFFINE < 1 || stride(W, 0) == 1          "elements of W are neighbours"
//! require AFFINE < 2 || stride(B, 0) == 1          "elements of B are neighbours"
//! require SUM == 0 || stride(S, 1) == 1            "elements of a row of S are neighbours"
//! require N * sizeof(T) > (sizeof(T) == 4 ? 32768 : 65536) && N * sizeof(T) <= (sizeof(T) == 4 ? 262144 : 524288) "shorter rows are kept in registers, and longer ones, whose weights would be read from L2 again and again"
//! require N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Y) % 16 == 0 && stride(Y, 0) * sizeof(O) % 16 == 0 "rows begin at 16 bytes and are whole packs"
//! require AFFINE == 0 || alignment(W) % 16 == 0    "W is read in packs"
//! require AFFINE < 2 || alignment(B) % 16 == 0     "B is read in packs"
//! require SUM == 0 || (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows of S are stored in packs"

#include "device/ptx/cvt.cuh"
#include "device/reduce/copied_row.cuh"
#include "device/reduce/row_moments.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void layer_norm(View<const T, 2> X, View<const T, 1> W,
                                                                         View<const T, 1> B, View<O, 2> Y, View<T, 2> S,
                                                                         f32 eps, const Dims dims,
                                                                         const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  const auto begin_of = [&](int m) { return X.data + m * X.stride[0]; };
  CopiedRow<T, THREADS, CLUSTER, PACKS> row(&shared_memory<u8>(), dims.M, dims.N, begin_of);
  const auto read = [&] { row.read(0.0F, [&](f32 x, int column) { return hooks.input(x, row.row, column); }); };
  const RowMoments moments = row_moments<false>(row, smem, static_cast<f32>(dims.N), eps, read);
  next_pass<false>(row, read, [&] {
    if constexpr (SUM) row.store(S);  // S may be X, or what the hook reads
    row.store(Y, [&](int p) {
      Words<T, COUNT> weight, bias;
      if constexpr (AFFINE >= 1) weight = row.load_vector(W, p);
      if constexpr (AFFINE >= 2) bias = row.load_vector(B, p);
      return [=, &row, &hooks](int i) {
        f32 y = moments.standardized(row.x[p * COUNT + i]);
        if constexpr (AFFINE >= 1) y *= to_f32(weight.at(i));
        if constexpr (AFFINE >= 2) y += to_f32(bias.at(i));
        return hooks.output(y, row.row, row.column_of(p, i));
      };
    });
  });
}

#else

#include "device/reference/layer_norm.cuh"

#endif
