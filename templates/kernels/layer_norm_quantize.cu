//! kernel  layer_norm_quantize "Q[i,j] = y[i,j] / scale as e4m3, y[i,j] = (x[i,j] - mean) / sqrt(variance + eps) * W[j] + B[j], x = input(X[i,j]), mean and variance of x[i,:]; scale = greatest |y| / 448 of a row or of 128 columns of it, or is given"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! param   AFFINE  = 1     in {0, 1, 2}             "1: there is a W; 2: and a B"
//! use     "device/reference/norm_quantize.cuh"
//!
//! require WHOLE == 0 || AFFINE < 1 || alignment(W) % 16 == 0 "W is read in packs"
//! require WHOLE == 0 || AFFINE < 2 || alignment(B) % 16 == 0 "B is read in packs"
//! require AFFINE < 1 || stride(W, 0) == 1          "elements of W are neighbours"
//! require AFFINE < 2 || stride(B, 0) == 1          "elements of B are neighbours"
//!
//! tensor  W : T[N]  when AFFINE >= 1
//! tensor  B : T[N]  when AFFINE >= 2

#include "device/ptx/cvt.cuh"
#include "device/reduce/quantized_row.cuh"
#include "device/reduce/row_input.cuh"
#include "device/reduce/row_moments.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, CLUSTER > 1 || KEPT == 0 ? 1 : 0) void layer_norm_quantize(
    View<const T, 2> X, View<const f32, 1> GIVEN, View<e4m3, 2> Q, View<f32, 2> SCALE, View<T, 2> S, View<const T, 1> W,
    View<const T, 1> B, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  using Row = RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE>;
  __shared__ RowSmem<THREADS, CLUSTER, 3> smem;
  smem.init();
  Row row = SCALES == 2 ? Row(dims.M, dims.N) : Row(X, dims.M, dims.N);
  const auto load = [&] { load_input(row, X, hooks); };
  const RowMoments moments = row_moments<KEPT>(row, smem, static_cast<f32>(dims.N), eps, [&] {
    load();
    if constexpr (SUM && KEPT) row.store(S);
  });
  store_quantized<SCALES, KEPT>(row, smem, 2, dims.M, dims.N, GIVEN, Q, SCALE, [&](bool last) {
    if constexpr (!KEPT) {
      load();
      if (SUM && last) row.store(S);  // S may be X, or what the hook reads
    }
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      Words<T, COUNT> weight, bias;
      if constexpr (AFFINE >= 1) weight = row.load_vector(W, p);
      if constexpr (AFFINE >= 2) bias = row.load_vector(B, p);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        f32& y = row.x[p * COUNT + i];
        y = KEPT || row.holds(p, i) ? moments.standardized(y) : 0.0F;
        if constexpr (AFFINE >= 1) y *= to_f32(weight.at(i));
        if constexpr (AFFINE >= 2) y += to_f32(bias.at(i));
      }
    }
  });
}

#else

#include "device/reference/norm_quantize.cuh"

extern "C" __global__ void norm_quantize_reference(View<const T, 2> X, View<const f32, 1> GIVEN, View<f64, 2> Q,
                                                   View<f64, 2> SCALE, View<f64, 2> S, View<const T, 1> W,
                                                   View<const T, 1> B, f32 eps, const Dims dims,
                                                   const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto x = [&](s64 j) { return hooks.input(to_f64(X.data[row * X.stride[0] + j * X.stride[1]]), row, j); };
    const f64 mean = row_sum(dims.N, x) / dims.N;
    const f64 squares = row_sum(dims.N, [&](s64 j) { return (x(j) - mean) * (x(j) - mean); });
    const f64 factor = 1 / sqrt(squares / dims.N + eps);
    store_row(
        row, x,
        [&](s64 j) {
          const f64 y = (x(j) - mean) * factor * (AFFINE >= 1 ? to_f64(W.data[j * W.stride[0]]) : 1.0);
          return AFFINE >= 2 ? y + to_f64(B.data[j * B.stride[0]]) : y;
        },
        GIVEN, Q, SCALE, S, dims);
  }
}

#endif
