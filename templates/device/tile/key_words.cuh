#pragma once
// What a mask as bits says of a tile of scores whose rows are 16 keys and whose columns are queries, as attention's
// backward pass has them. A word has 32 keys of one query, and a lane of the tile two keys of a fourth of the queries.
// So each lane reads what the words of two neighbouring queries say of the 16 keys, some time before it is needed, and
// gets that of its own queries from the other lanes.
#include "device/ptx/lane.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/register_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// Stands for them where a mask is not as bits.
struct NoWords {};

// All members are called by all lanes of the warp.
template <int Columns> class KeyWords {
  static_assert(Columns % 32 == 0);

 public:
  // Reads them of the queries from `query` on, also of those that do not exist, and the keys from `key` on, a multiple
  // of 16.
  template <class Work> __device__ void read(const Hooks& hooks, const Work& work, int query, int key, int head) {
    const int lane = lane_anew(), before = key % 32;
    bool together = true;
#pragma unroll
    for (int i = 0; i < kReads; ++i) {
      u32 words[2];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = (i * 32 + lane) * 2 + j;
        words[j] =
            seen_keys(hooks, work.position(query + min(column, Columns - 1)), Keys32{key - before, together}, head, 0)
                .bits;
      }
      keys_[i] = __byte_perm(words[0] >> before, words[1] >> before, 0x5410);
    }
    together_ = together;
  }
  // Returns whether the mask's text has each 32 keys in one word, and what was read is so.
  __device__ bool together() const {
    return together_;
  }
  // Returns which of the registers of 8 columns of the tile hold scores that are seen, as SeenRegisters takes them.
  __device__ u32 block(int block) const {
    const u32 lane = lane_anew();
    const u32 keys = __shfl_sync(0xffffffff, keys_[block / 8], block % 8 * 4 + lane % 4) >> (lane / 4) & 0x01010101;
    return (keys | keys >> 15 | keys >> 6 | keys >> 21) & 15;  // of the second query, of the second key, of both
  }

 private:
  static constexpr int kReads = ceil_div(Columns, 64);

  u32 keys_[kReads];  // bit k of query 2 * lane, bit 16 + k of the next
  bool together_;
};

#endif
