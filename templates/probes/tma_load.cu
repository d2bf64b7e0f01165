//! kernel  tma_load  "D = a box of S as it lies in shared memory, partly outside the tensor on either side"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = s32  in {s32, bf16, u8}
//! dim     A       = 3
//! dim     B       = 4
//! dim     C       = 5
//! dim     R       = 20
//! dim     X       = 48
//!
//! param   RANK    = 2  in 1..5
//! param   SWIZZLE = 0  in {0, 32, 64, 128}
//! param   HINT    = 0  in {0, 1}                   "1: with an L2 policy"
//!
//! let     B0      = (SWIZZLE == 0 ? 64 : SWIZZLE) / sizeof(T)
//! let     B1      = RANK >= 2 ? 8 : 1
//! let     B2      = RANK >= 3 ? 3 : 1
//! let     B3      = RANK >= 4 ? 2 : 1
//! let     B4      = RANK >= 5 ? 2 : 1
//! let     BOX     = B0 * B1 * B2 * B3 * B4
//!
//! tensor  S1 : T[X]              box [B0]                  swizzle SWIZZLE  when RANK == 1
//! tensor  S2 : T[R, X]           box [B1, B0]              swizzle SWIZZLE  when RANK == 2
//! tensor  S3 : T[C, R, X]        box [B2, B1, B0]          swizzle SWIZZLE  when RANK == 3
//! tensor  S4 : T[B, C, R, X]     box [B3, B2, B1, B0]      swizzle SWIZZLE  when RANK == 4
//! tensor  S5 : T[A, B, C, R, X]  box [B4, B3, B2, B1, B0]  swizzle SWIZZLE  when RANK == 5
//! tensor  D  : T[BOX]  out
//!
//! launch  grid 1  block 128  smem 1024 + BOX * sizeof(T) + 16
//! work    flops 0  bytes 2 * BOX * sizeof(T)
//! reference tma_load_reference  grid 1  block 256
//!
//! preset  RANK = 2                  "tensor load: 2 dimensions"
//! preset  RANK = 2, SWIZZLE = 32    "tensor load: 32-byte swizzle"
//! preset  RANK = 2, SWIZZLE = 64    "tensor load: 64-byte swizzle"
//! preset  RANK = 2, SWIZZLE = 128   "tensor load: 128-byte swizzle"
//! preset  RANK = 1                  "tensor load: 1 dimension"
//! preset  RANK = 3                  "tensor load: 3 dimensions"
//! preset  RANK = 4                  "tensor load: 4 dimensions"
//! preset  RANK = 5                  "tensor load: 5 dimensions"
//! preset  RANK = 2, HINT = 1        "tensor load: with an L2 policy"

#include "device/probe/box.cuh"
#include "device/ptx/tma.cuh"
#include "device/tile/swizzle.cuh"

// The start of the box, innermost first. The innermost one must be a multiple of 16 bytes, or the instruction is
// illegal.
__device__ constexpr probe::Position<5> kCorner = {{-16 / static_cast<int>(sizeof(T)), 15, -1, 3, -1}};

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_load(const __grid_constant__ CUtensorMap S1,
                                                           const __grid_constant__ CUtensorMap S2,
                                                           const __grid_constant__ CUtensorMap S3,
                                                           const __grid_constant__ CUtensorMap S4,
                                                           const __grid_constant__ CUtensorMap S5, View<T, 1> D,
                                                           const Dims) {
  extern __shared__ u8 raw[];
  u8* const base = raw + (-smem_address(raw) & 1023);
  T* const box = reinterpret_cast<T*>(base);
  Barrier& full = *reinterpret_cast<Barrier*>(base + BOX * sizeof(T));
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(BOX * sizeof(T));  // the bytes of the whole box, including elements outside the tensor
    int at[RANK];
#pragma unroll
    for (int i = 0; i < RANK; ++i) at[i] = kCorner.at[i];
    const CUtensorMap& map = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
    tma::prefetch(map);
    if constexpr (HINT == 1)
      tma::load(box, map, full, at, l2::kEvictFirst);
    else
      tma::load(box, map, full, at);
  }
  __syncthreads();
  full.wait(0);
  for (int i = threadIdx.x; i < BOX; i += 128) D.data[i * D.stride[0]] = box[i];
}

#else

extern "C" __global__ void tma_load_reference(View<const T, 1> S1, View<const T, 2> S2, View<const T, 3> S3,
                                              View<const T, 4> S4, View<const T, 5> S5, View<f64, 1> D, const Dims) {
  const auto& S = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
  const int extent[5] = {Dims::X, Dims::R, Dims::C, Dims::B, Dims::A}, box[5] = {B0, B1, B2, B3, B4};
  probe::Position<RANK> corner;
  for (int i = 0; i < RANK; ++i) corner.at[i] = kCorner.at[i];
  for (int i = threadIdx.x; i < BOX; i += blockDim.x) {
    const int from = swizzle::moved(i * sizeof(T), SWIZZLE) / sizeof(T);
    const auto p = probe::sum(probe::position<RANK>(from, box), corner);
    D.data[i * D.stride[0]] = probe::inside(p, extent) ? to_f64(probe::element(S, p)) : 0;
  }
}

#endif
