#pragma once
// Transaction barriers. A phase is complete when its arrivals have come and the bytes announced for it have landed; the
// next phase begins by itself. PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: mbarrier".
#include "device/types.cuh"

struct Barrier {
  u64 state;

  // `arrivals` a phase, 1 to 2^20 - 1. Then fence_barrier_init() and a barrier of the block, or of the cluster.
  __device__ void init(u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(this)), "r"(arrivals));
  }
  // Before its memory is used for anything else. Nobody may be waiting.
  __device__ void inval() { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_address(this)) : "memory"); }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_address(this)) : "memory");
  }
  __device__ void arrive(u32 count) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(this)), "r"(count)
                 : "memory");
  }
  // Arrives and takes part no more: later phases need one arrival fewer.
  __device__ void arrive_drop() {
    asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_address(this)) : "memory");
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
  // The same, publishing this thread's ordinary writes to those who wait with wait_cluster().
  __device__ void arrive_release_at(u32 rank) {
    asm volatile(
        "{\n .reg .u32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
        " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(smem_address(this)),
        "r"(rank)
        : "memory");
  }
  // One arrival that also announces `bytes` of asynchronous copies into this phase, 2^20 - 1 at most.
  __device__ void expect(u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(this)), "r"(bytes)
                 : "memory");
  }
  // Announces bytes without arriving, and counts them as landed: what a copy does when it ends.
  __device__ void expect_tx(u32 bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(this)), "r"(bytes)
                 : "memory");
  }
  __device__ void complete_tx(u32 bytes) {
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(this)), "r"(bytes)
                 : "memory");
  }

  // Returns once the phase of this parity is complete. A fresh barrier counts as having completed parity 1. A thread
  // must not fall two phases behind: parities repeat.
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
  // The same, acquiring what blocks of the cluster wrote before they arrived, st.async included.
  __device__ void wait_cluster(u32 parity) {
    asm volatile(
        "{\n .reg .pred done;\n"
        "again:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        " @!done bra again;\n}" ::"r"(smem_address(this)),
        "r"(parity)
        : "memory");
  }
  // One look: true when the phase is complete. test_wait returns at once; try_wait may sleep for a moment first.
  __device__ bool test_wait(u32 parity) {
    u32 done;
    asm volatile(
        "{\n .reg .pred done;\n mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        " selp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(smem_address(this)), "r"(parity)
        : "memory");
    return done != 0;
  }
  __device__ bool try_wait(u32 parity) {
    u32 done;
    asm volatile(
        "{\n .reg .pred done;\n mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        " selp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(smem_address(this)), "r"(parity)
        : "memory");
    return done != 0;
  }
};

// Makes freshly initialised barriers visible to the copy engine and to the cluster.
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
