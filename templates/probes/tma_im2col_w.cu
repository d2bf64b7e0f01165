//! kernel  tma_im2col_w  "D = successive pixels of S along W, each with its channels, and the halo behind them"
//! arch    sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     N    = 3
//! dim     DEEP = 2
//! dim     H    = 3
//! dim     W    = 21
//! dim     C    = 20
//!
//! param   RANK   = 4  in {3, 4, 5}
//! param   HALO   = 2  in {0, 2, 5}                 "pixels behind the last"
//! param   OFFSET = 1  in {0, 1, 3}                 "moves the bounding box along W"
//! param   WAY    = 0  in {0, 1, 2}                 "0 32 pixels, 1 after a prefetch, 2 128 pixels in groups of 32"
//!
//! let     GROUPS = WAY == 2 ? 4 : 1
//! let     PIXELS = GROUPS * (32 + HALO)
//!
//! require WAY == 0 || device.compute_capability < 120  "only sm_100a and sm_103a prefetch, and load 128 pixels"
//!
//! tensor  S3 : s32[N, W, C]           im2col_w [-2] [-1]     box [32, 16]   swizzle 64  when RANK == 3 && WAY < 2
//! tensor  S4 : s32[N, H, W, C]        im2col_w [-2] [-1]     box [32, 16]   swizzle 64  when RANK == 4 && WAY < 2
//! tensor  S5 : s32[N, DEEP, H, W, C]  im2col_w [-2] [-1]     box [32, 16]   swizzle 64  when RANK == 5 && WAY < 2
//! tensor  T3 : s32[N, W, C]           im2col_w128 [-2] [-1]  box [128, 16]  swizzle 64  when RANK == 3 && WAY == 2
//! tensor  T4 : s32[N, H, W, C]        im2col_w128 [-2] [-1]  box [128, 16]  swizzle 64  when RANK == 4 && WAY == 2
//! tensor  T5 : s32[N, DEEP, H, W, C]  im2col_w128 [-2] [-1]  box [128, 16]  swizzle 64  when RANK == 5 && WAY == 2
//! tensor  D  : s32[PIXELS, 16]  out
//!
//! launch  grid 1  block 128
//! work    flops 0  bytes 2 * PIXELS * 16 * 4
//! reference tma_im2col_w_reference  grid 1  block 256
//!
//! preset  RANK = 3           "im2col::w load: 3 dimensions"
//! preset  RANK = 4           "im2col::w load: 4 dimensions"
//! preset  RANK = 5           "im2col::w load: 5 dimensions"
//! preset  RANK = 4, WAY = 1  when device.compute_capability < 120  "im2col::w prefetch"
//! preset  RANK = 4, WAY = 2  when device.compute_capability < 120  "im2col::w::128 load"

#include "device/probe/box.cuh"
#include "device/ptx/tma_im2col.cuh"
#include "device/tile/swizzle.cuh"

// Along W: the corners and the start of the pixels; H and D are fixed. The channels start at the eighth, so that their
// second half is outside the tensor.
__device__ constexpr int kLower = -2, kUpper = -1, kFirst = 3;
__device__ constexpr int kFixed[2] = {1, 1};

// For rank RANK, innermost first: the channels, W, the fixed dimensions, the image.
__device__ inline probe::Position<RANK> corner(int w, int image) {
  probe::Position<RANK> p;
  p.at[0] = 8;
  p.at[1] = w;
  for (int i = 2; i < RANK - 1; ++i) p.at[i] = kFixed[i - 2];
  p.at[RANK - 1] = image;
  return p;
}

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_im2col_w(
    const __grid_constant__ CUtensorMap S3, const __grid_constant__ CUtensorMap S4,
    const __grid_constant__ CUtensorMap S5, const __grid_constant__ CUtensorMap T3,
    const __grid_constant__ CUtensorMap T4, const __grid_constant__ CUtensorMap T5, View<s32, 2> D, const Dims) {
  __shared__ alignas(512) s32 tile[PIXELS * 16];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    const CUtensorMap& map = probe::pick<RANK - 3 + (WAY == 2 ? 3 : 0)>(S3, S4, S5, T3, T4, T5);
    const probe::Position<RANK> from = corner(kLower + kFirst, 0);
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(tile));
    if constexpr (WAY == 1) tma::prefetch_im2col_w(map, from.at, HALO, OFFSET);
    if constexpr (WAY == 2)
      tma::load_im2col_w128(tile, map, full, from.at, HALO, OFFSET);
    else
      tma::load_im2col_w(tile, map, full, from.at, HALO, OFFSET);
  }
  __syncthreads();
  full.wait(0);
  for (int i = threadIdx.x; i < PIXELS * 16; i += 128)
    D.data[i / 16 * D.stride[0] + i % 16 * D.stride[1]] = tile[swizzle::moved(i * 4, 64) / 4];
}

#else

// The pixels of all groups are consecutive; each group's halo is the pixels after its last along W.
extern "C" __global__ void tma_im2col_w_reference(View<const s32, 3> S3, View<const s32, 4> S4, View<const s32, 5> S5,
                                                  View<const s32, 3> T3, View<const s32, 4> T4, View<const s32, 5> T5,
                                                  View<f64, 2> D, const Dims) {
  const auto& S = probe::pick<RANK - 3 + (WAY == 2 ? 3 : 0)>(S3, S4, S5, T3, T4, T5);
  int extent[5] = {Dims::C, Dims::W, Dims::H, Dims::DEEP, Dims::N};
  extent[RANK - 1] = Dims::N;
  const int across = Dims::W + kUpper - kLower;
  for (int i = threadIdx.x; i < PIXELS * 16; i += blockDim.x) {
    const int group = i / 16 / (32 + HALO), pixel = i / 16 % (32 + HALO);
    const int counted = kFirst + group * 32 + (pixel < 32 ? pixel : 31), beyond = pixel < 32 ? 0 : pixel - 31;
    probe::Position<RANK> p = corner(kLower + OFFSET + counted % across + beyond, counted / across);
    p.at[0] += i % 16;
    D.data[i / 16 * D.stride[0] + i % 16 * D.stride[1]] = probe::inside(p, extent) ? to_f64(probe::element(S, p)) : 0;
  }
}

#endif
