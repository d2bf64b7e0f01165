#pragma once
// The work of attention over sequences of different lengths, whose rows lie one after the other: tiles of TileM queries
// of one head of one sequence against the keys that the last of them sees, TileN at a time. CAUSAL, HD, T and Dims are
// the template's.
#include "device/schedule/longest_first.cuh"
#include "device/schedule/tile_place.cuh"
#include "device/tile/sequence_rows.cuh"

#ifndef TMA_JIT_REFERENCE

// As AttentionTile, with queries and keys counted from the first of the sequence.
template <int TileM, int TileN> struct RaggedAttentionTile {
  static constexpr int kRows = TileM;
  static constexpr bool kRagged = true;
  int first, head, kv_head, queries, keys, steps;  // `head` counts the heads of all sequences
  int shift;
  int row, key, own_head;  // the sequence's first query and key in the tensors; the head in the tensors

  __device__ RaggedAttentionTile(const Dims& dims, const View<const s32, 1>& CU, const View<const s32, 1>& CUK,
                                 int tile_row, int head)
      : first(tile_row * TileM), head(head), own_head(head % dims.HEADS) {
    const SequenceRows q(CU, head / dims.HEADS, dims.M, dims.LONGEST), k(CUK, head / dims.HEADS, dims.N, dims.N);
    row = q.first, queries = q.count, key = k.first, keys = k.count, shift = keys - queries;
    kv_head = own_head / (dims.HEADS / dims.KV_HEADS);
    steps = ceil_div<u32>(CAUSAL ? max(0, min(keys, first + TileM + shift)) : keys, TileN);
  }
  __device__ int position(int row) const { return first + row + shift; }
  __device__ int last(int row) const { return CAUSAL ? min(keys, first + row + shift + 1) - 1 : keys - 1; }
  __device__ bool sees(int row, int key) const { return key <= last(row); }
  __device__ TilePlace query_at(int row) const { return {{0, own_head, this->row + first + row}}; }
  __device__ TilePlace key_at(int key) const { return {{0, kv_head, this->key + key}}; }
  __device__ bool ends_within(int row, int count) const { return first + row + count > queries; }
  // Returns the sequence's rows of a head of a packed tensor.
  template <class E> __device__ View<E, 2> rows_of(const View<E, 3>& of, s64 from, s64 head) const {
    return {of.data + from * of.stride[0] + head * of.stride[1], {of.stride[0], of.stride[2]}};
  }
  // Returns L[head, row] such that the sequence's heads and rows are found by `head` and from 0.
  __device__ View<f32, 2> log_sums_of(const View<f32, 2>& L) const {
    return {L.data + row * L.stride[1] + (s64{own_head} - head) * L.stride[0], {L.stride[0], L.stride[1]}};
  }
};

// The tile of a block of a grid with as many for each head of each sequence as the longest sequence needs; none where
// the sequence has no more queries. Heads are in groups, whose keys and values are read from L2, and within a group the
// last rows come first. Used as AttentionTiles.
template <int TileM, int TileN> class RaggedAttentionTiles {
 public:
  using Work = RaggedAttentionTile<TileM, TileN>;

  __device__ RaggedAttentionTiles(const Dims& dims, const View<const s32, 1>& CU, const View<const s32, 1>& CUK)
      : work_(tile(dims, CU, CUK)), more_(work_.first < work_.queries) {}

  __device__ bool more() const { return more_; }
  __device__ const Work& work() const { return work_; }
  __device__ void next() { more_ = false; }

 private:
  static constexpr int kGroupBytes = (16 << 20) / (2 * HD * sizeof(T));  // keys and values of a group: 16 MiB

  __device__ static Work tile(const Dims& dims, const View<const s32, 1>& CU, const View<const s32, 1>& CUK) {
    const u32 rows = ceil_div<u32>(dims.LONGEST, TileM), heads = dims.BATCH * dims.HEADS;
    const u32 sharing = dims.HEADS / dims.KV_HEADS;
    const u32 group =
        sharing * (CAUSAL ? min(max(1, kGroupBytes / static_cast<int>(dims.LONGEST)), heads / sharing) : 1);
    const u32 begin = blockIdx.x / (rows * group) * group;
    const LongestFirst order = {static_cast<int>(rows), static_cast<int>(min(group, heads - begin))};
    const int within = blockIdx.x - begin * rows;
    return {dims, CU, CUK, order.row(within), static_cast<int>(begin) + order.column(within)};
  }

  const Work work_;
  bool more_;
};

#endif
