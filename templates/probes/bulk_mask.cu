//! kernel  bulk_mask  "D = S where the byte's bit is set in MASK, else 7, by a masked bulk store"
//! arch    sm_100a, sm_103a, sm_120a, sm_121a
//! dim     BYTES = 512
//! param   MASK  = 0x8001  in {0x8001, 0x00ff, 0x5554, 0xffff}  "one bit for each of 16 bytes"
//! tensor  S : u8[BYTES]
//! tensor  D : u8[BYTES]  out
//! launch  grid 1  block 128
//! work    flops 0  bytes 2 * BYTES
//! reference bulk_mask_reference  grid 1  block 128
//! preset  MASK = 0x8001  "bulk copy: store with a byte mask"

#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void bulk_mask(View<const u8, 1> S, View<u8, 1> D, const Dims) {
  __shared__ alignas(16) u8 bytes[Dims::BYTES];
  for (int i = threadIdx.x; i < Dims::BYTES; i += 128) {
    bytes[i] = S.data[i * S.stride[0]];
    D.data[i * D.stride[0]] = 7;
  }
  fence::proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  bulk::store_masked(D.data, bytes, Dims::BYTES, MASK);
  bulk::commit();
  bulk::wait<0>();
}

#else

extern "C" __global__ void bulk_mask_reference(View<const u8, 1> S, View<f64, 1> D, const Dims) {
  for (int i = threadIdx.x; i < Dims::BYTES; i += blockDim.x)
    D.data[i * D.stride[0]] = (MASK >> i % 16 & 1) != 0 ? S.data[i * S.stride[0]] : 7;
}

#endif
