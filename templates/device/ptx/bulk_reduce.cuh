#pragma once
// Bulk reductions of contiguous elements in shared memory into global memory or another block's shared memory.
// Addresses and sizes are multiples of 16 bytes. PTX ISA 9.0, "cp.reduce.async.bulk".
#include "device/ptx/bulk.cuh"
#include "device/ptx/reduction.cuh"

namespace bulk {

// Reduces into global memory, as part of the group committed next. Each element is a relaxed atomic operation at GPU
// scope. Only the combinations below exist. Sums of f32 flush subnormals.
template <Reduction R, class T> __device__ void reduce(T* to, const T* from, u32 bytes) = delete;
// Reduces into the offset of `to` in the shared memory of another block of the cluster, with rank `rank`; its barrier
// at the offset of `full` counts the bytes.
template <Reduction R, class T>
__device__ void send_reduce(u32 rank, T* to, const T* from, u32 bytes, Barrier& full) = delete;

#define TMA_JIT_REDUCE(R, T, PTX)                                                                \
  template <> __device__ inline void reduce<Reduction::R, T>(T * to, const T* from, u32 bytes) { \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." PTX                       \
                 " [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),                         \
                 "r"(smem_address(from)), "r"(bytes)                                             \
                 : "memory");                                                                    \
  }
#define TMA_JIT_SEND_REDUCE(R, T, PTX)                                                                             \
  template <>                                                                                                      \
  __device__ inline void send_reduce<Reduction::R, T>(u32 rank, T * to, const T* from, u32 bytes, Barrier& full) { \
    asm volatile(                                                                                                  \
        "{\n .reg .u32 remote, barrier;\n mapa.shared::cluster.u32 remote, %0, %4;\n"                              \
        " mapa.shared::cluster.u32 barrier, %3, %4;\n"                                                             \
        " cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." PTX                      \
        " [remote], [%1], %2, [barrier];\n}" ::"r"(smem_address(to)),                                              \
        "r"(smem_address(from)), "r"(bytes), "r"(smem_address(&full)), "r"(rank)                                   \
        : "memory");                                                                                               \
  }

TMA_JIT_REDUCE(add, u32, "add.u32")
TMA_JIT_REDUCE(add, s32, "add.s32")
TMA_JIT_REDUCE(add, u64, "add.u64")
TMA_JIT_REDUCE(add, f32, "add.f32")
TMA_JIT_REDUCE(add, f64, "add.f64")
TMA_JIT_REDUCE(add, f16, "add.noftz.f16")
TMA_JIT_REDUCE(add, bf16, "add.noftz.bf16")
TMA_JIT_REDUCE(min, u32, "min.u32")
TMA_JIT_REDUCE(min, s32, "min.s32")
TMA_JIT_REDUCE(min, u64, "min.u64")
TMA_JIT_REDUCE(min, s64, "min.s64")
TMA_JIT_REDUCE(min, f16, "min.f16")
TMA_JIT_REDUCE(min, bf16, "min.bf16")
TMA_JIT_REDUCE(max, u32, "max.u32")
TMA_JIT_REDUCE(max, s32, "max.s32")
TMA_JIT_REDUCE(max, u64, "max.u64")
TMA_JIT_REDUCE(max, s64, "max.s64")
TMA_JIT_REDUCE(max, f16, "max.f16")
TMA_JIT_REDUCE(max, bf16, "max.bf16")
TMA_JIT_REDUCE(inc, u32, "inc.u32")
TMA_JIT_REDUCE(dec, u32, "dec.u32")
TMA_JIT_REDUCE(bit_and, u32, "and.b32")
TMA_JIT_REDUCE(bit_and, u64, "and.b64")
TMA_JIT_REDUCE(bit_or, u32, "or.b32")
TMA_JIT_REDUCE(bit_or, u64, "or.b64")
TMA_JIT_REDUCE(bit_xor, u32, "xor.b32")
TMA_JIT_REDUCE(bit_xor, u64, "xor.b64")

TMA_JIT_SEND_REDUCE(add, u32, "add.u32")
TMA_JIT_SEND_REDUCE(add, s32, "add.s32")
TMA_JIT_SEND_REDUCE(add, u64, "add.u64")
TMA_JIT_SEND_REDUCE(min, u32, "min.u32")
TMA_JIT_SEND_REDUCE(min, s32, "min.s32")
TMA_JIT_SEND_REDUCE(max, u32, "max.u32")
TMA_JIT_SEND_REDUCE(max, s32, "max.s32")
TMA_JIT_SEND_REDUCE(inc, u32, "inc.u32")
TMA_JIT_SEND_REDUCE(dec, u32, "dec.u32")
TMA_JIT_SEND_REDUCE(bit_and, u32, "and.b32")
TMA_JIT_SEND_REDUCE(bit_or, u32, "or.b32")
TMA_JIT_SEND_REDUCE(bit_xor, u32, "xor.b32")

#undef TMA_JIT_REDUCE
#undef TMA_JIT_SEND_REDUCE

}  // namespace bulk
