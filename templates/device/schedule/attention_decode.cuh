#pragma once
// The work of a block of attention_decode: up to ROWS rows of queries that share one head of keys and values, against
// one part of a sequence's keys. A row is one query head of one token, tokens outermost. The grid is, of x, y and z,
// heads of keys times blocks of rows, sequences, and parts of each. If sequences have different numbers of keys, every
// block sums them to find how many keys a part must have so that the grid has blocks for all parts, and a sequence is
// divided by its own length; y and z together then are as many parts as there may be. The keys of a sequence are
// divided evenly, into at least one part for each of the CLUSTER blocks of a cluster, which are neighbours in z. Warps
// of a block take turns at steps of BN keys. RAGGED, ROWS, BN, WARPS, LEAST, CLUSTER and Dims are the template's.
#include "device/schedule/split.cuh"

#ifndef TMA_JIT_REFERENCE

class DecodeWork {
 public:
  int sequence, kv_head;
  int tiles;        // blocks that share a part of a sequence's keys: slots from one part to the next
  int unit;         // the sequence, the head and the rows as one number
  int keys;         // of the sequence
  int part, parts;  // which of how many; a block whose part is not below `parts` has no work
  s64 slot;         // of this unit's first part among all parts of all units
  Range rounds;     // of this part, in each of which every warp has a step
  // Known after find_rows:
  int group;        // query heads that share the head of keys and values
  int first, rows;  // the first row, and how many

  DecodeWork() = default;
  // length(sequence) is the number of its keys. Called by all threads of the block.
  template <class Length> __device__ DecodeWork(const Dims& dims, Length length) : tiles(gridDim.x) {
    kv_head = blockIdx.x, block_ = 0;
    if (tiles != dims.KV_HEADS) {
      const u32 blocks = u32(tiles) / u32(dims.KV_HEADS);
      kv_head = blockIdx.x / blocks, block_ = blockIdx.x % blocks;
    }
    sequence = blockIdx.y, part = blockIdx.z, parts = gridDim.z;
    int before = sequence * parts;
    if constexpr (RAGGED == 0)
      keys = length(sequence);
    else
      before = divide_by_length(dims.B, length);
    if (part >= parts) return;
    slot = s64{before} * tiles + blockIdx.x, unit = sequence * tiles + blockIdx.x;
    const u32 all = ceil_div<u32>(keys, WARPS * BN), each = all / u32(parts), more = all % u32(parts);
    rounds.first = each * part + min(u32(part), more);
    rounds.end = rounds.first + each + (part < more ? 1 : 0);
  }

  // Separate from the constructor, so that copies of keys can start first: the compiler moves nothing that depends on
  // the result of the `asm` before them.
  __device__ void find_rows(const Dims& dims) {
    u32 heads = dims.HEADS;
    asm volatile("" : "+r"(heads));
    group = heads / u32(dims.KV_HEADS), first = block_ * ROWS;
    rows = min(ROWS, dims.TOKENS * group - first);
    tokens_ = dims.TOKENS;
  }

  // The first key of a warp's step.
  __device__ int key(int round, int warp) const { return (round * WARPS + warp) * BN; }

  // Returns the token and the head of a row of the block, and the position of the token's own key, the last that it
  // sees.
  __device__ int token(int row) const { return u32(first + row) / u32(group); }
  __device__ int head(int row) const { return kv_head * group + u32(first + row) % u32(group); }
  __device__ int query(int row) const { return keys - tokens_ + token(row); }

 private:
  static constexpr u32 kAll = 0xffffffff;

  // Finds the sequence, its keys and the part, and returns the number of parts before the sequence's. If all lengths
  // are nearly the longest, each sequence gets as many parts as the grid has in z.
  template <class Length> __device__ int divide_by_length(int sequences, Length length) {
    const int lane = threadIdx.x % 32, mine = lane < sequences ? length(lane) : 0;
    keys = sequence < sequences ? length(sequence) : 0;
    int longest = mine;
    s64 total = mine;
#pragma unroll 4  // loads that do not wait for each other
    for (int i = lane + 32; i < sequences; i += 32) {
      const int other = length(i);
      longest = max(longest, other), total += other;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      longest = max(longest, __shfl_xor_sync(kAll, longest, distance));
      total += __shfl_xor_sync(kAll, total, distance);
    }
    if (s64{longest} * sequences * 16 <= total * 17) {
      if (sequence >= sequences) parts = 0;
      return sequence * parts;
    }
    // A sequence has at most one part more than its length divided by that of a part, which leaves `spare` blocks.
    const int at = blockIdx.z / CLUSTER * gridDim.y + blockIdx.y, spare = gridDim.y * (gridDim.z / CLUSTER) - sequences;
    const int most = spare == 0 ? longest : max(s64{LEAST} * CLUSTER, ceil_div<s64>(total, spare));
    int before = 0;
#pragma unroll 1
    for (int i = 0; i < sequences; i += 32) {
      const int own = i == 0 ? mine : i + lane < sequences ? length(i + lane) : 0;
      const int count = i + lane < sequences ? max(1u, ceil_div<u32>(own, most)) : 0;
      int end = before + count;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const int left = __shfl_up_sync(kAll, end, distance);
        if (lane >= distance) end += left - before;
      }
      const u32 beyond = __ballot_sync(kAll, at < end);
      if (beyond != 0) {
        const int found = __ffs(beyond) - 1;
        sequence = i + found, keys = __shfl_sync(kAll, own, found), parts = __shfl_sync(kAll, count, found);
        before = __shfl_sync(kAll, end, found) - parts, part = (at - before) * CLUSTER + blockIdx.z % CLUSTER;
        parts *= CLUSTER;
        return before * CLUSTER;
      }
      before = __shfl_sync(kAll, end, 31);
    }
    return parts = 0;
  }

  int block_, tokens_;
};

#endif
