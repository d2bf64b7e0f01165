//! kernel  tma_store  "D = S by stores of boxes that reach past the tensor's end, or 3 + S by reductions of them"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = s32  in {s32, bf16}
//! dim     A       = 3
//! dim     B       = 3
//! dim     C       = 4
//! dim     R       = 20
//! dim     X       = 40
//!
//! param   RANK    = 2  in 1..5
//! param   SWIZZLE = 0  in {0, 32, 64, 128}
//! param   WAY     = 0  in {0, 1, 2, 3}             "0 store, 1 store with an L2 policy, 2 reduce, 3 reduce with one"
//!
//! let     B0      = (SWIZZLE == 0 ? 64 : SWIZZLE) / sizeof(T)
//! let     B1      = RANK >= 2 ? 8 : 1
//! let     B2      = RANK >= 3 ? 3 : 1
//! let     B3      = RANK >= 4 ? 2 : 1
//! let     B4      = RANK >= 5 ? 2 : 1
//! let     BOX     = B0 * B1 * B2 * B3 * B4
//! let     N0      = ceil_div(X, B0)
//! let     N1      = RANK >= 2 ? ceil_div(R, B1) : 1
//! let     N2      = RANK >= 3 ? ceil_div(C, B2) : 1
//! let     N3      = RANK >= 4 ? ceil_div(B, B3) : 1
//! let     N4      = RANK >= 5 ? ceil_div(A, B4) : 1
//!
//! tensor  S1 : T[X]              when RANK == 1
//! tensor  S2 : T[R, X]           when RANK == 2
//! tensor  S3 : T[C, R, X]        when RANK == 3
//! tensor  S4 : T[B, C, R, X]     when RANK == 4
//! tensor  S5 : T[A, B, C, R, X]  when RANK == 5
//! tensor  D1 : T[X]              box [B0]                  swizzle SWIZZLE  out  view  when RANK == 1
//! tensor  D2 : T[R, X]           box [B1, B0]              swizzle SWIZZLE  out  view  when RANK == 2
//! tensor  D3 : T[C, R, X]        box [B2, B1, B0]          swizzle SWIZZLE  out  view  when RANK == 3
//! tensor  D4 : T[B, C, R, X]     box [B3, B2, B1, B0]      swizzle SWIZZLE  out  view  when RANK == 4
//! tensor  D5 : T[A, B, C, R, X]  box [B4, B3, B2, B1, B0]  swizzle SWIZZLE  out  view  when RANK == 5
//!
//! launch  grid N0 * N1 * N2 * N3 * N4  block 128  smem 1024 + BOX * sizeof(T)
//! work    flops 0  bytes 2 * BOX * sizeof(T)
//! reference tma_store_reference  grid N0 * N1 * N2 * N3 * N4  block 256
//!
//! preset  RANK = 2                  "tensor store: 2 dimensions"
//! preset  RANK = 2, SWIZZLE = 32    "tensor store: 32-byte swizzle"
//! preset  RANK = 2, SWIZZLE = 64    "tensor store: 64-byte swizzle"
//! preset  RANK = 2, SWIZZLE = 128   "tensor store: 128-byte swizzle"
//! preset  RANK = 1                  "tensor store: 1 dimension"
//! preset  RANK = 3                  "tensor store: 3 dimensions"
//! preset  RANK = 4                  "tensor store: 4 dimensions"
//! preset  RANK = 5                  "tensor store: 5 dimensions"
//! preset  RANK = 2, WAY = 1         "tensor store: with an L2 policy"
//! preset  RANK = 1, WAY = 2         "tensor reduction: 1 dimension"
//! preset  RANK = 5, WAY = 2         "tensor reduction: 5 dimensions"

#include "device/probe/box.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/tma_reduce.cuh"
#include "device/tile/swizzle.cuh"

__device__ constexpr int kExtent[5] = {Dims::X, Dims::R, Dims::C, Dims::B, Dims::A};
__device__ constexpr int kBox[5] = {B0, B1, B2, B3, B4};

// Returns the corner of this block's box.
__device__ inline probe::Position<RANK> corner_of(int block) {
  const int boxes[5] = {N0, N1, N2, N3, N4};
  probe::Position<RANK> corner = probe::position<RANK>(block, boxes);
  for (int i = 0; i < RANK; ++i) corner.at[i] *= kBox[i];
  return corner;
}

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_store(
    View<const T, 1> S1, View<const T, 2> S2, View<const T, 3> S3, View<const T, 4> S4, View<const T, 5> S5,
    const __grid_constant__ Mapped<T, 1> D1, const __grid_constant__ Mapped<T, 2> D2,
    const __grid_constant__ Mapped<T, 3> D3, const __grid_constant__ Mapped<T, 4> D4,
    const __grid_constant__ Mapped<T, 5> D5, const Dims) {
  extern __shared__ u8 raw[];
  u8* const base = raw + (-smem_address(raw) & 1023);
  const auto& S = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
  const auto& D = probe::pick<RANK - 1>(D1, D2, D3, D4, D5);
  const probe::Position<RANK> corner = corner_of(blockIdx.x);
#pragma unroll 1
  for (int i = threadIdx.x; i < BOX; i += 128) {
    const auto p = probe::sum(probe::position<RANK>(i, kBox), corner);
    const bool inside = probe::inside(p, kExtent);
    T& to = *reinterpret_cast<T*>(base + swizzle::moved(i * sizeof(T), SWIZZLE));
    to = inside ? probe::element(S, p) : from_f32<T>(77);
    if (inside && WAY >= 2) probe::element(D.view, p) = from_f32<T>(3);
  }
  // Every thread makes its writes visible to the copy engine, in shared memory and (for reductions) in global memory.
  if constexpr (WAY >= 2)
    fence::proxy_async();
  else
    fence::proxy_async_shared();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if constexpr (WAY == 0) tma::store(D.map, base, corner.at);
  if constexpr (WAY == 1) tma::store(D.map, base, corner.at, l2::kEvictFirst);
  if constexpr (WAY == 2) tma::reduce<Reduction::add>(D.map, base, corner.at);
  if constexpr (WAY == 3) tma::reduce<Reduction::add>(D.map, base, corner.at, l2::kEvictLast);
  tma::commit();
  tma::wait<0>();
}

#else

extern "C" __global__ void tma_store_reference(View<const T, 1> S1, View<const T, 2> S2, View<const T, 3> S3,
                                               View<const T, 4> S4, View<const T, 5> S5, View<f64, 1> D1,
                                               View<f64, 2> D2, View<f64, 3> D3, View<f64, 4> D4, View<f64, 5> D5,
                                               const Dims) {
  const auto& S = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
  const auto& D = probe::pick<RANK - 1>(D1, D2, D3, D4, D5);
  for (int i = threadIdx.x; i < BOX; i += blockDim.x) {
    const auto p = probe::sum(probe::position<RANK>(i, kBox), corner_of(blockIdx.x));
    if (probe::inside(p, kExtent)) probe::element(D, p) = to_f64(probe::element(S, p)) + (WAY >= 2 ? 3 : 0);
  }
}

#endif
