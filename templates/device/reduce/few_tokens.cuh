#pragma once
// The end of a draw from few tokens: where the greatest that can be kept are few, a block collects them in shared
// memory, and all further steps are those of a short list.
#include "device/reduce/cluster.cuh"
#include "device/reduce/ordered.cuh"
#include "device/reduce/prefix.cuh"

// A token that was drawn: its column, its number, and the sum of the weights of all that could be drawn.
struct Draw {
  int column;
  f32 x;
  u64 total;
};

// In the shared memory of each block of a cluster. Tokens are pairs of a number and a column, which descend.
template <int Threads, int Cluster> class FewTokens {
 public:
  static constexpr int kMost = 128;  // that are kept at most

  // Collects the tokens of the row whose numbers reach `bound` and have a weight in the first block of the cluster.
  // Returns how many there are, or -1 if there are too many. Called by all threads of the cluster.
  template <class Row, class Weight> __device__ int collect(const Row& row, int rank, f32 bound, const Weight& weight) {
    if (threadIdx.x == 0) size_ = 0;
    __syncthreads();
    row.next_pass_at([&](f32 x, int p, int i) {
      if (!(x >= bound) || weight(x) == 0) return;
      const u32 at = atomicAdd(&size_, 1);
      if (at < Threads) own_[at] = ordered_pair(x, row.column(p, i));
    });
    cluster::sync_blocks<Cluster>();
    u32 count = 0;
#pragma unroll
    for (int block = 0; block < Cluster; ++block) count += of(block)->size_;
    if (count > Threads) return -1;
    if (rank == 0) {
      u32 first = 0;
#pragma unroll
      for (int block = 0; block < Cluster; ++block) {
        const u32 size = of(block)->size_;
        if (threadIdx.x < size) all_[first + threadIdx.x] = of(block)->own_[threadIdx.x];
        first += size;
      }
    }
    cluster::sync_blocks<Cluster>();
    return static_cast<int>(count);
  }

  // Draws one of the `most` greatest of `count` collected tokens, at most kMost, of which top_p keeps a share. draw(n)
  // gives a number below n, share(all) what top_p keeps of the weights. Returns in the thread that calls store(Draw).
  // Called by all threads of the first block.
  template <class Weight, class Random, class Share, class Store>
  __device__ void draw(int count, int most, bool shared, const Weight& weight, Random random, Share share,
                       Store store) {
    const bool cut = count > most;
    const u64 own = threadIdx.x < count ? all_[threadIdx.x] : 0;
    int kept = sort_greatest(own, count, min(most, count));
    const int i = threadIdx.x;
    const f32 x = i < kept ? number_of_ordered(number_of_pair(sorted_[i])) : 0.0F;
    const u32 size = i < kept ? weight(x) : 0;
    const Prefix<u64> prefix = block_prefix<Threads>(u64{size}, partial_);
    u64 total = prefix.all;
    if (shared) {
      const u64 target = share(total);
      kept = __syncthreads_count(i < kept && prefix.before < target);
    }
    if (i < kMost) sizes_[i] = size, before_[i] = prefix.before;
    __syncthreads();
    // Of those as great as the last only some are kept, the first by their columns; without a cut all are kept.
    const f32 least = number_of_ordered(number_of_pair(sorted_[kept - 1]));
    const bool cuts = cut || shared;
    const int greater = cuts ? __syncthreads_count(i < kept && x > least) : kept;
    const u64 above = greater < kept ? before_[greater] : before_[kept - 1] + sizes_[kept - 1];
    const u64 each = sizes_[kept - 1];
    total = above + (kept - greater) * each;
    const u64 chosen = random(total);
    if (chosen >= above) {
      if (i == greater + static_cast<int>((chosen - above) / each)) store(Draw{column(i), x, total});
      return;
    }
    if (i >= greater) return;
    u64 before = 0;  // of greater ones with lower columns
    for (int j = 0; j < greater; ++j) before += column(j) < column(i) ? sizes_[j] : 0;
    if (before <= chosen && chosen - before < size) store(Draw{column(i), x, total});
  }

 private:
  __device__ FewTokens* of(int block) {
    return Cluster == 1 ? this : cluster::map(this, block);
  }
  __device__ int column(int i) const {
    return static_cast<int>(index_of_pair(sorted_[i]));
  }

  // Sorts the `kept` greatest of the threads' keys, which differ where they are not 0. Returns `kept`.
  __device__ int sort_greatest(u64 own, int count, int kept) {
    u64 least = 1;
    if (count > kept) {
      least = 0;
      for (int bit = 63; bit >= 0; --bit) {
        const u64 trial = least | u64{1} << bit;
        const int reached = __syncthreads_count(own >= trial);
        if (reached >= kept) least = trial;
        if (reached == kept) break;
      }
    }
    if (threadIdx.x == 0) size_ = 0;
    __syncthreads();
    if (own >= least) own_[atomicAdd(&size_, 1)] = own;
    __syncthreads();
    if (threadIdx.x < kept) {
      const u64 key = own_[threadIdx.x];
      int rank = 0;
      for (int j = 0; j < kept; ++j) rank += own_[j] > key;
      sorted_[rank] = key;
    }
    __syncthreads();
    return kept;
  }

  u64 own_[Threads], all_[Threads], sorted_[kMost], before_[kMost], partial_[Threads / 32];
  u32 sizes_[kMost], size_;
};
