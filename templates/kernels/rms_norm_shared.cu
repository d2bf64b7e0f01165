//! kernel  rms_norm "Y[i,j] = output(x[i,j] / sqrt(mean of x[i,:]^2 + eps) * W[j]), x = input(X[i,j]); a row is kept in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/rms_norm.cuh"
//!
//! let     LINES   = M
//! let     LENGTH  = N
//! let     VECTORS = WEIGHT
//! use     "device/reduce/copied_row.cuh"
//!
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//! require WEIGHT == 0 || stride(W, 0) == 1         "elements of W are neighbours"
//! require SUM == 0 || stride(S, 1) == 1            "elements of a row of S are neighbours"
//! require N * sizeof(T) > 65536 && N * sizeof(T) <= 524288 "shorter rows are kept in registers, and longer ones, whose weights would be read from L2 again and again"
//! require N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Y) % 16 == 0 && stride(Y, 0) * sizeof(O) % 16 == 0 "rows begin at 16 bytes and are whole packs"
//! require WEIGHT == 0 || alignment(W) % 16 == 0    "W is read in packs"
//! require SUM == 0 || (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows of S are stored in packs"

#include "device/ptx/cvt.cuh"
#include "device/reduce/copied_row.cuh"
#include "device/reduce/row_passes.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void rms_norm(View<const T, 2> X, View<const T, 1> W,
                                                                       View<O, 2> Y, View<T, 2> S, f32 eps,
                                                                       const Dims dims,
                                                                       const __grid_constant__ Hooks hooks) {
  __shared__ RowSmem<THREADS, CLUSTER, 1> smem;
  smem.init();
  const auto begin_of = [&](int m) { return X.data + m * X.stride[0]; };
  CopiedRow<T, THREADS, CLUSTER, PACKS> row(&shared_memory<u8>(), dims.M, dims.N, begin_of);
  const auto read = [&] { row.read(0.0F, [&](f32 x, int column) { return hooks.input(x, row.row, column); }); };
  f32 squares = 0;
  first_pass<false>(row, read, [&] {
#pragma unroll
    for (const f32 x : row.x) squares += x * x;
  });
  squares = row.sum(smem, 0, squares);
  const f32 scale = rsqrtf(squares / static_cast<f32>(dims.N) + eps);
  next_pass<false>(row, read, [&] {
    if constexpr (SUM) row.store(S);  // S may be X, or what the hook reads
    row.store(Y, [&](int p) {
      Words<T, COUNT> weight;
      if constexpr (WEIGHT) weight = row.load_vector(W, p);
      return [=, &row, &hooks](int i) {
        f32 y = row.x[p * COUNT + i] * scale;
        if constexpr (WEIGHT) y *= to_f32(weight.at(i));
        return hooks.output(y, row.row, row.column_of(p, i));
      };
    });
  });
}

#else

#include "device/reference/rms_norm.cuh"

#endif
