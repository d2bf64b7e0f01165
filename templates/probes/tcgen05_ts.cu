//! kernel  tcgen05_ts "D = A * B^T by tcgen05.mma with A in tensor memory"
//! arch    sm_100a, sm_103a
//! param   FORM    = 0    in {0, 1, 3, 4, 7, 12}    "0 bf16, 1 f16, 3 tf32, 4 e4m3, 7 e5m2, 12 s8"
//! param   ROWS    = 128  in {64, 128}              "M of the instruction"
//! param   COLUMNS = 64   in {16, 64, 256}          "N of the instruction"
//! param   SATURATE = 0   in {0, 1}                 "1: sums clamp, and begin near the least s32"
//! let     K       = FORM <= 2 ? 64 : FORM == 3 ? 32 : 128  "128 bytes"
//! require FORM < 12 || device.compute_capability == 100 "only sm_100a multiplies integers"
//! require SATURATE == 0 || FORM == 12              "only sums of integers clamp"
//! tensor  A : s8[ROWS, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[ROWS, COLUMNS]  out
//! launch  grid 1  block 128  smem COLUMNS * 128 + 1024
//! work    flops 2 * ROWS * COLUMNS * K  bytes 4 * ROWS * COLUMNS
//! preset  FORM = 0              "tcgen05.mma: A in tensor memory"
//! preset  FORM = 4, ROWS = 64   "tcgen05.mma: A in tensor memory, e4m3, 64 rows"
//! preset  FORM = 3              "tcgen05.mma: A in tensor memory, tf32"
//! preset  FORM = 12             when device.compute_capability == 100  "tcgen05.mma: A in tensor memory, s8"
//! preset  FORM = 12, SATURATE = 1  when device.compute_capability == 100  "tcgen05.mma: s8, clamped"
//! reference tcgen05_ts_reference  grid ROWS  block COLUMNS

#include "device/probe/fragments.cuh"
#include "device/probe/tcgen05.cuh"

constexpr int kWay = 8;  // distance from the start of saturating sums to the least s32
constexpr u32 kFirst = 0x80000000 + kWay;

#ifndef TMA_JIT_REFERENCE

using Unit = probe::TensorCore<FORM>;
constexpr probe::Layout kLayout = {128, false};
constexpr int kA = 256;  // the first column of A, after those of D

struct Smem {
  alignas(1024) u8 b[COLUMNS * 128];
};

// One row per lane, 32 bits of it per column. 64 rows are in the first 16 lanes of each warp.
__device__ inline int row_of_lane() {
  if constexpr (ROWS == 128) return threadIdx.x;
  return threadIdx.x / 32 * 16 + threadIdx.x % 16;
}

__device__ inline void store_a(u32 to, const View<const s8, 2>& A) {
  u32 x[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) x[i] = probe::word<Unit::TA>(A, row_of_lane(), i * 4);
  tensor_memory::st<tensor_memory::Shape32x32b>(tensor_memory::at(to, threadIdx.x / 32 * 32, kA), x);
  tensor_memory::wait_st();
}

__device__ inline void store_first_sums(u32 d) {
  u32 x[8];
#pragma unroll
  for (u32& sum : x) sum = kFirst;
  for (int column = 0; column < COLUMNS; column += 8)
    tensor_memory::st<tensor_memory::Shape32x32b>(tensor_memory::at(d, threadIdx.x / 32 * 32, column), x);
  tensor_memory::wait_st();
}

__device__ constexpr tcgen05::Instruction instruction() {
  tcgen05::Instruction what = Unit::instruction(ROWS, COLUMNS);
  if (SATURATE == 1) what.saturate();
  return what;
}

extern "C" __global__ __launch_bounds__(128) void tcgen05_ts(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  extern __shared__ __align__(1024) u8 raw[];
  __shared__ probe::TensorMemory<512> memory;
  Smem& smem = probe::aligned<Smem>(raw);
  probe::fill<Unit::TB>(smem.b, kLayout, COLUMNS, B);
  memory.open();
  store_a(memory.address, A);
  if constexpr (SATURATE == 1) store_first_sums(memory.address);
  probe::hand_over();
  if (threadIdx.x == 0) {
    for (int step = 0; step < 4; ++step)
      tcgen05::mma_ts<Unit::Kind>(memory.address, memory.address + kA + step * 8,
                                  probe::descriptor<Unit::TB>(smem.b, kLayout, COLUMNS, step), instruction(),
                                  SATURATE == 1 || step > 0);
    tcgen05::commit(memory.done);
  }
  memory.done.wait(0);
  tcgen05::fence_after();
  const bool holds = ROWS == 128 || threadIdx.x % 32 < 16;
#pragma unroll 1
  for (int column = 0; column < COLUMNS; column += 8) {
    u32 x[8];
    probe::load_eight(x, memory.address, column);
    for (int i = 0; i < 8; ++i)
      if (holds) D.data[row_of_lane() * D.stride[0] + column + i] = Unit::number(SATURATE == 1 ? x[i] - kFirst : x[i]);
  }
  memory.close();
}

#else

extern "C" __global__ void tcgen05_ts_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = blockIdx.x, column = threadIdx.x;
  s32 sum = probe::product<FORM>(A, B, row, column);
  if constexpr (SATURATE == 1) {  // each instruction saturates
    sum = 0;
    for (int k = 0; k < K; ++k) {
      sum += probe::value<s8>(A.data[row * A.stride[0] + k * A.stride[1]]) *
             probe::value<s8>(B.data[column * B.stride[0] + k * B.stride[1]]);
      if (k % 32 == 31) sum = max(sum, -kWay);
    }
  }
  D.data[row * D.stride[0] + column * D.stride[1]] = sum;
}

#endif
