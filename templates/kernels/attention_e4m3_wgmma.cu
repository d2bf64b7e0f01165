//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours"
//! arch    sm_90a
//! prefer  2
//! use     "device/reference/attention.cuh"
//!
//! param   HD      = 64    in {64, 128, 256}        "elements of a head"
//! param   BM      = 128   in {64, 128, 192}        "queries of a block: 64 a warpgroup"
//! param   BN      = 160   in {32, 64, 96, 128, 160, 192, 224, 256} "keys of a step"
//! param   STAGES  = 2     in 1..4                  "steps of keys, and of values, in flight or in use"
//! param   TILES   = 1     in {1, 2}                "tiles whose queries are in shared memory"
//! param   PERSISTENT = 0  in {0, 1}                "1: a block for each SM processes several tiles"
//!
//! param   TRANSPOSE_ONCE = 0 in {0, 1}             "1: the blocks first transpose all values together, into global memory; 0: each transposes those of its steps"
//!
//! let     CLUSTER = 1                              "blocks that load keys together"
//! let     CONSUMERS = BM / 64
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     SLOTS   = CONSUMERS * TILES              "of queries"
//! let     WEIGHTS = BN == 256                      "weights of a step in shared memory, as registers do not hold them"
//! let     SMEM    = align_up(64 * SLOTS * HD + STAGES * BN * (HD + (2 - TRANSPOSE_ONCE) * DV) + WEIGHTS * BM * BN + 64 * STAGES + 16 * SLOTS + 8, 1024)
//! let     BLOCKS  = HEADS * ceil_div(M, BM)
//! let     USES    = KV_HEADS == 0 ? 0 : M * HEADS / KV_HEADS / (1 + CAUSAL) "queries for which a value is multiplied"
//!
//! require sizeof(T) == 1                           "numbers of 8 bits"
//! require DV % 64 == 0                             "values are transposed 64 elements at a time"
//! require SMEM + 1024 * given(mask) <= device.smem_per_block "the tiles must fit in shared memory, and what is found of a mask"
//! require TRANSPOSE_ONCE == 0 || PERSISTENT == 1 && STAGES >= 2 && DV <= HD "the tiles that are transposed use the memory of two steps of keys"
//! require TRANSPOSE_ONCE == 0 || given(mask) == 0  "under a mask not all values may be needed"
//! require given(mask) == 0 || BM != 192            "the warps that find the steps a mask leaves need registers"
//! require DV / 2 + BN / 2 + (WEIGHTS ? 0 : BN / 8) <= (BM == 192 ? 132 : given(mask) == 1 ? 176 : TRANSPOSE_ONCE ? 204 : 196) "output, scores and weights must fit in registers"
//! require alignment(O) >= 8 && stride(O, 0) % 4 == 0 && stride(O, 1) % 4 == 0 && stride(O, 2) == 1 "four results are stored at a time"
//!
//! tensor  Q  box [1, 64, HD < 128 ? HD : 128]  swizzle HD < 128 ? HD : 128
//! tensor  K  box [1, BN, HD < 128 ? HD : 128]  swizzle HD < 128 ? HD : 128  l2 256
//! tensor  V  box [1, BN, DV % 128 == 0 ? 128 : 64]  swizzle DV % 128 == 0 ? 128 : 64  l2 256
//!
//! workspace counters given(mask) == 1 && PERSISTENT == 1 ? 16 : 0  zero "of Search"
//! workspace steps  given(mask) == 1 && PERSISTENT == 1 ? 8 * ceil_div(M, BM) * ceil_div(ceil_div(N, BN), 32) : 0  "that the mask leaves"
//!
//! workspace values TRANSPOSE_ONCE * KV_HEADS * ceil_div(N, BN) * BN * DV  "transposed, tile by tile"
//! workspace transposed 12 * TRANSPOSE_ONCE  zero   "counters of TransposedValues"
//!
//! launch  grid PERSISTENT ? min(BLOCKS, device.sm_count) : BLOCKS  block THREADS  smem SMEM + 1024 * given(mask)
//! work    flops 2 * HEADS * M * N * (HD + DV) / (1 + CAUSAL)  bytes HEADS * M * (HD + 2 * DV) + KV_HEADS * N * (HD + DV)
//! reference attention_reference  grid min(HEADS * M, 65536)  block max(128, HD, DV)  bits 1
//!
//! preset  HD = 64, BM = 64, BN = 128                                       when HD <= 128 && FEW_64
//! preset  HD = 64, BM = 128, BN = 128                                      when HD <= 128 && given(mask) == 0 && FEW_128
//! preset  HD = 256, BM = 64, BN = 96                                       when HD == 256 && FEW_64
//! preset  HD = 64, BM = 192, BN = 128, PERSISTENT = 1, TILES = 2           when HD == 64 && given(mask) == 0
//! preset  HD = 64, BM = 128, BN = 160, PERSISTENT = 1, TILES = 2           when HD == 64
//! preset  HD = 128, BM = 128, BN = 224, PERSISTENT = 1, TILES = 2, TRANSPOSE_ONCE = 1  when HD == 128 && CAUSAL == 1 && N >= 16384 && given(mask) == 0 && USES >= 2048 && LSE == 0 && SINKS == 0 && given(score) == 0
//! preset  HD = 128, BM = 128, BN = 256, PERSISTENT = 1, TILES = 2, TRANSPOSE_ONCE = 1  when HD == 128 && CAUSAL == 0 && N >= 1024 && given(mask) == 0 && given(score) == 0 && USES >= 2048 && LSE == 0
//! preset  HD = 128, BM = 128, BN = 192, STAGES = 3, PERSISTENT = 1, TILES = 2, TRANSPOSE_ONCE = 1  when HD == 128 && N >= 2048 && given(mask) == 0 && USES >= 2048
//! preset  HD = 128, BM = 128, BN = 192, PERSISTENT = 1, TILES = 2          when HD == 128 && N > 6144 && given(mask) == 0
//! preset  HD = 128, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2          when HD == 128
//! preset  HD = 256, BM = 128, BN = 96, PERSISTENT = 1, TILES = 2, TRANSPOSE_ONCE = 1  when HD == 256 && given(mask) == 0 && USES >= 4096
//! preset  HD = 256, BM = 128, BN = 96

#include "device/epilogue/log_sums.cuh"
#include "device/pipeline/attention_e4m3.cuh"
#include "device/ptx/uniform.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"
#include "device/tile/pack.cuh"

#include "device/pipeline/attention_tiles.cuh"

#ifndef TMA_JIT_REFERENCE

// Registers of a thread that loads, transposes or evaluates the mask.
constexpr int kLoadRegisters = CONSUMERS == 3 ? 32 : kMaskGiven ? 72 : 40;

// Stores a warp's rows of a tile, from `row` on, four neighbouring elements at a time.
__device__ inline void store_results(const View<R, 3>& O, const Output& o, const Work& work, int row) {
  using Quads = layout::Quads<16, DV>;
  const auto ordered = mma::in_order<T>(o);
#pragma unroll
  for (int s = 0; s < Quads::kRowSlots; ++s) {
    const int query = work.first + row + Quads::row(s);
    if (query >= work.queries) continue;
    R* const to = O.data + work.head * O.stride[0] + query * O.stride[1];
#pragma unroll
    for (int i = 0; i < Quads::kRegisters; i += 4)
      if (Quads::slot(i) == s)
        *reinterpret_cast<uint2*>(to + Quads::column(i)) =
            make_uint2(pack<R>(ordered.x[i], ordered.x[i + 1]), pack<R>(ordered.x[i + 2], ordered.x[i + 3]));
  }
}

// Computes 64 rows of each of the block's tiles. Called by one consumer warpgroup.
__device__ void consume(Block& smem, const HeadNumbers& numbers, const View<R, 3>& O, const View<f32, 2>& L,
                        const Dims& dims, f32 scale, const Hooks& hooks) {
  const int consumer = uniform(threadIdx.x / kWarpgroup), row = threadIdx.x / 32 * 16;
  const auto finish = [&](Output& o, const Softmax& softmax, const Work& work, u32 slot) {
    if constexpr (LSE) store_log_sums(L, softmax, work, row);
    if constexpr (kMaskGiven)
      smem.queries.release_warp(slot);  // each warp has read the tile's Work in the slot
    else
      smem.queries.release_warpgroup(slot);
    store_results(O, o, work, row);
  };
  Attention<Work, decltype(finish), kMaskGiven> attention(smem, hooks, numbers, scale, consumer, finish,
                                                          smem.weights(consumer));
  attention.attend(tiles_of(smem, dims, consumer));
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV, View<const f32, 1> SINK, View<R, 3> O,
    View<f32, 2> L, u8* counters, u8* steps, u8* values, u8* transposed, f32 scale, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  Block& smem = shared_memory<Block>();
  if (threadIdx.x == 0) {
    for (bool& none : smem.none) none = false;
    smem.queries.init(kMaskGiven ? 4 : 1);
    smem.keys.init(kMaskGiven ? CONSUMERS * 4 : CONSUMERS);
    smem.values.init(TRANSPOSE_ONCE ? CONSUMERS : kTransposers);
    smem.turned.init(CONSUMERS, TRANSPOSE_ONCE ? 1 : kTransposers);
    init_found(smem);
  }
  __syncthreads();
  const Search search(dims, hooks, counters, steps);
  search.begin();
  const TransposedValues<BN, DV> turned(values, transposed, dims.KV_HEADS, dims.N);
  if constexpr (TRANSPOSE_ONCE) turned.make<THREADS>(smem, V);
  const int thread = threadIdx.x - CONSUMERS * kWarpgroup;
  if (thread >= 0) {
    give_registers<kLoadRegisters>();
    if constexpr (TRANSPOSE_ONCE) {
      Tiles tiles(dims);
      if (thread < 32) {
        turned.await();
        load_attention_backwards<CONSUMERS>(smem, Q, K, turned, tiles);
      }
    } else if (thread >= 32 && thread < 32 + 32 * kTransposers) {
      transpose_values(smem, thread / 32 - 1);
    } else if constexpr (kMaskGiven) {
      if (thread / 32 == 0 && elect()) load_found_backwards<CONSUMERS>(smem, Q, K, V);
      if (thread >= 32) search.run(smem.found);
    } else {
      Tiles tiles(dims);
      load_attention_backwards<CONSUMERS>(smem, Q, K, V, tiles);
    }
    __syncwarp();
  } else {
    take_registers<CONSUMERS == 3 ? 160 : kMaskGiven ? 216 : 232>();
    consume(smem, {SQ, SK, SV, SINK, static_cast<int>(dims.SINK_HEADS)}, O, L, dims, scale, hooks);
    __syncwarp();
  }
}

#endif
