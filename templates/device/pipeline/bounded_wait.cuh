#pragma once
// A wait that ends: an arrival or a copy that never comes becomes a record instead of a hang. For development and for
// services that must answer. PTX ISA 9.0, "mbarrier.test_wait", "mbarrier.pending_count".
#include "device/ptx/mbarrier.cuh"

// What the first thread found whose time was up. The caller provides it in global memory, cleared.
struct LostArrival {
  u32 found;    // 1 once the record is written
  u32 block;    // linear in the grid
  u32 thread;   // linear in the block
  u32 barrier;  // its byte address in shared memory
  u32 parity;   // waited for
  u32 phase;    // parity of the phase that is not complete
  u32 pending;  // arrivals it still needs
  s32 bytes;    // announced and not landed; below zero where more landed than were announced
};

namespace bounded {

__device__ inline u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// Ends the barrier's life, which is what brings its word to memory: a load from a live one sees nothing of it. Then the
// word is, from the top (an H200's, PTX leaves it open; the mbarrier_lost probe checks it): 1 bit of parity, 20 of
// minus the pending arrivals, 1 unused, 21 of bytes landed less bytes announced.
__device__ inline void describe(Barrier& barrier, LostArrival& lost) {
  u64 word;
  barrier.inval();
  asm volatile("ld.volatile.shared::cta.b64 %0, [%1];" : "=l"(word) : "r"(smem_address(&barrier)));
  lost.pending = static_cast<u32>(-(word >> 43)) & 0xfffff;
  lost.phase = static_cast<u32>(word >> 63);
  lost.bytes = -static_cast<s32>(static_cast<s64>(word << 22) >> 43);
}

__device__ inline void report(Barrier& barrier, u32 parity, LostArrival* lost) {
  if (atomicCAS(&lost->found, 0, 1) != 0) return;
  lost->block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  lost->thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  lost->barrier = smem_address(&barrier);
  lost->parity = parity;
  describe(barrier, *lost);
  __threadfence_system();
}

// True once the phase of this parity is complete; false when `timeout_ns` have passed, and soon after another thread
// has filled the record. What the copies would have brought is then not there, they may still land, and the recorded
// barrier is invalid: the kernel should leave without reusing their memory.
__device__ inline bool wait(Barrier& barrier, u32 parity, u64 timeout_ns, LostArrival* lost) {
  if (barrier.test_wait(parity)) return true;
  const u64 end = now_ns() + timeout_ns;
  do {
    __nanosleep(20);  // try_wait would sleep as long as the hardware likes
    if (*static_cast<volatile u32*>(&lost->found) != 0) return false;
    if (barrier.test_wait(parity)) return true;
  } while (now_ns() < end);
  report(barrier, parity, lost);
  return false;
}

// The same where nothing can go on: ends the grid with an error. The record must lie in memory that outlives the
// context: the host's, mapped.
__device__ inline void wait_or_trap(Barrier& barrier, u32 parity, u64 timeout_ns, LostArrival* lost) {
  if (!wait(barrier, parity, timeout_ns, lost)) __trap();
}

}  // namespace bounded
