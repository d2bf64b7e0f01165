#pragma once
// Sums of the measures of a row's elements by where they lie between the least and the greatest, and the greatest key
// such that the measures of all elements with keys at least as great add up to a target: with the measure 1 the k-th
// greatest key, with probabilities the least of the smallest set that has a share of them. Elements that share a place
// are compared with each other where they are few; else the key is found by its own digits from the highest on. The
// elements whose digits before agree are summed by each one in a histogram of each block. Each block of a cluster adds
// up a slice of the bins of all, and all read the slice that has the bin sought. Sums are integers, so that the order
// in which elements are added does not matter.
#include "device/reduce/cluster.cuh"
#include "device/reduce/ordered.cuh"
#include "device/reduce/prefix.cuh"

struct KeyFound {
  u32 key;
  u64 above;  // the sum of the measures of elements with greater keys
};

struct BinFound {
  u32 bin;
  u64 above;  // the sum of the bins above
};

// Shared memory of the blocks of a cluster.
template <int Threads> struct KeyHistograms {
  static constexpr int kBins = 2048;

  u32 low[kBins], high[kBins];  // a block's sums: high counts 2^16 each, or 2^32 if the block's part is long
  u64 slice[kBins], total;      // of a cluster: the sums of the block's slice of the bins, and theirs
  u64 warps[2][Threads / 32];
  u32 size;  // of the block's keys that are compared, which lie where the halves did
  KeyFound key;
  BinFound bin;
};

// A histogram is cleared, and a slice written, after all blocks have arrived at the barrier behind which none reads it.
template <int Threads, int Cluster> class KeySearch {
 public:
  static constexpr int kBins = KeyHistograms<Threads>::kBins;

 private:
  static constexpr int kSlice = kBins / Cluster, kEach = kSlice > Threads ? kSlice / Threads : 1;
  static constexpr int kFew = 512;
  static constexpr u32 kLast = 0xfffffffe;  // the greatest key of sort_few
  static_assert(4 * kFew <= kBins);
  static_assert(kSlice % Threads == 0 || Threads % kSlice == 0);

  KeyHistograms<Threads>& smem_;
  const bool long_;        // the sums of a block's part may be beyond what 2^16 measures of 16 bits add up to
  bool compared_ = false;  // other blocks may still read this one's keys
  bool places_ = false;    // the histogram is that of places

  static __device__ KeyHistograms<Threads>* of(KeyHistograms<Threads>* smem, int block) {
    return Cluster == 1 ? smem : cluster::map(smem, block);
  }
  // Bin i of the thread's kEach of a slice, which descend; below 0 where it has none.
  static __device__ int bin(int i) { return kSlice - 1 - (threadIdx.x * kEach + i); }

  __device__ void add(u32 at, u32 measure) {
    if (long_) {
      if (atomicAdd(&smem_.low[at], measure) + measure < measure) atomicAdd(&smem_.high[at], 1);
    } else {  // without a result there is nothing to wait for
      atomicAdd(&smem_.low[at], measure & 0xffff);
      atomicAdd(&smem_.high[at], measure >> 16);
    }
  }
  // Adds up the block's slice of the bins of all blocks. Returns the sum of all slices.
  __device__ u64 add_slice(int rank) {
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (bin(i) < 0) break;
      const int at = rank * kSlice + bin(i);
      u64 of_bin = 0;
#pragma unroll
      for (int block = 0; block < Cluster; ++block) {
        const KeyHistograms<Threads>* const from = of(&smem_, block);
        of_bin += (u64{from->high[at]} << (long_ ? 32 : 16)) + from->low[at];
      }
      sum += smem_.slice[bin(i)] = of_bin;
    }
    sum = block_prefix<Threads>(sum, smem_.warps[0]).all;
    if constexpr (Cluster == 1) return sum;
    if (threadIdx.x == 0) smem_.total = sum;
    cluster::sync();
    u64 all = 0;
#pragma unroll
    for (int block = 0; block < Cluster; ++block) all += of(&smem_, block)->total;
    return all;
  }

  // Sums the measures of a row's elements by their digits. Returns the sum of all.
  template <class Row, class Digit, class Measure> __device__ u64 sum_by(const Row& row, Digit digit, Measure measure) {
    if (compared_) cluster::sync_blocks<Cluster>();
    compared_ = false;
    for (int i = threadIdx.x; i < kBins; i += Threads) smem_.low[i] = smem_.high[i] = 0;
    __syncthreads();
    row.next_pass([&](f32 x) {
      const u32 size = measure(x);
      if (size > 0) add(digit(x), size);
    });
    cluster::sync_blocks<Cluster>();
    return add_slice(Cluster == 1 ? 0 : cluster::rank());
  }

  // Returns the numbers of `count` keys in descending order of the keys, which are kLast at most; equal ones in their
  // own. Called by all threads of the block.
  __device__ u32* sort_few(const u32* keys, u32 count) {
    u32* const order = smem_.high + 3 * kFew;
    for (u32 own = threadIdx.x; own < count; own += Threads) {
      const u32 key = keys[own];
      u32 rank = 0;
#pragma unroll 4
      for (u32 i = 0; i < count; ++i) rank += keys[i] + (i < own) > key;
      order[rank] = own;
    }
    __syncthreads();
    return order;
  }
  // Calls f(i, before, size) for each of `count` elements in their order, i being its number in it and `before` the sum
  // of the sizes of those before. Called by all threads of the block.
  template <class F> __device__ void add_in_order(const u32* order, const u32* sizes, u32 count, F f) {
    const u32 each = ceil_div<u32>(count, Threads), begin = min(threadIdx.x * each, count),
              end = min(begin + each, count);
    u64 sum = 0;
    for (u32 i = begin; i < end; ++i) sum += sizes[order[i]];
    u64 before = block_prefix<Threads>(sum, smem_.warps[0]).before;
    for (u32 i = begin; i < end; ++i) {
      const u32 size = sizes[order[i]];
      f(i, before, size);
      before += size;
    }
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
    compared_ = true;
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
    u32* const order = sort_few(keys, count);
    add_in_order(order, sizes, count, [&](u32 i, u64 before, u32 size) {
      if (!(before < target && before + size >= target)) return;
      u64 above = before;
      for (u32 j = i; j > 0 && keys[order[j - 1]] == keys[order[i]]; --j) above -= sizes[order[j - 1]];
      smem_.key = {keys[order[i]], above};
    });
    __syncthreads();
    return true;
  }

 public:
  // Each block has at most `elements` of the row.
  __device__ KeySearch(KeyHistograms<Threads>& smem, s64 elements) : smem_(smem), long_(elements > 1 << 16) {}

  // Whether bin() finds places: a search for a key by its digits overwrites their sums.
  __device__ bool has_places() const {
    return places_;
  }

  // Sums the measures of a row's elements, which row.next_pass gives, by their places: place(x), below kBins, is never
  // less for a greater x; the more of its values elements have, the fewer threads add to one sum. measure(x) is below
  // 2^32, and 0 beyond the ends of the row. Returns the sum of all. Called by all threads of the cluster, as what
  // follows.
  template <class Row, class Place, class Measure> __device__ u64 sum(const Row& row, Place place, Measure measure) {
    places_ = true;
    return sum_by(row, place, measure);
  }

  // Returns the greatest place such that the sums of it and of those above reach the target, after sum().
  __device__ BinFound bin(u64 target) {
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
      if (before < target && before + sums[i] >= target)
        smem_.bin = {static_cast<u32>(owner * kSlice + bin(i)), before};
      before += sums[i];
    }
    __syncthreads();
    return smem_.bin;
  }

  // Returns the greatest key that reaches the target, which is positive and at most what sum() of the same measures
  // returned. Keys are ordered(x).
  template <class Row, class Place, class Measure>
  __device__ KeyFound key(const Row& row, u64 target, Place place, Measure measure) {
    const BinFound at = bin(target);
    const auto sought = [&](f32 x) { return place(x) == at.bin && measure(x) > 0; };
    if (find_among_few(row, target - at.above, sought, measure)) return {smem_.key.key, at.above + smem_.key.above};
    places_ = false;
    KeyFound found = {0, at.above};
#pragma unroll 1
    for (int bits = 32; bits > 0;) {  // invariant: the key's bits from `bits` on are found
      const int digit = min(bits, 11), shift = bits - digit;
      sum_by(
          row, [&](f32 x) { return ordered(x) >> shift & ((1 << digit) - 1); },
          [&](f32 x) { return place(x) == at.bin && u64{ordered(x) ^ found.key} >> bits == 0 ? measure(x) : 0; });
      const BinFound next = bin(target - found.above);
      found.key |= next.bin << shift;
      found.above += next.above;
      bits = shift;
    }
    return found;
  }

  // Calls found(column, x) in the thread that has the first element up to and with which, in the order of columns, the
  // measures add up to more than `target`, if few elements have one and those of all do. Returns whether they are few.
  template <class Row, class Measure, class Found>
  __device__ bool find_column(const Row& row, u64 target, Measure measure, Found found) {
    if (compared_) cluster::sync_blocks<Cluster>();
    if (threadIdx.x == 0) smem_.size = 0;
    __syncthreads();
    row.next_pass_at([&](f32 x, int p, int i) {
      if (measure(x) == 0) return;
      const u32 at = atomicAdd(&smem_.size, 1);
      if (at < kFew) smem_.low[at] = row.column(p, i), smem_.low[kFew + at] = ordered(x);
    });
    cluster::sync_blocks<Cluster>();
    u32 all = 0;
    for (int block = 0; block < Cluster; ++block) all += of(&smem_, block)->size;
    if (all <= kFew && (Cluster == 1 || cluster::rank() == 0)) {
      u32* const columns = smem_.high;
      u32* const numbers = smem_.high + kFew;
      u32* const sizes = smem_.high + 2 * kFew;
      u32 count = 0;
      for (int block = 0; block < Cluster; ++block) {
        const u32 size = of(&smem_, block)->size;
        for (u32 i = threadIdx.x; i < size; i += Threads) {
          columns[count + i] = kLast - of(&smem_, block)->low[i];  // the lowest first
          numbers[count + i] = of(&smem_, block)->low[kFew + i];
          sizes[count + i] = measure(number_of_ordered(numbers[count + i]));
        }
        count += size;
      }
      __syncthreads();
      u32* const order = sort_few(columns, count);
      add_in_order(order, sizes, count, [&](u32 i, u64 before, u32 size) {
        if (before <= target && target - before < size)
          found(static_cast<int>(kLast - columns[order[i]]), number_of_ordered(numbers[order[i]]));
      });
    }
    if constexpr (Cluster > 1) cluster::sync();  // the first block has read what the others found
    return all <= kFew;
  }
};
