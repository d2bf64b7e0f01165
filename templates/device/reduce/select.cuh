#pragma once
// The greatest keys among those that threads pass: keys differ, and 0 is none. A key is a number and its index, as
// ordered_pair makes it. The threads are a block's, or the lanes of a warp.
#include "device/ptx/infinity.cuh"
#include "device/ptx/max_nan.cuh"
#include "device/reduce/ordered.cuh"

// Threads that select together: all of a block, or 32 of a warp.
template <int Threads> struct SelectingThreads {
  static __device__ int rank() { return Threads == 32 ? threadIdx.x % 32 : threadIdx.x; }
  static __device__ void sync() {
    if constexpr (Threads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  // The number of threads for which p holds, after a barrier of theirs.
  static __device__ int count(bool p) {
    if constexpr (Threads > 32) return __syncthreads_count(p);
    __syncwarp();
    return __popc(__ballot_sync(0xffffffff, p));
  }
};

// Keeps up to Keep keys of Threads threads, each of whom passes at most Each keys at a time. An object lies in shared
// memory; all threads call its functions together.
template <int Threads, int Keep, int Each> class Selection {
  static_assert(2 * Keep <= Threads);  // a round over more keys than threads leaves fewer
  static constexpr int kRoom = Keep * (Each + 1);
  using Group = SelectingThreads<Threads>;

  u64 keys_[kRoom];  // those kept, in descending order, and behind them candidates
  u64 fewer_[Keep * ceil_div(kRoom, Threads)];
  u32 size_;

  template <class Key> struct Threshold {
    Key key;
    int reached;  // how many threads' keys reach it
  };
  // Returns a threshold that at least `least` and at most `most` threads' keys reach, by its bits from the highest on.
  // Fewer threads reach it only if fewer have a key, more only if they have equal ones.
  template <class Key> static __device__ Threshold<Key> threshold(Key key, int least, int most) {
    Threshold<Key> t = {0, Threads};
#pragma unroll 1
    for (int bit = 8 * sizeof(Key) - 1; bit >= 0; --bit) {
      const Key trial = t.key | Key{1} << bit;
      const int reached = Group::count(key >= trial);
      if (reached < least) continue;
      t = {trial, reached};
      if (reached <= most) break;
    }
    return t;
  }

  // Sorts the `count` greatest of `size` keys to the front and returns how many there are. Keys below the greatest ones
  // of `count` threads are not among those sought. So of more keys than there are threads those remain that reach the
  // threshold, which are Keep threads' at most.
  __device__ int shrink(int size, int count) {
    u64 *from = keys_, *to = fewer_;
#pragma unroll 1
    while (size > Threads) {
      u64 most = 0;
#pragma unroll 1
      for (int i = Group::rank(); i < size; i += Threads) most = max(most, from[i]);
      const u64 least = threshold(most, count, Keep).key;
      if (Group::rank() == 0) size_ = 0;
      Group::sync();
#pragma unroll 1
      for (int i = Group::rank(); i < size; i += Threads)
        if (from[i] >= least) to[atomicAdd(&size_, 1)] = from[i];
      Group::sync();
      size = size_;
      u64* const swapped = from;
      from = to, to = swapped;
    }
    sort(from, size, count);
    return min(size, count);
  }
  // Writes the `count` greatest of `size` keys, Threads at most, to keys_. As many threads as there are for each key,
  // up to 16, compare it with the others.
  __device__ void sort(const u64* from, int size, int count) {
    int shift = 0;
    while (shift < 4 && size << (shift + 1) <= Threads) ++shift;
    const int own = Group::rank() >> shift, sharers = 1 << shift;
    const u64 key = own < size ? from[own] : 0;
    int rank = 0;
    if (own < size) {
#pragma unroll 4
      for (int i = Group::rank() & (sharers - 1); i < size; i += sharers) rank += from[i] > key;
    }
#pragma unroll 1
    for (int distance = 1; distance < sharers; distance *= 2) rank += __shfl_xor_sync(0xffffffff, rank, distance);
    Group::sync();
    if (own < size && rank < count) keys_[rank] = key;
    Group::sync();
  }

  // Of a thread's numbers that reach `bound` all that are greater, as those of `greater` threads are, and of the equal
  // ones the first, as many threads' as are missing to `count`.
  template <class Numbers>
  static __device__ u32 without_late(const Numbers& numbers, u32 reaching, f32 bound, int greater, int count) {
    constexpr int kCount = sizeof(numbers.x) / sizeof(f32);
    u32 equal = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) equal |= u32{numbers.x[i] == bound || bound != bound} << i;
    equal &= reaching;
    const u32 first = equal == 0 ? 0 : ~numbers.column(__ffs(equal) - 1);  // greater for a lower column
    const u32 last = threshold(first, count - greater, Keep - greater).key;
#pragma unroll 1
    for (; equal != 0; equal &= equal - 1) {
      const int i = __ffs(equal) - 1;
      if (~numbers.column(i) < last) reaching &= ~(1U << i);
    }
    return reaching;
  }

 public:
  // Takes a thread's keys, which keys.each(f) passes to f, and returns how many are kept now: the `count` greatest, if
  // there are as many. `kept` is what the call before returned, at first 0.
  template <class Keys> __device__ int take(const Keys& keys, int kept, int count) {
    u64 most = 0;
    keys.each([&](u64 key) { most = max(most, key); });
    u64 least = kept == count ? keys_[count - 1] + 1 : 1;  // of a key that is worth keeping
    const int candidates = Group::count(most >= least);
    if (candidates == 0) return kept;
    if (candidates > Keep) least = max(least, threshold(most >= least ? most : 0, count, Keep).key);
    if (Group::rank() == 0) size_ = kept;
    Group::sync();
    if (most >= least) {
      keys.each([&](u64 key) {
        if (key >= least) keys_[atomicAdd(&size_, 1)] = key;
      });
    }
    Group::sync();
    return shrink(size_, count);
  }

  // The same of keys whose numbers are numbers.x, an array of 32 at most, and whose indices numbers.column(i), which
  // ascend, are beyond those of the calls before; numbers.at(index) is the number that has an index.
  template <class Numbers> __device__ int take_numbers(const Numbers& numbers, int kept, int count) {
    constexpr int kCount = sizeof(numbers.x) / sizeof(f32);
    static_assert(kCount <= 32 && kCount <= Each);
    f32 greatest = numbers.x[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) greatest = max_nan(greatest, numbers.x[i]);
    const u32 most = ordered(greatest);
    const u32 passed = kept == count ? number_of_pair(keys_[count - 1]) : 0;  // equal ones come too late
    const int candidates = Group::count(most > passed);
    if (candidates == 0) return kept;
    Threshold<u32> least = {max(passed + 1, ordered(-infinity())), candidates};
    if (candidates > Keep) least = threshold(most > passed ? most : 0, count, Keep);
    const f32 bound = number_of_ordered(least.key);  // a NaN if only NaNs reach it
    u32 reaching = 0;                                // bit i: x[i] does
    if (most >= least.key) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) reaching |= u32{numbers.x[i] >= bound || numbers.x[i] != numbers.x[i]} << i;
    }
    if (least.reached > Keep) reaching = without_late(numbers, reaching, bound, Group::count(most > least.key), count);
    if (Group::rank() == 0) size_ = kept;
    Group::sync();
    if (reaching != 0) {
      u32 at = atomicAdd(&size_, __popc(reaching));
#pragma unroll 1
      for (; reaching != 0; reaching &= reaching - 1) {
        const u32 column = numbers.column(__ffs(reaching) - 1);
        keys_[at++] = ordered_pair(numbers.at(column), column);
      }
    }
    Group::sync();
    return shrink(size_, count);
  }

  // Key i of those kept, in descending order.
  __device__ u64 operator[](int i) const {
    return keys_[i];
  }
};
