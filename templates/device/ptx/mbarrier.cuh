#pragma once
// Transaction barriers. A phase completes when all its arrivals have occurred and the bytes announced for it have
// arrived; the next phase then begins automatically. PTX ISA 9.0, "Parallel Synchronization and Communication
// Instructions: mbarrier".
#include "device/types.cuh"

struct Barrier {
  u64 state;

  // Initialises for `arrivals` per phase, 1 to 2^20 - 1. Must be followed by fence_barrier_init() and a barrier of the
  // block or cluster.
  __device__ void init(u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(this)), "r"(arrivals));
  }
  // Must be called before the memory is used for anything else, while no thread waits.
  __device__ void inval() { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_address(this)) : "memory"); }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_address(this)) : "memory");
  }
  __device__ void arrive(u32 count) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(this)), "r"(count)
                 : "memory");
  }
  // Arrives, and reduces the arrivals that later phases expect by one.
  __device__ void arrive_drop() {
    asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_address(this)) : "memory");
  }
  // Arrives on the barrier at the same offset in block `rank` of the cluster. Relaxed: it orders no ordinary memory
  // accesses, which suffices for a slot read by wgmma; a release at cluster scope would wait for all outstanding
  // accesses of the thread.
  __device__ void arrive_at(u32 rank) {
    asm volatile(
        "{\n .reg .u32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
        " mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(smem_address(this)),
        "r"(rank)
        : "memory");
  }
  // The same with release semantics: this thread's writes are visible to threads that wait with wait_cluster().
  __device__ void arrive_release_at(u32 rank) {
    asm volatile(
        "{\n .reg .u32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
        " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(smem_address(this)),
        "r"(rank)
        : "memory");
  }
  // Arrives, and announces `bytes` of asynchronous copies for this phase, at most 2^20 - 1.
  __device__ void expect(u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(this)), "r"(bytes)
                 : "memory");
  }
  // expect_tx announces bytes without arriving; complete_tx counts them as arrived, as a copy does when it ends.
  __device__ void expect_tx(u32 bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(this)), "r"(bytes)
                 : "memory");
  }
  __device__ void complete_tx(u32 bytes) {
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(this)), "r"(bytes)
                 : "memory");
  }

  // Returns once the phase of this parity is complete. On a newly initialised barrier parity 1 counts as complete. A
  // thread must not fall two phases behind, because parities repeat.
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
  // The same with acquire semantics for what blocks of the cluster wrote before they arrived, including by st.async.
  __device__ void wait_cluster(u32 parity) {
    asm volatile(
        "{\n .reg .pred done;\n"
        "again:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        " @!done bra again;\n}" ::"r"(smem_address(this)),
        "r"(parity)
        : "memory");
  }
  // Return whether the phase is complete. test_wait returns at once; try_wait may first suspend the thread for a short
  // time.
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

// Makes newly initialised barriers visible to the copy engine and to the cluster.
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
