//! kernel  tensormap_atomicity  "D = a box of S through a copy of its map whose 128-byte swizzle moves larger pieces"
//! arch    sm_100a, sm_103a
//! dim     R     = 16
//! dim     X     = 32
//! param   PIECE = 32  in {32, 64}                  "bytes that the swizzle moves as a whole"
//! tensor  S : s32[R, X]  box [16, 32]  swizzle 128
//! tensor  D : s32[R, X]  out
//! workspace map 128
//! launch  grid 1  block 32
//! work    flops 0  bytes 8 * R * X
//! reference tensormap_atomicity_reference  grid R  block X
//! preset  PIECE = 32  "tensor map in a kernel: swizzle of 32-byte pieces"
//! preset  PIECE = 64  "tensor map in a kernel: swizzle of 64-byte pieces"

#include "device/ptx/tensormap.cuh"
#include "device/ptx/tma.cuh"
#include "device/tile/swizzle.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(1024) s32 box[Dims::R][Dims::X];
  alignas(128) CUtensorMap map;
  Barrier full;
};

extern "C" __global__ __launch_bounds__(32) void tensormap_atomicity(const __grid_constant__ CUtensorMap S,
                                                                     View<s32, 2> D, u8* map, const Dims) {
  __shared__ Smem smem;
  CUtensorMap* const made = reinterpret_cast<CUtensorMap*>(map);
  constexpr auto kPiece = PIECE == 32 ? tensormap::Atomicity::b32 : tensormap::Atomicity::b64;
  tensormap::copy(smem.map, S);
  if (threadIdx.x == 0) tensormap::replace_atomicity<kPiece>(smem.map);
  __syncwarp();
  tensormap::publish(made, smem.map);
  if (threadIdx.x == 0) {
    smem.full.init(1);
    fence_barrier_init();
    smem.full.expect(sizeof(smem.box));
    fence::proxy_tensormap_acquire(made);
    tma::load(smem.box, *made, smem.full, {0, 0});
  }
  __syncwarp();
  smem.full.wait(0);
  for (int r = 0; r < Dims::R; ++r) D.data[r * D.stride[0] + threadIdx.x * D.stride[1]] = smem.box[r][threadIdx.x];
}

#else

// A row is 128 bytes; the numbers of its pieces are permuted depending on the row's number.
extern "C" __global__ void tensormap_atomicity_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int r = blockIdx.x, c = threadIdx.x, from = swizzle::moved(r * 128 + c * 4, 128, PIECE) % 128 / 4;
  D.data[r * D.stride[0] + c * D.stride[1]] = S.data[r * S.stride[0] + from * S.stride[1]];
}

#endif
