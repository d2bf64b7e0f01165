#pragma once
// Tile copies for a pair of blocks that multiply together (tcgen05 with cta_group::2): each block loads its own part
// into its own shared memory, and the even block's barrier counts the bytes of both, because that block issues the
// products. PTX ISA 9.0, "cp.async.bulk.tensor", .cta_group::2. sm_100a, sm_103a.
#include "device/ptx/mbarrier.cuh"

namespace tma {

// With the lowest bit of the rank cleared, the address of a block's own barrier is that of the even block's barrier at
// the same offset.
constexpr u32 kEvenBlock = 0xFEFFFFFF;

// `full` is the calling block's own barrier.
__device__ inline void load_pair(void* tile, const CUtensorMap& map, Barrier& full, int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];" ::"r"(smem_address(tile)),
      "l"(&map), "r"(smem_address(&full) & kEvenBlock), "r"(column), "r"(row)
      : "memory");
}
// The same of a tensor of three dimensions.
__device__ inline void load_pair(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[3]) {
  asm volatile(
      "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], [%2];" ::"r"(smem_address(tile)),
      "l"(&map), "r"(smem_address(&full) & kEvenBlock), "r"(at[0]), "r"(at[1]), "r"(at[2])
      : "memory");
}

}  // namespace tma
