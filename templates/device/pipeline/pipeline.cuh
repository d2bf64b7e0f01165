#pragma once
// A ring of slots in shared memory between a producer and its consumers, in a block or across a cluster. The producer
// acquires a slot and fills it with asynchronous copies; a consumer waits for a slot, reads it and releases it.
// `acquire` and `wait` advance to the next slot, so that producer and consumers stay in step: every consumer waits for
// every slot that the producer acquires, in the same order, and releases each exactly once. Invariants: a slot is
// filled only after all consumers of all Blocks blocks have released it, and read only after its bytes have arrived.
#include "device/pipeline/ring.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/named_barrier.cuh"

constexpr int kStarted = 15;  // the named barrier of start_producer and start_consumer

// The barrier with which a cluster begins. It is relaxed, because the fence of Pipeline::init has released the
// barriers: a release by all threads waits for all their accesses, 0.5 us on an H100.
__device__ inline void start_cluster() {
  cluster::arrive_relaxed();
  cluster::wait();
}

// The beginning of a kernel whose producer's first thread has initialised the barriers of its Pipeline: called by all
// warps of the producer, which go on at once unless the block shares slots with others of its cluster, and by the
// consumers, which see the barriers afterwards. `threads` are those of the block. (A producer that waits for the
// block's barrier begins its loads up to 0.1 us later on an H200.)
template <int Blocks = 1> __device__ inline void start_producer(int threads) {
  __syncwarp();
  if constexpr (Blocks == 1)
    arrive(kStarted, threads);
  else
    start_cluster();
}
template <int Blocks = 1> __device__ inline void start_consumer(int threads) {
  if constexpr (Blocks == 1)
    sync(kStarted, threads);
  else
    start_cluster();
}

template <int Stages, int Blocks = 1> struct Pipeline {
  Barrier full[Stages], empty[Stages];

  // Called by one thread, followed by a barrier of the block, or of the cluster if Blocks > 1. Each slot is released by
  // `consumers` consumers of each block, and filled by `producers`.
  __device__ void init(u32 consumers, u32 producers = 1) {
    for (int i = 0; i < Stages; ++i) {
      full[i].init(producers);
      empty[i].init(consumers * Blocks);
    }
    fence_barrier_init();
  }
  // The same for one producer in two parts, between which it may fill slot 0 of its own block.
  __device__ void init_first() {
    full[0].init(1);
    fence_barrier_init();
  }
  __device__ void init_others(u32 consumers) {
    for (int i = 0; i < Stages; ++i) {
      if (i > 0) full[i].init(1);
      empty[i].init(consumers * Blocks);
    }
    fence_barrier_init();
  }

  // Releases a slot whose reads are complete. Called by all threads of a warpgroup that read it with wgmma.
  __device__ void release_warpgroup(u32 slot) {
    const int thread = threadIdx.x % 128;
    if constexpr (Blocks == 1) {
      if (thread == 0) empty[slot].arrive();
    } else {
      if (thread < Blocks) empty[slot].arrive_at(thread);
    }
  }
  // The same for a warp that read with ordinary loads or ldmatrix: the fence orders its reads before the copy that
  // refills the slot.
  __device__ void release_warp(u32 slot) {
    static_assert(Blocks == 1);
    fence::proxy_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 == 0) empty[slot].arrive();
  }
};

// The producer's side of the ring; held by one thread of each block.
template <int Stages, int Blocks> class Producer {
 public:
  // The next slot is `slot`; those before it have been filled without.
  __device__ explicit Producer(Pipeline<Stages, Blocks>& pipeline, u32 slot = 0) : pipeline_(pipeline), ring_{slot} {}

  // Returns the next slot once it is free.
  __device__ u32 acquire() {
    const u32 slot = ring_.slot;
    if constexpr (Blocks == 1)
      pipeline_.empty[slot].wait(ring_.phase ^ 1);
    else
      pipeline_.empty[slot].wait_relaxed(ring_.phase ^ 1);
    ring_.advance();
    return slot;
  }
  // The same for consumers that release at cluster scope, after ordinary or tensor memory accesses that must be ordered
  // before.
  __device__ u32 acquire_cluster() {
    const u32 slot = ring_.slot;
    pipeline_.empty[slot].wait_cluster(ring_.phase ^ 1);
    ring_.advance();
    return slot;
  }
  // Returns when all slots are free. After the last acquire of a block in a cluster: a block may exit only when no
  // other signals its barriers any more.
  __device__ void drain() {
#pragma unroll 1
    for (int i = 0; i < Stages; ++i) acquire();
  }
  // Returns acquire(), and announces `bytes` of copies into the slot on its barrier `full`.
  __device__ u32 acquire(u32 bytes) {
    const u32 slot = acquire();
    pipeline_.full[slot].expect(bytes);
    return slot;
  }

 private:
  Pipeline<Stages, Blocks>& pipeline_;
  Ring<Stages> ring_;
};

// The consumer's side of the ring; held by each of a consumer's threads.
template <int Stages, int Blocks> class Consumer {
 public:
  __device__ explicit Consumer(Pipeline<Stages, Blocks>& pipeline) : pipeline_(pipeline) {}

  // Returns the next slot once it is full. A consumer may hold several slots and releases them in the same order.
  __device__ u32 wait() {
    const u32 slot = ring_.slot;
    pipeline_.full[slot].wait(ring_.phase);
    ring_.advance();
    return slot;
  }
  // Skips slots that another consumer waits for and releases.
  __device__ void skip(u32 slots) { ring_.advance(slots); }

 private:
  Pipeline<Stages, Blocks>& pipeline_;
  Ring<Stages> ring_;
};
