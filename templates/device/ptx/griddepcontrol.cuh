#pragma once
// Programmatic dependent launch: a kernel whose template says `launch ... pdl` may start before the one before it in
// the stream has ended. PTX ISA 9.0, "griddepcontrol".

namespace grid {

// Once every block has called it or ended, the next kernel may start. It promises nothing about memory.
__device__ inline void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// Returns when the kernels before have ended and what they wrote is visible. Before it a kernel may do what touches
// neither their outputs nor memory they still read: initialise barriers, prefetch tensor maps, load weights.
__device__ inline void wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace grid
