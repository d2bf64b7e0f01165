#pragma once
// The work of the backward pass of attention: tiles of Tile keys of one head against the queries that see them, Step at
// a time, of all heads that share the keys. CAUSAL, HD, T and Dims are the template's.
#include "device/schedule/attention.cuh"
#include "device/schedule/wrapped_steps.cuh"
#include "device/tile/gradient_item.cuh"

#ifndef TMA_JIT_REFERENCE

// With Wraps tiles begin at different steps, as WrappedSteps says, and a step has two sums. Of Split blocks that share
// a tile each has some of the heads that share its keys, or if there are fewer, some of the steps of all.
template <int Tile, int Step, bool Wraps, int Split> struct AttentionKeyTile {
  static constexpr int kRows = Tile, kStep = Step, kStepSums = Wraps ? 2 : 1;
  static constexpr bool kRagged = false;
  // Whether all pieces of sums come after all tiles.
  static constexpr bool kLatePieces = Wraps || Split > 1;

  int first, kv_head;  // the first key, and its head
  int head, heads;     // the first head of queries, and how many
  int begin, end;      // steps of each head's queries
  int steps;           // of each head's queries, all
  int part;            // which of the blocks that share the tile
  int queries, keys;   // of a head
  int shift;           // query i sees the keys up to i + shift

  __device__ AttentionKeyTile(const Dims& dims, int row, int kv_head, int part = 0)
      : first(row * Tile), kv_head(kv_head), part(part), queries(dims.M), keys(dims.N), shift(dims.N - dims.M) {
    const int sharing = dims.HEADS / dims.KV_HEADS;
    head = kv_head * sharing, heads = sharing;
    steps = ceil_div<u32>(queries, Step);
    begin = first_query(0) / Step, end = steps;
    if (Split == 1) return;
    if (sharing >= Split) {
      head += sharing * part / Split;
      heads = sharing * (part + 1) / Split - sharing * part / Split;
    } else {
      end = max(begin, steps * (part + 1) / Split);
      begin = max(begin, steps * part / Split);
    }
  }
  // Returns the first query that sees the tile's key `row`.
  __device__ int first_query(int row) const { return CAUSAL ? max(0, first + row - shift) : 0; }
  // Returns the position of a query among the keys.
  __device__ int position(int query) const { return query + shift; }
  // Returns whether a query sees a key; both are counted from the first of the sequence.
  __device__ bool sees(int query, int key) const {
    return key < keys && query < queries && (!CAUSAL || key <= position(query));
  }
  // Returns whether the queries from `from` on see all keys of the tile.
  __device__ bool whole_from(int from) const { return first + Tile <= keys && from >= first_query(Tile - 1); }
  // Returns the same tile of the keys of another row of tiles.
  __device__ AttentionKeyTile of_row(int row) const {
    AttentionKeyTile other = *this;
    other.first = row * Tile;
    return other;
  }
  // Returns the head of the keys in the tensors.
  __device__ int key_head() const { return kv_head; }
  // Returns the head of a tensor's rows as hooks count it.
  __device__ int hook_head(int head) const { return head; }
  // Returns the number of the sum of a step of a head's queries that the tile adds to, among those of all heads.
  __device__ int number(int head, int step) const {
    return (head * steps + step) * kStepSums + (Wraps && wrapped().wraps(row(), step - begin));
  }
  // Returns the step behind the one that it visits first, from which it goes down.
  __device__ int start() const { return Wraps ? begin + wrapped().first(row()) + 1 : end; }
  // Returns how many tiles before this one add to the same sum of a step.
  __device__ int rank(int step) const { return Wraps ? wrapped().rank(row(), step - begin) : row(); }

  // Return where queries and keys are in the tensors.
  __device__ TilePlace query_at(int head, int query) const { return {{0, query, head}}; }
  __device__ TilePlace key_at(int key) const { return {{0, key, kv_head}}; }
  // Return the sequence's rows of tensors and numbers of queries, of one head, and of keys. What each part of a tile's
  // steps gives is in rows of its own: of the first head's first part, then of its second.
  template <class E> __device__ View<E, 2> queries_of(const View<E, 3>& of, int head) const {
    return {of.data + head * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  template <class E> __device__ View<E, 2> keys_of(const View<E, 3>& of) const {
    return {of.data + (kv_head * Split + part) * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  __device__ const f32* numbers_of(const View<const f32, 2>& of, int head) const {
    return of.data + head * of.stride[0];
  }

  __device__ int row() const { return first / Tile; }  // of the head's tiles

 private:
  // Returns where the head's tiles begin among this part's steps, counted from its first.
  __device__ WrappedSteps wrapped() const { return {end - begin, static_cast<int>(ceil_div<u32>(keys, Tile))}; }
};

// A tile of queries, with the rows of its tensors.
template <int Tile, int Step> struct AttentionQueryTile : AttentionTile<Tile, Step> {
  static constexpr int kStep = Step;

  __device__ explicit AttentionQueryTile(const AttentionTile<Tile, Step>& tile) : AttentionTile<Tile, Step>(tile) {}
  __device__ int key_head() const { return this->kv_head; }

  template <class E> __device__ View<E, 2> queries_of(const View<E, 3>& of) const {
    return {of.data + this->head * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  template <class E> __device__ View<E, 2> keys_of(const View<E, 3>& of) const {
    return {of.data + this->kv_head * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  __device__ const f32* numbers_of(const View<const f32, 2>& of) const { return of.data + this->head * of.stride[0]; }
};

// The order of the tiles of keys: heads in groups, and within a group the first rows of all heads, then the second, and
// so on: with CAUSAL those with the most queries first. Without CAUSAL, and unless the order of sums is fixed, a group
// is one head. The parts of a row's tiles follow each other.
template <int Tile, int Step, bool Ordered = false, bool Wraps = false, int Split = 1> class AttentionKeyOrder {
 public:
  using Work = AttentionKeyTile<Tile, Step, Wraps, Split>;

  __device__ explicit AttentionKeyOrder(const Dims& dims) : rows_(ceil_div<u32>(dims.N, Tile)) {
    constexpr int kQueries = (16 << 20) / (2 * HD * sizeof(T));  // which with their gradients are 16 MiB
    constexpr bool kMiddle = HD > 64 && HD <= 128;
    const int sharing = dims.HEADS / dims.KV_HEADS;
    // Of a group. The fewer heads, the sooner their sums are rounded, while L2 has them.
    const int queries = Ordered && kMiddle && dims.M < 4096 ? kQueries / 2 : kQueries;
    // The more heads, the fewer tiles of one head wait for each other at a time: twice as many where heads are long,
    // and again where tiles have few keys and not all steps.
    const int long_from = kMiddle ? 8192 : HD > 128 ? kQueries / 8 : 4096;
    const bool large = Ordered && sharing == 1 && (HD > 64 || CAUSAL) && dims.M >= long_from;
    // Consumers that add in turns, unlike those of heads of 128, wait less where many heads' long tiles are under way:
    // these go through the queries side by side, so that L2 need not have all of them.
    const int least = large && CAUSAL && (HD <= 64 || HD > 128) ? 16 : 1;
    const int heads = max(least, queries * (!large ? 1 : CAUSAL && HD > 128 ? 4 : 2) / sharing / max(1, dims.M));
    group_ = CAUSAL || Ordered ? min(max(1, heads), static_cast<int>(dims.KV_HEADS)) : 1;
  }

  // Of a head, of all, and of a group.
  __device__ int of_head() const { return rows_ * Split; }
  __device__ int count(const Dims& dims) const { return of_head() * dims.KV_HEADS; }
  __device__ int of_group() const { return of_head() * group_; }
  __device__ Work tile(const Dims& dims, int index) const {
    const int begin = index / max(1, of_group()) * group_,
              columns = min(group_, static_cast<int>(dims.KV_HEADS) - begin);
    const int within = index - begin * of_head(), row = within / columns;
    return Work(dims, row / Split, begin + within % columns, row % Split);
  }

 private:
  int rows_, group_;
};

// The same order of tiles of queries as in the forward pass.
template <int Tile, int Step> struct AttentionQueryOrder : AttentionOrder<Tile, Step> {
  using AttentionOrder<Tile, Step>::AttentionOrder;
  __device__ AttentionQueryTile<Tile, Step> operator[](int index) const {
    return AttentionQueryTile<Tile, Step>(AttentionOrder<Tile, Step>::operator[](index));
  }
};

// What the blocks of a grid draw as numbers in ascending order: a tile of keys, and a piece of the sums of a head all
// of whose tiles have been drawn before, at least as many items ago as there are blocks. Where tiles
// wrap around or are shared all pieces come after all tiles.
template <int Tile, int Step, bool Ordered, bool Wraps = false, int Split = 1> class GradientItems {
 public:
  using Order = AttentionKeyOrder<Tile, Step, Ordered, Wraps, Split>;
  using Work = typename Order::Work;

  __device__ explicit GradientItems(const Dims& dims) : order_(dims), tiles_(order_.count(dims)) {
    lag_ = Work::kLatePieces ? tiles_ : min(tiles_, order_.of_group() + static_cast<int>(gridDim.x));
    count_ = max(1, order_.of_head()) * dims.KV_HEADS + lag_;
    last_draw_ = count_ + gridDim.x - 1;
  }

  // Draws the next item into shared memory and returns its flags. `drawn` is 0 before a launch and after it, as each
  // block draws one item more than there are for it. Called by all lanes of a warp.
  __device__ int draw(DrawnItem<Work>& to, const Dims& dims, u32* drawn) const {
    if (threadIdx.x % 32 == 0) {
      const int item = atomicInc(drawn, last_draw_);
      const bool has_tile = item < tiles_, has_piece = item >= lag_ && item < count_;
      if (has_tile) to.tile = order_.tile(dims, item);
      if (has_piece) to.piece = piece(dims, item - lag_);
      to.flags = item >= count_ ? kEnd : (has_tile ? kTile : 0) | (has_piece ? kPiece : 0);
    }
    __syncwarp();
    return to.flags;
  }

 private:
  __device__ SumsPiece piece(const Dims& dims, int index) const {
    const bool keys = order_.of_head() > 0;
    const Work tile = order_.tile(dims, max(0, min(index, tiles_ - 1)));
    const int kv_head = keys ? tile.kv_head : index;
    const int steps = ceil_div<u32>(dims.M, Step), all = dims.HEADS / dims.KV_HEADS * steps;
    SumsPiece piece = {kv_head * all, (kv_head + 1) * all, 0, steps, dims.M, 0, kv_head, order_.of_head(), 1};
    piece.take_share(keys ? tile.row() * Split + tile.part : 0, dims.N);
    return piece;
  }

  Order order_;
  int tiles_, lag_, count_;
  u32 last_draw_;
};

#endif
