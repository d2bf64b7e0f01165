//! kernel  mbarrier_lost  "D = the record of a bounded wait for an arrival or a copy that never comes"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     FIELDS = 8
//! param   LOST   = 1  in {0, 1, 2, 3}  "0 nothing, 1 arrivals, 2 a copy's bytes, 3 bytes never announced"
//! param   PHASES = 1  in {0, 1, 2, 3}  "that were completed before"
//!
//! tensor  D : s32[FIELDS]  out
//! launch  grid 1  block 64
//! work    flops 0  bytes 32
//! reference mbarrier_lost_reference  grid 1  block 1
//!
//! preset  LOST = 1  "bounded wait: a lost arrival"
//! preset  LOST = 2  "bounded wait: a lost copy"
//! preset  LOST = 3  "bounded wait: more bytes than were announced"
//! preset  LOST = 0  "bounded wait: nothing lost"

#include "device/pipeline/bounded_wait.cuh"

// In a phase of five arrivals the last two are missing, or 512 of 1280 bytes, or 256 bytes arrive that were not
// announced.
#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(64) void mbarrier_lost(View<s32, 1> D, const Dims) {
  __shared__ Barrier barrier;
  LostArrival* const record = reinterpret_cast<LostArrival*>(D.data);
  if (threadIdx.x == 0) {
    *record = {};
    barrier.init(5);
    fence_barrier_init();
    for (int i = 0; i < PHASES; ++i) {
      barrier.arrive(5);
      barrier.wait(i % 2);
    }
    barrier.expect_tx(1280);
    barrier.complete_tx(LOST == 2 ? 768 : LOST == 3 ? 1536 : 1280);
    barrier.arrive(LOST == 1 ? 3 : 5);
  }
  __syncthreads();
  if (threadIdx.x != 40) return;
  const bool there = bounded::wait(barrier, PHASES % 2, 100000, record);
  record->barrier = !there && record->barrier == smem_address(&barrier);
}

#else

extern "C" __global__ void mbarrier_lost_reference(View<f64, 1> D, const Dims) {
  const bool lost = LOST != 0;
  const int phase = PHASES % 2;
  const f64 record[8] = {
      1, 0, 40, 1, f64(phase), f64(phase), LOST == 1 ? 2. : 0., LOST == 2 ? 512. : LOST == 3 ? -256. : 0.};
  for (int i = 0; i < 8; ++i) D.data[i * D.stride[0]] = lost ? record[i] : 0;
}

#endif
