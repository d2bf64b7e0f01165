#pragma once
// The work of attention kernels: tiles of TileM queries of one head against the keys that the last of them sees, TileN
// at a time. CAUSAL, HD, T and Dims are the template's.
#include "device/schedule/longest_first.cuh"
#include "device/schedule/tile_place.cuh"

#ifndef TMA_JIT_REFERENCE

template <int TileM, int TileN> struct AttentionTile {
  static constexpr int kRows = TileM, kHeads = 1;
  static constexpr bool kRagged = false;
  int first, head, kv_head, queries, keys, steps;  // the first query; heads; queries of a head; keys, and steps of them
  int shift;                                       // query i sees the keys up to i + shift

  AttentionTile() = default;
  __device__ AttentionTile(const Dims& dims, int row, int head)
      : head(head), queries(dims.M), keys(dims.N), shift(dims.N - dims.M) {
    first = row * TileM;
    kv_head = head / (dims.HEADS / dims.KV_HEADS);
    steps = ceil_div<u32>(CAUSAL ? max(0, min(keys, first + TileM + shift)) : keys, TileN);
  }
  // Returns whether there is a tile; if not, as with none(), it ends the list of published ones.
  __device__ bool more() const { return first < queries; }
  __device__ static AttentionTile none() {
    AttentionTile tile;
    tile.first = tile.queries = 0;
    return tile;
  }
  // Returns how many of the tile's rows there are, and what query and head a row is.
  __device__ int rows() const { return min(TileM, queries - first); }
  __device__ int query(int row) const { return first + row; }
  __device__ int head_of(int) const { return head; }
  // Returns the position of the tile's query `row` among the keys, the last of which the last query has.
  __device__ int position(int row) const { return first + row + shift; }
  // Returns the last key that the tile's query `row` sees; negative if there is none.
  __device__ int last(int row) const { return CAUSAL ? min(keys, first + row + shift + 1) - 1 : keys - 1; }
  // Returns whether the tile's query `row` sees a key.
  __device__ bool sees(int row, int key) const { return key <= last(row); }
  // Return where the tile's query `row` and key `key` are in the tensors.
  __device__ TilePlace query_at(int row) const { return {{0, first + row, head}}; }
  __device__ TilePlace key_at(int key) const { return {{0, key, kv_head}}; }
  // Returns whether rows of another sequence follow among `count` queries from the tile's query `row` on.
  __device__ constexpr bool ends_within(int, int) const { return false; }
};

// The order of the tiles: heads in groups, and within a group the tiles with the most keys first. The keys and values
// of a group are read from L2 as long as its tiles are being processed, if they fit. Growing states that the
// last rows may have the most keys. Blocks neighbours in the order have the same keys; some then may have no queries.
template <int TileM, int TileN, bool Growing = CAUSAL == 1, int Blocks = 1> class AttentionOrder {
 public:
  using Work = AttentionTile<TileM, TileN>;

  __device__ explicit AttentionOrder(const Dims& dims)
      : dims_(dims), rows_(ceil_div<u32>(dims.M, TileM * Blocks) * Blocks) {}

  __device__ int count() const { return rows_ * dims_.HEADS; }
  __device__ Work operator[](int index) const {
    const int sharing = dims_.HEADS / dims_.KV_HEADS;
    const int group = sharing * (Growing ? min(max(1, kGroupBytes / max(1, dims_.N)), dims_.KV_HEADS) : 1);
    const int begin = index / (rows_ * group) * group;
    const LongestFirst order = {rows_, min(group, static_cast<int>(dims_.HEADS) - begin)};
    const int within = index - begin * rows_;
    return Work(dims_, order.row(within), begin + order.column(within));
  }

 protected:
  static constexpr int kGroupBytes = (16 << 20) / (2 * HD * sizeof(T));  // keys and values of a group: at most 16 MiB

  const Dims& dims_;
  int rows_;
};

// The tiles of one of the blocks of a grid: for a grid with a block for each, its own; else every n-th, if the number
// of their keys grows with their row by pairs of a long and a short one, so that all blocks have equal work.
//   for (AttentionTiles<BM, BN, ...> tiles(dims); tiles.more(); tiles.next()) { const auto work = tiles.work(); ... }
template <int TileM, int TileN, bool Persistent, bool Growing, int Blocks = 1>
class AttentionTiles : AttentionOrder<TileM, TileN, Growing, Blocks> {
 public:
  using typename AttentionOrder<TileM, TileN, Growing, Blocks>::Work;
  static constexpr bool kPublished = false;  // every role of a block counts the tiles itself

  __device__ explicit AttentionTiles(const Dims& dims)
      : AttentionOrder<TileM, TileN, Growing, Blocks>(dims), index_(blockIdx.x) {}

  __device__ bool more() const {
    return Persistent ? index_ < (kPaired ? pairs() * this->dims_.HEADS : this->count()) : index_ >= 0;
  }
  __device__ void publish(u32) const {}
  __device__ Work work() const {
    if constexpr (!kPaired) return (*this)[index_];
    const int row = index_ % pairs();
    return Work(this->dims_, second_ ? row : this->rows_ - 1 - row, index_ / pairs());
  }
  __device__ void next() {
    if (!Persistent) {
      index_ = -1;
    } else if (kPaired && !second_ && index_ % pairs() != this->rows_ - 1 - index_ % pairs()) {
      second_ = true;
    } else {
      second_ = false;
      index_ += gridDim.x;
    }
  }

 private:
  static constexpr bool kPaired = Persistent && Growing;
  __device__ int pairs() const { return ceil_div<u32>(this->rows_, 2); }

  int index_;
  bool second_ = false;  // of a pair
};

// The tiles of an order, drawn in turn by the blocks of a grid with a counter in global memory, which is 0 before and
// after each launch, so that blocks whose tiles have few steps take more of them; without Persistent the block's own. A
// tile is drawn when the steps of the one before have been found: a block that drew it earlier would hold a long one
// back from those that wait for work. All members are called by a warp.
template <class Order, bool Persistent> class DrawnTiles : Order {
 public:
  using typename Order::Work;

  __device__ DrawnTiles(const Dims& dims, u32* counter) : Order(dims), counter_(counter), index_(blockIdx.x) {}

  __device__ bool more() const { return index_ < this->count(); }
  __device__ Work work() const { return (*this)[index_]; }
  __device__ void next() { index_ = Persistent ? gridDim.x + __shfl_sync(0xffffffff, draw(), 0) : this->count(); }

 private:
  // Returns in lane 0 how many tiles were drawn before.
  __device__ int draw() {
    if (threadIdx.x % 32 != 0) return 0;
    const int others = atomicAdd(counter_, 1);
    if (others + 1 == this->count()) *counter_ = 0;  // as many are drawn as there are tiles
    return others;
  }

  u32* counter_;
  int index_;
};

#endif
