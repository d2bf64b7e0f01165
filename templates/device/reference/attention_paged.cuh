#pragma once
// The problem of all attention_paged files.
//
// What the files of the kernel attention_paged share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16}
//! dim     BATCH           in 0..65535              "sequences"
//! dim     HEADS, KV_HEADS in 1..32767              "HEADS / KV_HEADS of queries share keys and values"
//! dim     M               in 0..2147400000         "queries of all sequences together: the last tokens of each"
//! dim     LONGEST         in 0..2147400000         "queries of the longest sequence, or more; a sequence's further ones are left out"
//! dim     P, SIZE         in 0..2147400000         "pages of keys and values, keys of a page"
//! dim     MAX_PAGES       in 0..2147400000         "pages that a sequence lists"
//!
//! param   CAUSAL  = 1     in {1, 0} asked          "1: a query sees its sequence's keys up to its own, the last query all of them"
//! param   LSE     = 0     in {0, 1}                "1: L receives the logarithm of each query's sum of weights"
//! param   SINKS   = 0     in {0, 1}                "1: SINK is a score of each head that takes weight and has no value"
//! param   VD      = 0     in {0, 32, 64, 96, 128, 192} "elements of a value and of a result; 0: as many as HD"
//!
//! let     SCALED  = 0                              "numbers of 16 bits have no scales"
//! let     DV      = VD == 0 ? HD : VD
//!
//! require VD != HD                                 "leave VD out where values have as many elements as keys"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require MAX_PAGES * SIZE <= 2147400000           "keys of a sequence are counted in 31 bits"
//!
//! tensor  Q   : T[M, HEADS, HD]
//! tensor  K   : T[P, SIZE, KV_HEADS, HD]
//! tensor  V   : T[P, SIZE, KV_HEADS, DV]
//! tensor  CU  : s32[BATCH + 1]  in 0..M  rising      "where the queries of each sequence begin, and the last end"
//! tensor  PAGES : s32[BATCH, MAX_PAGES]  in 0..P - 1  checked  "a number that is no page's reads as zeros"
//! tensor  LENGTHS : s32[BATCH]  in 0..MAX_PAGES * SIZE  checked  "keys of each sequence; less than 0 is no key, and more than the pages have are as many"
//! tensor  SINK : f32[HEADS]  when SINKS == 1
//! tensor  O   : T[M, HEADS, DV]  out
//! tensor  L   : f32[HEADS, M]  out  when LSE == 1
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "applied to each scaled product of query q and key k"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "whether query q sees key k; steps in which no query sees a key are skipped"
#include "device/reference/attention_sequences.cuh"

struct Sequences {
  const View<const s32, 1>&CU, &LENGTHS;
  const Dims& dims;

  __device__ SequenceRows queries(s64 b) const { return {CU, b, dims.M, dims.LONGEST}; }
  __device__ SequenceRows keys(s64 b) const {
    return {0, max(0, min(static_cast<int>(dims.MAX_PAGES * dims.SIZE), LENGTHS.data[b * LENGTHS.stride[0]]))};
  }
};

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void attention_paged_reference(View<const T, 3> Q, View<const T, 4> K, View<const T, 4> V,
                                                     View<const s32, 1> CU, View<const s32, 2> PAGES,
                                                     View<const s32, 1> LENGTHS, View<const f32, 1> SINK,
                                                     View<f64, 3> O, View<f64, 2> L, f32 scale, const Dims dims,
                                                     const __grid_constant__ Hooks hooks) {
  const Sequences sequences = {CU, LENGTHS, dims};
  const auto row_of = [&](const View<const T, 4>& tensor, s64 b, s64 key, s64 kv_head) -> const T* {
    const s64 page = PAGES.data[b * PAGES.stride[0] + key / dims.SIZE * PAGES.stride[1]];
    if (page < 0 || page >= dims.P) return nullptr;
    return tensor.data + page * tensor.stride[0] + key % dims.SIZE * tensor.stride[1] + kv_head * tensor.stride[2];
  };
  reference_attention_of_sequences(Q, K, V, sequences, row_of, {{}, {}, {}, SINK, static_cast<int>(dims.HEADS)}, O, L,
                                   scale, dims, hooks);
}
#endif
