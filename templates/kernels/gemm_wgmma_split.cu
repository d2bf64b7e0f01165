//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation; few tiles of D, or long K"
//! arch    sm_90a
//! prefer  2
//! use     "device/reference/gemm.cuh"
//!
//! param   BM      = 64   in {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 208, 224, 240, 256} "rows of D per block: columns of the product"
//! param   BN      = 64   in {64, 128, 192}         "columns of D per block: one consumer warpgroup per 64"
//! param   STAGES  = 8    in 2..16                  "tiles of A and B in flight"
//! param   SPLIT   = 1    in 1..8                   "blocks of a cluster that share K"
//! param   CHUNKS  = 1    in {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 24, 32} "clusters that share K: each adds up a slice of what all left in global memory"
//! param   SHARE_M = 1    in {1, 2, 4}              "blocks of a cluster, one below the other, that share tiles of B by multicast"
//! param   SHARE_N = 1    in {1, 2, 4}              "blocks of a cluster, side by side, that share tiles of A by multicast"
//! param   FAST    = 0    in {0, 1} asked           "8-bit floats: 1 leaves whole sums to wgmma, which keeps 14 bits of them; 0 adds every 128 products in f32"
//!
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     CONSUMERS = BN / 64
//! let     THREADS   = 128 * CONSUMERS + 32
//! let     OWNERS    = BM / 8 % SPLIT == 0 ? SPLIT : 1  "blocks of a cluster that each sum and store BM / OWNERS rows of the tile"
//! let     ROWS      = BM / OWNERS
//! let     EIGHTS    = ROWS / 8
//! let     SLICES    = CHUNKS >= EIGHTS ? EIGHTS : EIGHTS % CHUNKS == 0 ? CHUNKS : EIGHTS % (CHUNKS - 1) == 0 ? CHUNKS - 1 : EIGHTS % (CHUNKS - 2) == 0 ? CHUNKS - 2 : EIGHTS % 2 == 0 ? 2 : 1 "clusters that each add up the chunks of SLICE rows"
//! let     SLICE     = ROWS / SLICES
//! let     PANEL     = min(64, 128 / sizeof(O))     "columns of D in one swizzle row"
//! let     PROMOTED  = sizeof(T) == 1 && !integer(T) && FAST == 0
//! let     BOX_A     = BM / SHARE_N                 "rows of A that one copy loads"
//! let     BOX_B     = BN / SHARE_M % 64 == 0 ? 64 : BN / SHARE_M  "rows of B that one copy loads"
//! let     RING      = STAGES * (BM + BN) * 128
//! let     AFTER     = (SPLIT == 1 ? 1024 : BM * BN * 4) + align_up(BN * ROWS * sizeof(O), 1024)  "partial sums and results, in the ring's place"
//! let     SMEM      = align_up(max(RING, AFTER) + 16 * STAGES + 16, 1024)
//! let     SHARERS   = SHARE_M * SHARE_N            "blocks of a cluster that share tiles of A or B"
//! let     TILES     = align_up(ceil_div(M, BM), SHARE_M) * align_up(ceil_div(N, BN), SHARE_N)
//! let     BLOCKS    = TILES * SPLIT * CHUNKS
//! let     RESIDENT  = max(1, min(device.smem_per_sm / (SMEM + 1024), 65536 / (THREADS * (BM / 2 + 50)))) "blocks on an SM at a time"
//! let     SLOTS     = max(1, device.sm_count * RESIDENT * (SPLIT * SHARERS <= 2 ? 100 : 91) / 100) "large clusters leave some SMs of a GPC without work: an H100 runs 30 of 4 blocks and 15 of 8"
//! let     WAVES     = max(1, ceil_div(BLOCKS, SLOTS))
//! let     SHARING   = WAVES == 1 ? ceil_div(BLOCKS, device.sm_count) : RESIDENT "blocks that share an SM's units"
//! let     STEPS     = WAVES * ceil_div(ceil_div(K, BK), SPLIT * CHUNKS)
//! let     BROKEN    = K * sizeof(T) % 128 != 0      "rows of A and B that lie across 128-byte lines of L2"
//! let     SECTORS   = K * sizeof(T) % 32 != 0      "rows that lie across sectors of 32 bytes, too"
//! let     LOADED    = BM / SHARE_N + BN / SHARE_M  "rows of A and B that a block loads each step"
//! let     NEAR      = max(1, 12 / (SHARERS * SPLIT)) "clusters next to each other: what they request at the same time L2 serves together"
//! let     LINE      = max(1, M > N ? ceil_div(N, BN * SHARE_N) : ceil_div(M, BM * SHARE_M)) "clusters along the shorter side of D, which are next to each other"
//! let     APART     = (M > N ? min(NEAR, LINE) * BN * SHARE_N + ceil_div(NEAR, LINE) * BM * SHARE_M : min(NEAR, LINE) * BM * SHARE_M + ceil_div(NEAR, LINE) * BN * SHARE_N) / (NEAR * SHARERS) "rows that they request, each counted once, for each block"
//! let     SERVED    = M <= 16 ? LOADED * (BROKEN ? 217 : 101) : min(device.sm_count, BLOCKS) * (LOADED * (SECTORS ? 308 : BROKEN ? 196 : 118) + APART * (SECTORS ? 4 : BROKEN ? 82 : 146)) / device.sm_count "hundredths of the cycles that L2 takes to serve a step of all blocks; of few rows as was fitted to them alone"
//! let     LATENCY   = M <= 16 ? 97 + 1158 / STAGES : 54 + ((BROKEN ? 1376 : 1536) + LOADED * 300 / 100) / STAGES "cycles of a step where the ring waits for its copies"
//! let     OUTSIDE   = (BOX_A - M % BOX_A) % BOX_A + (BOX_B - N % BOX_B) % BOX_B "rows of the last boxes that do not exist, which TMA fills slowly"
//! let     PRODUCT   = max(BM * BN * 271, BM * BN * 85 + BN * 12389 + BM * 10951) / 9898 "cycles of the tensor cores, or of shared memory: for each 64 columns of D the instructions read all rows, and the copies write both"
//! let     STEP      = max(LATENCY, SHARING * max((SERVED + OUTSIDE * 57 / WAVES) / 100, PRODUCT), PROMOTED * (150 + BM * BN * 34 / 1000 + SHARING * BM * CONSUMERS / 2)) "cycles of one step along K: latency, L2, tensor cores; sums of 8-bit floats are added between products"
//! let     REDUCE    = (SPLIT == 1 ? 0 : 1085 + BM * BN / OWNERS * 601 / 1000 + (SPLIT > 2) * BM * BN * 3819 / 10000) + (CHUNKS == 1 ? 0 : 3419 + CHUNKS * BM * BN / (OWNERS * (WAVES == 1 ? SLICES : 1)) * 77 / 1000 + CHUNKS * 77) "cycles of adding up the partial sums: all by one block where not all are there at a time"
//! let     HOOK      = given(epilogue) * WAVES * BM * BN / 10 "cycles of applying it, beyond what gemm_wgmma takes"
//! let     AGAIN     = max(0, min(ceil_div(WAVES, CHUNKS), M > N ? ceil_div(M, BM) : ceil_div(N, BN)) - 1) * min(min(M, N) * K, max(0, (M + N) * K - 2000000)) * sizeof(T) * 32 / 100 "bytes that waves read again, as far as L2 does not hold them"
//! let     MEMORY    = AGAIN * 100 / 244035 + (M * K * (100 + (N > BN * SHARE_N) * 8) + N * K * (100 + (M > BM * SHARE_M) * 8) + M * N * 100) / 100 * sizeof(T) * (BROKEN ? 164 : 100) / 244035 "cycles of moving A, B and D, part of which is done meanwhile; what blocks of both halves of L2 read goes between them"
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require BM * CONSUMERS <= 512 && BM / 2 * (1 + PROMOTED) + 80 <= min(255, 65536 / THREADS) "accumulators must fit in registers"
//! require FAST == 0 || sizeof(T) == 1 && !integer(T) "only sums of 8-bit floats can be cut short"
//! require !integer(T) || BM <= 24 || BM % 16 == 0 "wgmma multiplies integers by 8, 16, 24 or multiples of 16 rows of D"
//! require AMAX == 0                                "results of tiles that several blocks sum are not compared"
//! require TERMS == 1                               "gemm_f32_wgmma multiplies f32 by three terms"
//! require INVARIANT == 0 || SPLIT * CHUNKS == 1    "a sum over K that is divided has other bits than one that is not, as of many rows"
//! require TA + TB == 0 || sizeof(T) == 2           "wgmma reads only 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//! require SHARERS == 1 || SPLIT == 1 && SHARERS <= 8 && TA + TB == 0 "the blocks of a cluster share K or tiles of A and B, whose rows lie along K"
//! require BM / SHARE_N % 8 == 0 && BN / SHARE_M % 8 == 0 "each block of a cluster loads whole swizzle atoms"
//! require TA == 0 || BM % 64 == 0                  "a block loads panels of 64 rows of D"
//!
//! tensor  A   box [BOX_A, BK]         swizzle 128  l2 128
//! tensor  AT  box [BK, 64]            swizzle 128  l2 128
//! tensor  B   box [BOX_B, BK]         swizzle 128  l2 128  early
//! tensor  BT  box [BK, 64]            swizzle 128  l2 128  early
//! tensor  D   box [SLICE, PANEL]      swizzle PANEL * sizeof(O)  view
//!
//! workspace partials  CHUNKS == 1 ? 0 : TILES * CHUNKS * BM * BN * 4  "sums of one chunk"
//! workspace counters  CHUNKS == 1 ? 0 : TILES * OWNERS * 16  zero      "SliceCounters"
//!
//! cluster SPLIT * SHARERS
//! launch  grid BLOCKS  block THREADS  smem SMEM  waits
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)  cycles 7131 + (CHUNKS > 1 && SHARERS > 1) * 1295 + (SHARERS == 1 ? 0 : M > 16 && M <= 64 && K >= 4096 ? -1000 : SHARERS == 2 ? 747 : SHARERS == 4 ? 746 : 1217) + WAVES * (2632 + BM * BN * 81 / 1000) + max(STEPS * STEP, MEMORY) + min(STEPS * STEP, MEMORY) * 48 / 100 + REDUCE + HOOK "fitted, with that of gemm_wgmma.cu, to 32000 measurements of 1000 problems on an H200"
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits sizeof(T) > 1 || integer(T) ? 0 : PROMOTED ? 9 : K <= 1024 ? 7 : K <= 8192 ? 5 : 3
//!
//! preset  BM = 16, BN = 64, STAGES = 16  when M <= 16 && sizeof(T) != 2
//! preset  BM = 8, BN = 128, STAGES = 9  when STREAM == 1 && M <= 8 && sizeof(T) == 2
//! preset  BM = 8, BN = 64, STAGES = 8, SPLIT = 2  when STREAM == 1 && M <= 8 && sizeof(T) == 2
//! preset  BM = 8, BN = 64, STAGES = 16, SPLIT = 2  when STREAM == 1 && M <= 8 && 2 * TILES <= device.sm_count && sizeof(T) == 2
//! preset  BM = 16, BN = 128, STAGES = 9  when STREAM == 1 && M > 8 && M <= 16 && sizeof(T) == 2
//! preset  BM = 16, BN = 64, STAGES = 8, SPLIT = 2  when STREAM == 1 && M > 8 && M <= 16 && sizeof(T) == 2
//! preset  BM = 16, BN = 64, STAGES = 16, SPLIT = 2  when STREAM == 1 && M > 8 && M <= 16 && 2 * TILES <= device.sm_count && sizeof(T) == 2
//! preset  BM = 16, BN = 128, STAGES = 6  when M <= 16 && sizeof(T) != 2
//! preset  BM = 8, BN = 64, STAGES = 16  when M <= 16
//! preset  BM = 16, BN = 64, STAGES = 16  when K > 16384 && sizeof(T) == 2 && M <= 16
//! preset  BM = 16, BN = 128, STAGES = 9  when N > 256 * device.sm_count && sizeof(T) == 2 && M <= 16
//! preset  BM = 8, BN = 128, STAGES = 13, SPLIT = 2  when STREAM == 0 && M <= 16 && (K <= 16384 || sizeof(T) != 2)
//! preset  BM = 32, BN = 64, STAGES = 14, SPLIT = 4  when TILES >= 12
//! preset  BM = 32, BN = 128, STAGES = 9, SHARE_N = 4  when M > 16
//! preset  BM = 112, BN = 128, STAGES = 7  when M > 74 && TILES <= 4 * device.sm_count
//! preset  BM = 80, BN = 64, STAGES = 11, SHARE_M = 2, SHARE_N = 2  when TILES <= 4 * device.sm_count
//! preset  BM = 64, BN = 128, STAGES = 9, SHARE_N = {1, 4}  when TILES <= 4 * device.sm_count
//! preset  BM = 192, BN = 128, STAGES = 5  when TILES <= 4 * device.sm_count
//! preset  BM = 32, BN = 64, STAGES = 16, SHARE_M = {1, 4}  when TILES <= 4 * device.sm_count
//! preset  BM = 48, BN = 64, STAGES = {14, 16}  when M > 32 && TILES <= 8 * device.sm_count
//! preset  BM = 32, BN = 64, STAGES = 14, SPLIT = 2  when TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 128, STAGES = 7  when TILES <= 4 * device.sm_count
//! preset  BM = 112, BN = 64, STAGES = 10, SHARE_N = {1, 2}  when M > 74 && TILES <= 4 * device.sm_count
//! preset  BM = 24, BN = 64, STAGES = 16  when TILES <= 4 * device.sm_count
//! preset  BM = 48, BN = 128, STAGES = 10  when M > 32 && TILES <= 4 * device.sm_count
//! preset  BM = 96, BN = 64, STAGES = 11, SHARE_N = 4  when TILES <= 4 * device.sm_count
//! preset  BM = 16, BN = 64, STAGES = 14, SPLIT = 8  when N <= 64 && K <= 12288
//! preset  BM = 96, BN = 128, STAGES = 8, SHARE_M = 2, SHARE_N = {1, 2}  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 192, STAGES = 5, CHUNKS = 4  when WAVES == 1
//! preset  BM = 144, BN = 192, STAGES = 5, SHARE_M = {1, 2}  when M > 96 && TILES <= 4 * device.sm_count
//! preset  BM = 64, BN = 64, STAGES = 14  when M > 42 && TILES <= 4 * device.sm_count
//! preset  BM = 48, BN = 64, STAGES = 15, SPLIT = 2  when M > 32 && TILES <= 4 * device.sm_count
//! preset  BM = 96, BN = 128, STAGES = 7  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 96, BN = 192, STAGES = 6  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 64, BN = 64, STAGES = 13, SHARE_M = 2, SHARE_N = 2  when M > 42 && TILES <= 4 * device.sm_count
//! preset  BM = 64, BN = 64, STAGES = 13, SPLIT = {2, 4, 8}  when M > 42 && TILES <= 4 * device.sm_count
//! preset  BM = 80, BN = 64, STAGES = 12, SPLIT = {1, 2}  when M > 53 && TILES <= 4 * device.sm_count
//! preset  BM = 56, BN = 192, STAGES = 7  when M > 37 && TILES <= 4 * device.sm_count
//! preset  BM = 112, BN = 64, STAGES = 10, SHARE_M = 2, SHARE_N = 2  when TILES <= 4 * device.sm_count
//! preset  BM = 80, BN = 128, STAGES = 8, SHARE_M = {1, 4}  when M > 53 && TILES <= 4 * device.sm_count
//! preset  BM = 80, BN = 128, STAGES = 8, CHUNKS = {3, 7, 11, 14, 16}  when M > 64 && WAVES == 1
//! preset  BM = 128, BN = 128, STAGES = 7, CHUNKS = {2, 3, 4, 6, 8, 10}  when M > 85 && WAVES == 1
//! preset  BM = 48, BN = 64, STAGES = 15, CHUNKS = {6, 8, 12, 16, 24}  when M > 32 && WAVES == 1
//! preset  BM = 96, BN = 64, STAGES = 11, CHUNKS = {5, 8, 12, 16}  when M > 64 && WAVES == 1
//! preset  BM = 144, BN = 128, STAGES = 6, CHUNKS = {3, 4, 6, 7, 8, 9, 11}  when M > 96 && WAVES == 1
//! preset  BM = 224, BN = 128, STAGES = 5, CHUNKS = {2, 4, 6, 8}  when M > 149 && sizeof(O) > 1 && WAVES == 1
//! preset  BM = 144, BN = 64, STAGES = 8, CHUNKS = {6, 7, 8, 11}  when M > 96 && WAVES == 1
//! preset  BM = 80, BN = 64, STAGES = 12, CHUNKS = {7, 11, 16}  when M > 53 && WAVES == 1
//! preset  BM = 112, BN = 64, STAGES = 10, CHUNKS = {3, 7, 8, 16}  when M > 74 && WAVES == 1
//! preset  BM = 160, BN = 128, STAGES = 6, CHUNKS = {3, 4, 5, 7}  when M > 106 && sizeof(O) > 1 && WAVES == 1
//! preset  BM = 56, BN = 64, STAGES = 14, CHUNKS = {8, 11, 16, 20}  when M > 37 && WAVES == 1
//! preset  BM = 128, BN = 64, STAGES = 9  when M > 128 && TILES <= 4 * device.sm_count
//! preset  BM = 176, BN = 128, STAGES = 5, SHARE_N = 2  when TILES <= 4 * device.sm_count
//! preset  BM = 112, BN = 128, STAGES = 7, CHUNKS = {3, 7, 8, 16}  when M > 74 && WAVES == 1
//! preset  BM = 64, BN = 64, STAGES = 13, CHUNKS = {6, 8, 11, 16}  when M > 42 && WAVES == 1
//! preset  BM = 96, BN = 192, STAGES = 6, CHUNKS = {2, 6, 7, 8, 13, 16}  when M > 64 && WAVES == 1
//! preset  BM = 192, BN = 128, STAGES = 5, CHUNKS = {3, 6, 8}  when M > 128 && WAVES == 1
//! preset  BM = 40, BN = 128, STAGES = 10  when M > 26 && TILES <= 4 * device.sm_count
//! preset  BM = 160, BN = 64, STAGES = 7, CHUNKS = {10, 11}  when M > 106 && WAVES == 1
//! preset  BM = 64, BN = 128, STAGES = 9, SHARE_M = 4  when M > 42 && TILES <= 4 * device.sm_count
//! preset  BM = 176, BN = 128, STAGES = 5, CHUNKS = {3, 11}  when M > 117 && sizeof(O) > 1 && WAVES == 1
//! preset  BM = 128, BN = 64, STAGES = 9, CHUNKS = {5, 6, 8}  when M > 85 && WAVES == 1
//! preset  BM = 144, BN = 64, STAGES = 8  when M > 128
//! preset  BM = {160, 168}, BN = 128, STAGES = 6  when M > 144
//! preset  BM = 144, BN = 128, STAGES = 6, SHARE_M = 2  when M > 128
//! preset  BM = 128, BN = 192, STAGES = 5, CHUNKS = 6  when M > 112 && WAVES == 1
//! preset  BM = 96, BN = 64, STAGES = 11, SPLIT = {1, 2}  when M > 80
//! preset  BM = 112, BN = 128, STAGES = 7, SHARE_M = 2, SHARE_N = 2  when M > 96
//! preset  BM = 208, BN = 128, STAGES = 5  when M > 192
//! preset  BM = 40, BN = 64, STAGES = 16  when M > 26
//! preset  BM = 112, BN = 192, STAGES = 5, SHARE_M = 2  when M > 96
//! preset  BM = 64, BN = 128, STAGES = 9, CHUNKS = 8  when M > 48 && WAVES == 1
//! preset  BM = 48, BN = 64, STAGES = 14, SHARE_M = 2, SHARE_N = 2  when M > 32
//! preset  BM = 208, BN = 64, STAGES = 6  when M > 192
//! preset  BM = 24, BN = 64, STAGES = 16, SPLIT = 2  when M > 16
//! preset  BM = 88, BN = 128, STAGES = 8  when M > 72
//! preset  BM = 168, BN = 128, STAGES = 6, CHUNKS = 8  when M > 152 && WAVES == 1

#include "device/epilogue/own_operands.cuh"
#include "device/epilogue/tma_store.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/uniform.cuh"
#include "device/reduce/chunks.cuh"
#include "device/reduce/shares.cuh"
#include "device/reference/gemm.cuh"
#include "device/schedule/split.cuh"
#include "device/schedule/split_tiles.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"
#include "device/tile/wgmma_operand_tile.cuh"

// The problem: where D has few rows, they do not fill the 64 rows of an instruction, and the tiles of D do not fill the
// GPU. The idea: swap the operands, D^T = B * A^T, and split K. The 64 rows of an instruction are then columns of D,
// and a tile may have as few as 8 rows of D. K is divided among the blocks of a cluster, which exchange sums through
// distributed shared memory, and among clusters (each sums a chunk of K), which exchange sums through global memory.
// Both are added in ascending order of K, whichever block adds them, so that results do not depend on timing. The cost:
// the sums of every chunk are written to and read from global memory once. The tiles of one chunk are in adjacent
// blocks, and the chunks process steps of K in turn, so that concurrent blocks read the same parts of A and B at the
// same time. (On an H200 that gained 14 %, and up to 60 %, over adjacent blocks of one tile, each with a contiguous
// range of K.)

#ifndef TMA_JIT_REFERENCE

constexpr int PARTS = SPLIT * CHUNKS;  // of K: a part processes every PARTS-th step

using Sum = Unit<T>::Sum;
using Sums = RegisterTile<layout::Mma<16, BM>, Sum>;
using Share = RegisterTile<layout::Mma<16, ROWS>, Sum>;   // the rows of D of one owner
using Slice = RegisterTile<layout::Mma<16, SLICE>, Sum>;  // those that one chunk's block adds up and stores
using Staged = SharedTile<O, SLICE, 64>;

struct Operands {
  OperandTile<TA, T, BM, BK> a[STAGES];
  OperandTile<TB, U, BN, BK> b[STAGES];
};
// Hardly anything where no other block reads it.
using Partial = Shares<Sum, OWNERS, EIGHTS, SPLIT == 1 ? 1 : CONSUMERS * kWarpgroup>;
struct Smem {
  union {
    Operands operands;
    struct {
      Partial partial;
      Staged staged[CONSUMERS];
    } after;  // all operands have been read
  };
  Pipeline<STAGES, SHARERS> pipeline;
  u32 slices;  // a bit for each that this block adds up
};
static_assert(sizeof(Smem) <= SMEM);

// What the hook reads for a slice's rows and 16 columns. It is read before the sums are made if there is one part of
// K; else when the last of the parts arrives; but 8 rows at a time, when they are stored, if registers do not hold it.
using Results = Epilogue<layout::Mma<16, SLICE>, Hooks, true, Staged>;
constexpr bool AHEAD = Results::kRegisters == 0 || BM / 2 + Results::kRegisters <= 150;

// The destination of results: D, through the hooks, and the sums of a tile's chunks in global memory.
struct Output {
  const Mapped<O, 2>& D;
  const Dims& dims;
  const Hooks& hooks;
  Four<Sum>* partials;      // [tile][owner][chunk][ROWS / 8][thread]
  SliceCounters* counters;  // [tile][owner]
};

// Sums this block's steps. Called by each consumer warpgroup. Loop invariant: all earlier steps' products have been
// started, only the last may be incomplete, and the slots of all others are released. `sums` is zero before. Sums of
// 8-bit floats, which wgmma keeps to 14 bits, are added in f32 after each step. read() is called some steps before the
// end, so that what it reads has arrived when it is needed and does not delay the first operands.
template <class Read> __device__ void accumulate(Smem& smem, int group, Range steps, Sums& sums, Read read) {
  Consumer consumer(smem.pipeline);
  const auto start = [&](Sums& to, bool onto) {
    const u32 slot = consumer.wait();
    wgmma::multiply(to, smem.operands.b[slot], group * 64, smem.operands.a[slot], onto);
    return slot;
  };
  int step = steps.first;
  if constexpr (PROMOTED) {
    read();
#pragma unroll 1
    for (; step < steps.end; step += PARTS) {
      Sums part;
      const u32 slot = start(part, false);
      wgmma::wait<0>();
      smem.pipeline.release_warpgroup(slot);
      sums.add(part);
    }
    return;
  }
  constexpr bool kLate =
      AHEAD && Results::kRegisters > 0 && BM <= 128;  // wider tiles leave ptxas too few registers for it
  if (!kLate || step >= steps.end) read();
  if (step >= steps.end) return;
  u32 before = start(sums, false);
  step += PARTS;
  const auto go_on = [&](int end) {
#pragma unroll 1
    for (; step < end; step += PARTS) {
      const u32 slot = start(sums, true);
      wgmma::wait<1>();
      smem.pipeline.release_warpgroup(before);
      before = slot;
    }
  };
  if constexpr (kLate) {
    go_on(steps.end - ceil_div(3000, PRODUCT) * PARTS);
    read();
  }
  go_on(steps.end);
  wgmma::wait<0>();
  if (SHARERS > 1) smem.pipeline.release_warpgroup(before);  // which drain() waits for
}

// Returns the first of a warp's columns of the tile.
__device__ int warp_column() {
  return threadIdx.x / 32 * 16;
}

// Called by each consumer warpgroup, after a barrier of all of them behind their last read of an operand.
template <class Tile>
__device__ void store(Smem& smem, const Output& output, int row, int column, const Tile& slice,
                      const Results& epilogue) {
  const int group = threadIdx.x / kWarpgroup;
  Staged& staged = smem.after.staged[group];
  auto results = slice.template as<S>();
  if constexpr (AHEAD)
    epilogue.apply_through(staged, 0, warp_column() % 64, results);
  else
    apply_epilogue_through<true, 8>(output.hooks, staged, 0, warp_column() % 64, results, row, column + warp_column());
  store_transposed(staged, 0, warp_column() % 64, results);
  tma::fence();
  sync(1 + group, kWarpgroup);
  tma::store_clipped<kWarpgroup>(output.D, staged, {output.dims.M, output.dims.N}, row, column + group * 64);
  if (threadIdx.x % kWarpgroup == 0) {
    tma::commit();
    tma::wait_read<0>();  // shared memory must outlive the stores that read it
  }
}

// Leaves the sums of this block's chunk for one owner's rows in global memory, adds up those of all chunks for its
// slices and stores them. Called by the consumers of one owner.
__device__ void store_chunks(Smem& smem, const Output& output, const Part& part, const Share& share) {
  constexpr int kThreads = CONSUMERS * kWarpgroup;
  const int owner = part.tile * OWNERS + part.rank;
  const Chunks<Sum, CHUNKS, EIGHTS, kThreads> chunks = {
      output.partials + s64{owner} * (CHUNKS * EIGHTS * kThreads) + threadIdx.x, output.counters[owner]};
  const TakenSlices taken = chunks.template leave<SLICES>(part.chunk, share, smem.slices);
#pragma unroll 1
  for (u32 left = smem.slices; left != 0; left &= left - 1) {
    const int first = (__ffs(left) - 1) * (SLICE / 8);
    const Slice slice = chunks.template slice<Slice>(first);
    const int row = part.row * BM + part.rank * ROWS + first * 8, column = part.column * BN;
    store(smem, output, row, column, slice, Results(output.hooks, row, column + warp_column()));
    sync(1 + threadIdx.x / kWarpgroup, kWarpgroup);  // the shared tile has been read
  }
  if (threadIdx.x == 0) leave_slices(chunks.counters, taken);
}

// Sums this block's steps, and stores the result if they are all of K. Called by each consumer warpgroup.
template <class Tile>
__device__ void consume(Smem& smem, const Output& output, const Part& part, Range steps, Tile& sums) {
  const int group = uniform(threadIdx.x / kWarpgroup), row = part.row * BM, column = part.column * BN;
  if constexpr (PARTS == 1) {
    Results results;
    accumulate(smem, group, steps, sums, [&] { results = Results(output.hooks, row, column + warp_column()); });
    sync(1, CONSUMERS * kWarpgroup);
    store(smem, output, row, column, sums, results);
  } else {
    accumulate(smem, group, steps, sums, [] {});
  }
}

// Adds up the parts of K, if there are several, and stores the result. Called by all threads of the cluster together;
// the producers' sums are ignored.
template <class Tile> __device__ void finish(Smem& smem, const Output& output, const Part& part, Tile& sums) {
  const bool consumer = threadIdx.x < CONSUMERS * kWarpgroup;
  if constexpr (SPLIT == 1) {
    if constexpr (CHUNKS > 1) {
      if (consumer) store_chunks(smem, output, part, sums);
    }
  } else {
    if (consumer) {
      sync(1, CONSUMERS * kWarpgroup);  // all operands have been read
      smem.after.partial.publish(sums);
    }
    cluster::sync();
    Share share;
    if (consumer && part.rank < OWNERS) smem.after.partial.template collect<SPLIT>(part.rank, share);
    cluster::arrive();  // afterwards this block no longer reads another's partial sums
    if (consumer && part.rank < OWNERS) {
      if constexpr (CHUNKS > 1) {
        store_chunks(smem, output, part, share);
      } else {
        const int row = part.row * BM + part.rank * ROWS, column = part.column * BN;
        store(smem, output, row, column, share, Results(output.hooks, row, column + warp_column()));
      }
    }
    cluster::wait();  // no block may exit while another reads its partial sums
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A,
                                                              const __grid_constant__ CUtensorMap AT,
                                                              const __grid_constant__ CUtensorMap B,
                                                              const __grid_constant__ CUtensorMap BT,
                                                              const __grid_constant__ Mapped<O, 2> D, View<f32, 1>,
                                                              u8* partials, u8* counters, const Dims dims,
                                                              const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Part part = own_part<BM, BN, SHARE_M, SHARE_N, SPLIT, CHUNKS>(dims.M, dims.N);
  const Range steps = {part.chunk * SPLIT + part.rank, static_cast<int>(ceil_div<u32>(dims.K, BK))};
  const Output output = {D, dims, hooks, reinterpret_cast<Four<Sum>*>(partials),
                         reinterpret_cast<SliceCounters*>(counters)};
  Sums sums = {};
  if (threadIdx.x < CONSUMERS * kWarpgroup) {
    start_consumer<SHARERS>(THREADS);
    grid::wait();
    grid::launch_dependents();  // not before: blocks that find room beside this one would read while it waits
    if (CHUNKS > 1 && threadIdx.x == 0 && part.rank < OWNERS)
      begin_slices(output.counters[part.tile * OWNERS + part.rank]);
    consume(smem, output, part, steps, sums);
  } else {  // ptxas places this first, so that its instructions are there early
    const bool first = threadIdx.x == CONSUMERS * kWarpgroup;
    const OperandLoads<BOX_A, BOX_B, SHARE_N, false, Operands, STAGES, SHARERS> loads(
        smem.pipeline, smem.operands, TA ? AT : A, dims.M, TB ? BT : B, dims.N);
    if (first) {
      smem.pipeline.init_first();
      if (steps.first < steps.end) loads.begin(part, steps.first);
      smem.pipeline.init_others(CONSUMERS);
    }
    start_producer<SHARERS>(THREADS);
    if (first) loads.load_others(part, steps.first, steps.end, PARTS);
    __syncwarp();
  }
  finish(smem, output, part, sums);
}

#endif
