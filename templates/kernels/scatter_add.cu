//! kernel  scatter_add "D[r,n] = sum of input(S[i,n]) over the i with I[i] = r, in ascending order of i: the gradient of an embedding; numbers that are no row's are left out"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/scatter_add.cuh"
//!
//! type    O       = f32   in {f32, bf16, f16}      "elements of D"
//!
//! param   ATOMIC  = 0     in {0} asked             "1: by atomic additions, in any order: scatter_add_atomic.cu"
//! param   INTO    = 0     in {0, 1} asked          "0: D is overwritten, rows without a number by zeros; 1: the sums are added to what D holds"
//! param   THREADS = 256   in {128, 256}            "of a block"
//! param   BLOCKS  = 4     in {2, 3, 4, 5, 8}       "of an SM, about"
//! param   LIST    = 4096  in {512, 1024, 2048, 4096}     "numbers that a block sums at a time; D is rounded after each time"
//! param   PIECES  = 2     in {1, 2, 4}             "packs of a row that a thread adds up at a time"
//!
//! let     COUNTED = 16 / sizeof(T)                 "elements of a pack"
//! let     TILE    = LIST / 4                       "numbers that a block reads at a time"
//! let     ACROSS  = max(1, min(ceil_div(N, 32 * COUNTED), 64)) "blocks that share the rows of a range"
//! let     RANGES  = max(1, min(R, max(ceil_div(2 * COUNT, LIST), device.sm_count * BLOCKS / ACROSS))) "ranges of rows of D"
//!
//! require LIST >= 4 * THREADS                      "a thread reads whole numbers"
//!
//! launch  grid R == 0 || N == 0 ? 0 : RANGES, ACROSS  block THREADS
//! work    flops COUNT * N  bytes COUNT * (N * sizeof(T) + sizeof(J)) + (INTO == 1 ? min(R, COUNT) * 2 : R) * N * sizeof(O)
//!
//! preset  THREADS = 256, LIST = 4096

#include "device/ptx/cvt.cuh"
#include "device/reference/scatter_add.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/sort.cuh"
#include "device/tile/pack.cuh"

constexpr int kWarps = THREADS / 32, kPiece = 32 * COUNTED;  // kPiece: columns of a warp at a time
constexpr int kLong = 256;                                   // rows of S above which a row of D is the whole block's

// Numbers in the block's range, each with the row of S it stands at: sorted, those of a row of D are neighbours.
struct Smem {
  u64 list[LIST];
  f32 partial[kWarps][kPiece];
  int size, ticket;
};

// The row of D to which row i of S goes; -1 if none.
__device__ inline int row_of(const View<const J, 1>& I, s64 i, const Dims& dims) {
  const s64 row = i < dims.COUNT ? I.data[i * I.stride[0]] : -1;
  return row >= 0 && row < dims.R ? static_cast<int>(row) : -1;
}

// The sums of the rows of S that the list has from `first` to before `last`, in Pieces pieces of COUNTED columns, the
// first from `column` on, in which a row has `left` elements, the others as many lanes further.
template <int Pieces> struct PieceSums {
  f32 sum[Pieces][COUNTED] = {};

  __device__ void add_rows(const View<const T, 2>& S, const Smem& smem, int first, int last, int column, int left,
                           const Hooks& hooks) {
#pragma unroll(Pieces == 1 ? 8 : 2)
    for (int e = first; e < last; ++e) {
      const int i = static_cast<int>(smem.list[e]);
      Pack<T, COUNTED> x[Pieces];
#pragma unroll
      for (int p = 0; p < Pieces; ++p)
        x[p] = load_pack_anywhere<COUNTED>(S.data + i * S.stride[0] + column + p * kPiece, left - p * kPiece);
#pragma unroll
      for (int p = 0; p < Pieces; ++p)
#pragma unroll
        for (int k = 0; k < COUNTED; ++k) sum[p][k] += hooks.input(to_f32(x[p].x[k]), i, column + p * kPiece + k);
    }
  }
};

// Sums up row `row` of D by a warp, over the list from `first` to before `last`, in every `step`-th column of pieces
// from piece `begin` on.
template <int Pieces>
__device__ inline void sum_by_warp(const View<const T, 2>& S, const View<O, 2>& D, const Smem& smem, int row, int first,
                                   int last, bool into, int begin, int step, const Dims& dims, const Hooks& hooks) {
  const int lane = threadIdx.x % 32;
  for (int column = begin * kPiece + lane * COUNTED; column < dims.N; column += step * kPiece) {
    const int left = dims.N - column;
    O* const to = D.data + row * D.stride[0] + column;
    PieceSums<Pieces> sums;
    if (into) {
#pragma unroll
      for (int p = 0; p < Pieces; ++p) {
        const Pack<O, COUNTED> held = load_pack_anywhere<COUNTED, O>(to + p * kPiece, left - p * kPiece);
#pragma unroll
        for (int k = 0; k < COUNTED; ++k) sums.sum[p][k] = to_f32(held.x[k]);
      }
    }
    sums.add_rows(S, smem, first, last, column, left, hooks);
#pragma unroll
    for (int p = 0; p < Pieces; ++p) {
      Pack<O, COUNTED> out;
#pragma unroll
      for (int k = 0; k < COUNTED; ++k) out.x[k] = from_f32<O>(sums.sum[p][k]);
      store_pack(to + p * kPiece, out, left - p * kPiece);
    }
  }
}

// The same by all warps of the block, each of which adds up a part of the list.
__device__ inline void sum_by_block(const View<const T, 2>& S, const View<O, 2>& D, Smem& smem, int row, int first,
                                    int last, bool into, const Dims& dims, const Hooks& hooks) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, each = ceil_div(last - first, kWarps);
  const int begin = min(first + warp * each, last), end = min(begin + each, last);
  for (int piece = blockIdx.y * kPiece; piece < dims.N; piece += gridDim.y * kPiece) {
    const int column = piece + lane * COUNTED;
    PieceSums<1> sums;
    if (column < dims.N) sums.add_rows(S, smem, begin, end, column, dims.N - column, hooks);
#pragma unroll
    for (int k = 0; k < COUNTED; ++k) smem.partial[warp][lane * COUNTED + k] = sums.sum[0][k];
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

// Lists the numbers in rows `first` to before `last` from the `tile`-th on, until the list might not hold those of the
// next tile, and sorts the list. Returns the tile where it goes on.
__device__ inline s64 list_numbers(Smem& smem, const View<const J, 1>& I, s64 tile, s64 first, s64 last,
                                   const Dims& dims) {
  constexpr int kEach = TILE / THREADS;
  if (threadIdx.x == 0) smem.size = 0, smem.ticket = 0;
  __syncthreads();
  const auto read = [&](int(&rows)[kEach], s64 from) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) rows[k] = row_of(I, from + k * THREADS + threadIdx.x, dims);
  };
  int rows[kEach], next[kEach];
  read(next, tile);
  for (bool full = false; tile < dims.COUNT && !full; tile += TILE) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) rows[k] = next[k];
    read(next, tile + TILE);
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (rows[k] >= first && rows[k] < last)
        smem.list[atomicAdd(&smem.size, 1)] =
            static_cast<u64>(rows[k]) << 32 | static_cast<u32>(tile + k * THREADS + threadIdx.x);
    __syncthreads();
    full = smem.size > LIST - TILE;
    __syncthreads();
  }
  block_sort<THREADS>(smem.list, smem.size);
  return tile;
}

// Block x adds up the rows of D of its range. Those of y list the same numbers: where the list has all of them, each
// takes some of the rows that warps add up; otherwise, and of the rows that blocks add up, each takes some columns, the
// same for every list, so that no block reads what another one wrote.
extern "C" __global__ __launch_bounds__(THREADS) void scatter_add(View<const T, 2> S, View<const J, 1> I, View<O, 2> D,
                                                                  const Dims dims,
                                                                  const __grid_constant__ Hooks hooks) {
  __shared__ Smem smem;
  const int range = ceil_div<int>(dims.R, gridDim.x), lane = threadIdx.x % 32;
  const s64 first = s64{blockIdx.x} * range, last = min(first + range, s64{dims.R});
  bool into = INTO == 1;  // whether D holds a part of the sums
  s64 tile = 0;
  do {
    const bool starts = tile == 0;
    tile = list_numbers(smem, I, tile, first, last, dims);
    const bool all = starts && tile >= dims.COUNT;
    const int warp = threadIdx.x / 32 + (all ? blockIdx.y * kWarps : 0), warps = all ? gridDim.y * kWarps : kWarps;
    const auto end_of = [&](s64 row) { return lower_bound(smem.list, smem.size, static_cast<u64>(row + 1) << 32); };
    const auto sum = [&](s64 row, int begin, int end) {
      if (end - begin > kLong) return;
      if (all)
        sum_by_warp<PIECES>(S, D, smem, row, begin, end, into, 0, PIECES, dims, hooks);
      else
        sum_by_warp<1>(S, D, smem, row, begin, end, into, blockIdx.y, gridDim.y, dims, hooks);
    };
    if (into) {
      for (int e = warp; e < smem.size; e += warps) {
        const s64 row = smem.list[e] >> 32;
        if (e == 0 || smem.list[e - 1] >> 32 != row) sum(row, e, end_of(row));
      }
    } else {
      // The block's rows are first, first + step, ...; a warp takes the next few, of which each lane searches for one.
      const s64 step = all ? gridDim.y : 1, begins = first + (all ? blockIdx.y : 0);
      const int rows = begins < last ? static_cast<int>((last - begins - 1) / step) + 1 : 0;
      const int few = max(min(rows / (4 * kWarps), 32), 1);
      for (;;) {
        int k = lane == 0 ? atomicAdd(&smem.ticket, few) : 0;
        k = __shfl_sync(0xffffffff, k, 0);
        if (k >= rows) break;
        const s64 mine = begins + min(k + lane, rows - 1) * step;
        const int from = end_of(mine - 1), to = end_of(mine);
        for (int i = 0; i < few && k + i < rows; ++i)
          sum(begins + (k + i) * step, __shfl_sync(0xffffffff, from, i), __shfl_sync(0xffffffff, to, i));
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

#endif
