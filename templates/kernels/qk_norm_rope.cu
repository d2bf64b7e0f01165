//! kernel  qk_norm_rope "Y[m,h,:] = x[m,h,:] / sqrt(mean of x[m,h,:]^2 + eps) * W rotated by the angles of the token's position: queries or keys before attention; Y may be X"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X and W"
//! type    O       = bf16  in {f32, bf16, f16}      "elements of Y"
//! type    F       = f32   in {f32, bf16, f16}      "elements of COS and SIN"
//! type    J       = s32   in {s32, s64}            "positions"
//! dim     M, H            in 0..2147483647         "tokens, and heads of each"
//! dim     D               in 2..512                "elements of a head"
//! dim     L               in 0..2147483647         "positions whose angles are known; at others nothing is rotated"
//!
//! param   NORM    = 1     in {0, 1}                "0: nothing is normalised, only rotated"
//! param   POSITIONS = 1   in {0, 1}                "1: token m stands at P[m]; 0: at m"
//! param   PAIRS   = 0     in {0, 1}                "what is rotated together: 0: elements j and j + D / 2; 1: 2 j and 2 j + 1"
//! param   LANES   = 8     in {1, 2, 4, 8, 16, 32}  "threads of a warp that share a head"
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, of which a thread has two"
//! let     ROWS    = THREADS / LANES                "heads of a block"
//! let     SECOND  = PAIRS == 1 ? LANES * COUNT : D / 2 "elements from one pack of a thread to its other"
//!
//! require D % 2 == 0                               "elements are rotated in pairs"
//! require 2 * LANES * COUNT >= D                   "a head must fit into its threads' packs"
//! require M * H <= 2147483647                      "heads are counted in 31 bits"
//! require stride(X, 2) == 1 && stride(Y, 2) == 1   "elements of a head are neighbours"
//! require NORM == 0 || stride(W, 0) == 1           "weights are neighbours"
//! require stride(COS, 1) == 1 && stride(SIN, 1) == 1 "angles of a position are neighbours"
//!
//! tensor  X   : T[M, H, D]
//! tensor  W   : T[D]  when NORM == 1
//! tensor  COS : F[L, D / 2]
//! tensor  SIN : F[L, D / 2]
//! tensor  P   : J[M]  when POSITIONS == 1
//! tensor  Y   : O[M, H, D]  out
//! scalar  eps : f32 = 0.000001
//!
//! launch  grid ceil_div(M * H, ROWS)  block THREADS
//! work    flops 7 * M * H * D  bytes M * H * D * (sizeof(T) + sizeof(O)) + min(L, M) * D * sizeof(F) + M * POSITIONS * sizeof(J)
//! reference qk_norm_rope_reference  grid min(M * H, 65536)  block 256
//!
//! preset  LANES = 1   when D <= 16 / sizeof(T) * 2
//! preset  LANES = 2   when D <= 16 / sizeof(T) * 4
//! preset  LANES = 4   when D <= 16 / sizeof(T) * 8
//! preset  LANES = 8   when D <= 16 / sizeof(T) * 16
//! preset  LANES = 16  when D <= 16 / sizeof(T) * 32
//! preset  LANES = 32

#include "device/ptx/cvt.cuh"
#include "device/reduce/warp.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

// A thread has the packs of columns `column` and `column` + SECOND on, so that it has both elements of each pair.
extern "C" __global__ __launch_bounds__(THREADS,
                                        1024 / THREADS) void qk_norm_rope(View<const T, 3> X, View<const T, 1> W,
                                                                          View<const F, 2> COS, View<const F, 2> SIN,
                                                                          View<const J, 1> P, View<O, 3> Y, f32 eps,
                                                                          const Dims dims) {
  const int row = blockIdx.x * ROWS + threadIdx.x / LANES, m = row / dims.H, h = row % dims.H;
  const int half = dims.D / 2, second = PAIRS == 1 ? LANES * COUNT : half;
  const int column = threadIdx.x % LANES * COUNT;
  const bool has = m < dims.M;
  const int left[2] = {has ? (PAIRS == 1 ? dims.D : half) - column : 0, has ? dims.D - second - column : 0};
  const T* const from = X.data + m * X.stride[0] + h * X.stride[1] + column;
  f32 x[2][COUNT], squares = 0;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const Pack<T, COUNT> pack = load_pack_anywhere<COUNT>(from + k * second, left[k]);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) x[k][i] = to_f32(pack.x[i]), squares += x[k][i] * x[k][i];
  }
  if constexpr (NORM) {
    squares = warp_reduce<LANES>(squares, [](f32 a, f32 b) { return a + b; });
    const f32 scale = rsqrtf(squares / static_cast<f32>(dims.D) + eps);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const Pack<T, COUNT> weights = load_pack_anywhere<COUNT>(W.data + column + k * second, left[k]);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) x[k][i] *= scale * to_f32(weights.x[i]);
    }
  }
  s64 position = m;
  if constexpr (POSITIONS) position = has ? P.data[m * P.stride[0]] : -1;
  const bool known = position >= 0 && position < dims.L;
  constexpr int kParts = PAIRS == 1 ? 2 : 1, kAngles = COUNT / kParts;  // a pack of pairs has half as many angles
  Pack<F, kAngles> cosine[kParts], sine[kParts];
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    const int first = (column + k * second) / kParts, angles = known ? half - first : 0;
    cosine[k] = load_pack_anywhere<kAngles>(COS.data + position * COS.stride[0] + first, angles);
    sine[k] = load_pack_anywhere<kAngles>(SIN.data + position * SIN.stride[0] + first, angles);
  }
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
#pragma unroll
    for (int i = 0; i < kAngles; ++i) {
      f32& a = PAIRS == 1 ? x[k][2 * i] : x[0][i];
      f32& b = PAIRS == 1 ? x[k][2 * i + 1] : x[1][i];
      const f32 c = known ? to_f32(cosine[k].x[i]) : 1.0F, s = known ? to_f32(sine[k].x[i]) : 0.0F, first = a;
      a = first * c - b * s, b = b * c + first * s;
    }
  }
  O* const to = Y.data + m * Y.stride[0] + h * Y.stride[1] + column;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    Pack<O, COUNT> pack;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) pack.x[i] = from_f32<O>(x[k][i]);
    store_pack(to + k * second, pack, left[k]);
  }
}

#else

#include "device/reference/row_reduce.cuh"

// One block per head.
extern "C" __global__ void qk_norm_rope_reference(View<const T, 3> X, View<const T, 1> W, View<const F, 2> COS,
                                                  View<const F, 2> SIN, View<const J, 1> P, View<f64, 3> Y, f32 eps,
                                                  const Dims dims) {
  for (s64 row = blockIdx.x; row < s64{dims.M} * dims.H; row += gridDim.x) {
    const s64 m = row / dims.H, h = row % dims.H;
    const auto element = [&](s64 d) { return to_f64(X.data[m * X.stride[0] + h * X.stride[1] + d * X.stride[2]]); };
    const f64 squares = row_sum(dims.D, [&](s64 d) { return element(d) * element(d); });
    const auto normalised = [&](s64 d) {
      return NORM ? element(d) / sqrt(squares / dims.D + eps) * to_f64(W.data[d * W.stride[0]]) : element(d);
    };
    const s64 position = POSITIONS ? s64{P.data[m * P.stride[0]]} : m;
    const bool known = position >= 0 && position < dims.L;
    for (s64 pair = threadIdx.x; pair < dims.D / 2; pair += blockDim.x) {
      const s64 i = PAIRS ? 2 * pair : pair, j = PAIRS ? i + 1 : pair + dims.D / 2;
      const f64 c = known ? to_f64(COS.data[position * COS.stride[0] + pair * COS.stride[1]]) : 1;
      const f64 s = known ? to_f64(SIN.data[position * SIN.stride[0] + pair * SIN.stride[1]]) : 0;
      const auto to = [&](s64 d) -> f64& { return Y.data[m * Y.stride[0] + h * Y.stride[1] + d * Y.stride[2]]; };
      to(i) = normalised(i) * c - normalised(j) * s;
      to(j) = normalised(j) * c + normalised(i) * s;
    }
  }
}

#endif
