#pragma once
// The work of a block of attention: BM queries of one head against the keys that the last of them sees, BN at a time.
// Blocks with the most keys come first. CAUSAL, HD and Dims are the template's.
#include "device/schedule/longest_first.cuh"

#ifndef TMA_JIT_REFERENCE

template <int TileM, int TileN> struct AttentionTile {
  int first, head, kv_head, keys, steps;  // the first query; heads; number of keys, and steps of BN keys
  int shift;                              // query i sees the keys up to i + shift

  __device__ explicit AttentionTile(const Dims& dims) : keys(dims.N), shift(dims.N - dims.M) {
    const LongestFirst order = {static_cast<int>(ceil_div<u32>(dims.M, TileM)), static_cast<int>(dims.HEADS)};
    first = order.row(blockIdx.x) * TileM;
    head = order.column(blockIdx.x);
    kv_head = head / (dims.HEADS / dims.KV_HEADS);
    steps = ceil_div<u32>(CAUSAL ? max(0, min(keys, first + TileM + shift)) : keys, TileN);
  }
  // Returns whether the tile's query `row` sees a key.
  __device__ bool sees(int row, int key) const { return key < keys && (CAUSAL == 0 || key <= first + row + shift); }
};

#endif
