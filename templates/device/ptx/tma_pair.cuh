#pragma once
// Tile copies for a pair of blocks that multiply together (tcgen05 with cta_group::2): each block loads its own part
// into its own shared memory, and the even block's barrier counts the bytes of both, because that block issues the
// products. PTX ISA 9.0, "cp.async.bulk.tensor", .cta_group::2. sm_100a, sm_103a.
#include "device/ptx/tma.cuh"

namespace tma {

// `full` is the calling block's own barrier; with the lowest bit of the rank cleared its address is that of the even
// block's barrier at the same offset.
template <int Rank>
__device__ inline void load_pair(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[Rank]) {
  constexpr u32 kEvenBlock = 0xFEFFFFFF;
  TMA_JIT_BY_RANK("cp.async.bulk.tensor",
                  ".cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%5], [%6, ", "], [%7];",
                  "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full) & kEvenBlock));
}

}  // namespace tma
