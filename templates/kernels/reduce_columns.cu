//! kernel  reduce   "Y[m,n] = output(combination over k of input(X[m,k,n])): a sum, mean, maximum, minimum or one of yours; elements of a row of X go to different results"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     M, N            in 0..2147483647
//! use     "device/reference/reduce.cuh"
//!
//! param   VEC     = 16    in {16, 8, 4, 2}         "bytes of X that a thread reads at once: rows begin at multiples"
//! param   ALONG   = 8     in {1, 2, 4, 8, 16, 32, 64, 128, 256} "threads of a block that share a result"
//! param   UNROLL  = 4     in {1, 2, 4, 8}          "reads that a thread has in flight"
//! param   BLOCKS  = 4     in {1, 2, 3, 4, 6, 8, 12, 16} "blocks of an SM among which few results are divided"
//!
//! let     COUNT   = VEC / sizeof(T)                "elements of a pack"
//! let     ACROSS  = THREADS / ALONG                "packs of results of a block"
//! let     WIDTH   = ceil_div(N, COUNT)             "packs of a row"
//! let     TILES   = ceil_div(M * WIDTH, ACROSS)
//! let     PARTS   = max(1, min(ceil_div(K, ALONG * UNROLL), device.sm_count * BLOCKS / max(TILES, 1))) "blocks that share results"
//!
//! require VEC >= sizeof(T)                         "a thread reads whole elements"
//! require ALONG <= THREADS                         "threads of a block share a result"
//! require BLOCKS * THREADS <= 2048                 "an SM has at most 2048 threads"
//! require M == 0 || N == 0 || (alignment(X) >= VEC && (K <= 1 || stride(X, 1) * sizeof(T) % VEC == 0) && (M <= 1 || stride(X, 0) * sizeof(T) % VEC == 0)) "rows of X are read in packs"
//! require N != 1 || (K > 1 && stride(X, 1) != 1)   "rows of neighbours are for reduce_rows"
//! require N <= 1 || (stride(X, 2) == 1 && stride(Y, 1) == 1) "elements of a row of X and of Y are neighbours"
//!
//! workspace partials PARTS == 1 ? 0 : TILES * PARTS * ACROSS * COUNT * 4 "what the blocks that share results have combined"
//! workspace counters PARTS == 1 ? 0 : TILES * 4  zero "blocks of a tile that have come"
//!
//! launch  grid TILES * PARTS  block THREADS
//!
//! preset  VEC = 16, ALONG = 256  when WIDTH <= 1 && K >= 1024
//! preset  VEC = 16, ALONG = 128  when WIDTH <= 2 && K >= 512
//! preset  VEC = 16, ALONG = 64   when WIDTH <= 4 && K >= 256
//! preset  VEC = 16, ALONG = 32   when WIDTH <= 8 && K >= 128
//! preset  VEC = 16, ALONG = 16   when WIDTH <= 16 && K >= 64
//! preset  VEC = 16, ALONG = 8    when K >= 32
//! preset  VEC = 16, ALONG = 1
//! preset  VEC = 8, ALONG = 64    when WIDTH <= 4 && K >= 256
//! preset  VEC = 8, ALONG = 8     when K >= 32
//! preset  VEC = 8, ALONG = 1
//! preset  VEC = 4, ALONG = 64, UNROLL = 8  when WIDTH <= 4 && K >= 512
//! preset  VEC = 4, ALONG = 8, UNROLL = 8   when K >= 64
//! preset  VEC = 4, ALONG = 1, UNROLL = 8
//! preset  VEC = 2, ALONG = 64, UNROLL = 8  when WIDTH <= 4 && K >= 512
//! preset  VEC = 2, ALONG = 8, UNROLL = 8   when K >= 64
//! preset  VEC = 2, ALONG = 1, UNROLL = 8

#include "device/ptx/cvt.cuh"
#include "device/tile/reduce_operation.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/grid.cuh"
#include "device/tile/pack.cuh"

using Op = Operation<OP, f32, Hooks>;

// A thread's values for a pack of results: the first of them is Y[m,n].
struct Column {
  s64 m;
  int n, left;  // results of the row from n on; 0 where there is no pack
  f32 x[COUNT];

  // Pack `item` of the results; f(i) sets value i.
  __device__ Column(const Dims& dims, s64 item) {
    const int width = ceil_div(dims.N, COUNT);
    m = item / width;
    n = item % width * COUNT;
    left = m < dims.M ? dims.N - n : 0;
  }
  template <class F> __device__ void set(F f) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) x[i] = f(i);
  }
};

// Combines rows k = first + n * step + u * ALONG of X, u < UNROLL.
__device__ inline void combine_rows(Column& column, const Op& op, const View<const T, 3>& X, s64 first, s64 step,
                                    s64 rows) {
  const T* at = X.data + column.m * X.stride[0] + column.n + first * X.stride[1];
  const s64 apart = ALONG * X.stride[1], next = step * X.stride[1];
  const auto add = [&](const Pack<T, COUNT>& in, s64 k) {
    column.set([&](int i) { return op.combine(column.x[i], op.element(to_f32(in.x[i]), column.m, k, column.n + i)); });
  };
  s64 k = first;
  if (column.left >= COUNT) {
    for (; k + (UNROLL - 1) * ALONG < rows; k += step, at += next) {
      Pack<T, COUNT> in[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) in[u] = load_whole_pack<COUNT>(at + u * apart);
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) add(in[u], k + u * ALONG);
    }
  }
  if (column.left <= 0) return;
  for (; k < rows; k += step, at += next) {
#pragma unroll 1
    for (int u = 0; u < UNROLL && k + u * ALONG < rows; ++u)
      add(load_pack<COUNT>(at + u * apart, column.left), k + u * ALONG);
  }
}

// Combines the values of the ALONG threads of each pack in the first of them.
__device__ inline void combine_threads(Column& column, const Op& op) {
  __shared__ f32 values[COUNT][THREADS];
#pragma unroll
  for (int half = ALONG / 2; half > 0; half /= 2) {
    __syncthreads();  // the values of the step before have been read
#pragma unroll
    for (int i = 0; i < COUNT; ++i) values[i][threadIdx.x] = column.x[i];
    __syncthreads();
    if (threadIdx.x < half * ACROSS)
      column.set([&](int i) { return op.combine(column.x[i], values[i][threadIdx.x + half * ACROSS]); });
  }
}

// Combines the values of `parts` blocks, in their order, in the last of them to arrive. Returns false in the others.
__device__ inline bool combine_blocks(Column& column, const Op& op, f32* partials, u32* counter, u32 part, u32 parts) {
  __shared__ bool last;
  const int across = threadIdx.x % ACROSS, along = threadIdx.x / ACROSS;
  if (along == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) partials[(part * COUNT + i) * ACROSS + across] = column.x[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) last = last_arriver(counter, parts);
  __syncthreads();
  if (!last) return false;
  column.set([&](int) { return op.neutral(); });
  for (u32 p = along; p < parts; p += ALONG)
    column.set([&](int i) { return op.combine(column.x[i], partials[(p * COUNT + i) * ACROSS + across]); });
  combine_threads(column, op);
  return true;
}

// Blocks for which an SM has registers.
constexpr int kResident = __CUDA_ARCH__ >= 1000 && VEC == 16 && sizeof(T) == 4 ? (BLOCKS + 1) / 2 : BLOCKS;

extern "C" __global__ __launch_bounds__(THREADS, kResident) void reduce(View<const T, 3> X, View<O, 2> Y, u8* partials,
                                                                        u8* counters, f32 neutral, const Dims dims,
                                                                        const __grid_constant__ Hooks hooks) {
  const Op op = {hooks, neutral, dims.K};
  const u32 tiles = ceil_div<s64>(s64{dims.M} * ceil_div(dims.N, COUNT), ACROSS), parts = gridDim.x / tiles;
  const u32 tile = blockIdx.x / parts, part = blockIdx.x % parts;
  const int across = threadIdx.x % ACROSS, along = threadIdx.x / ACROSS;
  Column column(dims, s64{tile} * ACROSS + across);
  column.set([&](int) { return op.neutral(); });
  combine_rows(column, op, X, s64{part} * (UNROLL * ALONG) + along, s64{parts} * (UNROLL * ALONG), dims.K);
  combine_threads(column, op);
  if (parts > 1) {
    f32* const values = reinterpret_cast<f32*>(partials) + s64{tile} * parts * (COUNT * ACROSS);
    if (!combine_blocks(column, op, values, reinterpret_cast<u32*>(counters) + tile, part, parts)) return;
  }
  if (along > 0 || column.left <= 0) return;
  Pack<O, COUNT> out;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) out.x[i] = from_f32<O>(op.result(column.x[i], column.m, column.n + i));
  store_pack(Y.data + column.m * Y.stride[0] + column.n, out, column.left);
}

#else

#include "device/reference/reduce.cuh"

#endif
