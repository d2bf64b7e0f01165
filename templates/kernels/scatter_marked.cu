//! kernel  scatter  "D[I[i]] = S[i], rows to their numbers, bit for bit, the last of equal numbers; each of many rows first marks where it goes"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/scatter.cuh"
//!
//! param   ROWS    = 32   in {8, 32, 128}           "rows of S of a block"
//! param   LANES   = 32   in {8, 32, 256}           "threads that share a row"
//!
//! let     THREADS = 256
//! let     MARKED  = 2048                           "numbers that a block marks"
//! let     MARKERS = ceil_div(COUNT, MARKED)
//!
//! require UNIQUE == 0 && COUNT > 4096              "few rows search for equal numbers, and unique ones need not: scatter.cu"
//! require R <= 67108864                            "a mark is 4 bytes a row of D"
//!
//! workspace marks    R * 4  zero                   "of each row of D, the row of S that goes there, counted from 1"
//! workspace counters 12  zero                      "blocks that have begun, that have marked, and that have read marks"
//!
//! launch  grid N == 0 || R == 0 ? 0 : MARKERS + ceil_div(COUNT, ROWS)  block THREADS
//!
//! preset  NEIGHBOURS = 1, ROWS = 128, LANES = 8    when N * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, ROWS = 32, LANES = 32    when N * sizeof(T) <= 8192
//! preset  NEIGHBOURS = 1, ROWS = 8, LANES = 256
//! preset  NEIGHBOURS = 0, ROWS = 32, LANES = 32

#include "device/ptx/acq_rel.cuh"
#include "device/reference/scatter.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/ptx/relaxed.cuh"
#include "device/tile/copy_row.cuh"

struct Counters {
  u32 begun, marked, read;
};

// The first blocks to begin mark, for each row of D, the last row of S that goes there. The others wait for them, copy
// the rows that are marked, and clear their marks: other rows of S that go to the same one find another mark, or none.
extern "C" __global__ __launch_bounds__(THREADS, 4) void scatter(View<const T, 2> S, View<const J, 1> I, View<T, 2> D,
                                                                 u8* marks, u8* counters, const Dims dims) {
  __shared__ u32 number;
  __shared__ int rows[ROWS];  // of D, to which the block's rows of S go; -1: none
  u32* const mark = reinterpret_cast<u32*>(marks);
  Counters& counted = *reinterpret_cast<Counters*>(counters);
  const u32 markers = ceil_div<u32>(dims.COUNT, MARKED);
  if (threadIdx.x == 0) number = atomicInc(&counted.begun, gridDim.x - 1);
  __syncthreads();
  if (number < markers) {
    for (int k = threadIdx.x; k < MARKED; k += THREADS) {
      const s64 i = s64{number} * MARKED + k;
      const int row = row_of(I, i, dims);
      if (row >= 0) atomicMax(&mark[row], static_cast<u32>(i) + 1);
    }
    fence::acq_rel_gpu();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&counted.marked, 1);
    return;
  }
  const s64 begin = s64{number - markers} * ROWS;
  if (threadIdx.x == 0) {
    while (relaxed::load(&counted.marked) != markers) __nanosleep(40);
    fence::acq_rel_gpu();
    if (atomicInc(&counted.read, gridDim.x - markers - 1) == gridDim.x - markers - 1)
      relaxed::store(&counted.marked, 0);
  }
  __syncthreads();
  if (threadIdx.x < ROWS) {
    const s64 own = begin + threadIdx.x;
    int row = row_of(I, own, dims);
    if (row >= 0 && relaxed::load(&mark[row]) != static_cast<u32>(own) + 1) row = -1;
    if (row >= 0) relaxed::store(&mark[row], 0);
    rows[threadIdx.x] = row;
  }
  __syncthreads();
  const int first = threadIdx.x % LANES;
  for (int k = threadIdx.x / LANES; k < ROWS; k += THREADS / LANES) {
    if (rows[k] < 0) continue;
    const T* const from = S.data + (begin + k) * S.stride[0];
    T* const to = D.data + rows[k] * D.stride[0];
    if constexpr (NEIGHBOURS == 1)
      copy_long_row<4>(to, from, dims.N, first, LANES);
    else
      for (s64 n = first; n < dims.N; n += LANES) to[n * D.stride[1]] = from[n * S.stride[1]];
  }
}

#endif
