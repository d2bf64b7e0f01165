//! kernel  tcgen05_mma "D = A * B^T by one tcgen05.mma a step, accumulators in tensor memory"
//! arch    sm_100a, sm_103a
//! param   FORM    = 0    in 0..15  "0 bf16, 1 f16, 2 f16 in f16, 3 tf32, 4-7 e4m3 and e5m2, 8-11 in f16, 12-15 s8 and u8"
//! param   ROWS    = 128  in {64, 128}             "M of the instruction"
//! param   COLUMNS = 64   in {8, 16, 48, 64, 128, 256} "N of the instruction"
//! let     K       = FORM <= 2 ? 64 : FORM == 3 ? 32 : 128  "128 bytes"
//! let     LAYOUTS = FORM == 3 ? 4 : 16
//! require FORM < 12 || device.compute_capability == 100 "only sm_100a multiplies integers"
//! require ROWS == 64 || COLUMNS % 16 == 0         "128 rows take N in sixteens"
//! tensor  A : s8[ROWS, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[LAYOUTS, ROWS, COLUMNS]  out
//! launch  grid 1  block 128  smem (ROWS + align_up(COLUMNS, 128)) * 128 + 1024
//! work    flops 2 * LAYOUTS * ROWS * COLUMNS * K  bytes 4 * LAYOUTS * ROWS * COLUMNS
//! preset  FORM = 0, COLUMNS = 256  "tcgen05.mma: bf16"
//! preset  FORM = 2, ROWS = 64      "tcgen05.mma: f16, f16 accumulators"
//! preset  FORM = 3, COLUMNS = 128  "tcgen05.mma: tf32"
//! preset  FORM = 5, COLUMNS = 128  "tcgen05.mma: e4m3 * e5m2"
//! preset  FORM = 12, COLUMNS = 64  when device.compute_capability == 100  "tcgen05.mma: s8"
//! reference tcgen05_mma_reference  grid LAYOUTS  block 256

#include "device/probe/tcgen05.cuh"

// Every shared-memory layout of the types: swizzles 0, 32, 64 and 128, K-major and MN-major (of tf32 K-major only).
#ifndef TMA_JIT_REFERENCE

using Unit = probe::TensorCore<FORM>;

struct Smem {
  alignas(1024) u8 a[ROWS * 128];
  alignas(1024) u8 b[(COLUMNS + 127) / 128 * 128 * 128];
};

// Checks one layout: fills the operands, multiplies, loads the accumulators. Row r of D is in lane r, or, if D has 64
// rows, in lane r % 16 + 32 * (r / 16); each warp can access 32 lanes.
__device__ inline void check(Smem& smem, Barrier& done, u32 d, int layout, const View<const s8, 2>& A,
                             const View<const s8, 2>& B, const View<f32, 3>& D) {
  const int swizzle = layout % 4 == 0 ? 0 : 16 << layout % 4;
  const probe::Layout a = {swizzle, layout / 4 % 2 == 1}, b = {swizzle, layout / 8 == 1};
  probe::fill<Unit::TA>(smem.a, a, ROWS, A);
  probe::fill<Unit::TB>(smem.b, b, COLUMNS, B);
  probe::hand_over();
  if (threadIdx.x == 0) {
    const tcgen05::Instruction what = Unit::instruction(ROWS, COLUMNS).mn_major(a.mn_major, b.mn_major);
    for (int step = 0; step < 4; ++step)
      tcgen05::mma<Unit::Kind>(d, probe::descriptor<Unit::TA>(smem.a, a, ROWS, step),
                               probe::descriptor<Unit::TB>(smem.b, b, COLUMNS, step), what, step > 0);
    tcgen05::commit(done);
  }
  done.wait(layout % 2);
  tcgen05::fence_after();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = ROWS == 128 ? threadIdx.x : lane < 16 ? warp * 16 + lane : ROWS;
#pragma unroll 1
  for (int column = 0; column < COLUMNS; column += 8) {
    u32 x[8];
    probe::load_eight(x, d, column);
    for (int i = 0; i < 8; ++i)
      if (row < ROWS) D.data[layout * D.stride[0] + row * D.stride[1] + column + i] = Unit::number(x[i]);
  }
}

extern "C" __global__ __launch_bounds__(128) void tcgen05_mma(View<const s8, 2> A, View<const s8, 2> B,
                                                              View<f32, 3> D) {
  extern __shared__ __align__(1024) u8 raw[];
  __shared__ probe::TensorMemory<256> memory;
  Smem& smem = probe::aligned<Smem>(raw);
  memory.open();
#pragma unroll 1
  for (int layout = 0; layout < LAYOUTS; ++layout) check(smem, memory.done, memory.address, layout, A, B, D);
  memory.close();
}

#else

extern "C" __global__ void tcgen05_mma_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 3> D) {
  for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x)
    D.data[blockIdx.x * D.stride[0] + i / COLUMNS * D.stride[1] + i % COLUMNS * D.stride[2]] =
        probe::product<FORM>(A, B, i / COLUMNS, i % COLUMNS);
}

#endif
