#pragma once
// The shared memory and the tiles of attention whose operands are e4m3, by wgmma, which takes them only along K. So the
// values of a step are transposed in shared memory, by warps between the one that loads and those that multiply, or
// with TRANSPOSE_ONCE those of all steps before. T, HD and the params of the file are the template's.
#include "device/pipeline/tma_attention.cuh"
#include "device/pipeline/transposed_values.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/mma_e4m3_tile.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/wgmma_e4m3_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kTransposers = kMaskGiven ? 2 : 3;  // warps; another then evaluates the mask

using Scores = RegisterTile<layout::Mma<16, BN>>;
using Queries = SharedTile<T, 64, HD>;  // of one consumer
using Output = RegisterTile<layout::Mma<16, DV>>;
// The weights of a consumer's step: in registers, or in shared memory where registers do not hold them.
template <bool Shared, int N> struct WeightTiles {
  using Weights = wgmma::Words<T, N>;
  __device__ Weights weights(int) { return {}; }
};
template <int N> struct WeightTiles<true, N> {
  using Weights = wgmma::SharedWords<N>;
  SharedTile<T, 64, N> tile[CONSUMERS];
  __device__ Weights weights(int consumer) { return Weights(tile[consumer]); }
};
using Weights = WeightTiles<WEIGHTS == 1, BN>::Weights;
using Softmax = OnlineSoftmax<Scores, 4, 4>;  // weights of up to 2^8, below 448, the greatest e4m3
constexpr bool kQueriesHeld = false;

// Values as they are loaded: of a step, or of a tile that is transposed before any keys are loaded.
template <bool Once> struct KeysAndValues {
  SharedTile<T, BN, HD> k[STAGES];
  SharedTile<T, BN, DV> v[STAGES];
};
template <> struct KeysAndValues<true> {
  union {
    SharedTile<T, BN, HD> k[STAGES];
    SharedTile<T, BN, DV> v[2];
  };
};

struct Smem : KeysAndValues<TRANSPOSE_ONCE>, WeightTiles<WEIGHTS == 1, BN> {
  static constexpr bool kTransposes = TRANSPOSE_ONCE == 0;
  static constexpr int kBlocks = CLUSTER;
  using Transposed = TransposedBytes<BN, DV>;

  Queries q[SLOTS];
  Transposed transposed[STAGES];
  Pipeline<STAGES> keys, values, turned;
  u32 drawn[2];             // tiles of TransposedValues
  Pipeline<SLOTS> queries;  // the slots of tile i: consumers 0, 1, ..., then those of tile i + 1
  PublishedSteps<STAGES, kMaskGiven> published;
  bool none[STAGES];  // that a slot has no values, and none follow

  // The values as the second product takes them, and their ring.
  __device__ const Transposed& factor(u32 slot) const { return transposed[slot]; }
  __device__ auto& factors() { return kTransposes ? turned : values; }
};
static_assert(sizeof(Smem) <= SMEM);

// Transposes the values of all steps, until there are none. Called by kTransposers warps, of which this one is number
// `warp`. Loop invariant: before each step, the slots of the values before are released, and those of the transposed
// ones are announced.
__device__ inline void transpose_values(Smem& smem, int warp) {
  Consumer loaded(smem.values);
  Producer turned(smem.turned);
#pragma unroll 1
  for (u32 from = loaded.wait(); !smem.none[from]; from = loaded.wait()) {
    const u32 to = turned.acquire();
    transpose_bytes<kTransposers>(smem.transposed[to], smem.v[from], warp);
    smem.values.release_warp(from);  // whose fence is for the products that read what was written, too
    if (threadIdx.x % 32 == 0) smem.turned.full[to].arrive();
  }
}

#include "device/pipeline/attention_consumer.cuh"

#endif
