#pragma once
// Results of parts of attention, one of each block of a cluster, that the blocks exchange: each sends every four
// columns to the block that has their row, which then reads them from its own shared memory. A barrier of the cluster
// before remote reads, their latency and a barrier behind them would take about a microsecond longer.
#include "device/ptx/st_async.cuh"
#include "device/reduce/attention_parts.cuh"

#ifndef TMA_JIT_REFERENCE

// In shared memory of its own, which other blocks write while this one still computes; used once in a launch. An item
// is four columns of a row, of which a row has Across; rows are dealt to the blocks of the cluster in turn.
template <int Rows, int Across, int Blocks> class SentParts {
  static constexpr int kOwn = ceil_div(Rows, Blocks) * Across;  // items of a block at most

 public:
  // Called by all threads of every block, as early as possible.
  __device__ void begin() {
    if (threadIdx.x == 0) {
      full_.init(1);
      fence_barrier_init();
    }
    __syncwarp();
    cluster::arrive_relaxed();
  }
  // Waits until every block of the cluster has begun. Called by all threads of the block before the first is sent.
  __device__ void open(int rows) {
    cluster::wait();
    if (threadIdx.x != 0) return;
    const int own = (rows + Blocks - 1 - cluster::rank()) / Blocks;
    full_.expect(own * Across * Blocks * (sizeof(float4) + sizeof(float2)));
  }
  // Sends this block's result of an item. Called by one thread for each item.
  __device__ void send(int item, const AttentionResult& result) {
    const int rank = cluster::rank(), row = item / Across;
    const int to = row % Blocks, at = row / Blocks * Across + item % Across;
    const u32 value[4] = {__float_as_uint(result.value.x), __float_as_uint(result.value.y),
                          __float_as_uint(result.value.z), __float_as_uint(result.value.w)};
    const u32 state[2] = {__float_as_uint(result.greatest), __float_as_uint(result.sum)};
    remote::store(to, reinterpret_cast<u32*>(&value_[rank][at]), value, full_);
    remote::store(to, reinterpret_cast<u32*>(&state_[rank][at]), state, full_);
  }
  // Calls f(item, place(item), result) with the combined result of each of this block's items, by Threads threads. What
  // place(item) reads arrives while the results are awaited.
  template <int Threads, class Place, class F> __device__ void combine(int rows, Place place, F f) {
    for (int at = threadIdx.x; at < kOwn; at += Threads) {
      const int row = at / Across * Blocks + cluster::rank();
      if (row >= rows) return;
      const int item = row * Across + at % Across;
      const auto there = place(item);
      full_.wait_cluster(0);
      f(item, there, combined<Blocks>(Blocks, [&](int rank) {
          return AttentionResult{state_[rank][at].x, state_[rank][at].y, value_[rank][at]};
        }));
    }
  }

 private:
  float4 value_[Blocks][kOwn];
  float2 state_[Blocks][kOwn];
  Barrier full_;
};
// Of one block, which sends nothing.
template <int Rows, int Across> class SentParts<Rows, Across, 1> {
 public:
  __device__ void begin() {}
  __device__ void open(int) {}
  __device__ void send(int, const AttentionResult&) {}
  template <int Threads, class Place, class F> __device__ void combine(int, Place, F) {}
};

#endif
