//! kernel  reduce   "Y = output(combination of input(X) over the dimensions k with Rk = 1): a sum, mean, maximum, minimum or one of yours; at any strides"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32   in {f32, bf16, f16}      "elements of X"
//! type    O       = f32   in {f32, bf16, f16}      "elements of Y"
//! dim     N0, N1, N2, N3, N4 in 0..2147483647      "of X; 1 for dimensions that it lacks; of no elements a sum is 0, a maximum minus infinity, a mean NaN"
//!
//! param   OP      = 0     in {0, 1, 2, 3, 4, 5} asked "0: sum, 1: mean, 2: maximum, 3: minimum (NaN if an element is), 4: sum of squares, 5: combine"
//! param   R0      = 0     in {0, 1}                "1: dimension 0 is combined, so that its extent in Y is 1; pinned, as are the others"
//! param   R1      = 0     in {0, 1}
//! param   R2      = 0     in {0, 1}
//! param   R3      = 0     in {0, 1}
//! param   R4      = 1     in {0, 1}
//! param   COUNT   = 4     in {8, 4, 2, 1}          "elements of a row that a thread reads; at once where their addresses allow it"
//! param   WHOLE   = 1     in {1, 0}                "1: rows begin at 16 bytes, and are whole units of them of neighbours"
//! param   ALONG   = 32    in {1, 8, 32, 256}       "threads of a block that share results"
//! param   UNROLL  = 4     in {1, 2, 4}             "reads of a thread in flight"
//! param   BLOCKS  = 4     in {1, 2, 4, 8}          "blocks of an SM among which few results are divided"
//!
//! let     THREADS = 256
//! let     VALUES  = R4 == 1 ? 1 : COUNT            "results of a thread"
//! let     E0      = R0 == 1 ? 1 : N0               "extents of Y"
//! let     E1      = R1 == 1 ? 1 : N1
//! let     E2      = R2 == 1 ? 1 : N2
//! let     E3      = R3 == 1 ? 1 : N3
//! let     E4      = R4 == 1 ? 1 : N4
//! let     PACKS   = ceil_div(N4, COUNT)            "of a row of X"
//! let     KEPT    = E0 * E1 * E2 * E3 * (R4 == 1 ? 1 : PACKS) "results, or packs of them"
//! let     ITEMS   = (R0 == 1 ? N0 : 1) * (R1 == 1 ? N1 : 1) * (R2 == 1 ? N2 : 1) * (R3 == 1 ? N3 : 1) * (R4 == 1 ? PACKS : 1) "packs or elements that are combined to one"
//! let     TILES   = ceil_div(KEPT, THREADS / ALONG)
//! let     PARTS   = max(1, min(ceil_div(ITEMS, ALONG * UNROLL), device.sm_count * BLOCKS / max(TILES, 1))) "blocks that share results"
//!
//! require KEPT <= 2147483647 && ITEMS <= 2147483647 && TILES * PARTS <= 2147483647 "what is kept and what is combined are each counted in 31 bits"
//! require WHOLE == 0 || (N4 * sizeof(T) % 16 == 0 && stride(X, 4) == 1 && alignment(X) >= 16) "rows are whole units of 16 bytes of neighbours"
//! require WHOLE == 0 || ((N0 <= 1 || stride(X, 0) * sizeof(T) % 16 == 0) && (N1 <= 1 || stride(X, 1) * sizeof(T) % 16 == 0) && (N2 <= 1 || stride(X, 2) * sizeof(T) % 16 == 0) && (N3 <= 1 || stride(X, 3) * sizeof(T) % 16 == 0)) "rows begin at 16 bytes"
//! require WHOLE == 0 || COUNT * sizeof(T) <= 16    "a row may end within more"
//!
//! tensor  X : T[N0, N1, N2, N3, N4]
//! tensor  Y : O[E0, E1, E2, E3, E4]  out
//! workspace partials PARTS == 1 ? 0 : TILES * PARTS * THREADS / ALONG * VALUES * 4 "what the blocks that share results have combined"
//! workspace counters PARTS == 1 ? 0 : TILES * 4  zero "blocks of a tile that have come"
//! scalar  neutral : f32 = 0                        "combine(x, neutral) is x"
//!
//! hook    input(f32 x, s32 i0, s32 i1, s32 i2, s32 i3, s32 i4) : f32 = x  "applied to each element first"
//! hook    combine(f32 a when OP == 5, f32 b when OP == 5) : f32 = 0  "associative and commutative; its neutral element is the scalar"
//! hook    output(f32 y, s32 i0, s32 i1, s32 i2, s32 i3, s32 i4) : f32 = y  "applied to each result; an index is 0 where the dimension is combined"
//!
//! launch  grid TILES * PARTS  block THREADS
//! work    flops N0 * N1 * N2 * N3 * N4  bytes N0 * N1 * N2 * N3 * N4 * sizeof(T) + E0 * E1 * E2 * E3 * E4 * sizeof(O)
//! reference reduce_reference  grid min(E0 * E1 * E2 * E3 * E4, 65536)  block 256  bits OP != 5 || ITEMS <= 1024 ? 0 : ITEMS <= 65536 ? 10 : 6 "every step of a combination may round"
//!
//! preset  COUNT = 8, ALONG = 256  when sizeof(T) == 2 && R4 == 1 && N4 >= 8 && ITEMS >= 1024
//! preset  COUNT = 4, ALONG = 256  when R4 == 1 && N4 >= 4 && ITEMS >= 1024
//! preset  COUNT = 8, ALONG = 32   when sizeof(T) == 2 && R4 == 1 && N4 >= 8
//! preset  COUNT = 4, ALONG = 32   when R4 == 1 && N4 >= 4
//! preset  COUNT = 8, ALONG = 32   when sizeof(T) == 2 && R4 == 0 && N4 >= 8 && ITEMS >= 512
//! preset  COUNT = 8, ALONG = 8    when sizeof(T) == 2 && R4 == 0 && N4 >= 8
//! preset  COUNT = 4, ALONG = 8    when R4 == 0 && N4 >= 4
//! preset  COUNT = 1, ALONG = 32

#include "device/ptx/cvt.cuh"
#include "device/tile/place.cuh"
#include "device/tile/reduce_operation.cuh"

constexpr bool kCombined[5] = {R0 == 1, R1 == 1, R2 == 1, R3 == 1, R4 == 1};

// What an element contributes, and what a result is of what its elements contributed together.
template <class X> __device__ inline X element(X x, const int (&at)[5], const Hooks& hooks) {
  x = hooks.input(x, at[0], at[1], at[2], at[3], at[4]);
  return OP == 4 ? x * x : x;
}
template <class X> __device__ inline X result(X x, s64 count, const int (&at)[5], const Hooks& hooks) {
  return hooks.output(OP == 1 ? x / static_cast<X>(count) : x, at[0], at[1], at[2], at[3], at[4]);
}
__device__ inline s64 combined_count(const Dims& dims) {
  const int extent[5] = {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4};
  s64 count = 1;
#pragma unroll
  for (int d = 0; d < 5; ++d)
    if (kCombined[d]) count *= extent[d];
  return count;
}

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/grid.cuh"
#include "device/tile/divisor.cuh"

constexpr int kAcross = THREADS / ALONG;  // results, or packs of them, of a block
using Op = Operation<OP, f32, Hooks>;

// Sets the indices of the dimensions that are Combined, or of the others, to those of item or result `index`.
struct Indices {
  Divisor extent[5];

  __device__ explicit Indices(const Dims& dims)
      : extent{Divisor(max(dims.N0, 1)), Divisor(max(dims.N1, 1)), Divisor(max(dims.N2, 1)), Divisor(max(dims.N3, 1)),
               Divisor(max(ceil_div(dims.N4, COUNT), 1))} {}
  template <bool Combined> __device__ void set(Place& place, u32 index) const {
    int outermost = 0;
    while (outermost < 4 && kCombined[outermost] != Combined) ++outermost;
#pragma unroll
    for (int d = 4; d >= 0; --d) {
      if (kCombined[d] != Combined) continue;
      const u32 above = d == outermost ? 0 : extent[d].quotient(index);
      place.at[d] = static_cast<int>(index - above * extent[d].by) * (d == 4 ? COUNT : 1);
      index = above;
    }
  }
};

// Combines items first, first + step, ... below `items` into x, of the results whose indices `place` has.
__device__ inline void combine_items(f32 (&x)[COUNT], const Op& op, const View<const T, 5>& X, const Place& place,
                                     const Indices& indices, s64 first, s64 step, s64 items, const Dims& dims,
                                     const Hooks& hooks) {
  const T* const begin = place.in(X);
  for (s64 turn = first; turn < items; turn += step * UNROLL) {
    Pack<T, COUNT> in[UNROLL];
    Place at[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      at[u] = place;
      indices.set<true>(at[u], static_cast<u32>(min(turn + u * step, items - 1)));
      const T* from = begin;
#pragma unroll
      for (int d = 0; d < 5; ++d)
        if (kCombined[d]) from += at[u].at[d] * X.stride[d];
      in[u] = WHOLE ? load_whole_pack<COUNT>(from) : load_neighbours<COUNT>(from, X.stride[4], dims.N4 - at[u].at[4]);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      if (turn + u * step >= items) continue;
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        if (WHOLE || at[u].at[4] < dims.N4) x[i] = op.combine(x[i], element(to_f32(in[u].x[i]), at[u].at, hooks));
        ++at[u].at[4];
      }
    }
  }
}

// Combines the values of the ALONG threads of each result in the first of them.
__device__ inline void combine_threads(f32 (&x)[VALUES], int across, int along, const Op& op) {
  __shared__ f32 values[VALUES][ALONG][kAcross];
#pragma unroll
  for (int half = ALONG / 2; half > 0; half /= 2) {
    __syncthreads();  // the values of the step before have been read
#pragma unroll
    for (int i = 0; i < VALUES; ++i) values[i][along][across] = x[i];
    __syncthreads();
    if (along >= half) continue;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) x[i] = op.combine(x[i], values[i][along + half][across]);
  }
}

// Combines the values of `parts` blocks, in their order, in the last of them to arrive. Returns false in the others.
__device__ inline bool combine_blocks(f32 (&x)[VALUES], int across, int along, f32* partials, u32* counter, u32 part,
                                      u32 parts, const Op& op) {
  __shared__ bool last;
  if (along == 0) {
#pragma unroll
    for (int i = 0; i < VALUES; ++i) partials[(part * VALUES + i) * kAcross + across] = x[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) last = last_arriver(counter, parts);
  __syncthreads();
  if (!last) return false;
#pragma unroll
  for (f32& value : x) value = op.neutral();
  for (u32 p = along; p < parts; p += ALONG) {
#pragma unroll
    for (int i = 0; i < VALUES; ++i) x[i] = op.combine(x[i], partials[(p * VALUES + i) * kAcross + across]);
  }
  combine_threads(x, across, along, op);
  return true;
}

// Neighbouring threads read neighbouring elements: of one result where the last dimension is combined, of neighbouring
// ones otherwise.
extern "C" __global__ __launch_bounds__(THREADS, 2) void reduce(View<const T, 5> X, View<O, 5> Y, u8* partials,
                                                                u8* counters, f32 neutral, const Dims dims,
                                                                const __grid_constant__ Hooks hooks) {
  const s64 count = combined_count(dims),
            items = R4 == 1 && dims.N4 > 0 ? count / dims.N4 * ceil_div(dims.N4, COUNT) : count;
  const Op op = {hooks, neutral, count};
  const Indices indices(dims);
  s64 kept = R4 == 1 ? 1 : ceil_div(dims.N4, COUNT);
  const int extent[4] = {dims.N0, dims.N1, dims.N2, dims.N3};
#pragma unroll
  for (int d = 0; d < 4; ++d)
    if (!kCombined[d]) kept *= extent[d];
  const u32 tiles = ceil_div<s64>(kept, kAcross), parts = gridDim.x / tiles;
  const u32 tile = blockIdx.x / parts, part = blockIdx.x % parts;
  const int across = R4 == 1 ? threadIdx.x / ALONG : threadIdx.x % kAcross;
  const int along = R4 == 1 ? threadIdx.x % ALONG : threadIdx.x / kAcross;
  const s64 own = s64{tile} * kAcross + across;

  Place place = {};
  f32 each[COUNT], x[VALUES];
#pragma unroll
  for (f32& value : each) value = op.neutral();
  if (own < kept) {
    indices.set<false>(place, static_cast<u32>(own));
    combine_items(each, op, X, place, indices, s64{part} * ALONG + along, s64{parts} * ALONG, items, dims, hooks);
  }
#pragma unroll
  for (int i = 0; i < COUNT; ++i) x[i % VALUES] = i < VALUES ? each[i] : op.combine(x[i % VALUES], each[i]);
  combine_threads(x, across, along, op);
  if (parts > 1) {
    f32* const values = reinterpret_cast<f32*>(partials) + s64{tile} * parts * (VALUES * kAcross);
    if (!combine_blocks(x, across, along, values, reinterpret_cast<u32*>(counters) + tile, part, parts, op)) return;
  }
  if (along > 0 || own >= kept) return;
  Pack<O, VALUES> out;
  Place at = place;
#pragma unroll
  for (int i = 0; i < VALUES; ++i, ++at.at[4]) out.x[i] = from_f32<O>(result(x[i], count, at.at, hooks));
  place.store<VALUES>(Y, out, R4 == 1 ? 1 : dims.N4 - place.at[4]);
}

#else

#include "device/reference/row_reduce.cuh"

// A block for each result.
extern "C" __global__ void reduce_reference(View<const T, 5> X, View<f64, 5> Y, f32 neutral, const Dims dims,
                                            const __grid_constant__ Hooks hooks) {
  const int extent[5] = {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4};
  const s64 count = combined_count(dims);
  const Operation<OP, f64, Hooks> op = {hooks, neutral, count};
  const auto set = [&](Place& place, s64 index, bool combined) {
    for (int d = 4; d >= 0; --d) {
      if (kCombined[d] != combined) continue;
      place.at[d] = static_cast<int>(index % extent[d]);
      index /= extent[d];
    }
  };
  s64 results = 1;
  for (int d = 0; d < 5; ++d)
    if (!kCombined[d]) results *= extent[d];
  for (s64 index = blockIdx.x; index < results; index += gridDim.x) {
    Place own = {};
    set(own, index, false);
    const auto contribution = [&](s64 k) {
      Place place = own;
      set(place, k, true);
      return element(to_f64(*place.in(X)), place.at, hooks);
    };
    const f64 all = row_reduce(count, op.neutral(), contribution, [&](f64 a, f64 b) { return op.combine(a, b); });
    if (threadIdx.x == 0) *own.in(Y) = result(all, count, own.at, hooks);
  }
}

#endif
