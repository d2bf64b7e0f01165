//! kernel  attention_mask "BITS and BLOCKS of a mask for attention, which packed() reads in its hook: a new text compiles in a tenth of attention's time"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     HEADS           in 1..65535              "with a mask of their own; 1: all have the same"
//! dim     M, N            in 0..2147483647         "queries, keys"
//!
//! param   THREADS = 256   in {128, 256, 512}
//!
//! let     WORDS   = 32                             "of 32 keys, which a warp finds of a query"
//! let     QUERIES = 128                            "of a block of the grid, and of BLOCKS"
//! let     PARTS   = ceil_div(N, 32 * WORDS)        "of a row, one for a block of the grid"
//!
//! tensor  BITS : s32[HEADS, M, ceil_div(N, 32)]  out
//! tensor  BLOCKS : u8[HEADS, ceil_div(M, 128), ceil_div(N, 64)]  out
//! hook    mask(s32 q, s32 k, s32 head) : s32       "whether query q sees key k; the last query is at the last key"
//!
//! launch  grid HEADS * ceil_div(M, QUERIES) * PARTS  block THREADS
//! work    flops 0  bytes HEADS * M * N / 8
//! reference attention_mask_reference  grid min(HEADS * ceil_div(M, 128), 65536)  block 256
//!
//! preset  THREADS = 256

#include "device/tile/packed_mask.cuh"

#ifndef TMA_JIT_REFERENCE

// Each lane of a warp evaluates one of 32 keys, and keeps one of the row's WORDS words: what its words of all rows have
// in common says of which blocks some or all keys are seen.
extern "C" __global__ __launch_bounds__(THREADS) void attention_mask(View<s32, 3> BITS, View<u8, 3> BLOCKS,
                                                                     const Dims dims,
                                                                     const __grid_constant__ Hooks hooks) {
  __shared__ u32 seen[WORDS], hidden[WORDS];  // which keys of each word some query sees, and which some does not
  const u32 parts = ceil_div<u32>(dims.N, 32 * WORDS), tiles = ceil_div<u32>(dims.M, QUERIES);
  const int part = blockIdx.x % parts, tile = blockIdx.x / parts % tiles, head = blockIdx.x / parts / tiles;
  const int lane = threadIdx.x % 32, first = part * WORDS * 32;
  const s64 keys = min(s64{32 * WORDS}, s64{dims.N} - first), end = min((s64{tile} + 1) * QUERIES, s64{dims.M});
  const int words = ceil_div(keys, s64{32});
  const u32 inside = keys >= (lane + 1) * 32 ? 0xffffffff : keys > lane * 32 ? (1u << keys % 32) - 1 : 0;
  if (threadIdx.x < WORDS) seen[lane] = hidden[lane] = 0;
  __syncthreads();
  u32 own_seen = 0, own_hidden = 0;
  for (s64 row = tile * s64{QUERIES} + threadIdx.x / 32; row < end; row += THREADS / 32) {
    const s32 q = row + dims.N - dims.M;
    u32 own = 0;
#pragma unroll 4
    for (int w = 0; w < words; ++w) {
      const u32 word = __ballot_sync(0xffffffff, hooks.mask(q, first + w * 32 + lane, head) != 0);
      own = lane == w ? word : own;
    }
    own &= inside;
    own_seen |= own, own_hidden |= own ^ inside;
    if (lane < words)
      BITS.data[head * BITS.stride[0] + row * BITS.stride[1] + (first / 32 + lane) * BITS.stride[2]] = own;
  }
  if (own_seen != 0) atomicOr(&seen[lane], own_seen);
  if (own_hidden != 0) atomicOr(&hidden[lane], own_hidden);
  __syncthreads();
  const int block = threadIdx.x, word = block * 2;
  if (word >= words) return;
  const u32 some = seen[word] | seen[word + 1], lacks = hidden[word] | hidden[word + 1];
  BLOCKS.data[head * BLOCKS.stride[0] + tile * BLOCKS.stride[1] + (first / 64 + block) * BLOCKS.stride[2]] =
      some == 0    ? kSeenNone
      : lacks != 0 ? kSeenSome
                   : kSeenAll;
}

#else

// One block for each 128 queries, each thread blocks of 64 keys.
extern "C" __global__ void attention_mask_reference(View<f64, 3> BITS, View<f64, 3> BLOCKS, const Dims dims,
                                                    const __grid_constant__ Hooks hooks) {
  const s64 tiles = ceil_div(s64{dims.M}, s64{128}), words = ceil_div(s64{dims.N}, s64{32});
  for (s64 i = blockIdx.x; i < dims.HEADS * tiles; i += gridDim.x) {
    const s64 head = i / tiles, tile = i % tiles;
    for (s64 block = threadIdx.x; block < ceil_div(s64{dims.N}, s64{64}); block += blockDim.x) {
      bool some = false, all = true;
      for (s64 row = tile * 128; row < min(s64{dims.M}, (tile + 1) * 128); ++row) {
        for (s64 w = block * 2; w < min(words, block * 2 + 2); ++w) {
          u32 word = 0;
          for (s64 k = w * 32; k < min(s64{dims.N}, (w + 1) * 32); ++k) {
            const bool seen = hooks.mask(row + dims.N - dims.M, k, head) != 0;
            some = some || seen, all = all && seen;
            word |= static_cast<u32>(seen) << (k % 32);
          }
          BITS.data[head * BITS.stride[0] + row * BITS.stride[1] + w * BITS.stride[2]] = static_cast<s32>(word);
        }
      }
      BLOCKS.data[head * BLOCKS.stride[0] + tile * BLOCKS.stride[1] + block * BLOCKS.stride[2]] = !some ? kSeenNone
                                                                                                  : all ? kSeenAll
                                                                                                        : kSeenSome;
    }
  }
}

#endif
