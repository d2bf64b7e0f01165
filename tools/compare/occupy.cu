//! kernel  occupy   "holds an SM for each block until STOP is not 0, or for SECONDS seconds"
//! arch    sm_80, sm_86, sm_89, sm_90, sm_100, sm_103, sm_120, sm_121
//!
//! dim     BLOCKS, SECONDS
//!
//! tensor  STOP    : u32[1]
//! tensor  STARTED : u32[1]  out                     "counts the blocks that hold one"
//!
//! launch  grid BLOCKS  block 128  smem device.smem_per_block

// Its shared memory leaves none to other blocks on the same SM.
extern "C" __global__ void occupy(View<const u32, 1> STOP, View<u32, 1> STARTED, const Dims dims) {
  if (threadIdx.x > 0) return;
  const auto now = [] {
    u64 nanoseconds;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  const u64 end = now() + u64{1000000000} * dims.SECONDS;
  atomicAdd(STARTED.data, 1);
  while (*const_cast<volatile const u32*>(STOP.data) == 0 && now() < end) __nanosleep(1000);
}
