#pragma once
// A wait with a time limit: an arrival or a copy that never happens produces a record instead of a hang. For
// development and for services that must respond. PTX ISA 9.0, "mbarrier.test_wait", "mbarrier.pending_count".
#include "device/ptx/globaltimer.cuh"
#include "device/ptx/mbarrier.cuh"

// Filled by the first thread whose time limit expired. The caller provides it in global memory, cleared.
struct LostArrival {
  u32 found;    // 1 once the record is written
  u32 block;    // linear in the grid
  u32 thread;   // linear in the block
  u32 barrier;  // byte address in shared memory
  u32 parity;   // parity that was waited for
  u32 phase;    // parity of the incomplete phase
  u32 pending;  // arrivals that the phase still needs
  s32 bytes;    // bytes announced but not yet arrived; negative if more arrived than were announced
};

namespace bounded {

// Invalidates the barrier, which writes its word to memory: a load from a live barrier does not see it. The word then
// contains, from the top: 1 bit of parity, 20 of minus the pending arrivals, 1 unused, 21 of bytes arrived minus bytes
// announced. PTX leaves this open; it holds on an H200, and the mbarrier_lost probe checks it.
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

// Returns true once the phase of this parity is complete; false after `timeout_ns`, or soon after another thread has
// filled the record. Then the data of the copies is missing or may still arrive, and the recorded barrier is invalid:
// the kernel should exit without reusing their memory.
__device__ inline bool wait(Barrier& barrier, u32 parity, u64 timeout_ns, LostArrival* lost) {
  if (barrier.test_wait(parity)) return true;
  const u64 end = now_ns() + timeout_ns;
  do {
    __nanosleep(20);  // limits the pause; the duration of try_wait's sleep is up to the hardware
    if (*static_cast<volatile u32*>(&lost->found) != 0) return false;
    if (barrier.test_wait(parity)) return true;
  } while (now_ns() < end);
  report(barrier, parity, lost);
  return false;
}

// The same for kernels that cannot continue: ends the grid with an error. The record must be in memory that outlives
// the context, which is mapped host memory.
__device__ inline void wait_or_trap(Barrier& barrier, u32 parity, u64 timeout_ns, LostArrival* lost) {
  if (!wait(barrier, parity, timeout_ns, lost)) __trap();
}

}  // namespace bounded
