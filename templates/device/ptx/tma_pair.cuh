#pragma once
// Tile copies for a pair of blocks that multiply together (tcgen05 with cta_group::2): each block loads its own part
// into its own shared memory, and the even block's barrier counts the bytes of both, because that block issues the
// products. PTX ISA 9.0, "cp.async.bulk.tensor", .cta_group::2. sm_100a, sm_103a.
#include "device/ptx/mbarrier.cuh"

namespace tma {

// `full` is the calling block's own barrier; with the lowest bit of the rank cleared its address is that of the even
// block's barrier at the same offset.
__device__ inline void load_pair(void* tile, const CUtensorMap& map, Barrier& full, int column, int row) {
  constexpr u32 kEvenBlock = 0xFEFFFFFF;
  asm volatile(
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];" ::"r"(smem_address(tile)),
      "l"(&map), "r"(smem_address(&full) & kEvenBlock), "r"(column), "r"(row)
      : "memory");
}

}  // namespace tma
