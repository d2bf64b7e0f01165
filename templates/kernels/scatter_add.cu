//! kernel  scatter_add "D[r,n] = sum of input(S[i,n]) over the i with I[i] = r, in ascending order of i: the gradient of an embedding; numbers that are no row's are left out"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of S"
//! type    O       = f32   in {f32, bf16, f16}      "elements of D"
//! type    J       = s32   in {s32, s64}            "elements of I"
//! dim     R, N, COUNT     in 0..2147483647         "rows of D, columns, rows of S"
//!
//! param   INTO    = 0     in {0, 1}                "0: D is overwritten, rows without a number by zeros; 1: the sums are added to what D holds"
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LIST    = 4096  in {512, 2048, 4096}     "numbers that a block sums at a time; D is rounded after each time"
//!
//! let     COUNTED = 16 / sizeof(T)                 "elements of a pack"
//! let     TILE    = LIST / 2                       "numbers that a block reads at a time"
//! let     ACROSS  = max(1, min(ceil_div(N, 128 * COUNTED), 64)) "blocks that share the rows of a range"
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

// Numbers in the block's range, each with the row of S it stands at: sorted, those of a row of D are neighbours.
struct Smem {
  u64 list[LIST];
  int size;
};

// The row of D to which row i of S goes; -1 if none.
__device__ inline int row_of(const View<const J, 1>& I, s64 i, const Dims& dims) {
  const s64 row = i < dims.COUNT ? I.data[i * I.stride[0]] : -1;
  return row >= 0 && row < dims.R ? static_cast<int>(row) : -1;
}

// Called by the lanes of a warp, each of which adds up packs of row `row` of D over the list from `entry` on.
__device__ inline void add_row(const View<const T, 2>& S, const View<O, 2>& D, const Smem& smem, int row, int entry,
                               bool into, const Dims& dims, const Hooks& hooks) {
  int end = entry;
  while (end < smem.size && smem.list[end] >> 32 == row) ++end;
  const int step = 32 * gridDim.y * COUNTED;
  for (int column = (blockIdx.y * 32 + threadIdx.x % 32) * COUNTED; column < dims.N; column += step) {
    const int left = dims.N - column;
    O* const to = D.data + row * D.stride[0] + column;
    f32 sum[COUNTED] = {};
    if (into) {
      const Pack<O, COUNTED> held = load_pack_anywhere<COUNTED, O>(to, left);
#pragma unroll
      for (int k = 0; k < COUNTED; ++k) sum[k] = to_f32(held.x[k]);
    }
#pragma unroll 4
    for (int e = entry; e < end; ++e) {
      const int i = static_cast<int>(smem.list[e]);
      const Pack<T, COUNTED> x = load_pack_anywhere<COUNTED>(S.data + i * S.stride[0] + column, left);
#pragma unroll
      for (int k = 0; k < COUNTED; ++k) sum[k] += hooks.input(to_f32(x.x[k]), i, column + k);
    }
    Pack<O, COUNTED> out;
#pragma unroll
    for (int k = 0; k < COUNTED; ++k) out.x[k] = from_f32<O>(sum[k]);
    store_pack(to, out, left);
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
        if (row >= first && row < last) smem.list[atomicAdd(&smem.size, 1)] = u64(row) << 32 | u64(tile + k);
      }
      tile += TILE;
      __syncthreads();
      const bool full = smem.size > LIST - TILE;
      __syncthreads();
      if (full) break;
    }
    block_sort<THREADS>(smem.list, smem.size);
    if (into) {
      for (int e = warp; e < smem.size; e += THREADS / 32) {
        const int row = static_cast<int>(smem.list[e] >> 32);
        if (e == 0 || smem.list[e - 1] >> 32 != row) add_row(S, D, smem, row, e, true, dims, hooks);
      }
    } else {
      for (s64 row = first + warp; row < last; row += THREADS / 32)
        add_row(S, D, smem, row, lower_bound(smem.list, smem.size, u64(row) << 32), false, dims, hooks);
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
