//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours"
//! arch    sm_90a
//! prefer  2
//! use     "device/reference/attention.cuh"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   BM      = 128   in {64, 128, 192}        "queries of a block: 64 a warpgroup"
//! param   BN      = 128   in {32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256} "keys of a step"
//! param   STAGES  = 2     in 1..4                  "steps of keys, and of values, in flight or in use"
//! param   TILES   = 1     in 1..4                  "tiles whose queries and outputs are in shared memory"
//! param   PERSISTENT = 0  in {0, 1}                "1: a block for each SM processes several tiles"
//! param   CLUSTER = 1     in {1, 2}                "blocks that load the keys and values of a head together, each into all of them"
//!
//! let     CONSUMERS = BM / 64
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     SLOTS   = CONSUMERS * TILES              "of queries and outputs"
//! let     PANEL   = HD % 64 == 0 ? 64 : 32         "elements of a swizzle row"
//! let     VALUE_PANEL = DV % 64 == 0 ? 64 : 32
//! let     SMEM    = align_up((64 * SLOTS * HD + STAGES * BN * (HD + DV)) * sizeof(T) + 32 * STAGES + 24 * SLOTS, 1024)
//! let     TILES_192 = HEADS * ceil_div(M, 192)
//! let     ROWS_128 = ceil_div(TILES_128, device.sm_count) * 128 "of queries that a block has at most, by tiles of 128"
//! let     ROWS_192 = ceil_div(TILES_192, device.sm_count) * 192 "by tiles of 192, which are some 15 % faster a row"
//! let     PAIRS_128 = ceil_div(HEADS * ceil_div(ceil_div(M, 128), 2), device.sm_count) * device.sm_count "as many as all blocks have if one has most: persistent blocks take a long and a short tile of a causal head together"
//! let     PAIRS_192 = ceil_div(HEADS * ceil_div(ceil_div(M, 192), 2), device.sm_count) * device.sm_count
//! let     EVEN_128 = 200 * PAIRS_128 <= 110 * TILES_128 "few blocks are idle while others process their last pair"
//! let     EVEN_192 = 200 * PAIRS_192 <= 110 * TILES_192
//! let     BLOCKS  = HEADS * ceil_div(M, BM * CLUSTER) * CLUSTER
//!
//! require sizeof(T) == 2                           "numbers of 16 bits"
//! require SMEM + 1024 * given(mask) <= device.smem_per_block "the tiles must fit in shared memory, and what is found of a mask"
//! require CLUSTER == 1 || (CAUSAL == 0 && given(mask) == 0 && BN % 16 == 0) "blocks that load together have the same steps"
//! require CLUSTER <= device.cluster_max            "the device's clusters must be as large"
//! require DV <= HD                                 "a result takes the place of its query"
//! require PERSISTENT == 0 || DV <= 192             "with values of 256 no registers are left for the next tile"
//! require given(mask) == 0 || BM != 192            "the warps that find the steps a mask leaves need registers"
//! require DV / 2 + BN * 3 / 4 <= (BM == 192 ? 132 : 200) "output, scores and weights must fit in registers"
//!
//! tensor  Q  box [1, 64, PANEL]  swizzle PANEL * 2
//! tensor  K  box [1, BN / CLUSTER, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  V  box [1, BN / CLUSTER, VALUE_PANEL]  swizzle VALUE_PANEL * 2  l2 256
//! tensor  O  box [1, 64, VALUE_PANEL]  swizzle VALUE_PANEL * 2
//!
//! workspace counters given(mask) == 1 && PERSISTENT == 1 ? 16 : 0  zero "of Search"
//! workspace steps  given(mask) == 1 && PERSISTENT == 1 ? 8 * ceil_div(M, BM) * ceil_div(ceil_div(N, BN), 32) : 0  "that the mask leaves"
//!
//! cluster CLUSTER
//! launch  grid PERSISTENT ? min(BLOCKS, device.sm_count / CLUSTER * CLUSTER) : BLOCKS  block THREADS  smem SMEM + 1024 * given(mask)
//! work    flops 2 * HEADS * M * N * (HD + DV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * (HD + DV) * sizeof(T)
//! reference attention_reference  grid min(HEADS * M, 65536)  block max(128, HD)  bits 4
//!
//! preset  HD = 64, BM = 64, BN = 128                                          when HD <= 192 && FEW_64
//! preset  HD = 256, BM = 64, BN = 64                                          when FEW_64
//! preset  HD = 64, BM = 128, BN = 128                                         when HD <= 192 && given(mask) == 0 && FEW_128
//! preset  HD = 64, BM = 128, BN = 128, STAGES = 3, PERSISTENT = 1, TILES = 2  when HD == 64 && CAUSAL == 0 && given(mask) == 0 && (N <= 1024 || 115 * ROWS_128 <= 100 * ROWS_192)
//! preset  HD = 64, BM = 192, BN = 128, PERSISTENT = 1, TILES = 2              when CAUSAL == 0 && given(mask) == 0
//! preset  HD = 128, BM = 128, BN = 128, PERSISTENT = 1, TILES = 3             when HD > 64 && VD == 0 && CAUSAL == 0 && given(mask) == 0
//! preset  HD = 64, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2              when CAUSAL == 0
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128, STAGES = 3, PERSISTENT = 1, TILES = 4  when HD == 64 && N <= 3072 && given(mask) == 0 && EVEN_128
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2  when N <= 3072 && (HD < 64 || VD > 0) || given(mask) == 1
//! preset  HD = 64, CAUSAL = 1, BM = 192, BN = 128, PERSISTENT = 1, TILES = 2  when N <= 6144 && given(mask) == 0 && EVEN_192
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128                             when HD == 64 && given(mask) == 0 && TILES_192 <= device.sm_count
//! preset  HD = 64, CAUSAL = 1, BM = 192, BN = 128                             when given(mask) == 0
//! preset  HD = 128, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2             when CAUSAL == 0
//! preset  HD = 128, CAUSAL = 1, BM = 128, BN = 128                             when HD > 64 && HD <= 128 && VD == 0 && given(mask) == 0 && !EVEN_128
//! preset  HD = 128, CAUSAL = 1, BM = 128, BN = 128, PERSISTENT = 1, TILES = 3  when N <= 8192 && given(mask) == 0
//! preset  HD = 128, CAUSAL = 1, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2
//! preset  HD = 192, BM = 128, BN = 112                                        when VD != 128
//! preset  HD = 192, VD = 128, BM = 128, BN = 128                              when given(mask) == 0 && (CAUSAL == 0 || !EVEN_128 || M >= 4096 && TILES_128 >= 11 * device.sm_count)
//! preset  HD = 192, VD = 128, BM = 128, BN = 128, PERSISTENT = 1
//! preset  HD = 256, BM = 128, BN = 64                                         when given(mask) == 1
//! preset  HD = 256, BM = 128, BN = 80

#include "device/epilogue/log_sums.cuh"
#include "device/pipeline/attention_wgmma.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"

#include "device/pipeline/attention_tiles.cuh"

#ifndef TMA_JIT_REFERENCE

// Registers of a thread that loads, stores or evaluates the mask.
constexpr int kLoadRegisters = CONSUMERS == 3 ? 32 : kMaskGiven ? 72 : PERSISTENT ? 40 : 24;

// Computes 64 rows of each of the block's tiles. Called by one consumer warpgroup.
__device__ void consume(Block& smem, const HeadNumbers& numbers, const View<f32, 2>& L, const Dims& dims, f32 scale,
                        const Hooks& hooks) {
  const int number = threadIdx.x / kWarpgroup, warp = threadIdx.x % kWarpgroup / 32;
  const int consumer = HD == 64 && CAUSAL == 0 ? number : uniform(number);  // these take 0.5 % longer with it
  const auto finish = [&](const Output& o, const Softmax& softmax, const Work& work, u32 slot) {
    if constexpr (LSE) store_log_sums(L, softmax, work, threadIdx.x / 32 * 16);
    store(smem.result(slot), warp * 16, 0, o);  // overwrites the queries, which only this warpgroup has read
    tma::fence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem.made[slot].arrive();
  };
  Attention<Work, decltype(finish), kMaskGiven> attention(smem, hooks, numbers, scale, consumer, finish, {});
  attention.attend(tiles_of(smem, dims, consumer));
}

// Loads the operands of the block's tiles and stores their results. Called by one warpgroup.
__device__ void transfer(Block& smem, const CUtensorMap& Q, const CUtensorMap& K, const CUtensorMap& V,
                         const CUtensorMap& O, const Search& search, const Dims& dims) {
  const int thread = threadIdx.x - CONSUMERS * kWarpgroup;
  if constexpr (kMaskGiven) {
    if (thread / 32 == 0 && elect()) load_found_backwards<CONSUMERS>(smem, Q, K, V);
    if (thread / 32 == 1 && elect()) store_attention<CONSUMERS>(smem, O, Published(smem, 0));
    if (thread >= 64 && thread < 96) search.run(smem.found);
  } else {
    Tiles tiles(dims);
    if (thread < 32) load_attention_backwards<CONSUMERS>(smem, Q, K, V, tiles);
    if (thread / 32 == 1 && elect()) store_attention<CONSUMERS>(smem, O, tiles);
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV, View<const f32, 1> SINK,
    const __grid_constant__ CUtensorMap O, View<f32, 2> L, u8* counters, u8* steps, f32 scale, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  Block& smem = shared_memory<Block>();
  if (threadIdx.x == 0) init(smem), init_found(smem);
  cluster::sync_blocks<CLUSTER>();
  const Search search(dims, hooks, counters, steps);
  search.begin();
  if (threadIdx.x >= CONSUMERS * kWarpgroup) {
    give_registers<kLoadRegisters>();
    transfer(smem, Q, K, V, O, search, dims);
    __syncwarp();
  } else {
    take_registers<CONSUMERS == 3 ? 160 : kLoadRegisters == 24 ? 240 : kLoadRegisters == 40 ? 232 : 216>();
    consume(smem, {SQ, SK, SV, SINK, static_cast<int>(dims.SINK_HEADS)}, L, dims, scale, hooks);
    __syncwarp();
  }
  if constexpr (CLUSTER > 1) cluster::sync();  // no block may exit while another signals its barriers
}

#endif
