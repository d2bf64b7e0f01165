#pragma once
// The work of a block of attention_decode: up to ROWS rows of queries that share one head of keys and values, against
// one part of a sequence's keys. A row is one query head of one token, tokens outermost. If all sequences have as many
// keys, each is divided into as many parts as the grid has blocks for. If not, every block sums the lengths to find how
// many keys a part must have so that the grid has blocks for all parts, and a sequence is divided by its own length.
// The keys of a sequence are divided evenly, into at least one part. Warps of a block take turns at steps of BN keys.
// RAGGED, ROWS, BN, WARPS, LEAST and Dims are the template's.
#include "device/schedule/split.cuh"

#ifndef TMA_JIT_REFERENCE

class DecodeWork {
 public:
  int sequence, kv_head;
  int group;        // query heads that share the head of keys and values
  int first, rows;  // the first row, and how many
  int unit;         // the sequence, the head and the rows as one number
  int keys;         // of the sequence
  int part, parts;  // which of how many; a block whose part is not below `parts` has no work
  s64 slot;         // of this unit's first part among all parts of all units
  int tiles;        // units of a sequence: slots from one part to the next

  // length(sequence) is the number of its keys. Called by all threads of the block.
  template <class Length> __device__ DecodeWork(const Dims& dims, Length length) : tokens_(dims.TOKENS) {
    group = dims.HEADS / dims.KV_HEADS;
    const int all = dims.TOKENS * group, blocks = ceil_div<u32>(all, ROWS);
    tiles = dims.KV_HEADS * blocks;
    const int tile = blockIdx.x % tiles, at = blockIdx.x / tiles;
    kv_head = tile / blocks, first = tile % blocks * ROWS;
    rows = min(ROWS, all - first);
    const int before = RAGGED == 0 ? divide_evenly(dims.B, at) : divide_by_length(dims.B, at, length);
    slot = s64{before} * tiles + tile, unit = sequence * tiles + tile;
    if (part >= parts) return;
    keys = length(sequence);
    rounds_ = split(ceil_div<u32>(keys, WARPS * BN), parts, part);
  }
  // The rounds of this part, in each of which every warp has a step, and the first key of a warp's step.
  __device__ Range rounds() const { return rounds_; }
  __device__ int key(int round, int warp) const { return (round * WARPS + warp) * BN; }

  // Returns the token and the head of a row of the block, and the position of the token's own key, the last that it
  // sees.
  __device__ int token(int row) const { return (first + row) / group; }
  __device__ int head(int row) const { return kv_head * group + (first + row) % group; }
  __device__ int query(int row) const { return keys - tokens_ + token(row); }

 private:
  // Each finds the sequence and the part of the at-th part of all sequences, and returns the number of parts before the
  // sequence's.
  __device__ int divide_evenly(int sequences, int at) {
    parts = gridDim.x / (u32(tiles) * sequences);
    sequence = at / parts, part = at % parts;
    return sequence * parts;
  }
  template <class Length> __device__ int divide_by_length(int sequences, int at, Length length) {
    // A sequence has at most one part more than its length divided by that of a part, which leaves `spare` blocks.
    const s64 spare = gridDim.x - u32(tiles) * sequences;
    sequence = at, part = 0, parts = 1;
    if (spare == 0) return at;
    const int lane = threadIdx.x % 32;
    s64 total = 0;
    for (int i = lane; i < sequences; i += 32) total += length(i);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) total += __shfl_xor_sync(0xffffffff, total, distance);
    const int most = max(s64{LEAST}, ceil_div<s64>(total * tiles, spare));
    int before = 0;
    for (int i = 0; i < sequences; i += 32) {
      const int own = i + lane < sequences ? max(1u, ceil_div<u32>(length(i + lane), most)) : 0;
      int end = before + own;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const int left = __shfl_up_sync(0xffffffff, end, distance);
        if (lane >= distance) end += left - before;
      }
      const u32 beyond = __ballot_sync(0xffffffff, at < end);
      if (beyond != 0) {
        const int found = __ffs(beyond) - 1;
        sequence = i + found, parts = __shfl_sync(0xffffffff, own, found);
        before = __shfl_sync(0xffffffff, end, found) - parts, part = at - before;
        return before;
      }
      before = __shfl_sync(0xffffffff, end, 31);
    }
    sequence = part = parts = 0;
    return 0;
  }

  int tokens_;
  Range rounds_;
};

#endif
