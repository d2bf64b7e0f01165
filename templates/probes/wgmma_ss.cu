//! kernel  wgmma_ss "D = A * B^T by one wgmma instruction a step, A and B in shared memory"
//! arch    sm_90a
//! param   FORM   = 0    in 0..15  "0 bf16, 1 f16, 2 f16 in f16, 3 tf32, 4-7 e4m3 and e5m2, 8-11 in f16, 12-15 s8 and u8"
//! param   COLUMNS = 64  in {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256} "N of the instruction"
//! let     K       = FORM <= 2 ? 64 : FORM == 3 ? 32 : 128  "128 bytes"
//! let     LAYOUTS = FORM <= 2 ? 16 : 4
//! require FORM < 12 || COLUMNS <= 24 || COLUMNS % 16 == 0  "integer products have fewer N"
//! tensor  A : s8[64, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[LAYOUTS, 64, COLUMNS]  out
//! launch  grid 1  block 128
//! work    flops 2 * LAYOUTS * 64 * COLUMNS * K  bytes 4 * LAYOUTS * 64 * COLUMNS
//! preset  FORM = 0, COLUMNS = 256   "wgmma_ss: bf16"
//! preset  FORM = 1, COLUMNS = 192   "wgmma_ss: f16"
//! preset  FORM = 2, COLUMNS = 128   "wgmma_ss: f16, f16 accumulators"
//! preset  FORM = 3, COLUMNS = 96    "wgmma_ss: tf32"
//! preset  FORM = 4, COLUMNS = 256   "wgmma_ss: e4m3"
//! preset  FORM = 7, COLUMNS = 128   "wgmma_ss: e5m2"
//! preset  FORM = 9, COLUMNS = 64    "wgmma_ss: e4m3 * e5m2, f16 accumulators"
//! preset  FORM = 12, COLUMNS = 128  "wgmma_ss: s8"
//! preset  FORM = 15, COLUMNS = 24   "wgmma_ss: u8"
//! reference wgmma_ss_reference  grid LAYOUTS  block 256

#include "device/probe/wgmma.cuh"

// Every shared-memory layout the types allow: swizzles 0, 32, 64 and 128, K-major and, for 16-bit types, MN-major.
using Types = probe::Types<FORM>;
constexpr bool kSixteen = FORM <= 2;

#ifndef TMA_JIT_REFERENCE

using Mma = wgmma::Mma<COLUMNS, Types::A, Types::B, Types::D>;

using Smem = probe::WarpgroupTiles<COLUMNS>;

// Computes the products of one layout, for the major orders, which are immediates of the instruction.
template <bool MnA, bool MnB>
__device__ inline void multiply(Smem& smem, int swizzle, Mma::Register (&d)[Mma::registers]) {
  constexpr wgmma::Major kMn = wgmma::Major::mn, kK = wgmma::Major::k;
  u64 a[4], b[4];
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    a[step] = probe::warpgroup_descriptor(smem.a, {swizzle, MnA}, 64, step);
    b[step] = probe::warpgroup_descriptor(smem.b, {swizzle, MnB}, COLUMNS, step);
  }
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < 4; ++step)
    Mma::ss<wgmma::Mode<MnA ? kMn : kK, MnB ? kMn : kK>>(d, a[step], b[step], step > 0);
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
    probe::fill<Types::A>(smem.a, {swizzle, MnA}, 64, A);
    probe::fill<Types::B>(smem.b, {swizzle, MnB}, COLUMNS, B);
    probe::publish();
    Mma::Register d[Mma::registers] = {};
    multiply<MnA, MnB>(smem, swizzle, d);
    probe::store_warpgroup<Types::D, COLUMNS>(D, MnB * 8 + MnA * 4 + i, d);
  }
}

extern "C" __global__ __launch_bounds__(128) void wgmma_ss(View<const s8, 2> A, View<const s8, 2> B, View<f32, 3> D) {
  __shared__ Smem smem;
  check<false, false>(smem, A, B, D);
  if constexpr (kSixteen) {
    check<true, false>(smem, A, B, D);
    check<false, true>(smem, A, B, D);
    check<true, true>(smem, A, B, D);
  }
}

#else

extern "C" __global__ void wgmma_ss_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 3> D) {
  probe::reference_warpgroup<Types::A, Types::B, COLUMNS, K>(A, B, D);
}

#endif
