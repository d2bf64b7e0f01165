#pragma once
// The work of attention over sequences of different lengths, whose queries lie one after the other: tiles of TileM
// rows, which are PACK heads of queries that share keys, of TileM / PACK queries of one sequence, against the keys that
// the last of them sees, TileN at a time. CAUSAL, PACK, HD, T, Dims and Sequences are the template's: queries(b) and
// keys(b) of Sequences are the rows of sequence b.
#include "device/schedule/longest_first.cuh"
#include "device/schedule/tile_place.cuh"

#ifndef TMA_JIT_REFERENCE

// As AttentionTile, with queries and keys counted from the first of the sequence.
template <int TileM, int TileN> struct RaggedAttentionTile {
  static constexpr int kRows = TileM, kHeads = PACK;
  static constexpr bool kRagged = true;
  int first, head, kv_head, queries, keys, steps;  // `head`, the first of several, counts those of all sequences
  int shift;
  int row, key, own_head;  // the sequence's first query and key in the tensors; the head in the tensors
  int sequence;

  RaggedAttentionTile() = default;
  __device__ RaggedAttentionTile(const Dims& dims, const Sequences& sequences, int tile_row, int head)
      : first(tile_row * (TileM / PACK)), head(head), own_head(head % dims.HEADS), sequence(head / dims.HEADS) {
    const auto q = sequences.queries(sequence), k = sequences.keys(sequence);
    row = q.first, queries = q.count, key = k.first, keys = k.count, shift = keys - queries;
    kv_head = own_head / (dims.HEADS / dims.KV_HEADS);
    steps = ceil_div<u32>(CAUSAL ? max(0, min(keys, first + TileM / PACK + shift)) : keys, TileN);
  }
  // Returns whether there is a tile; if not, as with none(), it ends the list of published ones.
  __device__ bool more() const { return first < queries; }
  __device__ static RaggedAttentionTile none() {
    RaggedAttentionTile tile;
    tile.first = tile.queries = 0;
    return tile;
  }
  // Returns how many of the tile's rows there are.
  __device__ int rows() const { return min(TileM, (queries - first) * PACK); }
  __device__ int query(int row) const { return first + row / PACK; }
  __device__ int head_of(int row) const { return head + row % PACK; }
  __device__ int head_in_tensor(int row) const { return own_head + row % PACK; }
  __device__ int position(int row) const { return query(row) + shift; }
  __device__ int last(int row) const { return CAUSAL ? min(keys, query(row) + shift + 1) - 1 : keys - 1; }
  __device__ bool sees(int row, int key) const { return key <= last(row); }
  __device__ TilePlace query_at(int row) const { return {{0, own_head, this->row + query(row)}}; }
  __device__ TilePlace key_at(int key) const { return {{0, kv_head, this->key + key}}; }
  __device__ bool ends_within(int row, int count) const { return query(row + count) > queries; }
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
// last rows come first.
template <int TileM, int TileN> class RaggedAttentionTiles {
 public:
  using Work = RaggedAttentionTile<TileM, TileN>;

  __device__ RaggedAttentionTiles(const Dims& dims, const Sequences& sequences) : work_(tile(dims, sequences)) {}

  __device__ bool more() const { return work_.more(); }
  __device__ const Work& work() const { return work_; }

 private:
  static constexpr int kGroupBytes = (16 << 20) / (2 * HD * sizeof(T));  // keys and values of a group: at most 16 MiB

  __device__ static Work tile(const Dims& dims, const Sequences& sequences) {
    static_assert(PACK == 1);
    const u32 rows = ceil_div<u32>(dims.LONGEST, TileM), heads = dims.BATCH * dims.HEADS;
    const u32 sharing = dims.HEADS / dims.KV_HEADS;
    const u32 group =
        sharing * (CAUSAL ? min(max(1, kGroupBytes / static_cast<int>(dims.LONGEST)), heads / sharing) : 1);
    const u32 begin = blockIdx.x / (rows * group) * group;
    const LongestFirst order = {static_cast<int>(rows), static_cast<int>(min(group, heads - begin))};
    const int within = blockIdx.x - begin * rows;
    return {dims, sequences, order.row(within), static_cast<int>(begin) + order.column(within)};
  }

  const Work work_;
};

// The tiles of all sequences, drawn in turn by the blocks of a grid with a counter in global memory, which is 0 before
// and after each launch. Sequences are in classes by the binary logarithm of their steps, of which the longest comes
// first; the heads of a sequence are in groups, whose keys and values are read from L2, and within a group the last
// rows come first. All members are called by a warp. Used as AttentionTiles. To find a tile takes reads of global
// memory that depend on each other, about 1 us, which look_ahead() lets a producer do while its loads are on their way.
template <int TileM, int TileN> class DrawnAttentionTiles {
 public:
  using Work = RaggedAttentionTile<TileM, TileN>;
  static constexpr bool kPublished = true;

  // Each tile is published in `works`, whose element is the slot of its queries.
  __device__ DrawnAttentionTiles(const Dims& dims, const Sequences& sequences, u32* counter, Work* works)
      : dims_(dims),
        sequences_(sequences),
        heads_(dims.HEADS / PACK),
        counter_(counter),
        works_(works),
        first_(dims.BATCH),
        drawn_(blockIdx.x) {
    u32 classes = 0;
#pragma unroll 1
    for (int b = threadIdx.x % 32; b < static_cast<int>(dims.BATCH); b += 32)
      if (tiles_of(b) > 0) classes |= 1U << class_of(b);
    classes_ = __reduce_or_sync(kAll, classes);
    next();
  }

  __device__ bool more() const {
    return work_.more();
  }
  __device__ const Work& work() const {
    return work_;
  }
  __device__ void publish(u32 slot) const {
    works_[slot] = work_;
  }
  __device__ void next() {
    look_ahead();
    work_ = ahead_;
    looked_ = false;
    if (threadIdx.x % 32 == 0 && work_.more()) drawn_ = gridDim.x + atomicAdd(counter_, 1);
  }
  // Finds the next tile, which next() then makes the present one.
  __device__ void look_ahead() {
    if (looked_) return;
    looked_ = true;
    const int index = __shfl_sync(kAll, drawn_, 0);
    while (index >= before_ + count_ && find_sequences()) {
    }
    if (index >= before_ + count_) {
      ahead_ = Work::none();
      if (threadIdx.x % 32 == 0 && before_ > 0 && index == before_ + static_cast<int>(gridDim.x) - 1) *counter_ = 0;
      return;
    }
    const int lane = __popc(__ballot_sync(kAll, through_ <= index - before_));
    const int mine = __shfl_sync(kAll, tiles_, lane),
              within = index - before_ - __shfl_sync(kAll, through_, lane) + mine;
    ahead_ = tile_of(first_ + lane, mine / heads_, within);
  }

 private:
  static constexpr u32 kAll = 0xffffffff;
  static constexpr int kGroupBytes = (16 << 20) / (2 * HD * sizeof(T));  // keys and values of a group: at most 16 MiB

  __device__ int keys_of(int b) const {
    return sequences_.keys(b).count;
  }
  __device__ int class_of(int b) const {
    return 31 - __clz(keys_of(b) / TileN | 1);
  }
  __device__ int tiles_of(int b) const {
    return ceil_div<u32>(sequences_.queries(b).count, TileM / PACK) * heads_;
  }
  // Finds how many tiles the next 32 sequences have in the present class, or the first 32 in the next; returns whether
  // there is one.
  __device__ bool find_sequences() {
    before_ += count_, count_ = 0;
    first_ += 32;
    if (first_ >= static_cast<int>(dims_.BATCH)) {
      if (classes_ == 0) return false;
      class_ = 31 - __clz(classes_), classes_ ^= 1U << class_, first_ = 0;
    }
    const int b = first_ + threadIdx.x % 32;
    tiles_ = b < static_cast<int>(dims_.BATCH) && class_of(b) == class_ ? tiles_of(b) : 0;
    through_ = tiles_;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(kAll, through_, distance);
      if (static_cast<int>(threadIdx.x % 32) >= distance) through_ += other;
    }
    count_ = __shfl_sync(kAll, through_, 31);
    return true;
  }
  __device__ Work tile_of(int sequence, int rows, int within) const {
    const int sharing = heads_ / static_cast<int>(dims_.KV_HEADS);
    const int group =
        sharing * (CAUSAL ? min(max(1, kGroupBytes / max(1, keys_of(sequence))), static_cast<int>(dims_.KV_HEADS)) : 1);
    const int begin = within / (rows * group) * group;
    const LongestFirst order = {rows, min(group, heads_ - begin)};
    within -= begin * rows;
    return {dims_, sequences_, order.row(within),
            sequence * static_cast<int>(dims_.HEADS) + (begin + order.column(within)) * PACK};
  }

  const Dims& dims_;
  const Sequences& sequences_;
  const int heads_;  // of a sequence, those of a tile counted once
  u32* counter_;
  Work* works_;
  Work work_, ahead_;
  bool looked_ = false;  // whether `ahead_` is the next tile
  u32 classes_;          // that come after the present one
  int class_ = 0;
  int first_;                    // of the 32 sequences at hand
  int before_ = 0, count_ = 0;   // tiles before them in the order, and of them
  int tiles_ = 0, through_ = 0;  // of this lane's sequence, and together with the lanes before
  int drawn_;                    // the index of the next tile, in lane 0
};

#endif
