//! kernel  tma_steps  "D = every STEP-th row of a box of S, and every SLICE-th slice"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     C     = 7
//! dim     R     = 20
//! dim     X     = 32
//!
//! param   STEP  = 3  in 1..8
//! param   SLICE = 1  in {1, 2, 5}
//! param   ROWS  = 8  in {1, 8, 13}                 "extent of the box, in rows of S"
//!
//! let     TAKEN_ROWS   = ceil_div(ROWS, STEP)
//! let     TAKEN_SLICES = ceil_div(4, SLICE)
//!
//! tensor  S : s32[C, R, X]  box [4, ROWS, 16]  steps [SLICE, STEP, 1]
//! tensor  D : s32[TAKEN_SLICES, TAKEN_ROWS, 16]  out
//!
//! launch  grid 1  block 128
//! work    flops 0  bytes 2 * 4 * TAKEN_SLICES * TAKEN_ROWS * 16
//! reference tma_steps_reference  grid 1  block 256
//!
//! preset  STEP = 3             "tensor load: every third row"
//! preset  STEP = 2, SLICE = 2  "tensor load: every second row of every second slice"

#include "device/probe/box.cuh"
#include "device/ptx/tma.cuh"

// The start of the box, innermost first: its last rows and slices are outside the tensor.
__device__ constexpr int kCorner[3] = {8, 12, 4};
constexpr int kTaken[5] = {16, TAKEN_ROWS, TAKEN_SLICES, 1, 1};
constexpr int kElements = 16 * TAKEN_ROWS * TAKEN_SLICES;

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_steps(const __grid_constant__ CUtensorMap S, View<s32, 3> D,
                                                            const Dims) {
  __shared__ alignas(128) s32 box[kElements];
  __shared__ Barrier full;
  static_assert(tma::box_bytes<s32>({16, ROWS, 4}, {1, STEP, SLICE}) == sizeof(box));
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(box));
    tma::load(box, S, full, kCorner);
  }
  __syncthreads();
  full.wait(0);
  for (int i = threadIdx.x; i < kElements; i += 128) probe::element(D, probe::position<3>(i, kTaken)) = box[i];
}

#else

extern "C" __global__ void tma_steps_reference(View<const s32, 3> S, View<f64, 3> D, const Dims) {
  const int extent[5] = {Dims::X, Dims::R, Dims::C, 1, 1}, step[3] = {1, STEP, SLICE};
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) {
    const auto taken = probe::position<3>(i, kTaken);
    probe::Position<3> from;
    for (int d = 0; d < 3; ++d) from.at[d] = kCorner[d] + taken.at[d] * step[d];
    probe::element(D, taken) = probe::inside(from, extent) ? to_f64(probe::element(S, from)) : 0;
  }
}

#endif
