#pragma once
// The work of the backward pass of attention: tiles of Tile keys of one head against the queries that see them, Step at
// a time, of all heads that share the keys. CAUSAL, HD, T and Dims are the template's.
#include "device/schedule/attention.cuh"

#ifndef TMA_JIT_REFERENCE

template <int Tile, int Step> struct AttentionKeyTile {
  static constexpr int kRows = Tile, kStep = Step;
  int first, kv_head;  // the first key, and its head
  int head, heads;     // the first head of queries, and how many share the keys
  int begin, end;      // steps of each head's queries
  int queries, keys;   // of a head
  int shift;           // query i sees the keys up to i + shift

  __device__ AttentionKeyTile(const Dims& dims, int row, int kv_head)
      : first(row * Tile), kv_head(kv_head), queries(dims.M), keys(dims.N), shift(dims.N - dims.M) {
    heads = dims.HEADS / dims.KV_HEADS;
    head = kv_head * heads;
    begin = first_query(0) / Step;
    end = ceil_div<u32>(queries, Step);
  }
  __device__ int steps() const { return heads * (end - begin); }
  // Returns the first query that sees the tile's key `row`.
  __device__ int first_query(int row) const { return CAUSAL ? max(0, first + row - shift) : 0; }
  // Returns the position of a query among the keys.
  __device__ int position(int query) const { return query + shift; }
  // Returns whether a query sees a key; both are counted from the first of the sequence.
  __device__ bool sees(int query, int key) const {
    return key < keys && query < queries && (!CAUSAL || key <= position(query));
  }
  // Returns whether the queries from `from` on, none of which is beyond the last, see all keys of the tile.
  __device__ bool whole_from(int from) const { return first + Tile <= keys && from >= first_query(Tile - 1); }
  // Returns the head of the tensors' rows as hooks count it.
  __device__ int hook_head(int head) const { return head; }

  // Return the sequence's rows of tensors and numbers of queries, of one head, and of keys.
  template <class E> __device__ View<E, 2> queries_of(const View<E, 3>& of, int head) const {
    return {of.data + head * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  template <class E> __device__ View<E, 2> keys_of(const View<E, 3>& of) const {
    return {of.data + kv_head * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  __device__ const f32* numbers_of(const View<const f32, 2>& of, int head) const {
    return of.data + head * of.stride[0];
  }

  // Calls f(head, step) for each step, in the order in which they are processed.
  template <class F> __device__ void each(F f) const {
    int at = head, step = begin;
#pragma unroll 1
    while (step < end && at < head + heads) {
      f(at, step);
      if (++step == end) step = begin, ++at;
    }
  }
  // The same order by numbers, head * end + step: the first, one past the last, and what comes after one.
  __device__ int first_number() const {
    return head * end + begin;
  }
  __device__ int end_number() const {
    return (head + heads) * end;
  }
  __device__ void advance(int& number, int& step) const {
    ++number;
    if (++step == end) step = begin, number += begin;
  }
};

// A tile of queries, with the rows of its tensors.
template <int Tile, int Step> struct AttentionQueryTile : AttentionTile<Tile, Step> {
  static constexpr int kStep = Step;

  __device__ explicit AttentionQueryTile(const AttentionTile<Tile, Step>& tile) : AttentionTile<Tile, Step>(tile) {}

  template <class E> __device__ View<E, 2> queries_of(const View<E, 3>& of) const {
    return {of.data + this->head * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  template <class E> __device__ View<E, 2> keys_of(const View<E, 3>& of) const {
    return {of.data + this->kv_head * of.stride[0], {of.stride[1], of.stride[2]}};
  }
  __device__ const f32* numbers_of(const View<const f32, 2>& of) const { return of.data + this->head * of.stride[0]; }
};

// The order of the tiles of keys: heads in groups, and within a group the tiles with the most queries first.
template <int Tile, int Step> class AttentionKeyOrder {
 public:
  using Work = AttentionKeyTile<Tile, Step>;

  __device__ explicit AttentionKeyOrder(const Dims& dims) : dims_(dims), rows_(ceil_div<u32>(dims.N, Tile)) {}

  __device__ int count() const { return rows_ * dims_.KV_HEADS; }
  __device__ Work operator[](int index) const {
    constexpr int kGroupBytes = (16 << 20) / (2 * HD * sizeof(T));  // queries of a group and their gradients: 16 MiB
    const int sharing = dims_.HEADS / dims_.KV_HEADS, per_head = kGroupBytes / sharing / max(1, dims_.M);
    const int group = CAUSAL ? min(max(1, per_head), static_cast<int>(dims_.KV_HEADS)) : 1;
    const int begin = index / (rows_ * group) * group, columns = min(group, static_cast<int>(dims_.KV_HEADS) - begin);
    const int within = index - begin * rows_;
    return Work(dims_, within / columns, begin + within % columns);
  }

 private:
  const Dims& dims_;
  int rows_;
};

// The same order of tiles of queries as in the forward pass.
template <int Tile, int Step> struct AttentionQueryOrder : AttentionOrder<Tile, Step> {
  using AttentionOrder<Tile, Step>::AttentionOrder;
  __device__ AttentionQueryTile<Tile, Step> operator[](int index) const {
    return AttentionQueryTile<Tile, Step>(AttentionOrder<Tile, Step>::operator[](index));
  }
};

#endif
