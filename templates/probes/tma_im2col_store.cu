//! kernel  tma_im2col_store  "D = 1, and S in the pixels of one column, stored or added"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     N    = 2
//! dim     DEEP = 4
//! dim     H    = 5
//! dim     W    = 7
//! dim     C    = 8
//!
//! param   RANK = 4  in {3, 4, 5}
//! param   ADD  = 0  in {0, 1}
//!
//! let     PIXELS = RANK == 3 ? 4 : 16
//!
//! tensor  S  : s32[PIXELS, C]
//! tensor  D3 : s32[N, W, C]           im2col [1] [-1]              box [PIXELS, 8]  out  view  when RANK == 3
//! tensor  D4 : s32[N, H, W, C]        im2col [1, 2] [-1, -1]       box [PIXELS, 8]  out  view  when RANK == 4
//! tensor  D5 : s32[N, DEEP, H, W, C]  im2col [0, 1, 2] [-1, -1, 0] box [PIXELS, 8]  out  view  when RANK == 5
//!
//! launch  grid 1  block 128
//! work    flops 0  bytes 8 * 32 * C
//! reference tma_im2col_store_reference  grid 1  block 256
//!
//! preset  RANK = 3           "im2col store: 3 dimensions"
//! preset  RANK = 4           "im2col store: 4 dimensions"
//! preset  RANK = 5           "im2col store: 5 dimensions"
//! preset  RANK = 4, ADD = 1  "im2col reduction"

#include "device/probe/box.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/tma_im2col.cuh"

// For W, H and D: the corners of the bounding box, at which the column starts.
__device__ constexpr int kLower[3] = {RANK == 3 ? 1 : 2, 1, 0};
__device__ constexpr int kUpper[3] = {RANK == 5 ? 0 : -1, -1, -1};
__device__ constexpr int kExtent[5] = {Dims::C, Dims::W, RANK >= 4 ? Dims::H : Dims::N,
                                       RANK >= 5 ? Dims::DEEP : Dims::N, Dims::N};
constexpr int kElements = Dims::C * Dims::W * Dims::N * (RANK >= 4 ? Dims::H : 1) * (RANK >= 5 ? Dims::DEEP : 1);

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_im2col_store(View<const s32, 2> S,
                                                                   const __grid_constant__ Mapped<s32, 3> D3,
                                                                   const __grid_constant__ Mapped<s32, 4> D4,
                                                                   const __grid_constant__ Mapped<s32, 5> D5,
                                                                   const Dims) {
  __shared__ alignas(128) s32 tile[PIXELS][8];
  const auto& D = probe::pick<RANK - 3>(D3, D4, D5);
#pragma unroll 1
  for (int i = threadIdx.x; i < kElements; i += 128) probe::element(D.view, probe::position<RANK>(i, kExtent)) = 1;
  if (threadIdx.x < PIXELS * 8)
    tile[threadIdx.x / 8][threadIdx.x % 8] = S.data[threadIdx.x / 8 * S.stride[0] + threadIdx.x % 8 * S.stride[1]];
  fence::proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  int at[RANK] = {};
#pragma unroll
  for (int i = 0; i < RANK - 2; ++i) at[i + 1] = kLower[i];
  if constexpr (ADD == 1)
    tma::add_im2col(D.map, tile, at);
  else
    tma::store_im2col(D.map, tile, at);
  tma::commit();
  tma::wait_read<0>();
}

#else

extern "C" __global__ void tma_im2col_store_reference(View<const s32, 2> S, View<f64, 3> D3, View<f64, 4> D4,
                                                      View<f64, 5> D5, const Dims) {
  const auto& D = probe::pick<RANK - 3>(D3, D4, D5);
  for (int i = threadIdx.x; i < kElements; i += blockDim.x) {
    const auto p = probe::position<RANK>(i, kExtent);
    // The pixel's index in the bounding box, W fastest, the images last.
    int pixel = 0, each = 1;
    bool inside = true;
    for (int d = 0; d < RANK - 2; ++d) {
      const int in_box = p.at[d + 1] - kLower[d], across = kExtent[d + 1] + kUpper[d] - kLower[d];
      inside = inside && in_box >= 0 && in_box < across;
      pixel += in_box * each;
      each *= across;
    }
    pixel += p.at[RANK - 1] * each;
    const bool stored = inside && pixel < PIXELS;
    const f64 value = stored ? to_f64(S.data[pixel * S.stride[0] + p.at[0] * S.stride[1]]) : 0;
    probe::element(D, p) = stored ? value + ADD : 1;
  }
}

#endif
