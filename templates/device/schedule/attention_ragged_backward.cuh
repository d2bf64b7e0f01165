#pragma once
// The work of the backward pass of attention over sequences of different lengths, whose rows lie one after the other.
// CAUSAL, HD, T and Dims are the template's.
#include "device/schedule/attention_backward.cuh"
#include "device/tile/sequence_rows.cuh"

#ifndef TMA_JIT_REFERENCE

// Places of pieces of Length rows of sequences: sequence b has those from offsets[b] / Length + b on, at least one and
// at most one more than it needs, so that a piece is found from its place, and its place from its sequence, with the
// offsets alone.
template <int Length> class SequencePlaces {
 public:
  __device__ SequencePlaces(const View<const s32, 1>& offsets, int sequences, int rows)
      : offsets_(offsets), sequences_(sequences), rows_(rows) {}

  __device__ int count() const { return sequences_ == 0 ? 0 : rows_ / Length + sequences_; }
  __device__ int first(int sequence) const {
    return first_of(SequenceRows(offsets_, sequence, rows_, rows_), sequence);
  }
  __device__ static int first_of(const SequenceRows& rows, int sequence) {
    return static_cast<int>(rows.first / Length) + sequence;
  }
  // Returns the sequence of a place, the first one of what is before it. Called by all lanes of a warp.
  __device__ int sequence_of(int place) const {
    int low = 0, count = sequences_;
    while (count > 1) {
      const int each = ceil_div(count, 32), at = threadIdx.x % 32 * each;
      const bool before = at == 0 || (at < count && first(low + at) <= place);
      const int last = 31 - __clz(__ballot_sync(0xffffffff, before));
      low += last * each;
      count = min(each, count - last * each);
    }
    return low;
  }

 private:
  const View<const s32, 1>& offsets_;
  int sequences_, rows_;
};

// As AttentionKeyTile; queries and keys are counted from the first of the sequence, and `head` in the tensors.
template <int Tile, int Step> struct RaggedKeyTile {
  static constexpr int kRows = Tile, kStep = Step, kStepSums = 1;
  static constexpr bool kRagged = true, kLatePieces = true;
  int first, kv_head;  // kv_head counts the heads of all sequences
  int head, heads;
  int begin, end;
  int queries, keys;
  int shift;
  int row, key;      // the sequence's first query and key in the tensors
  int own_kv_head;   // in the tensors
  int numbers;       // of the first step of the sequence's first head
  int heads_before;  // heads of queries of the sequences before

  RaggedKeyTile() = default;
  __device__ RaggedKeyTile(const Dims& dims, const View<const s32, 1>& CU, const View<const s32, 1>& CUK, int sequence,
                           int tile, int own_kv_head)
      : first(tile * Tile), own_kv_head(own_kv_head) {
    const SequenceRows q(CU, sequence, dims.M, dims.M), k(CUK, sequence, dims.N, dims.N);
    row = q.first, queries = q.count, key = k.first, keys = k.count, shift = keys - queries;
    kv_head = sequence * dims.KV_HEADS + own_kv_head;
    heads = dims.HEADS / dims.KV_HEADS;
    head = own_kv_head * heads;
    heads_before = sequence * dims.HEADS;
    numbers = SequencePlaces<Step>::first_of(q, sequence) * dims.HEADS;
    begin = first_query(0) / Step;
    end = ceil_div<u32>(queries, Step);
  }
  __device__ bool exists() const { return first >= 0 && first < keys; }
  __device__ int tiles() const { return ceil_div<u32>(keys, Tile); }
  __device__ int start() const { return end; }
  __device__ int rank(int) const { return first / Tile; }
  __device__ int first_query(int row) const { return CAUSAL ? max(0, first + row - shift) : 0; }
  __device__ int position(int query) const { return query + shift; }
  __device__ bool sees(int query, int key) const {
    return key < keys && query < queries && (!CAUSAL || key <= position(query));
  }
  __device__ bool whole_from(int from) const { return first + Tile <= keys && from >= first_query(Tile - 1); }
  __device__ RaggedKeyTile of_row(int row) const {
    RaggedKeyTile other = *this;
    other.first = row * Tile;
    return other;
  }
  __device__ int key_head() const { return own_kv_head; }
  __device__ int hook_head(int head) const { return heads_before + head; }
  __device__ int number(int head, int step) const { return numbers + head * end + step; }

  __device__ TilePlace query_at(int head, int query) const { return {{0, head, row + query}}; }
  __device__ TilePlace key_at(int key) const { return {{0, own_kv_head, this->key + key}}; }
  template <class E> __device__ View<E, 2> queries_of(const View<E, 3>& of, int head) const {
    return {of.data + s64{row} * of.stride[0] + head * of.stride[1], {of.stride[0], of.stride[2]}};
  }
  template <class E> __device__ View<E, 2> keys_of(const View<E, 3>& of) const {
    return {of.data + s64{key} * of.stride[0] + own_kv_head * of.stride[1], {of.stride[0], of.stride[2]}};
  }
  __device__ const f32* numbers_of(const View<const f32, 2>& of, int head) const {
    return of.data + head * of.stride[0] + row;
  }
};

// What the blocks of a grid draw: a place of a tile of keys of each head of keys, whose heads follow one another, and
// after all of these the pieces of sums. The first place of a sequence without keys has a piece.
template <int Tile, int Step> class RaggedGradientItems {
 public:
  using Work = RaggedKeyTile<Tile, Step>;

  __device__ RaggedGradientItems(const Dims& dims, const View<const s32, 1>& CU, const View<const s32, 1>& CUK)
      : CU_(CU),
        CUK_(CUK),
        dims_(dims),
        tiles_(SequencePlaces<Tile>(CUK, dims.BATCH, dims.N).count() * dims.KV_HEADS),
        last_draw_(2 * tiles_ + gridDim.x - 1) {}

  // As GradientItems::draw; passes over places that are empty.
  __device__ int draw(DrawnItem<Work>& to, const Dims&, u32* drawn) const {
    int flags = 0;
#pragma unroll 1
    while (flags == 0) {
      const int item = __shfl_sync(0xffffffff, threadIdx.x % 32 == 0 ? atomicInc(drawn, last_draw_) : 0, 0);
      flags = item >= 2 * tiles_ ? kEnd : describe(to, item % tiles_, item < tiles_ ? kTile : kPiece);
    }
    if (threadIdx.x % 32 == 0) to.flags = flags;
    __syncwarp();
    return flags;
  }

 private:
  // Describes a tile or the piece of its place; returns 0 if it is empty.
  __device__ int describe(DrawnItem<Work>& to, int index, ItemFlag flag) const {
    const SequencePlaces<Tile> places(CUK_, dims_.BATCH, dims_.N);
    const int place = index / dims_.KV_HEADS, sequence = places.sequence_of(place),
              tile = place - places.first(sequence);
    const Work work(dims_, CU_, CUK_, sequence, max(0, tile), index % dims_.KV_HEADS);
    if (tile < 0 || tile >= max(flag == kPiece ? 1 : 0, work.tiles())) return 0;
    if (threadIdx.x % 32 != 0) return flag;
    const int begin = work.number(work.head, 0);
    if (flag == kTile) {
      to.tile = work;
    } else {
      to.piece = {begin,
                  begin + work.heads * work.end,
                  work.numbers,
                  work.end,
                  work.queries,
                  work.row,
                  work.kv_head,
                  work.tiles(),
                  1};
      to.piece.take_share(tile);
    }
    return flag;
  }

  View<const s32, 1> CU_, CUK_;
  Dims dims_;  // in the struct's memory, from which a register is loaded when it is needed
  int tiles_;
  u32 last_draw_;
};

// As AttentionQueryTile.
template <int Tile, int Step> struct RaggedQueryTile {
  static constexpr int kRows = Tile, kStep = Step, kHeads = 1;
  int first, head, queries, keys, steps;  // `head` counts the heads of all sequences
  int shift;
  int row, key, own_head, own_kv_head;

  __device__ RaggedQueryTile(const Dims& dims, const View<const s32, 1>& CU, const View<const s32, 1>& CUK,
                             int sequence, int tile, int own_head)
      : first(tile * Tile), head(sequence * dims.HEADS + own_head), own_head(own_head) {
    const SequenceRows q(CU, sequence, dims.M, dims.M), k(CUK, sequence, dims.N, dims.N);
    row = q.first, queries = q.count, key = k.first, keys = k.count, shift = keys - queries;
    own_kv_head = own_head / (dims.HEADS / dims.KV_HEADS);
    steps = ceil_div<u32>(CAUSAL ? max(0, min(keys, first + Tile + shift)) : keys, Step);
  }
  __device__ bool exists() const { return first >= 0 && first < queries; }
  __device__ int rows() const { return min(Tile, queries - first); }
  __device__ int key_head() const { return own_kv_head; }
  __device__ int head_of(int) const { return head; }
  __device__ int position(int row) const { return first + row + shift; }
  __device__ int last(int row) const { return CAUSAL ? min(keys, first + row + shift + 1) - 1 : keys - 1; }
  __device__ bool sees(int row, int key) const { return key <= last(row); }

  template <class E> __device__ View<E, 2> queries_of(const View<E, 3>& of) const {
    return {of.data + s64{row} * of.stride[0] + own_head * of.stride[1], {of.stride[0], of.stride[2]}};
  }
  template <class E> __device__ View<E, 2> keys_of(const View<E, 3>& of) const {
    return {of.data + s64{key} * of.stride[0] + own_kv_head * of.stride[1], {of.stride[0], of.stride[2]}};
  }
  __device__ const f32* numbers_of(const View<const f32, 2>& of) const {
    return of.data + own_head * of.stride[0] + row;
  }
};

#endif
