//! kernel  tma_im2col  "D = a column of pixels of S, and of each its channels, at one tap of a filter"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     N    = 2
//! dim     DEEP = 4
//! dim     H    = 5
//! dim     W    = 7
//! dim     C    = 12
//!
//! param   RANK = 4  in {3, 4, 5}
//! param   STEP = 1  in {1, 2}                      "from one place of the filter to the next"
//! param   WAY  = 0  in {0, 1, 2}                   "0 load, 1 with an L2 policy, 2 after a prefetch"
//!
//! tensor  S3 : s32[N, W, C]           im2col [-2] [-1]                  box [32, 8]  steps [1, STEP, 1]              when RANK == 3
//! tensor  S4 : s32[N, H, W, C]        im2col [-1, -2] [0, -1]           box [32, 8]  steps [1, STEP, STEP, 1]        when RANK == 4
//! tensor  S5 : s32[N, DEEP, H, W, C]  im2col [-2, -1, -2] [-1, 0, -1]   box [32, 8]  steps [1, STEP, STEP, STEP, 1]  when RANK == 5
//! tensor  D  : s32[32, 8]  out
//!
//! launch  grid 1  block 128
//! work    flops 0  bytes 2 * 32 * 8 * 4
//! reference tma_im2col_reference  grid 1  block 256
//!
//! preset  RANK = 3            "im2col load: 3 dimensions"
//! preset  RANK = 4            "im2col load: 4 dimensions"
//! preset  RANK = 5            "im2col load: 5 dimensions"
//! preset  RANK = 4, STEP = 2  "im2col load: strided"
//! preset  RANK = 4, WAY = 1   "im2col load: with an L2 policy"
//! preset  RANK = 5, WAY = 2   "im2col prefetch"

#include "device/probe/box.cuh"
#include "device/ptx/tma_im2col.cuh"

// For W, H and D: the lower corner, the upper corner, the tap, and the start of the column. The channels start at the
// eighth, so that their second half is outside the tensor.
__device__ constexpr int kLower[3] = {-2, -1, -2};
__device__ constexpr int kUpper[3] = {-1, 0, -1};
__device__ constexpr int kTap[3] = {2, 1, 3};
__device__ constexpr int kFirst[3] = {1, 1, 0};

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_im2col(const __grid_constant__ CUtensorMap S3,
                                                             const __grid_constant__ CUtensorMap S4,
                                                             const __grid_constant__ CUtensorMap S5, View<s32, 2> D,
                                                             const Dims) {
  __shared__ alignas(128) s32 tile[32][8];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    const CUtensorMap& map = probe::pick<RANK - 3>(S3, S4, S5);
    int at[RANK] = {}, tap[RANK - 2];
    at[0] = 8;
#pragma unroll
    for (int i = 0; i < RANK - 2; ++i) {
      at[i + 1] = kLower[i] + kFirst[i] * STEP;
      tap[i] = kTap[i];
    }
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(tile));
    if constexpr (WAY == 2) tma::prefetch_im2col(map, at, tap);
    if constexpr (WAY == 1)
      tma::load_im2col(tile, map, full, at, tap, l2::kEvictLast);
    else
      tma::load_im2col(tile, map, full, at, tap);
  }
  __syncthreads();
  full.wait(0);
  for (int i = threadIdx.x; i < 256; i += 128) D.data[i / 8 * D.stride[0] + i % 8 * D.stride[1]] = tile[i / 8][i % 8];
}

#else

// Pixel i is the i-th position of the filter after the first, counted through all images.
extern "C" __global__ void tma_im2col_reference(View<const s32, 3> S3, View<const s32, 4> S4, View<const s32, 5> S5,
                                                View<f64, 2> D, const Dims) {
  const auto& S = probe::pick<RANK - 3>(S3, S4, S5);
  const int spatial[3] = {Dims::W, Dims::H, Dims::DEEP};
  int extent[5] = {Dims::C, 0, 0, 0, 0}, places[3], first = 0, each = 1;
  for (int i = 0; i < RANK - 2; ++i) {
    extent[i + 1] = spatial[i];
    places[i] = (spatial[i] + kUpper[i] - kLower[i] - 1) / STEP + 1;
    first += kFirst[i] * each;
    each *= places[i];
  }
  extent[RANK - 1] = Dims::N;
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    int place = first + i / 8;
    probe::Position<RANK> p;
    p.at[0] = 8 + i % 8;
    for (int d = 0; d < RANK - 2; ++d) {
      p.at[d + 1] = kLower[d] + place % places[d] * STEP + kTap[d];
      place /= places[d];
    }
    p.at[RANK - 1] = place;
    D.data[i / 8 * D.stride[0] + i % 8 * D.stride[1]] = probe::inside(p, extent) ? to_f64(probe::element(S, p)) : 0;
  }
}

#endif
