//! kernel  softmax  "D[i,j] = exp(x[i,j]) / sum over j of exp(x[i,j]), x = score(S[i,j])"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32   in {f32, bf16, f16}      "elements of S"
//! type    O       = f32   in {f32, bf16, f16}      "elements of D"
//! dim     M, N            in 0..2147483647
//!
//! param   VEC     = 16    in {16, 8, 4, 2}         "bytes of S that a thread reads at once: rows begin at multiples"
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {32, 128, 256, 512, 1024} "threads of a block that share a row: a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread: a row is kept in registers"
//!
//! let     COUNT   = VEC / sizeof(T)                "elements of a pack"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold"
//!
//! require VEC >= sizeof(T)                         "a thread reads whole elements"
//! require LANES == 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require N <= HELD                                "a row must fit into its threads' registers"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//! require alignment(S) >= VEC && stride(S, 0) * sizeof(T) % VEC == 0 && stride(S, 1) == 1 "rows of S are read in packs"
//! require stride(D, 1) == 1                         "elements of a row of D are neighbours"
//!
//! tensor  S : T[M, N]
//! tensor  D : O[M, N]  out
//!
//! hook    score(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(M, ROWS) * CLUSTER  block THREADS
//! work    flops 5 * M * N  bytes M * N * (sizeof(T) + sizeof(O))
//! reference softmax_reference  grid min(M, 65536)  block 256
//!
//! preset  VEC = 16, LANES = 32, THREADS = 128, PACKS = 4
//! preset  VEC = 16, LANES = 128, THREADS = 128, PACKS = 4
//! preset  VEC = 16, LANES = 512, THREADS = 512, PACKS = 4
//! preset  VEC = 16, LANES = 1024, THREADS = 1024, PACKS = 4
//! preset  VEC = 16, LANES = 512, THREADS = 512, CLUSTER = 4, PACKS = 8  when device.cluster_max >= 4
//! preset  VEC = 16, LANES = 1024, THREADS = 1024, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  VEC = 4, LANES = 128, THREADS = 128, PACKS = 8
//! preset  VEC = 4, LANES = 1024, THREADS = 1024, PACKS = 8
//! preset  VEC = 2, LANES = 128, THREADS = 128, PACKS = 8
//! preset  VEC = 2, LANES = 1024, THREADS = 1024, PACKS = 8

#include "device/ptx/cvt.cuh"
#include "device/reduce/block.cuh"
#include "device/reduce/cluster.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  f32 warps[2][THREADS / 32], blocks[2][CLUSTER];
};

// Combines one value of each thread that shares the row into one that all get; `turn` distinguishes the two calls.
template <class F> __device__ inline f32 reduce(Smem& smem, int turn, f32 x, f32 neutral, F f) {
  if constexpr (LANES == 32) return warp_reduce(x, f);
  return cluster_reduce(block_reduce<THREADS>(x, smem.warps[turn], neutral, f), smem.blocks[turn], f);
}

extern "C" __global__ __launch_bounds__(THREADS) void softmax(View<const T, 2> S, View<O, 2> D, const Dims dims,
                                                              const __grid_constant__ Hooks hooks) {
  constexpr int kStep = HELD / PACKS;  // distance between packs of a thread
  const f32 log2e = 1.44269504F, none = __int_as_float(0xff800000);
  __shared__ Smem smem;
  cluster::sync_blocks<CLUSTER>();  // every block of the cluster has begun
  const int row = blockIdx.x / CLUSTER * ROWS + threadIdx.x / LANES;
  const int lane = threadIdx.x % LANES + (CLUSTER == 1 ? 0 : cluster::rank()) * LANES;
  const int left = row < dims.M ? dims.N - lane * COUNT : 0;  // elements from this thread's first one on
  const T* const from = S.data + row * S.stride[0] + lane * COUNT;

  f32 x[PACKS * COUNT], most = none, sum = 0;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const Pack<T, COUNT> in = load_pack<COUNT>(from + p * kStep, left - p * kStep);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const int at = p * kStep + i;
      x[p * COUNT + i] = at < left ? hooks.score(to_f32(in.x[i]), row, lane * COUNT + at) * log2e : none;
      most = fmaxf(most, x[p * COUNT + i]);
    }
  }
  most = reduce(smem, 0, most, none, [](f32 a, f32 b) { return fmaxf(a, b); });
#pragma unroll
  for (f32& e : x) sum += e = exp2f(e - most);
  sum = reduce(smem, 1, sum, 0, [](f32 a, f32 b) { return a + b; });
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    Pack<O, COUNT> out;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) out.x[i] = from_f32<O>(x[p * COUNT + i] / sum);
    store_pack(&D.data[row * D.stride[0] + lane * COUNT + p * kStep], out, left - p * kStep);
  }
}

#else

// One block per row.
extern "C" __global__ void softmax_reference(View<const T, 2> S, View<f64, 2> D, const Dims dims,
                                             const __grid_constant__ Hooks hooks) {
  __shared__ f64 shared[256];
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const T* const from = S.data + row * S.stride[0];
    f64 sum = shared[threadIdx.x] = 0;
    for (s64 j = threadIdx.x; j < dims.N; j += 256)
      shared[threadIdx.x] += exp(hooks.score(to_f64(from[j * S.stride[1]]), row, j));
    __syncthreads();
    for (const f64 part : shared) sum += part;
    __syncthreads();
    for (s64 j = threadIdx.x; j < dims.N; j += 256)
      D.data[row * D.stride[0] + j * D.stride[1]] = exp(hooks.score(to_f64(from[j * S.stride[1]]), row, j)) / sum;
  }
}

#endif
