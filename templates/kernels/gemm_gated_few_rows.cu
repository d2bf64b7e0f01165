//! kernel  gemm_gated "D[M,N] = epilogue(gate(A * B^T, A * G^T)): products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation; at most 16 rows of A and D"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gated_patches.cuh"
//! use     "device/reference/gemm_gated.cuh"
//!
//! param   VEC    = 16    in {16, 8, 4}             "bytes read at once: the rows of A, B and G begin at multiples of it"
//! param   ROWS   = 8     in {8, 16}                "rows of A and D, at most"
//! param   BN     = 8     in {8, 16, 32}            "columns of D per block: rows of B, and of G"
//! param   WARPS  = 8     in {4, 8, 16}             "of a block: they share K"
//! param   STEPS  = 2     in {1, 2, 3, 4, 6, 8}     "steps along K that a warp has in flight, 128 bytes of each row of A, B and G"
//! param   BLOCKS = 1     in {1, 2, 3, 4}           "blocks that share an SM, at least"
//! param   FAST   = 0     in {0, 1}  asked          "sums of 8-bit floats are as exact for 1 as for 0"
//!
//! let     FLOAT8  = sizeof(T) == 1 && !integer(T)
//! let     THREADS = 32 * WARPS
//! let     SMEM    = WARPS * ROWS * (2 * BN + 4) * 4
//! let     USED    = STEPS * (2 * BN + ROWS) + 2 * BN * ROWS / 32 + BN / 2 + 24 "registers of a thread: loaded, sums, addresses"
//! let     TILES   = M == 0 ? 0 : ceil_div(N, BN)
//! let     RESIDENT = max(1, min(device.registers_per_sm / (USED * THREADS), device.threads_per_sm / THREADS, device.smem_per_sm / (SMEM + 1024))) "blocks on an SM at a time"
//! let     WEIGHTS = 2 * N * K * sizeof(T)
//! let     MEMORY  = max(WEIGHTS / 3000, WEIGHTS / (VEC * 4 * device.sm_count)) "cycles of reading B and G: from memory, by an SM's loads"
//! let     L2      = (2 * N + TILES * M / 4) * K * sizeof(T) / 3700 "cycles of reading them, and A for each tile, from L2; L1 keeps most of A"
//! let     SM      = ceil_div(TILES, device.sm_count) * (2 * BN + M / 4) * K * sizeof(T) / 40 "cycles of the SM that reads most"
//! let     TURNS   = ceil_div(ceil_div(K * sizeof(T), 128), WARPS * STEPS) "latencies of a warp"
//! let     LATENCY = max(TURNS * 900, TURNS * TILES * 900 / (device.sm_count * RESIDENT))
//!
//! require !FLOAT8 || device.compute_capability >= 89 "mma.sync multiplies 8-bit floats from sm_89 on"
//! require FAST == 0 || FLOAT8                      "only sums of 8-bit floats can be cut short"
//! require INVARIANT == 0                           "warps share K; other files sum it in the order of many rows"
//! require AMAX == 0                                "results of few rows are not compared; other files compare them"
//! require M <= ROWS                                "a block multiplies all rows of A"
//! require alignment(A) >= VEC && alignment(B) >= VEC && alignment(G) >= VEC "A, B and G must begin at a multiple of the access"
//! require stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 && stride(G, 0) * sizeof(T) % VEC == 0 "rows of A, B and G must begin at multiples of the access"
//! require stride(A, 1) == 1 && stride(B, 1) == 1 && stride(G, 1) == 1 "elements that are read together must be neighbours"
//! require SMEM <= device.smem_per_block && (SMEM + 1024) * BLOCKS <= device.smem_per_sm "sums of an SM's warps must fit in shared memory"
//! require USED <= 255 && USED * THREADS * BLOCKS <= device.registers_per_sm "what is in flight must fit in registers"
//!
//! tensor  G  early
//! tensor  B  early
//!
//! launch  grid TILES  block THREADS  smem SMEM  waits
//! work    flops 4 * M * N * K  bytes (M * K + 2 * N * K) * sizeof(T) + M * N * sizeof(O)  cycles 12046 + max(MEMORY, L2, SM, LATENCY) "as gemm's"
//! reference gemm_gated_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 && (device.compute_capability < 90 || device.compute_capability >= 120) ? (K <= 1024 ? 6 : K <= 8192 ? 4 : 2) : 0 "as that of gemm_gated_mma_cp_async.cu"
//!
//! preset  VEC = 16, ROWS = 8, BN = 8, STEPS = 2, BLOCKS = 3  when sizeof(T) > 1
//! preset  VEC = 16, ROWS = 8, BN = 8, WARPS = 4, STEPS = 2, BLOCKS = 4
//! preset  VEC = 16, ROWS = 8, BN = 8, STEPS = 4, BLOCKS = 2
//! preset  VEC = 16, ROWS = 16, BN = 8, WARPS = 4, STEPS = 2, BLOCKS = 4
//! preset  VEC = 16, ROWS = 16, BN = 8, STEPS = 2, BLOCKS = 2
//! preset  VEC = 8, ROWS = 8, BN = 8, STEPS = 2, BLOCKS = 2
//! preset  VEC = 8, ROWS = 16, BN = 8, STEPS = 2, BLOCKS = 2
//! preset  VEC = 4, ROWS = 8, BN = 8, STEPS = 2, BLOCKS = 2
//! preset  VEC = 4, ROWS = 16, BN = 8, STEPS = 2, BLOCKS = 2

#include "device/pipeline/row_steps.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/reduce/few_rows.cuh"
#include "device/reference/gemm_gated.cuh"
#include "device/tile/shared_memory.cuh"

// As gemm_few_rows, whose rows of B are here half of G and half of B.

#ifndef TMA_JIT_REFERENCE

using Step = RowStep<T, U, VEC, ROWS, 2 * BN>;
using Smem = FewRowsSums<Unit<T>::Sum, WARPS, ROWS, 2 * BN>;
static_assert(sizeof(Smem) == SMEM);

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void gemm_gated(View<const T, 2> A, View<const U, 2> G,
                                                                         View<const U, 2> B, View<O, 2> D, View<f32, 1>,
                                                                         const Dims dims,
                                                                         const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int first = blockIdx.x * BN, warp = threadIdx.x / 32, steps = dims.K / Step::kColumns;
  const Step::Rows rows(A, G, B, dims.M, dims.N, first);
  Step::Sums sums = {};
  grid::launch_dependents();
  sum_steps<WARPS, STEPS, Step>(rows, steps, warp, sums);
  if (dims.K % Step::kColumns != 0 && steps % WARPS == warp) {
    Step last;
    last.load_last(rows, steps, dims.K);
    last.multiply(sums);
  }
  smem.publish(sums);
  __syncthreads();
  for (int i = threadIdx.x; i < dims.M * BN; i += THREADS) {
    const int row = i / BN, column = first + i % BN;
    if (column >= dims.N) continue;
    const f32 x = hooks.gate(smem.sum(row, BN + i % BN), smem.sum(row, i % BN), row, column);
    D.data[row * D.stride[0] + column * D.stride[1]] = rounded<O>(hooks.epilogue(x, row, column));
  }
}

#endif
