#pragma once
// Programmatic dependent launch: a kernel whose template has `launch ... pdl` may start before the previous kernel in
// the stream has ended. PTX ISA 9.0, "griddepcontrol".

namespace grid {

// Once every block has called it or exited, the next kernel may start. It orders no memory accesses.
__device__ inline void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// Returns when the previous kernels have ended and their writes are visible. Before it, a kernel may only do work that
// does not access their outputs or memory that they still read: initialise barriers, prefetch tensor maps, load
// weights.
__device__ inline void wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace grid
