//! kernel  tcgen05_f8f6f4 "D = A * B^T by tcgen05.mma of kind f8f6f4 with floats of 8, 6 and 4 bits"
//! arch    sm_100a, sm_103a
//! param   TYPE_A  = 4    in 0..4                   "e4m3, e5m2, e3m2, e2m3, e2m1"
//! param   TYPE_B  = 0    in 0..4
//! param   COLUMNS = 64   in {16, 64}               "N of the instruction"
//! param   NEGATE  = 0    in {0, 1}                 "1: of -A"
//! param   HALF    = 0    in {0, 1}                 "1: f16 accumulators"
//! tensor  A : s8[128, 128]
//! tensor  B : s8[COLUMNS, 128]
//! tensor  D : f32[128, COLUMNS]  out
//! launch  grid 1  block 128  smem (128 + COLUMNS) * 128 + 2048
//! work    flops 2 * 128 * COLUMNS * 128  bytes 4 * 128 * COLUMNS
//! preset  TYPE_A = 4, TYPE_B = 0              "tcgen05.mma: e2m1 * e4m3"
//! preset  TYPE_A = 2, TYPE_B = 3              "tcgen05.mma: e3m2 * e2m3"
//! preset  TYPE_A = 1, TYPE_B = 4, NEGATE = 1  "tcgen05.mma: -(e5m2 * e2m1)"
//! preset  TYPE_A = 3, TYPE_B = 2, HALF = 1    "tcgen05.mma: e2m3 * e3m2, f16 accumulators"
//! reference tcgen05_f8f6f4_reference  grid 128  block COLUMNS

#include "device/probe/fragments.cuh"
#include "device/probe/tcgen05.cuh"

using A_ = probe::SmallType<TYPE_A>::T;
using B_ = probe::SmallType<TYPE_B>::T;

#ifndef TMA_JIT_REFERENCE

constexpr probe::Layout kLayout = {128, false};

struct Smem {
  alignas(1024) u8 a[128 * 128];
  alignas(1024) u8 b[COLUMNS * 128];
};

// The types' numbers in an instruction descriptor, and the bits of their elements in shared memory.
constexpr u32 kNumbers[5] = {0, 1, 4, 3, 5};
template <class T> constexpr int kStored = ptx::kSame<T, mma::e2m1> ? 4 : ptx::kOneOf<T, mma::e2m3, mma::e3m2> ? 6 : 8;

// Sixteen values take 16 bytes regardless of their size: values of 4 and 6 bits are packed at the start.
template <class T> __device__ inline void fill(u8* tile, int rows, const View<const s8, 2>& drawn) {
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * 8; i += 128) {
    const s8* from = drawn.data + i / 8 * drawn.stride[0] + i % 8 * 16;
    probe::pack_row<kStored<T>>(tile + probe::place<1>(kLayout, rows, i / 8, i % 8 * 16),
                                [&](int value) { return probe::code<T>(probe::operand<T>(from[value])); });
  }
}

extern "C" __global__ __launch_bounds__(128) void tcgen05_f8f6f4(View<const s8, 2> A, View<const s8, 2> B,
                                                                 View<f32, 2> D) {
  extern __shared__ __align__(1024) u8 raw[];
  __shared__ probe::TensorMemory<64> memory;
  Smem& smem = probe::aligned<Smem>(raw);
  fill<A_>(smem.a, 128, A);
  fill<B_>(smem.b, COLUMNS, B);
  memory.open();
  if (threadIdx.x == 0) {
    const tcgen05::Instruction what = tcgen05::Instruction(128, COLUMNS, kNumbers[TYPE_A], kNumbers[TYPE_B])
                                          .accumulators(HALF == 1 ? 0 : 1)
                                          .negate(NEGATE == 1, false);
    for (int step = 0; step < 4; ++step)
      tcgen05::mma<tcgen05::F8f6f4>(memory.address, probe::descriptor<u8>(smem.a, kLayout, 128, step),
                                    probe::descriptor<u8>(smem.b, kLayout, COLUMNS, step), what, step > 0);
    tcgen05::commit(memory.done);
  }
  memory.done.wait(0);
  tcgen05::fence_after();
#pragma unroll 1
  for (int column = 0; column < COLUMNS; column += 8) {
    u32 x[8];
    probe::load_eight(x, memory.address, column);
    for (int i = 0; i < 8; ++i)
      D.data[threadIdx.x * D.stride[0] + column + i] =
          HALF == 1 ? to_f32(f16{static_cast<u16>(x[i])}) : __uint_as_float(x[i]);
  }
  memory.close();
}

#else

extern "C" __global__ void tcgen05_f8f6f4_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = blockIdx.x, column = threadIdx.x;
  D.data[row * D.stride[0] + column * D.stride[1]] =
      (NEGATE == 1 ? -1 : 1) * probe::dot<A_, B_>(A, B, row, column, 128);
}

#endif
