#pragma once
// Asynchronous copies of 4, 8 or 16 bytes per thread from global to shared memory, for sm_80 and newer. Both addresses
// are multiples of the size, and `to` is a shared-memory address. PTX ISA 9.0, "Data Movement and Conversion
// Instructions: cp.async".
#include "device/ptx/mbarrier.cuh"

namespace cp_async {

// Through L1 (.ca): 4, 8 or 16 bytes.
template <int Bytes> __device__ inline void ca(u32 to, const void* from) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes) : "memory");
}
// Copies the first `valid` bytes, 0 to Bytes, and fills the rest with zeros; with 0 nothing is read.
template <int Bytes> __device__ inline void ca(u32 to, const void* from, u32 valid) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(valid) : "memory");
}

// Bypasses L1 (.cg): 16 bytes, for data that each block reads once. L2 fetches the surrounding 128 bytes.
__device__ inline void cg(u32 to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void cg(u32 to, const void* from, u32 valid) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
}

// Groups belong to the thread that commits them; an empty group is complete. `wait` returns when at most Pending of
// this thread's groups are incomplete; other threads see the bytes after a barrier.
__device__ inline void commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int Pending> __device__ inline void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
__device__ inline void wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Arrives on `barrier` once all copies that this thread has started are complete. `arrive` adds an arrival that the
// phase does not expect, so that the pending count stays the same; `arrive_noinc` is one of the arrivals for which the
// barrier was initialised.
__device__ inline void arrive(Barrier& barrier) {
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(smem_address(&barrier)) : "memory");
}
__device__ inline void arrive_noinc(Barrier& barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(smem_address(&barrier)) : "memory");
}

}  // namespace cp_async
