//! kernel  top_k    "V[m,i] = X[m,I[m,i]], I[m,:] = the columns of the K greatest key(X[m,n]), the greatest first, equal ones by column; NaN is the greatest"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32   in {f32, bf16, f16}      "elements of X and V"
//! type    J       = s64   in {s64, s32}            "elements of I"
//! dim     M, N            in 0..2147483647
//! dim     K               in 0..64
//!
//! param   VALUES  = 1     in {0, 1}                "1: there is a V"
//! param   THREADS = 256   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 256   in {32, 128, 256, 512, 1024} "threads that share a row: a warp, or the block"
//! param   KEEP    = 64    in {16, 32, 64, 128}     "room for results: with more than are wanted fewer rounds find a threshold"
//! param   UNROLL  = 4     in {1, 2, 4, 8}          "reads of 16 bytes that a thread has in flight"
//! param   BLOCKS  = 4     in {1, 2, 3, 4, 6, 8}    "blocks of an SM, among which few rows are divided"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     MERGED  = 4                              "results of other blocks that a thread takes at once"
//! let     EACH    = max(UNROLL * COUNT, MERGED)
//! let     ROOM    = KEEP * (EACH + 1)              "for keys of a row: those kept, and candidates"
//! let     SMEM    = ROWS * 8 * (ROOM + KEEP * ceil_div(ROOM, LANES) + 1)
//! let     PARTS   = LANES < THREADS ? 1 : max(1, min(min(128, ceil_div(N, THREADS * UNROLL * COUNT)), device.sm_count * BLOCKS / max(M, 1))) "blocks of a row"
//! let     DOWN    = ceil_div(M, ROWS)
//! let     PLANES  = max(ceil_div(DOWN, 65535), 1)  "of a grid, which is that high at most"
//!
//! require K <= KEEP                                "the results must fit"
//! require 2 * KEEP <= LANES                        "a round over more keys than threads leaves fewer"
//! require LANES == 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require UNROLL * COUNT <= 32                     "a thread's elements are bits of a word"
//! require BLOCKS * THREADS <= device.threads_per_sm "the blocks of an SM share its threads"
//! require SMEM <= 49152                            "what its rows select from must fit in a block's static shared memory"
//! require M == 0 || K <= N                         "a row has as many elements as are wanted of it"
//! require M == 0 || N <= 1 || stride(X, 1) == 1    "elements of a row of X are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  V : T[M, K]  out  when VALUES == 1
//! tensor  I : J[M, K]  out
//! workspace partials PARTS == 1 ? 0 : M * PARTS * K * 8 "the results of each block of a row"
//! workspace counters PARTS == 1 ? 0 : M * 4  zero   "blocks of a row that have come"
//!
//! hook    key(f32 x, s32 row, s32 column) : f32 = x  "what elements are compared by: key = -x finds the least"
//!
//! launch  grid K == 0 ? 0 : PARTS, ceil_div(DOWN, PLANES), PLANES  block THREADS
//! work    flops M * N  bytes M * (N * sizeof(T) + K * (VALUES * sizeof(T) + sizeof(J)))
//! reference top_k_reference  grid min(M, 65536)  block 256
//!
//! preset  THREADS = 128, LANES = 32, KEEP = 16, UNROLL = 1, BLOCKS = 8  when K <= 16 && N <= 256 && sizeof(T) == 2
//! preset  THREADS = 128, LANES = 32, KEEP = 16, UNROLL = 2, BLOCKS = 8  when K <= 16 && N <= 1024
//! preset  THREADS = 128, LANES = 128, KEEP = 64, UNROLL = 4, BLOCKS = 8  when N <= 2048
//! preset  THREADS = 512, LANES = 512, KEEP = 128, UNROLL = 8, BLOCKS = 2  when device.compute_capability >= 90 && N > 65536 && sizeof(T) == 4
//! preset  THREADS = 512, LANES = 512, KEEP = 128, UNROLL = 4, BLOCKS = 2  when N > 65536
//! preset  THREADS = 256, LANES = 256, KEEP = 64, UNROLL = 8, BLOCKS = 4  when device.compute_capability >= 90 && sizeof(T) == 4
//! preset  THREADS = 256, LANES = 256, KEEP = 64, UNROLL = 4, BLOCKS = 4

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/grid.cuh"
#include "device/reduce/row_numbers.cuh"
#include "device/reduce/select.cuh"

using Best = Selection<LANES, KEEP, EACH>;

// MERGED of `count` keys in global memory, from index `first` + threadIdx.x on.
struct Others {
  u64 keys[MERGED];
  __device__ Others(const u64* from, u32 first, u32 count) {
#pragma unroll
    for (int i = 0; i < MERGED; ++i) {
      const u32 at = first + i * THREADS + threadIdx.x;
      keys[i] = at < count ? from[at] : 0;
    }
  }
  template <class F> __device__ void each(F f) const {
#pragma unroll
    for (const u64 key : keys) f(key);
  }
};

// Replaces a block's results by those of the whole row in the last of its blocks to arrive. Returns false in the
// others.
__device__ inline bool merge(Best& best, int kept, int count, u64* keys, u32* counter, u32 part, u32 parts) {
  __shared__ bool last;
  if (threadIdx.x < count) keys[part * count + threadIdx.x] = threadIdx.x < kept ? best[threadIdx.x] : 0;
  __syncthreads();
  if (threadIdx.x == 0) last = last_arriver(counter, parts);
  __syncthreads();
  if (!last) return false;
  kept = 0;
#pragma unroll 1
  for (u32 first = 0; first < parts * count; first += MERGED * THREADS)
    kept = best.take(Others(keys, first, parts * count), kept, count);
  return true;
}

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void top_k(View<const T, 2> X, View<T, 2> V, View<J, 2> I,
                                                                    u8* partials, u8* counters, const Dims dims,
                                                                    const __grid_constant__ Hooks hooks) {
  __shared__ Best of_row[ROWS];
  Best& best = of_row[threadIdx.x / LANES];
  const int lane = threadIdx.x % LANES;
  const u32 parts = gridDim.x, part = blockIdx.x;
  const u32 m = (blockIdx.z * gridDim.y + blockIdx.y) * ROWS + threadIdx.x / LANES;
  if (m >= static_cast<u32>(dims.M)) return;
  const AlignedRow<T> row(X.data + m * X.stride[0], dims.N);
  const auto key = [&](f32 x, int column) { return hooks.key(x, static_cast<int>(m), column); };
  int kept = 0;
#pragma unroll 1
  for (u32 tile = part * (LANES * UNROLL); tile < row.packs; tile += parts * (LANES * UNROLL))
    kept = best.take_numbers(RowNumbers<T, LANES, UNROLL, decltype(key)>(row, dims.N, tile + lane, key), kept, dims.K);
  if constexpr (LANES == THREADS) {
    if (parts > 1) {
      u64* const keys = reinterpret_cast<u64*>(partials) + s64{m} * parts * dims.K;
      if (!merge(best, kept, dims.K, keys, reinterpret_cast<u32*>(counters) + m, part, parts)) return;
    }
  }
#pragma unroll 1
  for (int i = lane; i < dims.K; i += LANES) {
    const u32 column = index_of_pair(best[i]);
    I.data[m * I.stride[0] + i * I.stride[1]] = column;
    if constexpr (VALUES) V.data[m * V.stride[0] + i * V.stride[1]] = X.data[m * X.stride[0] + column];
  }
}

#else

#include "device/reference/row_reduce.cuh"

// One block per row: each result is the first of the greatest elements behind the result before.
extern "C" __global__ void top_k_reference(View<const T, 2> X, View<f64, 2> V, View<f64, 2> I, const Dims dims,
                                           const __grid_constant__ Hooks hooks) {
  const f64 infinity = __longlong_as_double(0x7ff0000000000000LL);
  for (s64 m = blockIdx.x; m < dims.M; m += gridDim.x) {
    const auto element = [&](s64 n) { return to_f64(X.data[m * X.stride[0] + n * X.stride[1]]); };
    // Numbers, and infinity for NaN.
    const auto key = [&](s64 n) {
      const f64 x = hooks.key(element(n), m, n);
      return x != x ? infinity : fmax(fmin(x, 1e308), -1e308);
    };
    f64 most = infinity, column = -1;
    for (int i = 0; i < dims.K; ++i) {
      const auto left = [&](s64 n) { return key(n) < most || (key(n) == most && n > column); };
      const f64 next = row_reduce(
          dims.N, -infinity, [&](s64 n) { return left(n) ? key(n) : -infinity; },
          [](f64 a, f64 b) { return fmax(a, b); });
      const f64 where = row_reduce(
          dims.N, infinity, [&](s64 n) { return left(n) && key(n) == next ? n : infinity; },
          [](f64 a, f64 b) { return fmin(a, b); });
      most = next, column = where;
      if (threadIdx.x > 0) continue;
      I.data[m * I.stride[0] + i * I.stride[1]] = column;
      if (VALUES) V.data[m * V.stride[0] + i * V.stride[1]] = element(static_cast<s64>(column));
    }
  }
}

#endif
