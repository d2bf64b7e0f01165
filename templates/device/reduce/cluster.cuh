#pragma once
// Combines one value per block of a cluster into one that all blocks get, in the order of the blocks.
#include "device/ptx/st_async.cuh"

// Each block sends its value to all, and waits until all have arrived: a barrier of the cluster would also wait for
// each thread's stores to memory. In shared memory, of one reduction of a launch; X has 4 or 8 bytes.
template <int Blocks, class X> class ClusterReduction {
 public:
  // Called by one thread, which calls cluster::arrive_relaxed() after it; every block's threads then wait for that
  // barrier before they reduce.
  __device__ void init() {
    full_.init(1);
    fence_barrier_init();
  }
  // Called once by all threads, of which those of a block pass the same x.
  template <class F> __device__ X operator()(X x, F f) {
    if (threadIdx.x == 0) full_.expect(sizeof(parts_));
    if (threadIdx.x < Blocks) remote::store(threadIdx.x, &parts_[cluster::rank()], x, full_);
    full_.wait_cluster(0);
    x = parts_[0];
#pragma unroll
    for (int i = 1; i < Blocks; ++i) x = f(x, parts_[i]);
    return x;
  }
  // What block i passed, after the call.
  __device__ X part(int i) const {
    return parts_[i];
  }

 private:
  X parts_[Blocks];
  Barrier full_;
};
// Of one block.
template <class X> class ClusterReduction<1, X> {
 public:
  __device__ void init() {}
  template <class F> __device__ X operator()(X x, F) { return x; }
  __device__ X part(int) const { return {}; }  // there is no other block
};
