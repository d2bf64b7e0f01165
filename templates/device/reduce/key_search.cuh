#pragma once
// Finds the greatest 32-bit key such that the measures of all elements with keys at least as great add up to a target:
// with the measure 1 the k-th greatest key, with probabilities the least of the smallest set that has a share of them.
// A first digit says where in the range of all elements an element lies; then the key is found by its own digits from
// the highest on. The elements whose digits before agree are summed by each one in a histogram of each block, and the
// blocks of a cluster read each other's. Sums are integers, so that the order in which elements are added does not
// matter.
#include "device/reduce/cluster.cuh"
#include "device/reduce/ordered.cuh"
#include "device/reduce/prefix.cuh"

struct KeyFound {
  u32 key;
  u64 above;  // the sum of the measures of elements with greater keys
};

// Shared memory of the blocks of a cluster.
template <int Threads> struct KeyHistograms {
  static constexpr int kBins = 2048;

  u32 low[2][kBins], high[2][kBins];  // the halves of the sums, for the digits at even and at odd turns
  u64 warps[Threads / 32];
  u32 found;
  u64 above;

  __device__ void add(int turn, u32 at, u32 measure) {
    if (atomicAdd(&low[turn][at], measure) + measure < measure) atomicAdd(&high[turn][at], 1);
  }
};

// The histograms of each turn are cleared after all blocks have arrived at the turn after their last use, so that none
// reads them any more.
template <int Threads, int Cluster> class KeySearch {
 public:
  static constexpr int kBins = KeyHistograms<Threads>::kBins;

 private:
  static constexpr int kEach = kBins / Threads > 0 ? kBins / Threads : 1;
  static_assert(kBins % Threads == 0);

  KeyHistograms<Threads>& smem_;
  int turn_ = 0;

  // The sum of a bin over the cluster.
  __device__ u64 bin(int at) const {
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < Cluster; ++i) {
      const KeyHistograms<Threads>* const of = Cluster == 1 ? &smem_ : cluster::map(&smem_, i);
      sum += u64{of->high[turn_][at]} << 32 | of->low[turn_][at];
    }
    return sum;
  }
  // Finds the greatest bin such that it and those above reach the target.
  __device__ void find(u64 target) {
    const int last = kBins - 1 - threadIdx.x * kEach;  // of the thread's bins, which descend
    u64 sums[kEach], sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) sum += sums[i] = bin(last - i);
    u64 before = block_prefix<Threads>(sum, smem_.warps).before;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (before < target && before + sums[i] >= target) smem_.found = last - i, smem_.above = before;
      before += sums[i];
    }
    __syncthreads();
  }

  // Sums the measures of a row's elements by their digits, and finds the greatest that reaches the target.
  template <class Row, class Digit, class Measure>
  __device__ void find_digit(const Row& row, u64 target, Digit digit, Measure measure) {
    for (int i = threadIdx.x; i < kBins; i += Threads) smem_.low[turn_][i] = smem_.high[turn_][i] = 0;
    __syncthreads();
    row.next_pass([&](f32 x) {
      const u32 size = measure(x);
      if (size > 0) smem_.add(turn_, digit(x), size);
    });
    cluster::sync_blocks<Cluster>();
    find(target);
    turn_ ^= 1;
  }

 public:
  __device__ explicit KeySearch(KeyHistograms<Threads>& smem) : smem_(smem) {}

  // Called by all threads of the cluster. Keys are ordered(x) of the numbers that row.next_pass gives; measure(x) is
  // below 2^32, 0 beyond the ends of the row, and their sum is at least `target`, which is positive. place(x), below
  // kBins, is never less for a greater x; the more of its values elements have, the fewer threads add to one sum.
  template <class Row, class Place, class Measure>
  __device__ KeyFound find(const Row& row, u64 target, Place place, Measure measure) {
    find_digit(row, target, place, measure);
    const u32 where = smem_.found;
    KeyFound found = {0, smem_.above};
#pragma unroll 1
    for (int bits = 32; bits > 0;) {  // invariant: the key's bits from `bits` on are found
      const int digit = min(bits, 11), shift = bits - digit;
      find_digit(
          row, target - found.above, [&](f32 x) { return ordered(x) >> shift & ((1 << digit) - 1); },
          [&](f32 x) { return place(x) == where && u64{ordered(x) ^ found.key} >> bits == 0 ? measure(x) : 0; });
      found.key |= smem_.found << shift;
      found.above += smem_.above;
      bits = shift;
    }
    return found;
  }
};
