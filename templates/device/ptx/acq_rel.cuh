#pragma once
// A fence between a thread's memory accesses as other threads of the device see them. PTX ISA 9.0, "membar, fence";
// "Memory Consistency Model".

namespace fence {

// Orders this thread's earlier accesses, and those of others that it has synchronised with, before its later ones.
__device__ inline void acq_rel_gpu() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

}  // namespace fence
