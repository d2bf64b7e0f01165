//! kernel  rms_norm_quantize "Q[i,j] = y[i,j] / scale as e4m3, y[i,j] = x[i,j] / sqrt(mean of x[i,:]^2 + eps) * W[j], x = input(X[i,j]); scale = greatest |y| / 448 of a row or of 128 columns of it, or is given"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! param   WEIGHT  = 1     in {0, 1}                "1: there is a W"
//! use     "device/reference/norm_quantize.cuh"
//!
//! require WHOLE == 0 || WEIGHT == 0 || alignment(W) % 16 == 0 "W is read in packs"
//! require WEIGHT == 0 || stride(W, 0) == 1         "elements of W are neighbours"
//!
//! tensor  W : T[N]  when WEIGHT == 1

#include "device/ptx/cvt.cuh"
#include "device/reduce/quantized_row.cuh"
#include "device/reduce/row_input.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, KEPT == 0 ? 1 : 0) void rms_norm_quantize(
    View<const T, 2> X, View<const f32, 1> GIVEN, View<e4m3, 2> Q, View<f32, 2> SCALE, View<T, 2> S, View<const T, 1> W,
    f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  using Row = RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE>;
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  Row row = SCALES == 2 ? Row(dims.M, dims.N) : Row(X, dims.M, dims.N);
  const auto read = [&] { load_input(row, X, hooks); };
  f32 squares = 0;
  first_pass<KEPT>(row, read, [&] {
    if constexpr (SUM && KEPT) row.store(S);
#pragma unroll
    for (const f32 x : row.x) squares += x * x;
  });
  row.wait_for_cluster();
  squares = row.sum(smem, 0, squares);
  const f32 factor = rsqrtf(squares / static_cast<f32>(dims.N) + eps);
  store_quantized<SCALES, KEPT>(row, smem, 1, dims.M, dims.N, GIVEN, Q, SCALE, [&](bool last) {
    if constexpr (!KEPT) {
      read();
      if (SUM && last) row.store(S);  // S may be X, or what the hook reads
    }
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      Words<T, COUNT> weight;
      if constexpr (WEIGHT) weight = row.load_vector(W, p);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) row.x[p * COUNT + i] *= WEIGHT ? factor * to_f32(weight.at(i)) : factor;
    }
  });
}

#else

#include "device/reference/norm_quantize.cuh"

extern "C" __global__ void norm_quantize_reference(View<const T, 2> X, View<const f32, 1> GIVEN, View<f64, 2> Q,
                                                   View<f64, 2> SCALE, View<f64, 2> S, View<const T, 1> W, f32 eps,
                                                   const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto x = [&](s64 j) { return hooks.input(to_f64(X.data[row * X.stride[0] + j * X.stride[1]]), row, j); };
    const f64 squares = row_sum(dims.N, [&](s64 j) { return x(j) * x(j); });
    const f64 factor = 1 / sqrt(squares / static_cast<f64>(dims.N) + eps);
    const auto y = [&](s64 j) { return x(j) * factor * (WEIGHT ? to_f64(W.data[j * W.stride[0]]) : 1.0); };
    store_row(row, x, y, GIVEN, Q, SCALE, S, dims);
  }
}

#endif
