#pragma once
// What the blocks of the backward pass of attention draw: tiles of keys, and pieces of the sums of queries' gradients.

// Sums of the gradients of queries of a head of keys: those from number `begin` to `end` - 1, a number for each step of
// each head of queries, that of the sequence's first head being `base`.
struct SumsPiece {
  int begin, end, base;
  int steps, queries;      // of a head of queries
  int row;                 // of the sequence's first query in the tensors
  int kv_head;             // of all sequences
  int tiles, pieces;       // of this head of keys
  int first_key, end_key;  // the keys whose gradients it rounds where blocks share tiles

  // Makes it the share of one of its head's tiles, and of a number of keys; a head without tiles has one share.
  __device__ void take_share(s64 tile, s64 keys = 0) {
    const s64 all = end - begin;
    pieces = max(1, tiles);
    end = begin + static_cast<int>((tile + 1) * all / pieces);
    begin += static_cast<int>(tile * all / pieces);
    first_key = tile * keys / pieces, end_key = (tile + 1) * keys / pieces;
  }
};

// What a block has drawn.
enum ItemFlag { kTile = 1, kPiece = 2, kEnd = 4 };
template <class Work> struct alignas(16) DrawnItem {
  int flags;
  Work tile;        // with kTile
  SumsPiece piece;  // with kPiece
};
