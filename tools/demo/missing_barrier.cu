//! kernel  twice  "Y = 2 X, with a planted race: the barrier before the store is missing"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N               in 4..1048576
//! require N % 4 == 0  "the copy engine moves multiples of 16 bytes"
//! param   BARRIER = 0  in {0, 1}  "1 puts the missing barrier in"
//! let     CHUNK = 1024
//! tensor  X : f32[N]
//! tensor  Y : f32[N]  out
//! launch  grid ceil_div(N, CHUNK)  block 128
//! work    flops N  bytes 8 * N
//! reference twice_reference  grid 1  block 256

// `tools/dev demo` runs this on the emulator to show a report. Without the barrier the copy engine reads a block's
// words as soon as thread 0 has doubled its own, while the other warps may still be working.

#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(16) f32 words[CHUNK];
  Barrier full;
};

extern "C" __global__ __launch_bounds__(128) void twice(View<const f32, 1> X, View<f32, 1> Y, const Dims dims) {
  __shared__ Smem smem;
  const s32 first = blockIdx.x * CHUNK;
  const s32 count = min(CHUNK, dims.N - first);
  if (threadIdx.x == 0) {
    smem.full.init(1);
    fence_barrier_init();
    smem.full.expect(count * sizeof(f32));
    bulk::load(smem.words, X.data + first, count * sizeof(f32), smem.full);
  }
  __syncthreads();
  smem.full.wait(0);
  for (s32 i = threadIdx.x; i < count; i += 128) smem.words[i] *= 2;
  fence::proxy_async_shared();
  if constexpr (BARRIER == 1) __syncthreads();
  if (threadIdx.x == 0) {
    bulk::store(Y.data + first, smem.words, count * sizeof(f32));
    bulk::commit();
    bulk::wait<0>();
  }
}

#else

extern "C" __global__ void twice_reference(View<const f32, 1> X, View<f64, 1> Y, const Dims dims) {
  for (s32 i = threadIdx.x; i < dims.N; i += 256) Y.data[i] = 2.0 * X.data[i];
}

#endif
