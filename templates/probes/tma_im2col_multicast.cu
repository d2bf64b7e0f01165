//! kernel  tma_im2col_multicast  "D[block] = columns of pixels of S, each block of a cluster loading one for both"
//! arch    sm_90a, sm_100a, sm_103a
//! dim     N = 2
//! dim     W = 19
//! dim     C = 8
//! param   TAP = 1  in {0, 1, 2}                    "offset along W"
//! tensor  S : s32[N, W, C]  im2col [-1] [-1]  box [16, 8]
//! tensor  D : s32[2, 32, 8]  out
//! cluster 2
//! launch  grid 2  block 128
//! work    flops 0  bytes 4 * 3 * 32 * 8
//! reference tma_im2col_multicast_reference  grid 2  block 256
//! preset  TAP = 1  "im2col multicast"

#include "device/ptx/cluster.cuh"
#include "device/ptx/cvt.cuh"
#include "device/ptx/tma_im2col.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_im2col_multicast(const __grid_constant__ CUtensorMap S,
                                                                       View<s32, 3> D, const Dims) {
  __shared__ alignas(128) s32 tile[2][16][8];
  __shared__ Barrier full;
  const int rank = cluster::rank();
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(tile));  // the bytes of both blocks' columns
  }
  cluster::sync();
  // The second column starts with the last three pixels of the first image.
  if (threadIdx.x == 0) tma::load_im2col_multicast(tile[rank], S, full, 3, {0, rank == 0 ? -1 : 15, 0}, {TAP});
  full.wait(0);
  for (int i = threadIdx.x; i < 256; i += 128)
    D.data[rank * D.stride[0] + i / 8 * D.stride[1] + i % 8 * D.stride[2]] = tile[i / 128][i / 8 % 16][i % 8];
  cluster::sync();  // no block may exit while its column may still be in transit
}

#else

// The bounding box has as many pixels as each image: from -1 to the last but one.
extern "C" __global__ void tma_im2col_multicast_reference(View<const s32, 3> S, View<f64, 3> D, const Dims) {
  const int pixel = threadIdx.x / 8, channel = threadIdx.x % 8;
  const int w = pixel % Dims::W - 1 + TAP, n = pixel / Dims::W;
  D.data[blockIdx.x * D.stride[0] + pixel * D.stride[1] + channel * D.stride[2]] =
      w >= 0 && w < Dims::W ? to_f64(S.data[n * S.stride[0] + w * S.stride[1] + channel * S.stride[2]]) : 0;
}

#endif
