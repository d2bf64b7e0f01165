//! kernel  append_rope "rotates queries and keys by the angles of their tokens' positions, and puts keys and values into the pages of a cache: token m into row SLOTS[m] % SIZE of page SLOTS[m] / SIZE; a number that is no row's is not stored, and of tokens with one row the last is; Y may be Q"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {bf16, f16}           "elements of queries, keys and values"
//! type    C       = T     in {bf16, f16, e4m3}     "elements of the cache"
//! type    F       = f32   in {f32, bf16, f16}      "elements of COS and SIN"
//! type    J       = s32   in {s32, s64}            "positions and slots"
//! dim     M               in 0..2147483647         "tokens"
//! dim     HEADS           in 1..65535 when QUERIES == 1 "heads of queries"
//! dim     KV_HEADS        in 1..65535              "heads of keys and of values"
//! dim     HD              in 16..512               "elements of a head"
//! dim     L               in 0..2147483647         "positions whose angles are known; at others nothing is rotated"
//! dim     P, SIZE         in 0..2147400000         "pages of the cache, rows of a page"
//!
//! param   QUERIES = 1     in {1, 0}                "0: only keys and values"
//! param   NORM    = 0     in {0, 1}                "1: queries and keys are first divided by the root of their mean square, and multiplied by WQ and WK"
//! param   PAIRS   = 0     in {0, 1} asked          "what is rotated together: 0: elements j and j + HD / 2; 1: 2 j and 2 j + 1"
//! param   SCALED  = 0     in {0, 1}                "1: what is stored are keys and values divided by SK and SV of their head"
//! param   UNIQUE  = 0     in {0, 1} asked          "1: the caller knows that no two tokens have one row, so that none are searched for"
//! param   LANES   = 8     in {1, 2, 4, 8, 16, 32}  "threads of a warp that share a head"
//!
//! let     THREADS = 128
//! let     COUNT   = 8                              "elements of a pack, of which a thread has two"
//!
//! require HD % 16 == 0                             "halves of heads are whole packs of 16 bytes"
//! require 2 * LANES * COUNT >= HD                  "a head must fit into its threads' packs"
//! require sizeof(C) == 1 || dtype(C) == dtype(T) "the cache is of e4m3 or of the type of the keys"
//! require SCALED == 0 || sizeof(C) == 1            "only numbers of 8 bits have scales"
//! require P * SIZE <= 9223372036854775807 / max(KV_HEADS * HD, 1) "elements are counted in 63 bits"
//! require alignment(K) % 16 == 0 && (stride(K, 0) | stride(K, 1)) % 8 == 0 && stride(K, 2) == 1 "heads of K begin at 16 bytes"
//! require alignment(V) % 16 == 0 && (stride(V, 0) | stride(V, 1)) % 8 == 0 && stride(V, 2) == 1 "heads of V begin at 16 bytes"
//! require QUERIES == 0 || (alignment(Q) % 16 == 0 && (stride(Q, 0) | stride(Q, 1)) % 8 == 0 && stride(Q, 2) == 1) "heads of Q begin at 16 bytes"
//! require QUERIES == 0 || (alignment(Y) % 16 == 0 && (stride(Y, 0) | stride(Y, 1)) % 8 == 0 && stride(Y, 2) == 1) "heads of Y begin at 16 bytes"
//! require alignment(KC) % 16 == 0 && (stride(KC, 0) | stride(KC, 1) | stride(KC, 2)) * sizeof(C) % 16 == 0 && stride(KC, 3) == 1 "rows of the cache begin at 16 bytes"
//! require alignment(VC) % 16 == 0 && (stride(VC, 0) | stride(VC, 1) | stride(VC, 2)) * sizeof(C) % 16 == 0 && stride(VC, 3) == 1 "rows of the cache begin at 16 bytes"
//! require stride(COS, 1) == 1 && stride(SIN, 1) == 1 "angles of a position are neighbours"
//! require NORM == 0 || ((QUERIES == 0 || stride(WQ, 0) == 1) && stride(WK, 0) == 1) "weights are neighbours"
//!
//! tensor  Q   : T[M, HEADS, HD]  when QUERIES == 1
//! tensor  K   : T[M, KV_HEADS, HD]
//! tensor  V   : T[M, KV_HEADS, HD]
//! tensor  WQ  : T[HD]  when NORM == 1 && QUERIES == 1
//! tensor  WK  : T[HD]  when NORM == 1
//! tensor  COS : F[L, HD / 2]
//! tensor  SIN : F[L, HD / 2]
//! tensor  POSITIONS : J[M]  in 0..L - 1  checked
//! tensor  SLOTS : J[M]  in 0..P * SIZE - 1  distinct UNIQUE  checked
//! tensor  SK  : f32[KV_HEADS]  when SCALED == 1
//! tensor  SV  : f32[KV_HEADS]  when SCALED == 1
//! tensor  Y   : T[M, HEADS, HD]  out  when QUERIES == 1
//! tensor  KC  : C[P, SIZE, KV_HEADS, HD]  out
//! tensor  VC  : C[P, SIZE, KV_HEADS, HD]  out
//! scalar  eps : f32 = 0.000001
//!
//! launch  grid M  block THREADS
//! work    flops 7 * M * (HEADS + KV_HEADS) * HD  bytes M * HD * (2 * HEADS * sizeof(T) + 2 * KV_HEADS * (sizeof(T) + sizeof(C))) + min(L, M) * HD * sizeof(F)
//! reference append_rope_reference  grid min(M, 65536)  block 256
//!
//! preset  LANES = 1   when HD <= 16
//! preset  LANES = 2   when HD <= 32
//! preset  LANES = 4   when HD <= 64
//! preset  LANES = 8   when HD <= 128
//! preset  LANES = 16  when HD <= 256
//! preset  LANES = 32

#include "device/ptx/cvt.cuh"
#include "device/reduce/warp.cuh"
#include "device/tile/pack.cuh"

// The row of the cache in which token m is stored; -1 if in none. Of tokens with one row, the last is stored: is_last
// says whether a token is.
__device__ inline s64 slot_of(const View<const J, 1>& SLOTS, s64 m, const Dims& dims) {
  const s64 slot = SLOTS.data[m * SLOTS.stride[0]];
  return slot >= 0 && slot < s64{dims.P} * dims.SIZE ? slot : -1;
}

#ifndef TMA_JIT_REFERENCE

using Pair = Pack<f32, 2 * COUNT>;  // the elements of a thread's two packs, one after the other

// Where the first and the second element of pair i are among the thread's.
__device__ constexpr int first_of(int i) {
  return PAIRS == 1 ? 2 * i : i;
}
__device__ constexpr int second_of(int i) {
  return PAIRS == 1 ? 2 * i + 1 : COUNT + i;
}

// A thread's place in heads: its packs are those of columns `column` and `column` + `second` on, so that it has both
// elements of each pair.
struct Columns {
  int column, second;
  bool has[2];

  __device__ explicit Columns(int size)
      : column(threadIdx.x % LANES * COUNT), second(PAIRS == 1 ? LANES * COUNT : size / 2) {
    has[0] = column < (PAIRS == 1 ? size : second), has[1] = column + second < size && has[0];
  }
  // Loads a head's packs; what there is not is zero.
  __device__ Pair load(const T* head) const {
    Pair pair = {};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (!has[k]) continue;
      const auto pack = *reinterpret_cast<const Pack<T, COUNT>*>(head + column + k * second);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) pair.x[k * COUNT + i] = to_f32(pack.x[i]);
    }
    return pair;
  }
  template <class E> __device__ void store(E* head, const Pair& pair) const {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      Pack<E, COUNT> pack;
#pragma unroll
      for (int i = 0; i < COUNT; ++i) pack.x[i] = from_f32<E>(pair.x[k * COUNT + i]);
      if (has[k]) *reinterpret_cast<Pack<E, COUNT>*>(head + column + k * second) = pack;
    }
  }
};

// The angles of a thread's pairs at a position.
struct Angles {
  f32 cosine[COUNT], sine[COUNT];

  __device__ Angles(const View<const F, 2>& COS, const View<const F, 2>& SIN, s64 position, const Columns& at,
                    const Dims& dims) {
    const bool known = position >= 0 && position < dims.L;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const int element = at.column + first_of(i) % COUNT + (first_of(i) < COUNT ? 0 : at.second);
      const int pair = PAIRS == 1 ? element / 2 : element;
      const bool has = known && pair < dims.HD / 2;
      cosine[i] = has ? to_f32(COS.data[position * COS.stride[0] + pair]) : 1;
      sine[i] = has ? to_f32(SIN.data[position * SIN.stride[0] + pair]) : 0;
    }
  }
  __device__ void rotate(Pair& x) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      f32 &first = x.x[first_of(i)], &second = x.x[second_of(i)];
      const f32 a = first, b = second;
      first = a * cosine[i] - b * sine[i], second = b * cosine[i] + a * sine[i];
    }
  }
};

// Normalises a head, which LANES threads have together.
__device__ inline void normalise(Pair& x, const View<const T, 1>& W, const Columns& at, f32 eps, int size) {
  f32 squares = 0;
#pragma unroll
  for (int i = 0; i < 2 * COUNT; ++i) squares += x.x[i] * x.x[i];
  squares = warp_reduce<LANES>(squares, [](f32 a, f32 b) { return a + b; });
  const f32 scale = rsqrtf(squares / static_cast<f32>(size) + eps);
  const Pair weights = at.load(W.data);
#pragma unroll
  for (int i = 0; i < 2 * COUNT; ++i) x.x[i] *= scale * weights.x[i];
}

// Returns whether a later token has this slot. Called by all threads of the block.
__device__ inline bool is_replaced(const View<const J, 1>& SLOTS, s64 slot, const Dims& dims) {
  if (UNIQUE == 1 || slot < 0) return false;
  bool found = false;
  for (s64 m = blockIdx.x + 1 + threadIdx.x; m < dims.M; m += THREADS) found |= SLOTS.data[m * SLOTS.stride[0]] == slot;
  return __syncthreads_or(found);
}

// A block for each token, and LANES threads for each of its heads: of queries, then of keys, then of values.
extern "C" __global__ __launch_bounds__(THREADS) void append_rope(View<const T, 3> Q, View<const T, 3> K,
                                                                  View<const T, 3> V, View<const T, 1> WQ,
                                                                  View<const T, 1> WK, View<const F, 2> COS,
                                                                  View<const F, 2> SIN, View<const J, 1> POSITIONS,
                                                                  View<const J, 1> SLOTS, View<const f32, 1> SK,
                                                                  View<const f32, 1> SV, View<T, 3> Y, View<C, 4> KC,
                                                                  View<C, 4> VC, f32 eps, const Dims dims) {
  const s64 m = blockIdx.x, slot = slot_of(SLOTS, m, dims);
  const bool stored = !is_replaced(SLOTS, slot, dims) && slot >= 0;
  const s64 page = stored ? slot / dims.SIZE : 0, row = stored ? slot % dims.SIZE : 0;
  const Columns at(dims.HD);
  const Angles angles(COS, SIN, POSITIONS.data[m * POSITIONS.stride[0]], at, dims);
  const int queries = QUERIES == 1 ? dims.HEADS : 0, all = queries + 2 * dims.KV_HEADS;
  const auto put = [&](const View<C, 4>& to, const View<const f32, 1>& scales, int head, Pair x) {
    if constexpr (SCALED == 1) {
      const f32 scale = scales.data[head * scales.stride[0]];
#pragma unroll
      for (f32& e : x.x) e = __fdiv_rn(e, scale);
    }
    if (stored) at.store(to.data + page * to.stride[0] + row * to.stride[1] + head * to.stride[2], x);
  };
#pragma unroll 1
  for (int first = 0; first < all; first += THREADS / LANES) {  // by whole warps, which reduce together
    const int index = first + threadIdx.x / LANES, h = index - queries;
    const bool query = index < queries, value = h >= dims.KV_HEADS, key = !query && !value;
    Pair x = {};
    if (query)
      x = at.load(Q.data + m * Q.stride[0] + index * Q.stride[1]);
    else if (key)
      x = at.load(K.data + m * K.stride[0] + h * K.stride[1]);
    else if (index < all)
      x = at.load(V.data + m * V.stride[0] + (h - dims.KV_HEADS) * V.stride[1]);
    if constexpr (NORM == 1) {
      Pair made = x;
      normalise(made, query ? WQ : WK, at, eps, dims.HD);
      if (!value) x = made;
    }
    if (!value) angles.rotate(x);
    if (query)
      at.store(Y.data + m * Y.stride[0] + index * Y.stride[1], x);
    else if (key)
      put(KC, SK, h, x);
    else if (index < all)
      put(VC, SV, h - dims.KV_HEADS, x);
  }
}

#else

#include "device/reference/row_reduce.cuh"

// Calls to(d, x) for each element of the head at `from`, normalised by W if it has weights, and rotated.
template <class To>
__device__ inline void rotate_head(const T* from, s64 stride, const View<const T, 1>& W, const View<const F, 2>& COS,
                                   const View<const F, 2>& SIN, s64 position, f32 eps, const Dims& dims, To to) {
  const bool known = position >= 0 && position < dims.L;
  const f64 squares = row_sum(dims.HD, [&](s64 d) { return to_f64(from[d * stride]) * to_f64(from[d * stride]); });
  const auto element = [&](s64 d) {
    const f64 x = to_f64(from[d * stride]);
    return NORM == 1 ? x / sqrt(squares / dims.HD + eps) * to_f64(W.data[d * W.stride[0]]) : x;
  };
  for (s64 pair = threadIdx.x; pair < dims.HD / 2; pair += blockDim.x) {
    const s64 i = PAIRS ? 2 * pair : pair, j = PAIRS ? i + 1 : pair + dims.HD / 2;
    const f64 c = known ? to_f64(COS.data[position * COS.stride[0] + pair * COS.stride[1]]) : 1;
    const f64 s = known ? to_f64(SIN.data[position * SIN.stride[0] + pair * SIN.stride[1]]) : 0;
    to(i, element(i) * c - element(j) * s), to(j, element(j) * c + element(i) * s);
  }
}

// One block per token.
extern "C" __global__ void append_rope_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                                 View<const T, 1> WQ, View<const T, 1> WK, View<const F, 2> COS,
                                                 View<const F, 2> SIN, View<const J, 1> POSITIONS,
                                                 View<const J, 1> SLOTS, View<const f32, 1> SK, View<const f32, 1> SV,
                                                 View<f64, 3> Y, View<f64, 4> KC, View<f64, 4> VC, f32 eps,
                                                 const Dims dims) {
  for (s64 m = blockIdx.x; m < dims.M; m += gridDim.x) {
    const s64 slot = slot_of(SLOTS, m, dims), position = POSITIONS.data[m * POSITIONS.stride[0]];
    bool stored = slot >= 0;
    for (s64 later = m + 1; later < dims.M; ++later) stored &= SLOTS.data[later * SLOTS.stride[0]] != slot;
    const auto scaled = [&](f64 x, const View<const f32, 1>& scales, s64 h) {
      return SCALED == 1 ? x / scales.data[h * scales.stride[0]] : x;
    };
    const auto place = [&](const View<f64, 4>& cache, s64 h) {
      return cache.data + slot / dims.SIZE * cache.stride[0] + slot % dims.SIZE * cache.stride[1] + h * cache.stride[2];
    };
    for (s64 h = 0; QUERIES == 1 && h < dims.HEADS; ++h)
      rotate_head(Q.data + m * Q.stride[0] + h * Q.stride[1], Q.stride[2], WQ, COS, SIN, position, eps, dims,
                  [&](s64 d, f64 x) { Y.data[m * Y.stride[0] + h * Y.stride[1] + d * Y.stride[2]] = x; });
    for (s64 h = 0; stored && h < dims.KV_HEADS; ++h) {
      f64 *const key = place(KC, h), *const value = place(VC, h);
      rotate_head(K.data + m * K.stride[0] + h * K.stride[1], K.stride[2], WK, COS, SIN, position, eps, dims,
                  [&](s64 d, f64 x) { key[d * KC.stride[3]] = scaled(x, SK, h); });
      for (s64 d = threadIdx.x; d < dims.HD; d += blockDim.x)
        value[d * VC.stride[3]] = scaled(to_f64(V.data[m * V.stride[0] + h * V.stride[1] + d * V.stride[2]]), SV, h);
    }
  }
}

#endif
