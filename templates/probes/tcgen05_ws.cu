//! kernel  tcgen05_ws "D = A * B^T by weight-stationary tcgen05.mma: 32, 64 or 128 rows"
//! arch    sm_100a, sm_103a
//! param   FORM    = 0    in {0, 2, 3, 5, 12}       "0 bf16, 2 f16 in f16, 3 tf32, 5 e4m3 * e5m2, 12 s8"
//! param   ROWS    = 32   in {32, 64, 128}          "M of the instruction"
//! param   COLUMNS = 64   in {64, 128, 256}         "N of the instruction"
//! let     K       = FORM <= 2 ? 64 : FORM == 3 ? 32 : 128  "128 bytes"
//! require FORM < 12 || device.compute_capability == 100 "only sm_100a multiplies integers"
//! tensor  A : s8[ROWS, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[ROWS, COLUMNS]  out
//! launch  grid 1  block 128  smem (ROWS + COLUMNS) * 128 + 2048
//! work    flops 2 * ROWS * COLUMNS * K  bytes 4 * ROWS * COLUMNS
//! preset  FORM = 0, ROWS = 32                "tcgen05.mma.ws: 32 rows"
//! preset  FORM = 3, ROWS = 64                "tcgen05.mma.ws: 64 rows, tf32"
//! preset  FORM = 5, ROWS = 128               "tcgen05.mma.ws: 128 rows, e4m3 * e5m2"
//! preset  FORM = 12, ROWS = 32               when device.compute_capability == 100  "tcgen05.mma.ws: s8"
//! reference tcgen05_ws_reference  grid ROWS  block COLUMNS

#include "device/probe/tcgen05.cuh"

#ifndef TMA_JIT_REFERENCE

using Unit = probe::TensorCore<FORM>;
constexpr probe::Layout kLayout = {128, false};

struct Smem {
  alignas(1024) u8 a[ROWS * 128];
  alignas(1024) u8 b[COLUMNS * 128];
};

// 128 rows have one lane each. Fewer rows are in the first 32 or 64 lanes with the first columns, in the next lanes
// with the following columns, and so on.
__device__ inline void store(const View<f32, 2>& D, u32 d) {
  constexpr int kWidth = COLUMNS * ROWS / 128;
  const int row = threadIdx.x % ROWS, first = threadIdx.x / ROWS * kWidth;
#pragma unroll 1
  for (int column = 0; column < kWidth; column += 8) {
    u32 x[8];
    probe::load_eight(x, d, column);
    for (int i = 0; i < 8; ++i) D.data[row * D.stride[0] + first + column + i] = Unit::number(x[i]);
  }
}

extern "C" __global__ __launch_bounds__(128) void tcgen05_ws(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  extern __shared__ __align__(1024) u8 raw[];
  __shared__ probe::TensorMemory<256> memory;
  Smem& smem = probe::aligned<Smem>(raw);
  probe::fill<Unit::TA>(smem.a, kLayout, ROWS, A);
  probe::fill<Unit::TB>(smem.b, kLayout, COLUMNS, B);
  memory.open();
  if (threadIdx.x == 0) {
    for (int step = 0; step < 4; ++step)
      tcgen05::mma_ws<Unit::Kind>(memory.address, probe::descriptor<Unit::TA>(smem.a, kLayout, ROWS, step),
                                  probe::descriptor<Unit::TB>(smem.b, kLayout, COLUMNS, step),
                                  Unit::instruction(ROWS, COLUMNS), step > 0);
    tcgen05::commit(memory.done);
  }
  memory.done.wait(0);
  tcgen05::fence_after();
  store(D, memory.address);
  memory.close();
}

#else

extern "C" __global__ void tcgen05_ws_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  D.data[blockIdx.x * D.stride[0] + threadIdx.x * D.stride[1]] = probe::product<FORM>(A, B, blockIdx.x, threadIdx.x);
}

#endif
