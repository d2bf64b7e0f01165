#pragma once
// Finds the greatest 32-bit key such that the measures of all elements with keys at least as great add up to a target:
// with the measure 1 the k-th greatest key, with probabilities the least of the smallest set that has a share of them.
// A first digit says where in the range of all elements an element lies. The elements that share it are compared with
// each other where they are few; else the key is found by its own digits from the highest on. The elements whose digits
// before agree are summed by each one in a histogram of each block. Each block of a cluster adds up a slice of the bins
// of all, and all read the slice that has the bin sought. Sums are integers, so that the order in which elements are
// added does not matter.
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

  u32 low[kBins], high[kBins];  // the halves of a block's sums
  u64 slice[kBins], total;      // of a cluster: the sums of the block's slice of the bins, and theirs
  u64 warps[2][Threads / 32];
  u32 size;  // of the block's keys that are compared, which lie where the halves did
  u32 found;
  u64 above;

  __device__ void add(u32 at, u32 measure) {
    if (atomicAdd(&low[at], measure) + measure < measure) atomicAdd(&high[at], 1);
  }
};

// A histogram is cleared, and a slice written, after all blocks have arrived at the barrier behind which none reads it.
template <int Threads, int Cluster> class KeySearch {
 public:
  static constexpr int kBins = KeyHistograms<Threads>::kBins;

 private:
  static constexpr int kSlice = kBins / Cluster, kEach = kSlice > Threads ? kSlice / Threads : 1;
  static constexpr int kFew = 512;
  static_assert(kFew <= kBins / 2);
  static_assert(kSlice % Threads == 0 || Threads % kSlice == 0);

  KeyHistograms<Threads>& smem_;

  static __device__ KeyHistograms<Threads>* of(KeyHistograms<Threads>* smem, int block) {
    return Cluster == 1 ? smem : cluster::map(smem, block);
  }
  // Bin i of the thread's kEach of a slice, which descend; below 0 where it has none.
  static __device__ int bin(int i) { return kSlice - 1 - (threadIdx.x * kEach + i); }
  // Adds up the block's slice of the bins of all blocks.
  __device__ void add_slice(int rank) {
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (bin(i) < 0) break;
      const int at = rank * kSlice + bin(i);
      u64 of_bin = 0;
#pragma unroll
      for (int block = 0; block < Cluster; ++block) {
        const KeyHistograms<Threads>* const from = of(&smem_, block);
        of_bin += u64{from->high[at]} << 32 | from->low[at];
      }
      sum += smem_.slice[bin(i)] = of_bin;
    }
    if constexpr (Cluster == 1) return;
    sum = block_prefix<Threads>(sum, smem_.warps[0]).all;
    if (threadIdx.x == 0) smem_.total = sum;
    cluster::sync();
  }
  // Finds the greatest bin such that it and those above reach the target.
  __device__ void find(u64 target) {
    add_slice(Cluster == 1 ? 0 : cluster::rank());
    int owner = Cluster - 1;
    u64 above = 0;  // of the slices above the owner's
    if constexpr (Cluster > 1) {
      for (; owner > 0; --owner) {
        const u64 total = of(&smem_, owner)->total;
        if (above + total >= target) break;
        above += total;
      }
    }
    const u64* const slice = of(&smem_, owner)->slice;
    u64 sums[kEach], sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) sum += sums[i] = bin(i) < 0 ? 0 : slice[bin(i)];
    u64 before = above + block_prefix<Threads>(sum, smem_.warps[1]).before;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (before < target && before + sums[i] >= target) smem_.found = owner * kSlice + bin(i), smem_.above = before;
      before += sums[i];
    }
    __syncthreads();
  }

  // Sums the measures of a row's elements by their digits, and finds the greatest that reaches the target.
  template <class Row, class Digit, class Measure>
  __device__ void find_digit(const Row& row, u64 target, Digit digit, Measure measure) {
    for (int i = threadIdx.x; i < kBins; i += Threads) smem_.low[i] = smem_.high[i] = 0;
    __syncthreads();
    row.next_pass([&](f32 x) {
      const u32 size = measure(x);
      if (size > 0) smem_.add(digit(x), size);
    });
    cluster::sync_blocks<Cluster>();
    find(target);
  }

  // Finds the greatest of the keys for which `sought` holds that reaches the target, if there are few of them in the
  // cluster. Returns whether there are.
  template <class Row, class Sought, class Measure>
  __device__ bool find_among_few(const Row& row, u64 target, Sought sought, Measure measure) {
    if (threadIdx.x == 0) smem_.size = 0;
    __syncthreads();
    row.next_pass([&](f32 x) {
      if (!sought(x)) return;
      const u32 at = atomicAdd(&smem_.size, 1);
      if (at < kFew) smem_.low[at] = ordered(x);
    });
    cluster::sync_blocks<Cluster>();
    u32* const keys = smem_.high;
    u32* const sizes = smem_.high + kBins / 2;
    u32 all = 0;
    for (int block = 0; block < Cluster; ++block) all += of(&smem_, block)->size;
    if (all > kFew) return false;
    u32 count = 0;
    for (int block = 0; block < Cluster; ++block) {
      const u32 size = of(&smem_, block)->size;
      for (u32 i = threadIdx.x; i < size; i += Threads) {
        const u32 key = keys[count + i] = of(&smem_, block)->low[i];
        sizes[count + i] = measure(number_of_ordered(key));
      }
      count += size;
    }
    __syncthreads();
    for (u32 own = threadIdx.x; own < count; own += Threads) {
      const u32 key = keys[own];
      u64 above = 0, equal = 0;
      bool first = true;  // of equal keys
#pragma unroll 4
      for (u32 i = 0; i < count; ++i) {
        if (keys[i] > key) above += sizes[i];
        if (keys[i] == key) equal += sizes[i], first = first && i >= own;
      }
      if (first && above < target && above + equal >= target) smem_.found = key, smem_.above = above;
    }
    __syncthreads();
    return true;
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
    if (find_among_few(
            row, target - found.above, [&](f32 x) { return place(x) == where && measure(x) > 0; }, measure))
      return {smem_.found, found.above + smem_.above};
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
