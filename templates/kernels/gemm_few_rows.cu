//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation; at most 16 rows of A and D"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = bf16  in {bf16, f16, e4m3, e5m2, s8} "elements of A"
//! type    U      = T     in {bf16, f16, e4m3, e5m2, s8} "elements of B: as those of A, or the other 8-bit float"
//! type    O      = bf16  in {bf16, f16, f32, e4m3, s8, s32} "elements of D; e4m3 and s8 saturate"
//! type    S      = f32   in {f32, s32}             "what epilogue computes in: s32 where D is s32"
//! dim     M, N, K in 0..2147483647
//!
//! param   VEC    = 16    in {16, 8, 4, 2, 1}       "bytes read at once: the rows of A and B begin at multiples of it"
//! param   ROWS   = 8     in {8, 16}                "rows of A and D, at most"
//! param   BN     = 16    in {16, 32, 64, 128}      "columns of D per block: rows of B"
//! param   WARPS  = 8     in {4, 8, 16}             "of a block: they share K"
//! param   STEPS  = 2     in {1, 2, 3, 4, 6, 8, 12, 16} "steps along K that a warp has in flight, 128 bytes of each row of A and B"
//! param   RING   = 0     in {0, 1}                "0: what is in flight goes to registers; 1: to shared memory, by cp.async"
//! param   BLOCKS = 1     in {1, 2, 3, 4}           "blocks that share an SM, at least"
//! param   SPLIT  = 1     in {1, 2, 4, 8}           "blocks of a cluster that share K"
//! param   TA     = 0     in {0}                   "A lies with K along its rows"
//! param   TB     = 0     in {0}                   "so does B"
//! param   AMAX   = 0    in {0}                   "results are not compared"
//! param   FAST   = 0    in {0, 1}  asked        "sums of 8-bit floats are as exact for 1 as for 0"
//! param   TERMS  = 1    in {1}  asked           "neither is f32"
//! param   INVARIANT = 0 in {0}  asked           "warps share K; other files sum it in the order of many rows"
//! param   DYNAMIC = 0   in {0, 1}  asked        "each tile has a block, which begins where an SM is free"
//! param   STREAM = 0    in {0, 1}  asked chain 1  "1: planned for products that follow each other, as in a chain, so that L2 has nothing to write back; 0: for one after kernels that have written"
//! param   CHUNKS = 1     in {1, 2, 3, 4, 6, 8, 16} "blocks that share K: the last to come adds up what the others left in global memory"
//!
//! let     FLOAT8  = sizeof(T) == 1 && !integer(T)
//! let     THREADS = 32 * WARPS
//! let     PARTS   = WARPS * SPLIT * CHUNKS         "warps that share K"
//! let     RESULTS = WARPS * ROWS * (BN + 4) * 4    "in place of the ring"
//! let     SMEM    = max(RESULTS, RING * WARPS * STEPS * (BN + ROWS) * 128)
//! let     USED    = (RING ? 1 : STEPS) * (BN + ROWS) + BN * ROWS / 32 + BN / 4 + (VEC <= 2 ? 64 : 24) "registers of a thread: loaded, sums, addresses"
//! let     TILES   = M == 0 ? 0 : ceil_div(N, BN)
//! let     GRID    = TILES * SPLIT * CHUNKS
//! let     RESIDENT = max(1, min(device.registers_per_sm / (USED * THREADS), device.threads_per_sm / THREADS, device.smem_per_sm / (SMEM + 1024))) "blocks on an SM at a time"
//! let     WEIGHTS = N * K * sizeof(T)
//! let     SPREAD  = min(GRID, device.sm_count * RESIDENT) / (SPLIT * CHUNKS) * BN * K * sizeof(T) > 209715200 || ROWS > 8 && TILES * sizeof(T) > 32 * device.sm_count "blocks read from so many pages at a time, or A so often, that tiles with more columns are faster"
//! let     MEMORY  = max(WEIGHTS / (SPREAD ? 1700 : 3000), WEIGHTS / (VEC * 4 * device.sm_count)) "cycles of reading B: from memory, by an SM's loads"
//! let     L2      = (N + TILES * M / 4) * K * sizeof(T) / 3700 "cycles of reading B, and A for each tile, from L2; L1 keeps most of A"
//! let     SM      = ceil_div(GRID, device.sm_count) * (BN + M / 4) * K * sizeof(T) / (SPLIT * CHUNKS) / 40 "cycles of the SM that reads most"
//! let     TURNS   = ceil_div(ceil_div(K * sizeof(T), 128), PARTS * STEPS) "latencies of a warp"
//! let     STREAMED = ROWS > 8 ? 10507 + WEIGHTS / 1834 : 9230 + WEIGHTS / 1940 "cycles of reading B when L2 has nothing to write back, in those that gemm_wgmma_split.cu states for it"
//! let     LATENCY = max(TURNS * 900, TURNS * GRID * 900 / (device.sm_count * RESIDENT))
//!
//! require dtype(U) == dtype(T) || sizeof(T) == 1 && sizeof(U) == 1 && !integer(T) && !integer(U) "A and B have elements of one type, or 8-bit floats of both"
//! require integer(S) == (integer(O) && sizeof(O) == 4) "s32 results are computed in s32, all others in f32"
//! require integer(T) || !integer(S)                "only sums of s8 products are s32; a D of s8 is made of others by epilogue"
//! require !FLOAT8 || device.compute_capability >= 89 "mma.sync multiplies 8-bit floats from sm_89 on"
//! require FAST == 0 || FLOAT8                      "only sums of 8-bit floats can be cut short"
//! require M <= ROWS                                "a block multiplies all rows of A"
//! require alignment(A) >= VEC && alignment(B) >= VEC "A and B must begin at a multiple of the access"
//! require stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 "rows of A and B must begin at multiples of the access"
//! require VEC == sizeof(T) || (stride(A, 1) == 1 && stride(B, 1) == 1) "elements that are read together must be neighbours"
//! require SPLIT <= device.cluster_max              "the device's clusters must be as large"
//! require SPLIT == 1 || CHUNKS == 1                "blocks that share K are either a cluster or not"
//! require SMEM <= device.smem_per_block && (SMEM + 1024) * BLOCKS <= device.smem_per_sm "sums of an SM's warps must fit in shared memory"
//! require VEC >= 4 || VEC == sizeof(T)             "elements are read one by one, or 4 bytes and more at a time"
//! require RING == 0 || VEC >= 4                   "cp.async copies at least 4 bytes"
//! require VEC > 2 || STEPS * BN <= 64              "single elements are loaded by many instructions"
//! require USED <= 255 && USED * THREADS * BLOCKS <= device.registers_per_sm "what is in flight must fit in registers"
//!
//! tensor  A  : T[M, K]
//! tensor  AT : T[K, M]  when TA == 1
//! tensor  B  : U[N, K]  early
//! tensor  BT : U[K, N]  when TB == 1
//! tensor  D  : O[M, N]  out
//! tensor  LARGEST : f32[1]  out  when AMAX == 1
//!
//! workspace partials  CHUNKS == 1 ? 0 : TILES * CHUNKS * ROWS * BN * 4  "sums of one block"
//! workspace counters  CHUNKS == 1 ? 0 : TILES * 4  zero  "blocks of a tile that have come"
//!
//! hook    epilogue(S x, s32 row, s32 column) : S = x    "applied to each element of the product before it is rounded"
//!
//! cluster SPLIT
//! launch  grid TILES * SPLIT * CHUNKS  block THREADS  smem SMEM  waits
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)  cycles (STREAM == 0 ? 12046 + max(MEMORY, L2, SM, LATENCY) : max(STREAMED, 12046 + max(L2, SM, LATENCY))) + (SPLIT == 1 ? 0 : 1000) + (CHUNKS == 1 ? 0 : 2500 + 30 * CHUNKS) "by the bandwidths and the latency of an H200, in the units of gemm_wgmma_split.cu"
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 && (device.compute_capability < 90 || device.compute_capability >= 120) ? (K <= 1024 ? 7 : K <= 8192 ? 5 : 3) : 0
//!
//! preset  VEC = 16, ROWS = 8, BN = 16, STEPS = 2, BLOCKS = 3  when TILES > device.sm_count && TILES <= 3 * device.sm_count || TILES > 4 * device.sm_count
//! preset  VEC = 16, ROWS = 8, BN = 16, STEPS = 4, BLOCKS = 2  when sizeof(T) > 1
//! preset  VEC = 16, ROWS = 8, BN = 16, WARPS = 4, STEPS = 2, BLOCKS = 4  when sizeof(T) == 1
//! preset  VEC = 16, ROWS = 8, BN = 16, STEPS = 2, BLOCKS = 2  when sizeof(T) == 1
//! preset  VEC = 16, ROWS = 8, BN = 16, STEPS = 2, BLOCKS = 3, SPLIT = 2  when device.cluster_max >= 8 && TILES < device.sm_count
//! preset  VEC = 16, ROWS = 8, BN = 16, STEPS = 2, BLOCKS = 3, SPLIT = 4  when device.cluster_max >= 8 && TILES < device.sm_count
//! preset  VEC = 16, ROWS = 8, BN = 32, STEPS = 2, BLOCKS = 2, CHUNKS = 4  when TILES < device.sm_count
//! preset  VEC = 16, ROWS = 8, BN = 32, STEPS = 2, BLOCKS = 2, CHUNKS = 16  when TILES < device.sm_count
//! preset  VEC = 16, ROWS = 16, BN = 16, STEPS = 1, BLOCKS = 3  when sizeof(T) == 1 && (TILES > 2 * device.sm_count && TILES <= 3 * device.sm_count || TILES > 4 * device.sm_count)
//! preset  VEC = 16, ROWS = 16, BN = 16, STEPS = 2, BLOCKS = 2  when TILES <= 2 * device.sm_count
//! preset  VEC = 16, ROWS = 16, BN = 16, WARPS = 4, STEPS = 2, BLOCKS = 4  when TILES > 2 * device.sm_count
//! preset  VEC = 16, ROWS = 16, BN = 16, STEPS = 2, BLOCKS = 2  when sizeof(T) == 1
//! preset  VEC = 16, ROWS = 16, BN = 32, WARPS = 4, STEPS = 2, BLOCKS = 3, SPLIT = 4  when device.cluster_max >= 8 && TILES < device.sm_count && sizeof(T) > 1
//! preset  VEC = 16, ROWS = 16, BN = 32, WARPS = 4, STEPS = 2, BLOCKS = 3, CHUNKS = 4  when TILES < device.sm_count && sizeof(T) > 1
//! preset  VEC = 16, ROWS = 16, BN = 32, WARPS = 4, STEPS = 2, BLOCKS = 3, CHUNKS = 16  when TILES < device.sm_count && sizeof(T) > 1
//! preset  VEC = 16, ROWS = 16, BN = 32, WARPS = 4, STEPS = 2, BLOCKS = 2, CHUNKS = 4  when TILES < device.sm_count && sizeof(T) == 1
//! preset  VEC = 8, ROWS = 8, BN = 16, STEPS = 2, BLOCKS = 2
//! preset  VEC = 8, ROWS = 16, BN = 16, STEPS = 2, BLOCKS = 2
//! preset  VEC = 4, ROWS = 8, BN = 16, STEPS = 2, BLOCKS = 2
//! preset  VEC = 4, ROWS = 16, BN = 16, STEPS = 2, BLOCKS = 2
//! preset  VEC = 2, ROWS = 8, BN = 16, STEPS = 2, BLOCKS = 2
//! preset  VEC = 2, ROWS = 16, BN = 16, STEPS = 2, BLOCKS = 1
//! preset  VEC = 1, ROWS = 8, BN = 16, STEPS = 1, BLOCKS = 2
//! preset  VEC = 1, ROWS = 16, BN = 16, STEPS = 1, BLOCKS = 1

#include "device/pipeline/row_steps.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/reduce/few_rows.cuh"
#include "device/reduce/grid.cuh"
#include "device/reference/gemm.cuh"
#include "device/tile/shared_memory.cuh"

// The problem: few rows of A meet each element of B once, and reading B is all that takes time. The idea: D^T = B * A^T
// by mma.sync, whose operands the lanes read from global memory as the instruction wants them, 16 bytes of a row at a
// time, because a sum over K may take its columns in any order. Between memory and the products are registers alone, or
// a ring that each lane has to itself (RING = 1): no warp waits for another, and each has several kilobytes in flight.
// Warps, and blocks where the tiles of D are few, share K step by step, and their sums are added up in a fixed order.
// The cost: each block reads the rows of A again, from L2 or L1, which tiles of more columns make up for.

#ifndef TMA_JIT_REFERENCE

using Step = RowStep<T, U, VEC, ROWS, BN>;
using Sum = Unit<T>::Sum;

using Smem = FewRowsSums<Sum, WARPS, ROWS, BN>;
struct Ring {
  Step::Slot slots[WARPS][STEPS];  // in the memory of the sums, before them
};
static_assert(sizeof(Smem) == RESULTS && (RING == 0 || sizeof(Ring) <= SMEM));

// Calls f(row, column, sum of all warps of the block) for each element of the tile's first `rows` rows.
template <class F> __device__ void collect(const Smem& smem, int rows, F f) {
  for (int i = threadIdx.x; i < rows * BN; i += THREADS) f(i / BN, i % BN, smem.sum(i / BN, i % BN));
}

// The same for the sums of all blocks of the cluster, in the order of their ranks; each block gets some of the
// elements.
template <class F> __device__ void collect_cluster(Smem& smem, int rows, F f) {
  collect(smem, rows, [&](int row, int column, Sum sum) { smem.sums[0][row][column] = sum; });
  cluster::sync();
  for (int i = cluster::rank() * THREADS + threadIdx.x; i < rows * BN; i += SPLIT * THREADS) {
    const int row = i / BN, column = i % BN;
    Sum* const own = &smem.sums[0][row][column];
    Sum x[SPLIT];
#pragma unroll
    for (int rank = 0; rank < SPLIT; ++rank) x[rank] = *cluster::map(own, rank);
    Sum sum = x[0];
#pragma unroll
    for (int rank = 1; rank < SPLIT; ++rank) sum += x[rank];
    f(row, column, sum);
  }
  cluster::sync();  // no block may exit while another reads its sums
}

// The same for the sums of all blocks of a tile, in the order of K, in the last of them to arrive. `partials` and
// `counter` are the tile's.
template <class F> __device__ void collect_chunks(Smem& smem, int rows, Sum* partials, u32* counter, int chunk, F f) {
  __shared__ bool last;
  collect(smem, rows, [&](int row, int column, Sum sum) { partials[(chunk * ROWS + row) * BN + column] = sum; });
  __syncthreads();
  if (threadIdx.x == 0) last = last_arriver(counter, CHUNKS);
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < rows * BN; i += THREADS) {
    Sum sum = 0;
#pragma unroll
    for (int other = 0; other < CHUNKS; ++other) sum += partials[other * (ROWS * BN) + i];
    f(i / BN, i % BN, sum);
  }
}

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void gemm(View<const T, 2> A, View<const T, 2>,
                                                                   View<const U, 2> B, View<const U, 2>, View<O, 2> D,
                                                                   View<f32, 1>, u8* partials, u8* counters,
                                                                   const Dims dims,
                                                                   const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int tile = blockIdx.x / (SPLIT * CHUNKS), share = blockIdx.x % (SPLIT * CHUNKS), column = tile * BN;
  const int warp = threadIdx.x / 32, part = share * WARPS + warp, steps = dims.K / Step::kColumns;
  const Step::Rows rows(A, B, dims.M, dims.N, column);
  Step::Sums sums = {};
  grid::launch_dependents();
  if constexpr (RING)
    sum_steps<PARTS>(shared_memory<Ring>().slots[warp], rows, steps, part, sums);
  else
    sum_steps<PARTS, STEPS, Step>(rows, steps, part, sums);
  if (dims.K % Step::kColumns != 0 && steps % PARTS == part) {
    Step last;
    last.load_last(rows, steps, dims.K);
    last.multiply(sums);
  }
  if constexpr (RING) __syncthreads();  // the ring is free for the results
  smem.publish(sums);
  __syncthreads();
  const auto store = [&](int row, int c, Sum sum) {
    if (column + c >= dims.N) return;
    D.data[row * D.stride[0] + (column + c) * D.stride[1]] =
        rounded<O>(hooks.epilogue(static_cast<S>(sum), row, column + c));
  };
  if constexpr (SPLIT > 1)
    collect_cluster(smem, dims.M, store);
  else if constexpr (CHUNKS > 1)
    collect_chunks(smem, dims.M, reinterpret_cast<Sum*>(partials) + s64{tile} * (CHUNKS * ROWS * BN),
                   reinterpret_cast<u32*>(counters) + tile, share, store);
  else
    collect(smem, dims.M, store);
}

#endif
