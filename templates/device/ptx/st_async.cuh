#pragma once
// Values stored or reduced asynchronously into another block's shared memory: at the offset of `to` in block `rank` of
// the cluster, whose barrier at the offset of `full` counts the bytes. The receiver announces them and waits with
// Barrier::wait_cluster. PTX ISA 9.0, "st.async" and "red.async".
#include "device/ptx/cluster.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/reduction.cuh"

namespace remote {

// Stores one value of 4 or 8 bytes.
template <class T> __device__ inline void store(u32 rank, T* to, T value, Barrier& full) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "st.async moves values of 4 and 8 bytes");
  const u32 address = cluster::address(to, rank), barrier = cluster::address(&full, rank);
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address),
                 "r"(reinterpret_cast<const u32&>(value)), "r"(barrier)
                 : "memory");
  } else {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(address),
                 "l"(reinterpret_cast<const u64&>(value)), "r"(barrier)
                 : "memory");
  }
}
// Stores 8 or 16 bytes at once, aligned to their size.
__device__ inline void store(u32 rank, u32* to, const u32 (&values)[2], Barrier& full) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(
                   cluster::address(to, rank)),
               "r"(values[0]), "r"(values[1]), "r"(cluster::address(&full, rank))
               : "memory");
}
__device__ inline void store(u32 rank, u32* to, const u32 (&values)[4], Barrier& full) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                   cluster::address(to, rank)),
               "r"(values[0]), "r"(values[1]), "r"(values[2]), "r"(values[3]), "r"(cluster::address(&full, rank))
               : "memory");
}
__device__ inline void store(u32 rank, u64* to, const u64 (&values)[2], Barrier& full) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(
                   cluster::address(to, rank)),
               "l"(values[0]), "l"(values[1]), "r"(cluster::address(&full, rank))
               : "memory");
}

// Reduces one element in place. Only the combinations below exist.
template <Reduction R, class T> __device__ void reduce(u32 rank, T* to, T value, Barrier& full) = delete;

#define TMA_JIT_RED_ASYNC(R, T, PTX, REGISTER)                                                            \
  template <> __device__ inline void reduce<Reduction::R, T>(u32 rank, T * to, T value, Barrier & full) { \
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." PTX            \
                 " [%0], %1, [%2];" ::"r"(cluster::address(to, rank)),                                    \
                 REGISTER(value), "r"(cluster::address(&full, rank))                                      \
                 : "memory");                                                                             \
  }
TMA_JIT_RED_ASYNC(add, u32, "add.u32", "r")
TMA_JIT_RED_ASYNC(add, s32, "add.s32", "r")
TMA_JIT_RED_ASYNC(add, u64, "add.u64", "l")
TMA_JIT_RED_ASYNC(min, u32, "min.u32", "r")
TMA_JIT_RED_ASYNC(min, s32, "min.s32", "r")
TMA_JIT_RED_ASYNC(max, u32, "max.u32", "r")
TMA_JIT_RED_ASYNC(max, s32, "max.s32", "r")
TMA_JIT_RED_ASYNC(inc, u32, "inc.u32", "r")
TMA_JIT_RED_ASYNC(dec, u32, "dec.u32", "r")
TMA_JIT_RED_ASYNC(bit_and, u32, "and.b32", "r")
TMA_JIT_RED_ASYNC(bit_or, u32, "or.b32", "r")
TMA_JIT_RED_ASYNC(bit_xor, u32, "xor.b32", "r")
#undef TMA_JIT_RED_ASYNC

}  // namespace remote
