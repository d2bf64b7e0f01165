//! kernel  attention_decode  "O = softmax(scale * Q K^T) V of the last tokens of sequences over all their keys, of which the last token sees all"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/attention_decode.cuh"
//!
//! dim     N               in 0..2147400000         "keys that a sequence has at most"
//!
//! param   RAGGED  = 0     in {0, 1}                "1: sequence b has LENGTHS[b] keys, 0 to N; 0: all have N"
//!
//! tensor  Q : T[B, TOKENS, HEADS, HD]
//! tensor  K : C[B, N, KV_HEADS, HD]
//! tensor  V : C[B, N, KV_HEADS, HD]
//! tensor  LENGTHS : s32[B]  in 0..N  checked  when RAGGED == 1  "less than 0 is no key, and more than N are N"
//! tensor  SK : f32[KV_HEADS]  when SCALED == 1
//! tensor  SV : f32[KV_HEADS]  when SCALED == 1
//! tensor  SINK : f32[HEADS]  when SINKS == 1
//! tensor  O : T[B, TOKENS, HEADS, HD]  out
//! tensor  L : f32[B, TOKENS, HEADS]  out  when LSE == 1
//!
//! cluster 1, 1, CLUSTER
//! launch  grid TILES, ACROSS, EVEN  block THREADS  smem SMEM
//! work    flops 4 * B * TOKENS * HEADS * N * HD  bytes (2 * B * N * KV_HEADS * sizeof(C) + 2 * B * TOKENS * HEADS * sizeof(T)) * HD
//!
//! preset  HD = 128, STAGES = 3, WARPS = 8, CLUSTER = {16, 8, 4, 2}  when device.smem_per_block >= 210000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16 && JOINED
//! preset  HD = 64, STAGES = 3, WARPS = 8, CLUSTER = {16, 8, 4, 2}  when device.smem_per_block >= 210000 && HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16 && JOINED
//! preset  HD = 256, STAGES = 3, WARPS = 4, CLUSTER = {16, 8, 4, 2}  when device.smem_per_block >= 210000 && HD == 256 && JOINED
//! preset  HD = 128, STAGES = 3, WARPS = 8, ROWS = 32, CLUSTER = {16, 8, 4, 2}  when device.smem_per_block >= 210000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) > 16 && JOINED
//! preset  HD = 128, STAGES = 3, WARPS = 8  when device.smem_per_block >= 210000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, STAGES = 2, WARPS = 8  when device.smem_per_block >= 160000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, STAGES = 2, WARPS = 4  when HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, STAGES = 3, WARPS = 8, ROWS = 32  when device.smem_per_block >= 210000 && HD == 128
//! preset  HD = 128, STAGES = 2, WARPS = 8, ROWS = 32  when device.smem_per_block >= 170000 && HD == 128
//! preset  HD = 128, STAGES = 2, WARPS = 4, ROWS = 32  when HD == 128
//! preset  HD = 64, STAGES = 3, WARPS = 8  when device.smem_per_block >= 210000 && HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, STAGES = 2, WARPS = 8  when device.smem_per_block >= 160000 && HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, STAGES = 2, WARPS = 4  when HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, STAGES = 3, WARPS = 8, ROWS = 32  when device.smem_per_block >= 210000 && HD == 64
//! preset  HD = 64, STAGES = 2, WARPS = 8, ROWS = 32  when device.smem_per_block >= 160000 && HD == 64
//! preset  HD = 64, STAGES = 2, WARPS = 4, ROWS = 32  when HD == 64
//! preset  HD = 256, STAGES = 3, WARPS = 4  when device.smem_per_block >= 210000 && HD == 256
//! preset  HD = 256, STAGES = 2, WARPS = 4  when device.smem_per_block >= 160000 && HD == 256
//! preset  HD = 256, STAGES = 2, WARPS = 2  when HD == 256
//! preset  HD = 32, STAGES = 3, WARPS = 8  when device.smem_per_block >= 220000 && HD == 32 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 32, STAGES = 2, WARPS = 4  when HD == 32 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 32, STAGES = 3, WARPS = 8, ROWS = 32  when device.smem_per_block >= 220000 && HD == 32
//! preset  HD = 32, STAGES = 2, WARPS = 4, ROWS = 32  when HD == 32
//! preset  HD = 96, STAGES = 2, WARPS = 8  when device.smem_per_block >= 220000 && HD == 96 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 96, STAGES = 2, WARPS = 2  when HD == 96 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 96, STAGES = 2, WARPS = 8, ROWS = 32  when device.smem_per_block >= 220000 && HD == 96
//! preset  HD = 96, STAGES = 2, WARPS = 2, ROWS = 32  when HD == 96
//! preset  HD = 192, STAGES = 2, WARPS = 8  when device.smem_per_block >= 220000 && HD == 192
//! preset  HD = 192, STAGES = 2, WARPS = 2  when HD == 192

#include "device/epilogue/attention_decode.cuh"
#include "device/pipeline/attention_decode.cuh"
#include "device/reference/attention_decode.cuh"
#include "device/schedule/attention_decode.cuh"
#include "device/tile/shared_memory.cuh"

// Returns how many keys a sequence has.
__device__ inline int length_of(const View<const s32, 1>& LENGTHS, int sequence, int most) {
  return RAGGED == 0 ? most : max(0, min(most, LENGTHS.data[sequence * LENGTHS.stride[0]]));
}

#ifndef TMA_JIT_REFERENCE

struct Smem : ClusterParts {  // as a base they take no memory where there is no cluster
  SharedTile<T, ROWS, HD> q;
  union {
    Ring ring[WARPS];
    WarpPart results[WARPS];  // in place of the rings
  };
};
static_assert(sizeof(Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_decode(
    View<const T, 4> Q, View<const C, 4> K, View<const C, 4> V, View<const s32, 1> LENGTHS, View<const f32, 1> SK,
    View<const f32, 1> SV, View<const f32, 1> SINK, View<T, 4> O, View<f32, 3> L, u8* parts, u8* counters, f32 scale,
    const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  __shared__ DecodeWork kept;
  DecodeWork work(dims, [&](int sequence) { return length_of(LENGTHS, sequence, dims.N); });
  if (work.part >= work.parts) return;
  smem.begin();
  KeyCopy<ContiguousKeys, C, BN, HD> copy({work.sequence}, K, V, work.kv_head, work.keys);
  const HeadNumbers numbers = {{}, SK, SV, SINK, static_cast<int>(dims.HEADS)};
  OnlineSoftmax<Scores> softmax(1);
  Values values = {};
  attend(smem.q, Q, smem.ring[threadIdx.x / 32], copy, work, kept, dims, numbers.product_scale(scale, 0, work.kv_head),
         hooks, softmax, values);
  finish(smem.results, smem, softmax, mma::in_order<C>(values), kept,
         {O, L, numbers, reinterpret_cast<BlockPart*>(parts), reinterpret_cast<u32*>(counters)});
}

#else

extern "C" __global__ void attention_decode_reference(View<const T, 4> Q, View<const C, 4> K, View<const C, 4> V,
                                                      View<const s32, 1> LENGTHS, View<const f32, 1> SK,
                                                      View<const f32, 1> SV, View<const f32, 1> SINK, View<f64, 4> O,
                                                      View<f64, 3> L, f32 scale, const Dims dims,
                                                      const __grid_constant__ Hooks hooks) {
  const auto length = [&](s64 sequence) { return length_of(LENGTHS, sequence, dims.N); };
  const auto offset = [](const View<const C, 4>& tensor, s64 sequence, s64 key) {
    return sequence * tensor.stride[0] + key * tensor.stride[1];
  };
  const auto score = [&](f64 x, s64 sequence, s64 head, s64 query, s64 key) {
    return hooks.score(x, sequence, head, query, key);
  };
  reference_attention_decode(Q, K, V, {{}, SK, SV, SINK, static_cast<int>(dims.HEADS)}, O, L, scale, dims, length,
                             offset, score);
}

#endif
