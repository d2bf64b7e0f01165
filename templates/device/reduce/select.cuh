#pragma once
// The greatest keys among those that a block's threads pass: keys differ, and 0 is none.
#include "device/types.cuh"

// Keeps up to Keep keys of blocks of Threads, each of whose threads passes at most Each keys at a time. An object lies
// in shared memory; all threads call its functions together.
template <int Threads, int Keep, int Each> class Selection {
  static_assert(2 * Keep <= Threads);  // a round over more keys than threads leaves fewer
  static constexpr int kRoom = Keep * (Each + 1);

  u64 keys_[kRoom];  // those kept, in descending order, and behind them candidates
  u64 fewer_[Keep * ceil_div(kRoom, Threads)];
  u32 size_;

  // Returns a t that at least `count` and at most Keep threads' keys reach, by its bits from the highest on. Fewer
  // threads reach it only if fewer have a key.
  static __device__ u64 threshold(u64 key, int count) {
    u64 t = 0;
    for (int bit = 63; bit >= 0; --bit) {
      const u64 trial = t | u64{1} << bit;
      const int reached = __syncthreads_count(key >= trial);
      if (reached < count) continue;
      t = trial;
      if (reached <= Keep) break;
    }
    return t;
  }

  // Sorts the `count` greatest of `size` keys to the front and returns how many there are. Keys below the greatest ones
  // of `count` threads are not among those sought. So of more keys than there are threads those remain that reach the
  // threshold, which are Keep threads' at most.
  __device__ int shrink(int size, int count) {
    u64 *from = keys_, *to = fewer_;
    while (size > Threads) {
      u64 most = 0;
      for (int i = threadIdx.x; i < size; i += Threads) most = max(most, from[i]);
      const u64 least = threshold(most, count);
      if (threadIdx.x == 0) size_ = 0;
      __syncthreads();
      for (int i = threadIdx.x; i < size; i += Threads)
        if (from[i] >= least) to[atomicAdd(&size_, 1)] = from[i];
      __syncthreads();
      size = size_;
      u64* const swapped = from;
      from = to, to = swapped;
    }
    const int own = threadIdx.x;
    const u64 key = own < size ? from[own] : 0;
    int rank = 0;
    if (own < size)
      for (int i = 0; i < size; ++i) rank += from[i] > key;
    __syncthreads();
    if (own < size && rank < count) keys_[rank] = key;
    __syncthreads();
    return min(size, count);
  }

 public:
  // Takes a thread's keys, which keys.each(f) passes to f, and returns how many are kept now: the `count` greatest, if
  // there are as many. `kept` is what the call before returned, at first 0.
  template <class Keys> __device__ int take(const Keys& keys, int kept, int count) {
    u64 most = 0;
    keys.each([&](u64 key) { most = max(most, key); });
    u64 least = kept == count ? keys_[count - 1] + 1 : 1;  // of a key that is worth keeping
    const int candidates = __syncthreads_count(most >= least);
    if (candidates == 0) return kept;
    if (candidates > Keep) least = max(least, threshold(most >= least ? most : 0, count));
    if (threadIdx.x == 0) size_ = kept;
    __syncthreads();
    if (most >= least) {
      keys.each([&](u64 key) {
        if (key >= least) keys_[atomicAdd(&size_, 1)] = key;
      });
    }
    __syncthreads();
    return shrink(size_, count);
  }
  // Key i of those kept, in descending order.
  __device__ u64 operator[](int i) const { return keys_[i]; }
};
