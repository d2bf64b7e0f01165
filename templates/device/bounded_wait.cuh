#pragma once
// A wait that ends: an arrival or a copy that never comes becomes a record instead of a hang. For development and for
// services that must answer. PTX ISA 9.0, "mbarrier.test_wait", "mbarrier.pending_count".
#include "device/barrier.cuh"

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

// The barrier's word. Pending arrivals are read as mbarrier.pending_count reads them from an arrival's state, which is
// the same word; the bytes lie between them and the arrivals of a phase (sm_90 to sm_121; the mbarrier_lost probe
// checks both).
__device__ inline void describe(const Barrier& barrier, LostArrival& lost) {
  u64 word;
  asm volatile("ld.volatile.shared::cta.b64 %0, [%1];" : "=l"(word) : "r"(smem_address(&barrier)));
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(lost.pending) : "l"(word));
  lost.phase = static_cast<u32>(word >> 63);
  lost.bytes = static_cast<s32>(static_cast<s64>(word << 21) >> 42);
}

__device__ inline void report(const Barrier& barrier, u32 parity, LostArrival* lost) {
  if (atomicCAS(&lost->found, 0, 1) != 0) return;
  lost->block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  lost->thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  lost->barrier = smem_address(&barrier);
  lost->parity = parity;
  describe(barrier, *lost);
  __threadfence_system();
}

// True once the phase of this parity is complete; false, with a record, when `timeout_ns` have passed. What the copies
// would have brought is then not there, and they may still land: the kernel should leave without reusing their memory.
__device__ inline bool wait(Barrier& barrier, u32 parity, u64 timeout_ns, LostArrival* lost) {
  if (barrier.test_wait(parity)) return true;
  const u64 end = now_ns() + timeout_ns;
  do {
    __nanosleep(20);  // try_wait would sleep as long as the hardware likes
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
