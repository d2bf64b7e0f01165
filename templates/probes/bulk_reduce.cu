//! kernel  bulk_reduce  "D = OP(C, S) in an element type of TYPE, by a bulk reduction"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     N      = 256
//! param   OP     = 0  in 0..7    "add min max inc dec and or xor"
//! param   TYPE   = 0  in 0..7    "u32 s32 u64 s64 f32 f64 f16 bf16"
//! param   REMOTE = 0  in {0, 1}  "1: into the shared memory of the other block of a pair"
//!
//! let     GLOBAL_TYPES = OP == 0 ? 0b11110111 : OP <= 2 ? 0b11001111 : OP <= 4 ? 0b1 : 0b101
//! let     REMOTE_TYPES = OP == 0 ? 0b111 : OP <= 2 ? 0b11 : 0b1
//! require ((REMOTE == 1 ? REMOTE_TYPES : GLOBAL_TYPES) >> TYPE & 1) == 1  "the hardware has this reduction"
//!
//! tensor  S : s32[2, N]
//! tensor  C : s32[2, N]
//! tensor  D : s32[2, N]  out
//! workspace values 16 * N                          "C as elements of TYPE"
//! cluster REMOTE + 1
//! launch  grid 2  block 128
//! work    flops 0  bytes 24 * N
//! reference bulk_reduce_reference  grid 2  block 256
//!
//! preset  OP = 0, TYPE = 4              "bulk reduction: add f32"
//! preset  OP = 0, TYPE = 7              "bulk reduction: add bf16"
//! preset  OP = 2, TYPE = 6              "bulk reduction: max f16"
//! preset  OP = 1, TYPE = 3              "bulk reduction: min s64"
//! preset  OP = 3, TYPE = 0              "bulk reduction: inc u32"
//! preset  OP = 7, TYPE = 2              "bulk reduction: xor of 64 bits"
//! preset  OP = 0, TYPE = 2, REMOTE = 1  "bulk reduction: add u64 in another block's shared memory"

#include "device/probe/reduction.cuh"
#include "device/ptx/bulk_reduce.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/fence.cuh"

using E = probe::Element<TYPE>::Type;
constexpr Reduction kOp = static_cast<Reduction>(OP);

// Block b reduces S[b]. If it reduces into the other block's memory, D[b] = OP(C[b], S[b ^ 1]).
#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(16) E operands[Dims::N];
  alignas(16) E values[Dims::N];
  Barrier landed;
};

// Reduces the operands into global memory, and waits until every thread may read the result.
template <class T> __device__ inline void reduce_in_global(T* result, const T* operands) {
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk::reduce<kOp>(result, operands, Dims::N * sizeof(T));
    bulk::commit();
    bulk::wait<0>();
    fence::proxy_async_global();
  }
  __syncthreads();
}

// Reduces the operands into the other block's values, and waits until the other block's operands have been reduced into
// this block's values.
template <class T> __device__ inline void reduce_in_pair(T* values, const T* operands, Barrier& landed) {
  if (threadIdx.x == 0) {
    landed.init(1);
    fence_barrier_init();
    landed.expect(Dims::N * sizeof(T));
  }
  cluster::sync();
  if (threadIdx.x == 0) bulk::send_reduce<kOp>(cluster::rank() ^ 1, values, operands, Dims::N * sizeof(T), landed);
  landed.wait_cluster(0);
  cluster::sync();  // no block may exit while another reads its shared memory
}

template <bool Remote, class T> __device__ inline void reduce(T* result, const T* operands, Barrier& landed) {
  if constexpr (Remote)
    reduce_in_pair(result, operands, landed);
  else
    reduce_in_global(result, operands);
}

extern "C" __global__ __launch_bounds__(128) void bulk_reduce(View<const s32, 2> S, View<const s32, 2> C,
                                                              View<s32, 2> D, u8* values, const Dims) {
  __shared__ Smem smem;
  const int block = blockIdx.x;
  E* const result = REMOTE == 1 ? smem.values : reinterpret_cast<E*>(values) + block * Dims::N;
  for (int i = threadIdx.x; i < Dims::N; i += 128) {
    smem.operands[i] = probe::from_s32<E>(S.data[block * S.stride[0] + i * S.stride[1]]);
    result[i] = probe::from_s32<E>(C.data[block * C.stride[0] + i * C.stride[1]]);
  }
  fence::proxy_async();
  reduce<REMOTE == 1, E>(result, smem.operands, smem.landed);
  for (int i = threadIdx.x; i < Dims::N; i += 128)
    D.data[block * D.stride[0] + i * D.stride[1]] = probe::to_s32(result[i]);
}

#else

extern "C" __global__ void bulk_reduce_reference(View<const s32, 2> S, View<const s32, 2> C, View<f64, 2> D,
                                                 const Dims) {
  const int block = blockIdx.x, from = REMOTE == 1 ? block ^ 1 : block;
  for (int i = threadIdx.x; i < Dims::N; i += blockDim.x) {
    const E x = probe::from_s32<E>(C.data[block * C.stride[0] + i * C.stride[1]]);
    const E s = probe::from_s32<E>(S.data[from * S.stride[0] + i * S.stride[1]]);
    D.data[block * D.stride[0] + i * D.stride[1]] = probe::to_s32(probe::applied<kOp>(x, s));
  }
}

#endif
