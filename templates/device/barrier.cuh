#pragma once
// Transaction barriers (mbarrier) and the ring of them that a producer and its consumers share.
// PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: mbarrier".
#include "device/types.cuh"

struct Barrier {
  u64 state;

  __device__ void init(u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(this)), "r"(arrivals));
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_address(this)) : "memory");
  }
  // Arrives on the barrier at the same offset in block `rank` of the cluster. Relaxed: it orders no ordinary memory (a
  // release at cluster scope would drain this thread's outstanding work), which is all that a slot read by wgmma needs.
  __device__ void arrive_at(u32 rank) {
    asm volatile(
        "{\n .reg .u32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
        " mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(smem_address(this)),
        "r"(rank)
        : "memory");
  }
  // One arrival that also announces `bytes` of asynchronous copies into this phase.
  __device__ void expect(u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(this)), "r"(bytes)
                 : "memory");
  }
  // Returns once the phase of this parity is complete. A fresh barrier counts as having completed parity 1.
  __device__ void wait(u32 parity) {
    asm volatile(
        "{\n .reg .pred done;\n"
        "again:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        " @!done bra again;\n}" ::"r"(smem_address(this)),
        "r"(parity)
        : "memory");
  }
  // The same for relaxed arrivals from the cluster.
  __device__ void wait_relaxed(u32 parity) {
    asm volatile(
        "{\n .reg .pred done;\n"
        "again:\n mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 done, [%0], %1;\n"
        " @!done bra again;\n}" ::"r"(smem_address(this)),
        "r"(parity)
        : "memory");
  }
};

// Makes freshly initialised barriers visible to the copy engine and to the cluster.
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// The position of one thread in a ring of Stages slots: which slot, and the parity of this pass over the ring.
template <int Stages> struct Ring {
  u32 slot = 0, phase = 0;
  __device__ void advance() {
    if (++slot == Stages) {
      slot = 0;
      phase ^= 1;
    }
  }
};
