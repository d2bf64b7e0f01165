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
//! param   PAIRS   = 0     in {0, 1} asked          "what is rotated together: 0: elements j and j + D / 2; 1: 2 j and 2 j + 1"
//! param   LANES   = 8     in {1, 2, 4, 8, 16, 32}  "threads of a warp that share a head"
//! param   THREADS = 128   in {128, 256, 512}       "of a block"
//! param   HEADS   = 2     in {1, 2, 4, 8}          "heads of a token that a thread has a part of: they share its weights and angles"
//! param   BLOCKS  = 0     in {0, 4, 6, 8, 12}      "0: each head has its threads; otherwise blocks of an SM, which walk over the heads"
//! param   WHOLE   = 1     in {1, 0}                "1: every head begins at 16 bytes, and its halves are whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, of which a thread has two"
//! let     ROWS    = THREADS / LANES                "heads of a block at a time"
//!
//! require D % 2 == 0                               "elements are rotated in pairs"
//! require 2 * LANES * COUNT >= D                   "a head must fit into its threads' packs"
//! require M * H <= 2147483647                      "heads are counted in 31 bits"
//! require WHOLE == 0 || (D / 2 % COUNT == 0 && alignment(X) % 16 == 0 && (stride(X, 0) | stride(X, 1)) % COUNT == 0 && alignment(Y) % 16 == 0 && (stride(Y, 0) | stride(Y, 1)) % COUNT == 0) "heads begin at 16 bytes, and their halves are whole packs"
//! require WHOLE == 0 || NORM == 0 || alignment(W) % 16 == 0 "W is read in packs"
//! require WHOLE == 0 || (alignment(COS) % 16 == 0 && alignment(SIN) % 16 == 0 && (stride(COS, 0) | stride(SIN, 0)) * sizeof(F) % 16 == 0) "angles are read in packs"
//! require stride(X, 2) == 1 && stride(Y, 2) == 1   "elements of a head are neighbours"
//! require NORM == 0 || stride(W, 0) == 1           "weights are neighbours"
//! require stride(COS, 1) == 1 && stride(SIN, 1) == 1 "angles of a position are neighbours"
//!
//! tensor  X   : T[M, H, D]
//! tensor  W   : T[D]  when NORM == 1
//! tensor  COS : F[L, D / 2]
//! tensor  SIN : F[L, D / 2]
//! tensor  P   : J[M]  in 0..L - 1  checked  when POSITIONS == 1
//! tensor  Y   : O[M, H, D]  out
//! scalar  eps : f32 = 0.000001
//!
//! launch  grid min(ceil_div(M * ceil_div(H, HEADS), ROWS), BLOCKS == 0 ? 2147483647 : device.sm_count * BLOCKS)  block THREADS
//! work    flops 7 * M * H * D  bytes M * H * D * (sizeof(T) + sizeof(O)) + min(L, M) * D * sizeof(F) + M * POSITIONS * sizeof(J)
//! reference qk_norm_rope_reference  grid min(M * H, 65536)  block 256
//!
//! preset  LANES = 1, HEADS = 2    when D <= 16 / sizeof(T) * 2
//! preset  LANES = 2, HEADS = 2    when D <= 16 / sizeof(T) * 4
//! preset  LANES = 4, HEADS = 2    when D <= 16 / sizeof(T) * 8
//! preset  LANES = 8, HEADS = 2    when D <= 16 / sizeof(T) * 16
//! preset  LANES = 16, HEADS = 2   when D <= 16 / sizeof(T) * 32
//! preset  LANES = 32, HEADS = 2
//! preset  LANES = 2, HEADS = 1, WHOLE = 0   when D <= 16 / sizeof(T) * 4
//! preset  LANES = 8, HEADS = 1, WHOLE = 0   when D <= 16 / sizeof(T) * 16
//! preset  LANES = 32, HEADS = 1, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/register_row.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kParts = PAIRS == 1 ? 2 : 1, kAngles = COUNT / kParts;  // packs of angles of a thread, and angles of one

// Where the first and the second element of pair i are among the thread's 2 * COUNT.
__device__ constexpr int first_of(int i) {
  return PAIRS == 1 ? 2 * i : i;
}
__device__ constexpr int second_of(int i) {
  return PAIRS == 1 ? 2 * i + 1 : COUNT + i;
}

// Loads a pack of which `left` elements may be read.
template <class E> __device__ inline Words<E, COUNT> load_words(const E* from, int left) {
  Words<E, COUNT> words = {};
  if (left > 0 && (WHOLE == 1 || (left >= COUNT && reinterpret_cast<u64>(from) % 16 == 0))) {
    words = *reinterpret_cast<const Words<E, COUNT>*>(from);
  } else if constexpr (WHOLE == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (i < left) words.set(i, from[i]);
  }
  return words;
}
__device__ inline Pack<F, kAngles> load_angles(const F* from, int left) {
  if constexpr (WHOLE == 0) return load_pack_anywhere<kAngles>(from, left);
  return left > 0 ? *reinterpret_cast<const Pack<F, kAngles>*>(from) : Pack<F, kAngles>{};
}

__device__ inline void store_out(O* to, const Pack<O, COUNT>& pack, int left) {
  if constexpr (WHOLE == 0)
    store_pack(to, pack, left);
  else if (left > 0)
    store_whole_pack(to, pack);
}

// What makes of pair i, (a, b), before its weights the rotated one: (a * aa[i] - b * ba[i], b * bb[i] + a * ab[i]).
struct Rotation {
  f32 aa[COUNT], ba[COUNT], bb[COUNT], ab[COUNT];
};

// Of the pairs whose packs have `left` elements in columns `column` and `column` + `second` on.
__device__ inline Rotation rotation_of(const View<const T, 1>& W, const View<const F, 2>& COS,
                                       const View<const F, 2>& SIN, s64 position, int column, int second,
                                       const int (&left)[2], const Dims& dims) {
  Words<T, COUNT> weights[2];
  if constexpr (NORM) {
#pragma unroll
    for (int k = 0; k < 2; ++k) weights[k] = load_words(W.data + column + k * second, left[k]);
  }
  const bool known = position >= 0 && position < dims.L;
  Pack<F, kAngles> cosine[kParts], sine[kParts];
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    const int first = (column + k * second) / kParts, angles = known ? dims.D / 2 - first : 0;
    cosine[k] = load_angles(COS.data + position * COS.stride[0] + first, angles);
    sine[k] = load_angles(SIN.data + position * SIN.stride[0] + first, angles);
  }
  Rotation rotation;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const int a = first_of(i), b = second_of(i);
    const f32 c = known ? to_f32(cosine[i / kAngles].x[i % kAngles]) : 1.0F;
    const f32 s = known ? to_f32(sine[i / kAngles].x[i % kAngles]) : 0.0F;
    const f32 wa = NORM ? to_f32(weights[a / COUNT].at(a % COUNT)) : 1.0F;
    const f32 wb = NORM ? to_f32(weights[b / COUNT].at(b % COUNT)) : 1.0F;
    rotation.aa[i] = wa * c, rotation.ba[i] = wb * s, rotation.bb[i] = wb * c, rotation.ab[i] = wa * s;
  }
  return rotation;
}

// A thread has the packs of columns `column` and `column` + `second` on, so that it has both elements of each pair, of
// heads h, h + across, ... of token m.
extern "C" __global__ __launch_bounds__(THREADS,
                                        512 / THREADS) void qk_norm_rope(View<const T, 3> X, View<const T, 1> W,
                                                                         View<const F, 2> COS, View<const F, 2> SIN,
                                                                         View<const J, 1> P, View<O, 3> Y, f32 eps,
                                                                         const Dims dims) {
  const u32 across = ceil_div<u32>(dims.H, HEADS), rows = dims.M * across;
  const int half = dims.D / 2, second = PAIRS == 1 ? LANES * COUNT : half;
  const int column = threadIdx.x % LANES * COUNT;
  const auto position_of = [&](u32 row) -> s64 {
    const u32 m = row / across;
    return POSITIONS == 0 ? m : row < rows ? s64{P.data[m * P.stride[0]]} : -1;
  };
  s64 next = position_of(blockIdx.x * ROWS + threadIdx.x / LANES);
  for (u32 first = blockIdx.x * ROWS; first < rows; first += gridDim.x * ROWS) {
    const u32 row = first + threadIdx.x / LANES;
    const int m = row / across, h = row % across;
    const s64 position = next;
    if constexpr (BLOCKS > 0) next = position_of(row + gridDim.x * ROWS);  // before it is needed
    const bool has = row < rows;
    const int left[2] = {has ? (PAIRS == 1 ? dims.D : half) - column : 0, has ? dims.D - second - column : 0};
    const auto left_of = [&](int n, int k) { return n == 0 || h + n * across < dims.H ? left[k] : 0; };
    const T* const from = X.data + m * X.stride[0] + h * X.stride[1] + column;
    Words<T, COUNT> in[HEADS][2];
#pragma unroll
    for (int n = 0; n < HEADS; ++n)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        in[n][k] = load_words(from + n * s64{across} * X.stride[1] + k * second, left_of(n, k));
    const Rotation rotation = rotation_of(W, COS, SIN, position, column, second, left, dims);
    O* const to = Y.data + m * Y.stride[0] + h * Y.stride[1] + column;
#pragma unroll
    for (int n = 0; n < HEADS; ++n) {
      const auto x = [&](int i) { return to_f32(in[n][i / COUNT].at(i % COUNT)); };
      f32 squares = 0, scale = 1;
      if constexpr (NORM) {
#pragma unroll
        for (int i = 0; i < 2 * COUNT; ++i) squares += x(i) * x(i);
        squares = warp_reduce<LANES>(squares, [](f32 a, f32 b) { return a + b; });
        scale = rsqrtf(squares / static_cast<f32>(dims.D) + eps);
      }
      Pack<O, COUNT> out[2];
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const f32 a = x(first_of(i)), b = x(second_of(i));  // scaled last, so that terms which cancel leave 0
        out[first_of(i) / COUNT].x[first_of(i) % COUNT] =
            from_f32<O>((a * rotation.aa[i] - b * rotation.ba[i]) * scale);
        out[second_of(i) / COUNT].x[second_of(i) % COUNT] =
            from_f32<O>((b * rotation.bb[i] + a * rotation.ab[i]) * scale);
      }
#pragma unroll
      for (int k = 0; k < 2; ++k) store_out(to + n * s64{across} * Y.stride[1] + k * second, out[k], left_of(n, k));
    }
    if constexpr (BLOCKS == 0) break;
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
