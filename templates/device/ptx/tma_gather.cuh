#pragma once
// Copies four rows of a matrix, given by their indices, at once. The tensor map's box is one row; the rows are
// consecutive in shared memory. Every index must be a row of the matrix. PTX ISA 9.0, "Tensors: tile::scatter4 and
// tile::gather4 modes"; sm_100a, sm_103a.
#include "device/ptx/tma.cuh"

namespace tma {

__device__ inline void load_gather4(void* tile, const CUtensorMap& map, Barrier& full, int column,
                                    const int (&rows)[4]) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
      "%6, %7}], [%2];" ::"r"(smem_address(tile)),
      "l"(&map), "r"(smem_address(&full)), "r"(column), "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3])
      : "memory");
}
__device__ inline void load_gather4(void* tile, const CUtensorMap& map, Barrier& full, int column, const int (&rows)[4],
                                    l2::Policy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, "
      "{%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(smem_address(tile)),
      "l"(&map), "r"(smem_address(&full)), "r"(column), "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]),
      "l"(policy.bits)
      : "memory");
}
// Delivers to every block whose bit is set in `blocks`, like load_multicast.
__device__ inline void load_gather4_multicast(void* tile, const CUtensorMap& map, Barrier& full, u16 blocks, int column,
                                              const int (&rows)[4]) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(smem_address(tile)),
      "l"(&map), "r"(smem_address(&full)), "h"(blocks), "r"(column), "r"(rows[0]), "r"(rows[1]), "r"(rows[2]),
      "r"(rows[3])
      : "memory");
}
__device__ inline void prefetch_gather4(const CUtensorMap& map, int column, const int (&rows)[4]) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%0, {%1, %2, %3, %4, %5}];" ::"l"(&map),
               "r"(column), "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3])
               : "memory");
}
// Stores as part of the group committed next. The rows must differ.
__device__ inline void store_scatter4(const CUtensorMap& map, const void* tile, int column, const int (&rows)[4]) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(
          &map),
      "r"(smem_address(tile)), "r"(column), "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3])
      : "memory");
}

__device__ inline void store_scatter4(const CUtensorMap& map, const void* tile, int column, const int (&rows)[4],
                                      l2::Policy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group.L2::cache_hint [%0, {%2, %3, %4, %5, %6}], "
      "[%1], %7;" ::"l"(&map),
      "r"(smem_address(tile)), "r"(column), "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "l"(policy.bits)
      : "memory");
}

}  // namespace tma
