#pragma once
// Tensor Memory Accelerator: copies of tiles through a CUtensorMap of 1 to 5 dimensions. Coordinates are in elements,
// innermost first, in braces as in PTX: tma::load(tile, A, full, {column, row}). PTX ISA 9.0, "cp.async.bulk.tensor".
#include "device/ptx/bulk_group.cuh"
#include "device/ptx/l2.cuh"
#include "device/ptx/mbarrier.cuh"

namespace tma {

using bulk::commit;
using bulk::wait;
using bulk::wait_read;

template <int I, int Rank> __device__ inline int coordinate(const int (&at)[Rank]) {
  static_assert(Rank <= 5, "a tensor map has at most five dimensions");
  if constexpr (I < Rank)
    return at[I];
  else
    return 0;
}

// One instruction per rank: OPCODE.Nd, the text before the coordinates, the coordinates, the text after them. Operands
// 0 to 4 are the coordinates; an instruction's own operands start at 5.
#define TMA_JIT_TENSOR(TEXT, ...)                                                                                     \
  asm volatile(TEXT ::"r"(coordinate<0>(at)), "r"(coordinate<1>(at)), "r"(coordinate<2>(at)), "r"(coordinate<3>(at)), \
               "r"(coordinate<4>(at)), __VA_ARGS__                                                                    \
               : "memory")
#define TMA_JIT_BY_RANK(OPCODE, LEFT, RIGHT, ...)                            \
  if constexpr (Rank == 1)                                                   \
    TMA_JIT_TENSOR(OPCODE ".1d" LEFT "{%0}" RIGHT, __VA_ARGS__);             \
  else if constexpr (Rank == 2)                                              \
    TMA_JIT_TENSOR(OPCODE ".2d" LEFT "{%0, %1}" RIGHT, __VA_ARGS__);         \
  else if constexpr (Rank == 3)                                              \
    TMA_JIT_TENSOR(OPCODE ".3d" LEFT "{%0, %1, %2}" RIGHT, __VA_ARGS__);     \
  else if constexpr (Rank == 4)                                              \
    TMA_JIT_TENSOR(OPCODE ".4d" LEFT "{%0, %1, %2, %3}" RIGHT, __VA_ARGS__); \
  else                                                                       \
    TMA_JIT_TENSOR(OPCODE ".5d" LEFT "{%0, %1, %2, %3, %4}" RIGHT, __VA_ARGS__)

// Prefetches the tensor map itself, which hides its latency in the first copy.
__device__ inline void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Returns the bytes that a box of T transfers, including those outside the tensor: the number to announce on a barrier.
// Extents and the map's `steps` are innermost first. An extent counts elements of the tensor, of which a step takes
// every step-th: a box of 8 with a step of 3 has 3. The innermost dimension has no steps.
template <class T, int Rank> __device__ constexpr u32 box_bytes(const int (&box)[Rank], const int (&steps)[Rank]) {
  u32 bytes = box[0] * sizeof(T);
  for (int i = 1; i < Rank; ++i) bytes *= ceil_div(box[i], steps[i]);
  return bytes;
}

// For loads, stores and reductions, the innermost coordinate times the bytes of an element must be a multiple of 16;
// otherwise the kernel ends with an illegal instruction (measured on Hopper). The other coordinates are arbitrary.

// Loads a box of the tensor into `tile`, aligned to 128 bytes or more as the swizzle requires. `full` counts the bytes
// of the whole box, including those outside the tensor, which are filled. The destination is .shared::cta rather than
// .shared::cluster: for sm_120a and sm_121a ptxas 13.0 converts the cluster form to a system call, and then also
// ignores setmaxnreg.
template <int Rank>
__device__ inline void load(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[Rank]) {
  TMA_JIT_BY_RANK("cp.async.bulk.tensor", ".shared::cta.global.mbarrier::complete_tx::bytes [%5], [%6, ", "], [%7];",
                  "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)));
}
template <int Rank>
__device__ inline void load(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[Rank],
                            l2::Policy policy) {
  TMA_JIT_BY_RANK("cp.async.bulk.tensor", ".shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%5], [%6, ",
                  "], [%7], %8;", "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)), "l"(policy.bits));
}
__device__ inline void load(void* tile, const CUtensorMap& map, Barrier& full, int column, int row) {
  load(tile, map, full, {column, row});
}

// Reads once and delivers to the same offset in every block of the cluster whose bit is set in `blocks`; each block's
// own barrier at the offset of `full` counts the bytes.
template <int Rank>
__device__ inline void load_multicast(void* tile, const CUtensorMap& map, Barrier& full, u16 blocks,
                                      const int (&at)[Rank]) {
  TMA_JIT_BY_RANK("cp.async.bulk.tensor",
                  ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%5], [%6, ", "], [%7], %8;",
                  "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)), "h"(blocks));
}
template <int Rank>
__device__ inline void load_multicast(void* tile, const CUtensorMap& map, Barrier& full, u16 blocks,
                                      const int (&at)[Rank], l2::Policy policy) {
  TMA_JIT_BY_RANK("cp.async.bulk.tensor",
                  ".shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%5], [%6, ",
                  "], [%7], %8, %9;", "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)), "h"(blocks),
                  "l"(policy.bits));
}
__device__ inline void load_multicast(void* tile, const CUtensorMap& map, Barrier& full, u16 blocks, int column,
                                      int row) {
  load_multicast(tile, map, full, blocks, {column, row});
}

// Stores a tile into the tensor, as part of the group committed next. Elements outside the tensor are omitted, but
// within a row only in units of 16 bytes: if a row's length is not a multiple of 16 bytes, up to 15 bytes past its end
// are overwritten. Coordinates must not be negative.
template <int Rank> __device__ inline void store(const CUtensorMap& map, const void* tile, const int (&at)[Rank]) {
  TMA_JIT_BY_RANK("cp.async.bulk.tensor", ".global.shared::cta.bulk_group [%5, ", "], [%6];", "l"(&map),
                  "r"(smem_address(tile)));
}
template <int Rank>
__device__ inline void store(const CUtensorMap& map, const void* tile, const int (&at)[Rank], l2::Policy policy) {
  TMA_JIT_BY_RANK("cp.async.bulk.tensor", ".global.shared::cta.bulk_group.L2::cache_hint [%5, ", "], [%6], %7;",
                  "l"(&map), "r"(smem_address(tile)), "l"(policy.bits));
}
__device__ inline void store(const CUtensorMap& map, const void* tile, int column, int row) {
  store(map, tile, {column, row});
}

// Orders this thread's ordinary accesses to shared memory against copies issued after the next barrier.
__device__ inline void fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace tma
