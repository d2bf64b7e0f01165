#pragma once
// Programmatic dependent launch: a kernel that is launched so, by `launch ... pdl` or within a chain, may start before
// the previous kernel in the stream has ended. Both do nothing in a kernel that is launched otherwise, and on devices
// before sm_90. PTX ISA 9.0, "griddepcontrol".

namespace grid {

// Once every block has called it or exited, the next kernel may start. It orders no memory accesses.
__device__ inline void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Returns when the previous kernels have ended and their writes are visible. Before it, a kernel may only do work that
// does not access their outputs or memory that they still read: initialise barriers, prefetch tensor maps, load
// weights.
__device__ inline void wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace grid
