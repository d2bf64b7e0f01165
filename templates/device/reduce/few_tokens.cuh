#pragma once
// A draw from few tokens: where only some of the greatest can be drawn, the blocks of a cluster select them, and all
// further steps are those of a short list.
#include "device/reduce/cluster.cuh"
#include "device/reduce/prefix.cuh"
#include "device/reduce/row_numbers.cuh"
#include "device/reduce/select.cuh"

// A token that was drawn: its column, its number, and the sum of the weights of all that could be drawn.
struct Draw {
  int column;
  f32 x;
  u64 total;
};

// In the shared memory of each block of a cluster. Tokens are pairs of a number and a column, which descend.
// A thread has Each of them in registers at a time.
template <class T, int Threads, int Cluster, int Each> class FewTokens {
  static constexpr int kKeep = Threads < 256 ? Threads / 2 : 96;
  static constexpr int kUnroll = Each / AlignedRow<T>::kCount;

 public:
  static constexpr int kMost = kKeep - 1;  // that can be kept

  // Selects the `count` greatest tokens of the row of `columns` in the first block of the cluster: kMost + 1 at most,
  // and all if the row has no more. number(x, column) is that of an element, not NaN. Called by all threads of the
  // cluster, all of whose blocks have begun.
  template <class F> __device__ void select(const AlignedRow<T>& row, int columns, int rank, int count, F number) {
    constexpr s64 kStep = Threads * Cluster, kTile = kStep * kUnroll;
    int kept = 0;
#pragma unroll 1
    for (s64 tile = rank * Threads; tile < row.packs; tile += kTile)
      kept =
          best_.take_numbers(RowNumbers<T, kStep, kUnroll, F>(row, columns, tile + threadIdx.x, number), kept, count);
    const int i = threadIdx.x;
    if constexpr (Cluster > 1) {
      if (i < count) cluster::map(this, 0)->of_block_[rank][i] = i < kept ? best_[i] : 0;
      cluster::sync();
      if (rank > 0) return;
      const Others others = {of_block_, count};
      kept = best_.take(others, 0, count);
    }
    if (i < count) sorted_[i] = i < kept ? best_[i] : 0;
    __syncthreads();
  }
  // The number of the greatest token, after select(); minus infinity where there is none.
  __device__ f32 greatest() const {
    return sorted_[0] == 0 ? -infinity() : number(0);
  }

  // Draws one of the `most` greatest of the tokens selected, of which top_p keeps a share: `most` + 1 were selected, so
  // that it is known whether there are more. draw(n) gives a number below n, share(all) what top_p keeps of the
  // weights. Of tokens above the least those of greater places come first, and of one place those of lower columns.
  // Called by all threads of the first block; calls store(Draw) in one of them.
  template <class Weight, class Place, class Random, class Share, class Store>
  __device__ void draw(int most, bool shared, const Weight& weight, const Place& place, Random random, Share share,
                       Store store) {
    const int i = threadIdx.x;
    const int count = __syncthreads_count(i <= most && sorted_[i] != 0 && weight(number(i)) > 0);
    const bool cut = count > most;
    int kept = min(most, count);
    const f32 x = i < kept ? number(i) : 0.0F;
    const u32 size = i < kept ? weight(x) : 0;
    const Prefix<u64> prefix = block_prefix<Threads>(u64{size}, partial_);
    u64 total = prefix.all;
    if (shared) {
      const u64 target = share(total);
      kept = __syncthreads_count(i < kept && prefix.before < target);
    }
    const u32 at = place(x);
    if (i < kMost) sizes_[i] = size, places_[i] = at, before_[i] = prefix.before;
    __syncthreads();
    // Of those as great as the last only some are kept, the first by their columns; without a cut all are kept.
    const f32 least = number(kept - 1);
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
    u64 before = 0;
    for (int j = 0; j < greater; ++j)
      if (places_[j] > at || (places_[j] == at && column(j) < column(i))) before += sizes_[j];
    if (before <= chosen && chosen - before < size) store(Draw{column(i), x, total});
  }

 private:
  // What the blocks have selected, each thread's share of it.
  struct Others {
    const u64 (&keys)[Cluster][kKeep];
    int count;
    template <class F> __device__ void each(F f) const {
#pragma unroll
      for (int i = 0; i < ceil_div(Cluster * kKeep, Threads); ++i) {
        const int at = i * Threads + threadIdx.x;
        f(at < Cluster * count ? keys[at / count][at % count] : 0);
      }
    }
  };

  __device__ f32 number(int i) const {
    return number_of_ordered(number_of_pair(sorted_[i]));
  }
  __device__ int column(int i) const {
    return static_cast<int>(index_of_pair(sorted_[i]));
  }

  Selection<Threads, kKeep, Each> best_;
  u64 of_block_[Cluster][kKeep], sorted_[kKeep], before_[kMost], partial_[Threads / 32];
  u32 sizes_[kMost], places_[kMost];
};
