#pragma once
// A ring of slots in shared memory between one producer and its consumers, in a block or over a cluster. The producer
// acquires a slot and fills it with asynchronous copies; a consumer waits for a slot, reads it and releases it. acquire
// and wait move on to the next slot by themselves, so nobody can advance out of step: every consumer waits for every
// slot that the producer acquires, in the same order, and releases each once. Invariants: a slot is filled only after
// all consumers of all Blocks blocks have released it; it is read only after its bytes have landed.
#include "device/pipeline/ring.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/fence.cuh"

template <int Stages, int Blocks = 1> struct Pipeline {
  Barrier full[Stages], empty[Stages];

  // By one thread, then a barrier of the block, or of the cluster where Blocks > 1. `consumers` of each block release
  // each slot.
  __device__ void init(u32 consumers) {
    for (int i = 0; i < Stages; ++i) {
      full[i].init(1);
      empty[i].init(consumers * Blocks);
    }
    fence_barrier_init();
  }

  // Releases of a slot whose reads are complete, by all threads of the consumer. A warpgroup that read by wgmma:
  __device__ void release_warpgroup(u32 slot) {
    const int thread = threadIdx.x % 128;
    if constexpr (Blocks == 1) {
      if (thread == 0) empty[slot].arrive();
    } else {
      if (thread < Blocks) empty[slot].arrive_at(thread);
    }
  }
  // A warp that read by ordinary loads or ldmatrix: the fence orders them before the copy that refills the slot.
  __device__ void release_warp(u32 slot) {
    static_assert(Blocks == 1);
    fence::proxy_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 == 0) empty[slot].arrive();
  }
};

// The producer's end: one thread of each block.
template <int Stages, int Blocks> class Producer {
 public:
  __device__ explicit Producer(Pipeline<Stages, Blocks>& pipeline) : pipeline_(pipeline) {}

  // The next slot, once it is free.
  __device__ u32 acquire() {
    const u32 slot = ring_.slot;
    if constexpr (Blocks == 1)
      pipeline_.empty[slot].wait(ring_.phase ^ 1);
    else
      pipeline_.empty[slot].wait_relaxed(ring_.phase ^ 1);
    ring_.advance();
    return slot;
  }
  // The same for consumers that release at cluster scope and whose ordinary or tensor memory accesses come first.
  __device__ u32 acquire_cluster() {
    const u32 slot = ring_.slot;
    pipeline_.empty[slot].wait_cluster(ring_.phase ^ 1);
    ring_.advance();
    return slot;
  }
  // acquire(), after which `bytes` of copies into the slot are expected on its barrier `full`.
  __device__ u32 acquire(u32 bytes) {
    const u32 slot = acquire();
    pipeline_.full[slot].expect(bytes);
    return slot;
  }

 private:
  Pipeline<Stages, Blocks>& pipeline_;
  Ring<Stages> ring_;
};

// A consumer's end: each of its threads has one.
template <int Stages, int Blocks> class Consumer {
 public:
  __device__ explicit Consumer(Pipeline<Stages, Blocks>& pipeline) : pipeline_(pipeline) {}

  // The next slot, once it is full. Several may be held at a time; they are released in the same order.
  __device__ u32 wait() {
    const u32 slot = ring_.slot;
    pipeline_.full[slot].wait(ring_.phase);
    ring_.advance();
    return slot;
  }
  // Leaves that many slots to another consumer, which waits for them and releases them.
  __device__ void skip(u32 slots) { ring_.advance(slots); }

 private:
  Pipeline<Stages, Blocks>& pipeline_;
  Ring<Stages> ring_;
};
