//! kernel  wgmma_rs "D = A * B^T by one wgmma instruction a step, A in registers, B in shared memory"
//! arch    sm_90a
//! param   FORM   = 0    in 0..15  "0 bf16, 1 f16, 2 f16 in f16, 3 tf32, 4-7 e4m3 and e5m2, 8-11 in f16, 12-15 s8 and u8"
//! param   COLUMNS = 64  in {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256} "N of the instruction"
//! let     K       = FORM <= 2 ? 64 : FORM == 3 ? 32 : 128  "128 bytes"
//! let     LAYOUTS = FORM <= 2 ? 8 : 4
//! require FORM < 12 || COLUMNS <= 24 || COLUMNS % 16 == 0  "integer products have fewer N"
//! tensor  A : s8[64, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[LAYOUTS, 64, COLUMNS]  out
//! launch  grid 1  block 128
//! work    flops 2 * LAYOUTS * 64 * COLUMNS * K  bytes 4 * LAYOUTS * 64 * COLUMNS
//! preset  FORM = 0, COLUMNS = 256   "wgmma_rs: bf16"
//! preset  FORM = 1, COLUMNS = 192   "wgmma_rs: f16"
//! preset  FORM = 2, COLUMNS = 128   "wgmma_rs: f16, f16 accumulators"
//! preset  FORM = 3, COLUMNS = 96    "wgmma_rs: tf32"
//! preset  FORM = 4, COLUMNS = 256   "wgmma_rs: e4m3"
//! preset  FORM = 7, COLUMNS = 128   "wgmma_rs: e5m2"
//! preset  FORM = 9, COLUMNS = 64    "wgmma_rs: e4m3 * e5m2, f16 accumulators"
//! preset  FORM = 12, COLUMNS = 128  "wgmma_rs: s8"
//! preset  FORM = 15, COLUMNS = 24   "wgmma_rs: u8"
//! reference wgmma_rs_reference  grid LAYOUTS  block 256

#include "device/probe_operands.cuh"
#include "device/wgmma_words.cuh"

// Every shared-memory layout the types allow: swizzles 0, 32, 64 and 128, K-major and, for 16-bit types, MN-major.
using Types = probe::Types<FORM>;
constexpr bool kSixteen = FORM <= 2;

#ifndef TMA_JIT_REFERENCE

using Mma = wgmma::Mma<COLUMNS, Types::A, Types::B, Types::D>;

// Descriptor of a probe's tile of `rows` rows, `step` products of 32 bytes along K.
__device__ inline u64 descriptor(const u8* tile, probe::Layout layout, int rows, int step) {
  const u32 base = smem_address(tile), width = layout.swizzle;
  u64 bits;
  if (layout.mn_major)
    bits = width == 0 ? matrix::descriptor<0>(base + step * 256, 128, 1024)
                      : matrix::descriptor<0>(base + step * 16 * width, 64 * width, 8 * width);
  else
    bits = width == 0
               ? matrix::descriptor<0>(base + step * rows * 32, rows * 16, 128)
               : matrix::descriptor<0>(base + step * 32 / width * rows * width + step * 32 % width, 16, 8 * width);
  return bits | matrix::swizzle_code(width) << 62;
}

struct Smem {
  alignas(1024) u8 a[64 * 128];
  alignas(1024) u8 b[(COLUMNS + 63) / 64 * 64 * 128];
};

__device__ inline void store(const View<f32, 3>& D, int layout, const Mma::Register* d) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < COLUMNS / 2; ++i)
    D.data[layout * D.stride[0] + (row + i / 2 % 2 * 8) * D.stride[1] + i / 4 * 8 + lane % 4 * 2 + i % 2] =
        probe::accumulator<Types::D>(d, i);
}

// The products of one layout, for the major orders that are immediates of the instruction.
template <bool MnA, bool MnB>
__device__ inline void multiply(Smem& smem, int swizzle, Mma::Register (&d)[Mma::registers]) {
  constexpr wgmma::Major kMn = wgmma::Major::mn, kK = wgmma::Major::k;
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  u32 a[4][4];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int byte = i / 2 * 16 + lane % 4 * 4;
    a[i / 4][i % 4] = *reinterpret_cast<const u32*>(smem.a + byte / 16 * 1024 + (row + i % 2 * 8) * 16 + byte % 16);
  }
  u64 b[4];
#pragma unroll
  for (int step = 0; step < 4; ++step) b[step] = descriptor(smem.b, {swizzle, MnB}, COLUMNS, step);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) Mma::rs<wgmma::Mode<kK, MnB ? kMn : kK>>(d, a[step], b[step], step > 0);
  wgmma::commit();
  wgmma::wait<0>();
}

template <bool MnA, bool MnB>
__device__ inline void check(Smem& smem, const View<const s8, 2>& A, const View<const s8, 2>& B,
                             const View<f32, 3>& D) {
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    const int swizzle = i == 0 ? 0 : 16 << i;
    __syncthreads();
    probe::fill<Types::A>(smem.a, {0, false}, 64, A);
    probe::fill<Types::B>(smem.b, {swizzle, MnB}, COLUMNS, B);
    probe::publish();
    Mma::Register d[Mma::registers] = {};
    multiply<MnA, MnB>(smem, swizzle, d);
    store(D, MnB * 4 + i, d);
  }
}

extern "C" __global__ __launch_bounds__(128) void wgmma_rs(View<const s8, 2> A, View<const s8, 2> B, View<f32, 3> D) {
  __shared__ Smem smem;
  check<false, false>(smem, A, B, D);
  if constexpr (kSixteen) check<false, true>(smem, A, B, D);
}

#else

extern "C" __global__ void wgmma_rs_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 3> D) {
  for (int i = threadIdx.x; i < 64 * COLUMNS; i += blockDim.x) {
    const int row = i / COLUMNS, column = i % COLUMNS;
    s32 sum = 0;
    for (int k = 0; k < K; ++k)
      sum += probe::value<Types::A>(A.data[row * A.stride[0] + k * A.stride[1]]) *
             probe::value<Types::B>(B.data[column * B.stride[0] + k * B.stride[1]]);
    D.data[blockIdx.x * D.stride[0] + row * D.stride[1] + column * D.stride[2]] = sum;
  }
}

#endif
