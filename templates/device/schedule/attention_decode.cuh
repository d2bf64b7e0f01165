#pragma once
// The work of a block of attention_decode: up to ROWS rows of queries that share one head of keys and values, against
// one part of a sequence's keys. A row is one query head of one token, tokens outermost. A sequence's keys are divided
// evenly, by its own length, into as many parts as the grid has blocks for, but not into parts of fewer than LEAST
// keys; blocks without a part have nothing to do. Warps of a block take turns at steps of BN keys. ROWS, BN, WARPS,
// LEAST and Dims are the template's.
#include "device/schedule/split.cuh"

#ifndef TMA_JIT_REFERENCE

class DecodeWork {
 public:
  int sequence, kv_head;
  int group;        // query heads that share the head of keys and values
  int first, rows;  // the first row, and how many
  int unit;         // the sequence, head and rows as one number
  int splits;       // blocks for each unit
  int part, parts;  // which of how many parts, set by `divide`
  int keys;         // of the sequence

  __device__ explicit DecodeWork(const Dims& dims) : tokens_(dims.TOKENS) {
    group = dims.HEADS / dims.KV_HEADS;
    const int all = dims.TOKENS * group, blocks = ceil_div<u32>(all, ROWS), heads = dims.KV_HEADS;
    const int tiles = heads * blocks, tile = blockIdx.x % tiles, at = blockIdx.x / tiles;
    splits = gridDim.x / (u32(tiles) * dims.B);
    sequence = at / splits, part = at % splits;
    kv_head = tile / blocks, first = tile % blocks * ROWS;
    rows = min(ROWS, all - first);
    unit = sequence * tiles + tile;
  }
  // Divides the sequence's keys, whose number is the same in all its blocks. Returns whether this block has a part: the
  // first always has one, which may be empty.
  __device__ bool divide(int count) {
    keys = count;
    parts = max(1, min(splits, static_cast<int>(ceil_div<u32>(keys, LEAST))));
    rounds_ = split(ceil_div<u32>(keys, WARPS * BN), parts, part);
    return part < parts;
  }
  // The rounds of this part, in each of which every warp has a step, and the first key of a warp's step.
  __device__ Range rounds() const { return rounds_; }
  __device__ int key(int round, int warp) const { return (round * WARPS + warp) * BN; }

  // Returns the token and the head of a row of the block, and how many keys it sees: the last token sees all.
  __device__ int token(int row) const { return (first + row) / group; }
  __device__ int head(int row) const { return kv_head * group + (first + row) % group; }
  __device__ int seen(int row) const { return keys - tokens_ + 1 + token(row); }

 private:
  int tokens_;
  Range rounds_;
};

#endif
