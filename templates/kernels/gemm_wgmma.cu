//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation"
//! arch    sm_90a
//! prefer  2
//! use     "device/reference/gemm.cuh"
//!
//! param   BM      = 128  in {48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256, 320, 384} "rows of D per block"
//! param   BN      = 256  in {48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256, 320, 384} "columns of D per block"
//! param   STAGES  = 4    in 2..8                   "tiles of A and B in flight"
//! param   CLUSTER = 1    in {1, 2, 4}              "blocks, one below the other, that share each tile of B by multicast; with SWAP side by side, and of A"
//! param   SHARE_N = 1    in {1, 2, 4}              "blocks, side by side, that share each tile of A by multicast; with SWAP one below the other, and of B"
//! param   PINGPONG = 0   in {0, 1}                 "0: the consumers share each tile; 1: two make tiles in turn, and one multiplies while the other stores"
//! param   SWAP    = 0    in {0, 1}                 "1: D^T = B * A^T, so that a tile has any multiple of 8 rows of D, and of 64 columns"
//! param   FAST    = 0    in {0, 1} asked           "8-bit floats: 1 leaves whole sums to wgmma, which keeps 14 bits of them; 0 adds every 128 products in f32"
//! param   GROUP_M = 16   in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse; with SWAP tile columns"
//!
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     HIGH      = SWAP ? BN : BM                "rows of the product"
//! let     WIDE      = SWAP ? BM : BN                "and columns"
//! let     SLICES    = PINGPONG ? HIGH / 64 : HIGH > 192 ? 2 : 1  "blocks of 64 rows per consumer warpgroup"
//! let     CONSUMERS = PINGPONG ? 2 : HIGH / (64 * SLICES)
//! let     THREADS   = 128 * (CONSUMERS + 1)
//! let     PROMOTED  = sizeof(T) == 1 && !integer(T) && FAST == 0
//! let     PART      = PROMOTED == 0 ? 0 : WIDE > 192 ? 64 : WIDE  "columns whose sums of 128 products are computed while others are added"
//! let     SETS      = WIDE > 192 || WIDE <= 128 && CONSUMERS < 3 ? 2 : 1 "sets of registers for PART columns, where there is room"
//! let     SUMS      = PROMOTED ? WIDE / 2 + SETS * PART / 2 : SLICES * WIDE / 2  "registers of a thread"
//! let     PANEL     = min(64, 128 / sizeof(O))      "columns of D in one swizzle row"
//! let     SWIZZLE   = SWAP ? PANEL * sizeof(O) : BN * sizeof(O) % 128 == 0 ? 128 : 0  "of the epilogue's tiles"
//! let     EPI_N     = SWAP ? PANEL : SWIZZLE == 128 ? 128 / sizeof(O) : BN / (BN & -BN) * max(8, 16 / sizeof(O)) "columns of D stored together: a swizzle row, or a plain row of an odd number of 16 bytes or more, so that stores of 8 rows use all banks"
//! let     EPI_M     = SWAP ? min(32, BM & -BM) : 64 "rows of D that one copy stores"
//! let     RING      = STAGES * (BM + BN) * 128
//! let     EPI_BYTES = SWAP ? 32 * 64 * sizeof(O) : align_up(64 * EPI_N * sizeof(O), 128)  "an epilogue tile"
//! let     LEFT      = 226 * 1024 - RING            "shared memory of a block of sm_90a for them"
//! let     TAKE_TURNS = PINGPONG && SWAP == 0 && BN / EPI_N > 2 && LEFT < 4 * EPI_BYTES "1: the consumers store from the same epilogue tiles in turn, because two for each do not fit"
//! let     STORERS   = TAKE_TURNS ? 1 : CONSUMERS
//! let     EPI_TILES = (SWAP ? BM > 64 : TAKE_TURNS && BN / EPI_N % 3 == 0) && LEFT >= 3 * STORERS * EPI_BYTES ? 3 : (SWAP ? BM > 32 : BN / EPI_N % 2 == 0) && LEFT >= 2 * STORERS * EPI_BYTES ? 2 : 1  "epilogue tiles of a consumer, or of both"
//! let     BLOCKS    = CLUSTER * SHARE_N            "of a cluster"
//! let     SHARE_HIGH = HIGH / SHARE_N              "rows of the product's first operand that a block loads"
//! let     SHARE_WIDE = WIDE / CLUSTER              "and of its second"
//! let     BOX_HIGH  = SHARE_HIGH % 64 == 0 ? 64 : SHARE_HIGH "rows that one copy loads"
//! let     BOX_WIDE  = SHARE_WIDE % 64 == 0 ? 64 : SHARE_WIDE % 16 == 0 ? SHARE_WIDE / 2 : SHARE_WIDE
//! let     BOX_A     = SWAP ? BOX_WIDE : BOX_HIGH
//! let     BOX_B     = SWAP ? BOX_HIGH : BOX_WIDE
//! let     SMEM      = align_up(RING + EPI_TILES * STORERS * EPI_BYTES + 16 * STAGES + 40 + 80 * DYNAMIC, 1024)
//! let     TILES     = ceil_div(SWAP ? N : M, HIGH * CLUSTER) * ceil_div(SWAP ? M : N, WIDE * SHARE_N) "tiles of a whole cluster"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count * (BLOCKS <= 2 ? 100 : 91) / 100 / BLOCKS)) "large clusters leave some SMs of a GPC without work: an H100 runs 30 of 4 blocks and 15 of 8"
//! let     BROKEN    = K * sizeof(T) % 128 != 0      "rows of A and B that lie across 128-byte lines of L2"
//! let     SECTORS   = K * sizeof(T) % 32 != 0      "rows that lie across sectors of 32 bytes, too"
//! let     LOADED    = SHARE_HIGH + SHARE_WIDE      "rows of A and B that a block loads each step"
//! let     NEAR      = max(1, 12 / BLOCKS)          "clusters next to each other: what they request at the same time L2 serves together"
//! let     DOWN      = max(1, min(GROUP_M, ceil_div(SWAP ? N : M, HIGH * CLUSTER))) "of them below each other"
//! let     APART     = (min(NEAR, DOWN) * HIGH * CLUSTER + ceil_div(NEAR, DOWN) * WIDE * SHARE_N) / (NEAR * BLOCKS) "rows that they request, each counted once, for each block"
//! let     SERVED    = min(device.sm_count, TILES * BLOCKS) * (LOADED * (SECTORS ? 315 : BROKEN ? 178 : 128) + APART * (SECTORS ? 0 : BROKEN ? 56 : 120)) / device.sm_count "hundredths of the cycles that L2 takes to serve a step of all blocks"
//! let     OUTSIDE   = (BOX_A - M % BOX_A) % BOX_A + (BOX_B - N % BOX_B) % BOX_B "rows of the last boxes that do not exist, which TMA fills slowly"
//! let     PRODUCT   = max(BM * BN * 278, BM * BN * 136 + HIGH * 11660 + WIDE * 7884) / 9800 "cycles of the tensor cores, or of shared memory: for each 64 rows of the product the instructions read all columns, and the copies write both"
//! let     STEP      = (max(9 + ((BROKEN ? 2080 : 1800) + LOADED * 292 / 100) / STAGES, PRODUCT, (SERVED + OUTSIDE * 74 / WAVES) / 100) + (M * N * K > 300000000000) * LOADED / 10) * (PROMOTED == 0 || HIGH == 64 ? 100 : CONSUMERS == 3 || WIDE > 192 ? 104 : WIDE > 128 ? 107 : 99) / 100 "cycles of one step along K: latency, the units, L2; of power that copies take from long launches; of sums that are added in f32"
//! let     PARTS     = SWAP ? ceil_div(BM, 32) : BN / EPI_N "of 64 rows of the product, which are stored one after the other"
//! let     PART_STORE = SWAP ? (EPI_M == 8 ? 350 : EPI_M == 16 ? 257 : 145) : EPI_TILES == 1 ? 189 : 116 "cycles of storing one beside its elements"
//! let     STORE     = (PARTS * PART_STORE + 64 * WIDE * (8 + (SWIZZLE == 0) * 74) / 1000) * HIGH / 64 / (PINGPONG ? 1 : CONSUMERS) "cycles of a consumer that stores a tile"
//! let     HOOK      = given(epilogue) * (PINGPONG == 0) * BM * BN / 40 "cycles of applying it to a tile, which with PINGPONG the other's products hide"
//! let     GROUPS    = ceil_div(ceil_div(SWAP ? N : M, HIGH * CLUSTER), GROUP_M) "of tile rows"
//! let     AGAIN     = max(0, min(WAVES, GROUPS) - 1) * min((SWAP ? M : N) * K, max(0, (M + N) * K - 2000000)) * sizeof(T) * 18 / 100 "bytes that groups read again, as far as L2 does not hold them"
//! let     MEMORY    = AGAIN * 100 / 249229 + ((M * K * (100 + (N > BN * (SWAP ? CLUSTER : SHARE_N)) * 7) + N * K * (100 + (M > BM * (SWAP ? SHARE_N : CLUSTER)) * 7)) / 100 * sizeof(T) + M * N * sizeof(O)) * (BROKEN ? 164 : 100) / 249229 "cycles of moving A, B and D; what blocks of both halves of L2 read goes between them"
//!
//! require HIGH % 64 == 0                           "wgmma makes 64 rows of the product: BM or, with SWAP, BN is a multiple of 64"
//! require WIDE <= 256                             "wgmma multiplies by 256 columns at most: tiles of 320 and 384 lie along HIGH"
//! require PINGPONG || HIGH == 64 * SLICES * CONSUMERS "consumers that share 320 rows would need five times the registers of one: PINGPONG = 1 makes such tiles"
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require CONSUMERS * (SUMS + (PROMOTED ? 24 : 40)) <= 480 && SUMS <= (CONSUMERS < 3 ? 200 : PROMOTED ? 136 : 100) "accumulators must fit in registers"
//! require FAST == 0 || sizeof(T) == 1 && !integer(T) "only sums of 8-bit floats can be cut short"
//! require PROMOTED == 0 || WIDE <= 192 || WIDE == 256 "sums of 8-bit floats that are added in f32 are made in an even number of parts of 64 columns, or in one"
//! require PROMOTED == 0 || SLICES == 1 && PINGPONG == 0 "sums of 8-bit floats that are added in f32 leave registers for 64 rows"
//! require sizeof(O) > 1 || BN % 16 == 0            "TMA stores rows of whole 16 bytes"
//! require !integer(T) || WIDE % 16 == 0            "wgmma multiplies integers by multiples of 16 columns"
//! require DYNAMIC == 0 || BLOCKS == 1              "a block draws its tiles for itself"
//! require TERMS == 1                               "gemm_f32_wgmma multiplies f32 by three terms"
//! require TA + TB == 0 || sizeof(T) == 2           "wgmma reads only 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//! require TB == 0 || BN % 64 == 0 && (SWAP ? SHARE_N == 1 : BLOCKS == 1) "a block loads panels of 64 columns of BT"
//! require TA == 0 || BM % 64 == 0 && (SWAP ? BLOCKS == 1 : SHARE_N == 1) "a block loads panels of 64 rows of D"
//! require BLOCKS <= 8 && WIDE % CLUSTER == 0       "the blocks of a cluster, which are at most 8, load equal shares of each tile"
//!
//! tensor  A   box [BOX_A, BK]         swizzle 128  l2 128
//! tensor  AT  box [BK, 64]            swizzle 128  l2 128
//! tensor  B   box [BOX_B, BK]         swizzle 128  l2 128  early
//! tensor  BT  box [BK, 64]            swizzle 128  l2 128  early
//! tensor  D   box [EPI_M, EPI_N]         swizzle SWIZZLE  view
//!
//! workspace state    8 * AMAX     zero             "LargestState"
//! workspace tickets  4 * DYNAMIC  zero             "tiles that have been drawn"
//!
//! cluster BLOCKS
//! launch  grid ceil_div(TILES, WAVES) * BLOCKS  block THREADS  smem SMEM  waits
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)  cycles 10852 + (BLOCKS == 1 ? 0 : BLOCKS > 2 ? 353 : 424) + (SHARE_N > 1) * 150 + max(WAVES * max(80 + ceil_div(K, BK) * STEP, PINGPONG * STORE * 118 / 100), MEMORY) + min(WAVES * ceil_div(K, BK) * STEP, MEMORY) * 45 / 100 + STORE * (PINGPONG ? 1 + given(epilogue) : WAVES) * (PINGPONG ? 100 : SLICES == 2 || CONSUMERS == 3 ? 150 : CONSUMERS == 2 ? 126 : 112) / 100 + WAVES * HOOK + (M <= 64 && BM > 64 ? 20000 : 0) "fitted, with that of gemm_wgmma_split.cu, to 32000 measurements of 1000 problems on an H200"
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits sizeof(T) > 1 || integer(T) ? 0 : PROMOTED ? 9 : K <= 1024 ? 7 : K <= 8192 ? 5 : 3
//!
//! preset  BM = 128, BN = 256, STAGES = 4
//! preset  BM = 192, BN = 192, STAGES = 4  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 224, STAGES = 4, CLUSTER = 2  when M > 64
//! preset  BM = 128, BN = 224, STAGES = 4  when M > 64
//! preset  BM = 256, BN = 200, STAGES = 3, GROUP_M = 8  when M > 64 && sizeof(T) == 2 && sizeof(O) == 2 && !given(epilogue)
//! preset  BM = 256, BN = 200, STAGES = 3, CLUSTER = 2, GROUP_M = 8  when M > 64 && sizeof(T) == 2 && sizeof(O) == 2 && !given(epilogue)
//! preset  BM = 128, BN = 192, STAGES = 5, PINGPONG = 1, GROUP_M = 4  when M > 64
//! preset  BM = 128, BN = 176, STAGES = 5, CLUSTER = 2, PINGPONG = 1, GROUP_M = 8  when M > 64
//! preset  BM = 176, BN = 128, STAGES = 5, CLUSTER = 2, PINGPONG = 1, SWAP = 1, GROUP_M = 8  when M > 64 && sizeof(T) > 1
//! preset  BM = 224, BN = 128, STAGES = 4, SWAP = 1  when M > 64 && sizeof(T) > 1 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 128, STAGES = 6, CLUSTER = 2  when M > 64
//! preset  BM = 128, BN = 200, STAGES = 4  when M > 64
//! preset  BM = 128, BN = 104, STAGES = 6, CLUSTER = 4  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 256, STAGES = 4, CLUSTER = 2  when M > 64 && sizeof(T) == 1
//! preset  BM = 192, BN = 128, STAGES = 5  when M > 64 && PROMOTED
//! preset  BM = 128, BN = 192, STAGES = 5  when M > 64 && (sizeof(T) == 1 || given(epilogue))
//! preset  BM = 128, BN = 176, STAGES = 5  when M > 64 && sizeof(T) == 1
//! preset  BM = 128, BN = 176, STAGES = 4, PINGPONG = 1, GROUP_M = 4  when M > 64 && sizeof(O) > 2
//! preset  BM = 128, BN = 160, STAGES = 5, PINGPONG = 1  when M > 64 && sizeof(O) > 2
//! preset  BM = 256, BN = 176, STAGES = 3  when M > 64 && TILES <= 8 * device.sm_count && sizeof(O) > 2
//! preset  BM = 128, BN = 176, STAGES = 4, CLUSTER = 2  when M > 64 && sizeof(O) > 2
//! preset  BM = 128, BN = 112, STAGES = 6, CLUSTER = 2  when M > 64 && sizeof(O) > 2 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 192, STAGES = 5, CLUSTER = 2, PINGPONG = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 160, BN = 128, STAGES = 5, CLUSTER = 2, PINGPONG = 1, SWAP = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 96, BN = 192, STAGES = 5, SHARE_N = 2, SWAP = 1  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 128, STAGES = 6, PINGPONG = 1, GROUP_M = 4  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 176, BN = 192, STAGES = 4, SHARE_N = 2, SWAP = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 160, BN = 128, STAGES = 5, SWAP = 1  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 144, BN = 128, STAGES = 6, PINGPONG = 1, SWAP = 1, GROUP_M = 4  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 200, BN = 192, STAGES = 4, SWAP = 1  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 160, BN = 128, STAGES = 5, CLUSTER = 2, SWAP = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 208, STAGES = 4, CLUSTER = 2, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 144, STAGES = 5, PINGPONG = 1, GROUP_M = 4  when M > 64 && !given(epilogue) && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 160, STAGES = 5, PINGPONG = 1, GROUP_M = 4  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 112, BN = 192, STAGES = 5, SWAP = 1  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 64, BN = 160, STAGES = 7, CLUSTER = 4, PINGPONG = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 120, BN = 192, STAGES = 5, SHARE_N = 2, SWAP = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count && sizeof(O) < 4
//! preset  BM = 64, BN = 160, STAGES = 7, CLUSTER = 2, PINGPONG = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 112, STAGES = 6, PINGPONG = 1, GROUP_M = 4  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 160, BN = 192, STAGES = 4, SHARE_N = 4, SWAP = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 152, STAGES = 5, PINGPONG = 1, GROUP_M = 4  when M > 64 && TILES <= 8 * device.sm_count
//! preset  BM = 128, BN = 104, STAGES = 6, SHARE_N = 4, PINGPONG = 1, GROUP_M = 8  when M > 64 && TILES <= 8 * device.sm_count && sizeof(T) != 2
//! preset  BM = 152, BN = 128, STAGES = 5, PINGPONG = 1, SWAP = 1, GROUP_M = 4  when M > 64 && N > 2048 && K <= 4096 && !given(epilogue) && sizeof(T) > 1 && TILES <= 10 * device.sm_count
//! preset  BM = 128, BN = 256, STAGES = 4, CLUSTER = 2, GROUP_M = 8  when M > 64 && !given(epilogue) && TILES <= 4 * device.sm_count
//! preset  BM = 192, BN = 160, STAGES = 4, SHARE_N = 2, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 160, BN = 192, STAGES = 4, SWAP = 1  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 192, BN = 144, STAGES = 4, SHARE_N = 2, GROUP_M = 4  when M > 64 && !given(epilogue) && TILES <= 4 * device.sm_count
//! preset  BM = 192, BN = 192, STAGES = 4, CLUSTER = 2, SWAP = 1, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 128, STAGES = 6, CLUSTER = 4, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 176, STAGES = 5, PINGPONG = 1, GROUP_M = 4  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 144, STAGES = 5, CLUSTER = 2, SHARE_N = 2, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 160, STAGES = 6, CLUSTER = 2, PINGPONG = 1, GROUP_M = 8  when M > 64 && !given(epilogue) && TILES <= 4 * device.sm_count
//! preset  BM = 160, BN = 256, STAGES = 4, SHARE_N = 2, SWAP = 1, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 192, BN = 136, STAGES = 4  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 64, BN = 104, STAGES = 8, PINGPONG = 1, GROUP_M = 4  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 112, STAGES = 7, CLUSTER = 2, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 192, STAGES = 5, CLUSTER = 2, SHARE_N = 2, PINGPONG = 1, GROUP_M = 8  when M > 64 && !given(epilogue) && TILES <= 4 * device.sm_count
//! preset  BM = 192, BN = 128, STAGES = 4, SHARE_N = 2, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 240, STAGES = 4, CLUSTER = 2, GROUP_M = 8  when M > 64 && !given(epilogue) && TILES <= 4 * device.sm_count
//! preset  BM = 192, BN = 176, STAGES = 4, CLUSTER = 2, GROUP_M = 8  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 128, STAGES = 6, SHARE_N = 2, PINGPONG = 1  when M > 64 && TILES <= 4 * device.sm_count

#include "device/epilogue/store_results.cuh"
#include "device/epilogue/store_transposed.cuh"
#include "device/pipeline/drawn_tiles.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/pipeline/wgmma_multiplier.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/reference/gemm.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"

// The product is D = A * B^T, of tiles of HIGH by WIDE, or with SWAP D^T = B * A^T: its first operand, whose rows are
// those of an instruction, is A or B.

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<HIGH, WIDE, GROUP_M, CLUSTER, SHARE_N>;
using Accumulators = RegisterTile<layout::Mma<16, WIDE>, Unit<T>::Sum>;       // for one warp
constexpr int REGISTERS = CONSUMERS == 1 ? 240 : CONSUMERS == 2 ? 232 : 152;  // of a consumer's thread

// What differs with the order of the operands: their tiles, and how results are stored.
template <bool Swapped, int Registers> struct ByOrder {
  using First = OperandTile<TA, T, BM, BK>;
  using Second = OperandTile<TB, U, BN, BK>;
  using Staged = SharedTile<O, 64, EPI_N, SWIZZLE>;
  using Store = tma::SliceStore<S, Staged, Hooks, BN, Registers>;
};
template <int Registers> struct ByOrder<true, Registers> {
  using First = OperandTile<TB, U, BN, BK>;
  using Second = OperandTile<TA, T, BM, BK>;
  using Staged = tma::Boxes<SharedTile<O, EPI_M, 64>, 32 / EPI_M>;
  using Store = tma::TransposedStore<S, Staged, Hooks, BM, Registers>;
};
using Ordered = ByOrder<SWAP, REGISTERS - SUMS - 40>;
using Store = Ordered::Store;

struct Smem {
  Ordered::First a[STAGES];
  Ordered::Second b[STAGES];
  Ordered::Staged staged[STORERS][EPI_TILES];
  Pipeline<STAGES, BLOCKS> pipeline;
  Turns turns, stores;
  DrawnNumbers<DYNAMIC> drawn;
};
static_assert(sizeof(Smem) <= SMEM);

// Gives the other consumer the shared tiles, once those of this warpgroup's copies have been read.
__device__ void end_stores(Turn& turn) {
  if (threadIdx.x % kWarpgroup == 0) tma::wait_read<0>();
  __syncwarp();
  turn.end();
}

// Multiplies and stores this consumer's tiles. Called by each consumer warpgroup. Only the copies of its previous tile
// to D may be in progress when it stores one.
template <class To, class Order>
__device__ void consume(Smem& smem, const To& D, const Order& tiles, const Dims& dims, const Hooks& hooks, int steps) {
  const int group = threadIdx.x / kWarpgroup;
  Turn turn(smem.stores, group);
  int stored = 0;  // blocks of 64 rows of a tile
  multiply_tiles<Accumulators, CONSUMERS, SLICES, PINGPONG, PART, SETS, Store>(
      smem.pipeline, smem, tiles, steps,
      [&](const Tile& tile, int block) {
        const int high = tile.row * HIGH + block * 64, wide = tile.column * WIDE;
        return Store(SWAP ? wide : high, SWAP ? high : wide);
      },
      [&](Store& store, int part) { store.read_first(hooks, part); },
      [&](Store& store, const Accumulators& sums) {
        if (TAKE_TURNS && stored == 0) turn.begin();
        store.write(1 + group, smem.staged[TAKE_TURNS ? 0 : group], D, {dims.M, dims.N}, hooks, sums);
        stored = (stored + 1) % SLICES;
        if (TAKE_TURNS && stored == 0) end_stores(turn);
      });
  if (threadIdx.x % kWarpgroup == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A,
                                                              const __grid_constant__ CUtensorMap AT,
                                                              const __grid_constant__ CUtensorMap B,
                                                              const __grid_constant__ CUtensorMap BT,
                                                              const __grid_constant__ Mapped<O, 2> D,
                                                              View<f32, 1> LARGEST, u8* state, u8* tickets,
                                                              const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int steps = ceil_div<u32>(dims.K, BK);
  const Tiles tiles(SWAP ? dims.N : dims.M, SWAP ? dims.M : dims.N);
  if (threadIdx.x < CONSUMERS * kWarpgroup) {
    start_consumer<BLOCKS>(THREADS);
    take_registers<REGISTERS>();
    grid::wait();
    grid::launch_dependents();  // not before: blocks that find room beside this one would read while it waits
    const auto& to = compared<AMAX>(D, state);
    consume(smem, to, learning(tiles, smem.drawn), dims, hooks, steps);
    finish_compare(to, LARGEST, 1, gridDim.x * CONSUMERS * 4);
  } else {  // ptxas places this first, so that its instructions are there early
    const bool first = threadIdx.x == CONSUMERS * kWarpgroup;
    const CUtensorMap &of_a = TA ? AT : A, &of_b = TB ? BT : B;
    const OperandLoads<BOX_HIGH, BOX_WIDE, SHARE_N, SWAP, Smem, STAGES, BLOCKS> loads(
        smem.pipeline, smem, SWAP ? of_b : of_a, SWAP ? dims.N : dims.M, SWAP ? of_a : of_b, SWAP ? dims.M : dims.N);
    const bool begins = !DYNAMIC && steps > 0;  // a tile that is to be drawn is not known yet
    if (first) {
      smem.pipeline.init_first();
      if (begins) loads.begin(tiles[*tiles.begin()], 0);
      smem.turns.init();
      if (TAKE_TURNS) smem.stores.init();
      smem.drawn.init(4 * CONSUMERS);
      smem.pipeline.init_others(PINGPONG ? 1 : CONSUMERS);
    }
    start_producer<BLOCKS>(THREADS);
    give_registers<40>();
    if (first) loads.load(drawing(tiles, smem.drawn, tickets), steps, begins);
  }
  __syncwarp();
}

#endif
