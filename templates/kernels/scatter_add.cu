//! kernel  scatter_add "D[r,n] = sum of input(S[i,n]) over the i with I[i] = r, in ascending order of i: the gradient of an embedding; numbers that are no row's are left out"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of S"
//! type    O       = f32   in {f32, bf16, f16}      "elements of D"
//! type    J       = s32   in {s32, s64}            "elements of I"
//! dim     R, N, COUNT     in 0..2147483647         "rows of D, columns, rows of S"
//!
//! param   INTO    = 0     in {0, 1}                "0: D is overwritten, rows without a number by zeros; 1: the sums are added to what D holds"
//! param   THREADS = 256   in {128, 256}            "of a block"
//! param   LIST    = 4096  in {512, 2048, 4096}     "numbers that a block sums at a time; D is rounded after each time"
//!
//! let     COUNTED = 16 / sizeof(T)                 "elements of a pack"
//! let     TILE    = LIST / 2                       "numbers that a block reads at a time"
//! let     ACROSS  = max(1, min(ceil_div(N, 32 * COUNTED), 64)) "blocks that share the rows of a range"
//! let     RANGES  = max(1, min(R, max(ceil_div(2 * COUNT, LIST), device.sm_count * 8 / ACROSS))) "ranges of rows of D"
//!
//! require LIST >= 2 * THREADS                      "a thread reads whole numbers"
//! require N <= 1 || stride(S, 1) == 1              "elements of a row of S are neighbours"
//! require N <= 1 || stride(D, 1) == 1              "elements of a row of D are neighbours"
//!
//! tensor  S : T[COUNT, N]
//! tensor  I : J[COUNT]
//! tensor  D : O[R, N]  out
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element of S first"
//!
//! launch  grid R == 0 || N == 0 ? 0 : RANGES, ACROSS  block THREADS
//! work    flops COUNT * N  bytes COUNT * (N * sizeof(T) + sizeof(J)) + (INTO == 1 ? min(R, COUNT) * 2 : R) * N * sizeof(O)
//! reference scatter_add_reference  grid min(R, 65536)  block 256
//!
//! preset  THREADS = 256, LIST = 4096

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/sort.cuh"
#include "device/tile/pack.cuh"

constexpr int kWarps = THREADS / 32, kPiece = 32 * COUNTED;  // kPiece: columns of a warp at a time
constexpr int kLong = 256;                                   // rows of S above which a row of D is the whole block's

// Numbers in the block's range, each with the row of S it stands at: sorted, those of a row of D are neighbours.
struct Smem {
  u64 list[LIST];
  f32 partial[kWarps][kPiece];
  int size;
};

// The row of D to which row i of S goes; -1 if none.
__device__ inline int row_of(const View<const J, 1>& I, s64 i, const Dims& dims) {
  const s64 row = i < dims.COUNT ? I.data[i * I.stride[0]] : -1;
  return row >= 0 && row < dims.R ? static_cast<int>(row) : -1;
}

// Adds the rows of S that the list has from `first` to before `last` to `sum`, in `left` columns from `column` on.
__device__ inline void add_rows(const View<const T, 2>& S, const Smem& smem, int first, int last, int column, int left,
                                const Hooks& hooks, f32 (&sum)[COUNTED]) {
#pragma unroll 8
  for (int e = first; e < last; ++e) {
    const int i = static_cast<int>(smem.list[e]);
    const Pack<T, COUNTED> x = load_pack_anywhere<COUNTED>(S.data + i * S.stride[0] + column, left);
#pragma unroll
    for (int k = 0; k < COUNTED; ++k) sum[k] += hooks.input(to_f32(x.x[k]), i, column + k);
  }
}

// Sums up row `row` of D by a warp, over the list from `first` to before `last`.
__device__ inline void sum_by_warp(const View<const T, 2>& S, const View<O, 2>& D, const Smem& smem, int row, int first,
                                   int last, bool into, const Dims& dims, const Hooks& hooks) {
  const int lane = threadIdx.x % 32;
  for (int column = blockIdx.y * kPiece + lane * COUNTED; column < dims.N; column += gridDim.y * kPiece) {
    const int left = dims.N - column;
    O* const to = D.data + row * D.stride[0] + column;
    f32 sum[COUNTED] = {};
    if (into) {
      const Pack<O, COUNTED> held = load_pack_anywhere<COUNTED, O>(to, left);
#pragma unroll
      for (int k = 0; k < COUNTED; ++k) sum[k] = to_f32(held.x[k]);
    }
    add_rows(S, smem, first, last, column, left, hooks, sum);
    Pack<O, COUNTED> out;
#pragma unroll
    for (int k = 0; k < COUNTED; ++k) out.x[k] = from_f32<O>(sum[k]);
    store_pack(to, out, left);
  }
}

// The same by all warps of the block, each of which adds up a part of the list.
__device__ inline void sum_by_block(const View<const T, 2>& S, const View<O, 2>& D, Smem& smem, int row, int first,
                                    int last, bool into, const Dims& dims, const Hooks& hooks) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, each = ceil_div(last - first, kWarps);
  const int begin = min(first + warp * each, last), end = min(begin + each, last);
  for (int piece = blockIdx.y * kPiece; piece < dims.N; piece += gridDim.y * kPiece) {
    const int column = piece + lane * COUNTED;
    f32 sum[COUNTED] = {};
    if (column < dims.N) add_rows(S, smem, begin, end, column, dims.N - column, hooks, sum);
#pragma unroll
    for (int k = 0; k < COUNTED; ++k) smem.partial[warp][lane * COUNTED + k] = sum[k];
    __syncthreads();
    for (int k = threadIdx.x; k < min(kPiece, dims.N - piece); k += THREADS) {
      O& to = D.data[row * D.stride[0] + piece + k];
      f32 all = into ? to_f32(to) : 0.0F;
      for (const auto& part : smem.partial) all += part[k];
      to = from_f32<O>(all);
    }
    __syncthreads();
  }
}

// Block x adds up the rows of D of its range, those of y equal blocks interleaved columns. It reads all numbers, and
// lists those in its range until the list might not hold the next tile's.
extern "C" __global__ __launch_bounds__(THREADS) void scatter_add(View<const T, 2> S, View<const J, 1> I, View<O, 2> D,
                                                                  const Dims dims,
                                                                  const __grid_constant__ Hooks hooks) {
  __shared__ Smem smem;
  const int range = ceil_div<int>(dims.R, gridDim.x), warp = threadIdx.x / 32;
  const s64 first = s64{blockIdx.x} * range, last = min(first + range, s64{dims.R});
  bool into = INTO == 1;  // whether D holds a part of the sums
  s64 tile = 0;
  do {
    if (threadIdx.x == 0) smem.size = 0;
    __syncthreads();
    while (tile < dims.COUNT) {
#pragma unroll 4
      for (int k = threadIdx.x; k < TILE; k += THREADS) {
        const s64 row = row_of(I, tile + k, dims);
        if (row >= first && row < last)
          smem.list[atomicAdd(&smem.size, 1)] = static_cast<u64>(row) << 32 | static_cast<u32>(tile + k);
      }
      tile += TILE;
      __syncthreads();
      const bool full = smem.size > LIST - TILE;
      __syncthreads();
      if (full) break;
    }
    block_sort<THREADS>(smem.list, smem.size);
    const auto end_of = [&](s64 row) { return lower_bound(smem.list, smem.size, static_cast<u64>(row + 1) << 32); };
    if (into) {
      for (int e = warp; e < smem.size; e += kWarps) {
        const s64 row = smem.list[e] >> 32;
        if (e > 0 && smem.list[e - 1] >> 32 == row) continue;
        if (end_of(row) - e <= kLong) sum_by_warp(S, D, smem, row, e, end_of(row), true, dims, hooks);
      }
    } else {
      for (s64 row = first + warp; row < last; row += kWarps) {
        const int begin = end_of(row - 1), end = end_of(row);
        if (end - begin <= kLong) sum_by_warp(S, D, smem, row, begin, end, false, dims, hooks);
      }
    }
    for (int e = 0; e < smem.size; e += kLong) {  // a long row is done at the first of these entries that it has
      const s64 row = smem.list[e] >> 32;
      const int begin = end_of(row - 1), end = end_of(row);
      if (end - begin > kLong && e - kLong < begin) sum_by_block(S, D, smem, row, begin, end, into, dims, hooks);
    }
    into = true;
    __syncthreads();
  } while (tile < dims.COUNT);
}

#else

// One block per row of D.
extern "C" __global__ void scatter_add_reference(View<const T, 2> S, View<const J, 1> I, View<f64, 2> D,
                                                 const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.R; row += gridDim.x) {
    for (s64 n = threadIdx.x; n < dims.N; n += blockDim.x) {
      f64& to = D.data[row * D.stride[0] + n * D.stride[1]];
      f64 sum = INTO == 1 ? to : 0.0;
      for (s64 i = 0; i < dims.COUNT; ++i)
        if (I.data[i * I.stride[0]] == row) sum += hooks.input(to_f64(S.data[i * S.stride[0] + n * S.stride[1]]), i, n);
      to = sum;
    }
  }
}

#endif
