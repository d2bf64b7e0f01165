//! kernel  scatter  "D[I[i]] = S[i], rows to their numbers, bit for bit, the last of equal numbers; what is no row's number is left out, other rows keep what they hold"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/scatter.cuh"
//!
//! param   ROWS    = 32   in {8, 32, 256}           "rows of S of a block"
//! param   LANES   = 32   in {8, 32, 256}           "threads that share a row"
//!
//! let     THREADS = 256
//! let     SLOTS   = 4 * ROWS                       "of a block's table of numbers"
//! let     DOWN    = ceil_div(COUNT, ROWS)
//! let     ACROSS  = N == 0 || R == 0 ? 0 : max(1, min(ceil_div(N * sizeof(T), LANES * 16), device.sm_count * 8 / max(DOWN, 1))) "blocks among which rows are divided"
//!
//! launch  grid DOWN * ACROSS  block THREADS
//!
//! preset  NEIGHBOURS = 1, ROWS = 8, LANES = 32     when COUNT <= 4096
//! preset  NEIGHBOURS = 1, ROWS = 32, LANES = 8     when COUNT <= 32768 && N * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, ROWS = 32, LANES = 32    when COUNT <= 32768
//! preset  NEIGHBOURS = 1, ROWS = 256, LANES = 8    when N * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, ROWS = 256, LANES = 32
//! preset  NEIGHBOURS = 0, ROWS = 32, LANES = 32

#include "device/ptx/cvt.cuh"
#include "device/reference/scatter.cuh"
#include "device/tile/copy_row.cuh"

#ifndef TMA_JIT_REFERENCE

// For each row of D to which the block has a row of S: the last row of S that goes there. A slot that is kNone is free.
struct Table {
  static constexpr u32 kNone = 0xffffffff;

  u32 row[SLOTS];
  int last[SLOTS];

  // The slot of a row; where there is none, SLOTS or, with Insert, a new one.
  template <bool Insert> __device__ int find(u32 wanted) {
    for (u32 slot = wanted * 0x9e3779b1u >> 16;; ++slot) {
      u32& at = row[slot % SLOTS];
      const u32 found = Insert ? atomicCAS(&at, kNone, wanted) : at;
      if (found == wanted || (Insert && found == kNone)) return static_cast<int>(slot % SLOTS);
      if (found == kNone) return SLOTS;
    }
  }
};

// A block reads the numbers from its own rows' on, so that it leaves out rows that others overwrite.
extern "C" __global__ __launch_bounds__(THREADS, 1) void scatter(View<const T, 2> S, View<const J, 1> I, View<T, 2> D,
                                                                 const Dims dims) {
  __shared__ Table table;
  __shared__ int rows[ROWS];  // of D, to which the block's rows of S go; -1: none
  const int across = gridDim.x / ceil_div<u32>(dims.COUNT, ROWS);
  const s64 begin = s64{blockIdx.x / across} * ROWS, own = begin + threadIdx.x;
  int slot = SLOTS;
  const int row = threadIdx.x < ROWS ? row_of(I, own, dims) : -1;
  if constexpr (UNIQUE == 0) {
    for (int k = threadIdx.x; k < SLOTS; k += THREADS) table.row[k] = Table::kNone, table.last[k] = -1;
    __syncthreads();
    if (row >= 0) slot = table.find<true>(row);
    __syncthreads();
    for (s64 i = own; i < dims.COUNT; i += THREADS) {
      const int other = row_of(I, i, dims), found = other < 0 ? SLOTS : table.find<false>(other);
      if (found < SLOTS) atomicMax(&table.last[found], static_cast<int>(i));
    }
    __syncthreads();
  }
  if (threadIdx.x < ROWS) rows[threadIdx.x] = slot == SLOTS || table.last[slot] == own ? row : -1;
  __syncthreads();
  const int first = blockIdx.x % across * LANES + threadIdx.x % LANES, step = across * LANES;
  for (int k = threadIdx.x / LANES; k < ROWS; k += THREADS / LANES) {
    if (rows[k] < 0) continue;
    const T* const from = S.data + (begin + k) * S.stride[0];
    T* const to = D.data + rows[k] * D.stride[0];
    if constexpr (NEIGHBOURS == 1)
      copy_long_row<4>(to, from, dims.N, first, step);
    else
      for (s64 n = first; n < dims.N; n += step) to[n * D.stride[1]] = from[n * S.stride[1]];
  }
}

#endif
