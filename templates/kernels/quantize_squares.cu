//! kernel  quantize "Q[i,j] = x[i,j] / scale as e4m3, x = input(X[i,j]); scale = greatest |x| / 448 of a square of 128 rows and 128 columns, as products take it of weights"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X"
//! dim     M, N            in 0..2147483647
//!
//! param   SCALES  = 6     in {6}                   "6: each square has one; fewer: quantize.cu and quantize_blocks.cu"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     THREADS = 512
//! let     LANES   = 128 / COUNT                    "threads of a row of a square"
//! let     ROWS    = THREADS / LANES                "rows of a square that the block has at a time"
//! let     DOWN    = ceil_div(M, 128)
//! let     ACROSS  = ceil_div(N, 128)
//!
//! require DOWN * ACROSS <= 2147483647              "squares are counted in 31 bits"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Q, 1) == 1                        "elements of a row of Q are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  Q : e4m3[M, N]  out
//! tensor  SCALE : f32[SCALES == 6 ? DOWN : M, ACROSS]  out
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//!
//! launch  grid DOWN * ACROSS  block THREADS
//! work    flops 3 * M * N  bytes M * N * (sizeof(T) + 1) + DOWN * ACROSS * 4
//! reference quantize_reference  grid min(DOWN * ACROSS, 65536)  block 256

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/quantized_row.cuh"
#include "device/tile/pack.cuh"

// A block keeps a square in registers.
extern "C" __global__ __launch_bounds__(THREADS,
                                        sizeof(T) == 4 ? 1 : 2) void quantize(View<const T, 2> X, View<e4m3, 2> Q,
                                                                              View<f32, 2> SCALE, const Dims dims,
                                                                              const __grid_constant__ Hooks hooks) {
  constexpr int kPacks = 128 / ROWS;
  __shared__ f32 greatest_of_warps[THREADS / 32];
  const int across = ceil_div(dims.N, 128), down = blockIdx.x / across;
  const int first = down * 128 + static_cast<int>(threadIdx.x) / LANES;
  const int column = blockIdx.x % across * 128 + static_cast<int>(threadIdx.x) % LANES * COUNT;
  const auto left = [&](int p) { return first + p * ROWS < dims.M ? dims.N - column : 0; };
  Pack<T, COUNT> in[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p)
    in[p] = load_pack_anywhere<COUNT>(X.data + (first + p * ROWS) * X.stride[0] + column, left(p));
  f32 x[kPacks][COUNT], greatest = 0;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      x[p][i] = i < left(p) ? hooks.input(to_f32(in[p].x[i]), first + p * ROWS, column + i) : 0.0F;
      greatest = fmaxf(greatest, fabsf(x[p][i]));
    }
  }
  const Scale scale =
      scale_of(block_reduce<THREADS>(greatest, greatest_of_warps, 0.0F, [](f32 a, f32 b) { return fmaxf(a, b); }));
  if (threadIdx.x == 0) SCALE.data[down * SCALE.stride[0] + blockIdx.x % across * SCALE.stride[1]] = scale.scale;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    Pack<e4m3, COUNT> out;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) out.x[i] = from_f32<e4m3>(x[p][i] * scale.inverse);
    store_pack(Q.data + (first + p * ROWS) * Q.stride[0] + column, out, left(p));
  }
}

#else

#include "device/reference/quantize.cuh"

// One block per square.
extern "C" __global__ void quantize_reference(View<const T, 2> X, View<f64, 2> Q, View<f64, 2> SCALE, const Dims dims,
                                              const __grid_constant__ Hooks hooks) {
  const s64 across = ceil_div(dims.N, 128);
  for (s64 square = blockIdx.x; square < across * ceil_div(dims.M, 128); square += gridDim.x) {
    const s64 row = square / across * 128, column = square % across * 128;
    const s64 width = min(s64{128}, dims.N - column), height = min(s64{128}, dims.M - row);
    const auto x = [&](s64 k) {
      const s64 i = row + k / width, j = column + k % width;
      return hooks.input(to_f64(X.data[i * X.stride[0] + j * X.stride[1]]), i, j);
    };
    const f64 scale = row_max(width * height, [&](s64 k) { return fabs(x(k)); }) / 448;
    if (threadIdx.x == 0) SCALE.data[square / across * SCALE.stride[0] + square % across * SCALE.stride[1]] = scale;
    for (s64 k = threadIdx.x; k < width * height; k += 256)
      Q.data[(row + k / width) * Q.stride[0] + (column + k % width) * Q.stride[1]] =
          quantized(x(k), static_cast<f32>(scale));  // as it is stored
  }
}

#endif
