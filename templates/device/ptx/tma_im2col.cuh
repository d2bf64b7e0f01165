#pragma once
// Copies through an im2col tensor map of 3 to 5 dimensions (channels innermost, then W, H, D, and the image last): a
// column of pixels, traversed along W, H, D and the images within the map's bounding box, with the channels of each.
// PTX ISA 9.0, "Tensors: im2col mode" and "cp.async.bulk.tensor".
#include "device/ptx/tma.cuh"

namespace tma {

// Operands 0 to 4 are the coordinates, 5 to 7 the offsets; an instruction's own operands start at 8.
#define TMA_JIT_COLUMN(TEXT, ...)                                                                                     \
  asm volatile(TEXT ::"r"(coordinate<0>(at)), "r"(coordinate<1>(at)), "r"(coordinate<2>(at)), "r"(coordinate<3>(at)), \
               "r"(coordinate<4>(at)), "h"(offset<0>(offsets)), "h"(offset<1>(offsets)), "h"(offset<2>(offsets)),     \
               __VA_ARGS__                                                                                            \
               : "memory")
#define TMA_JIT_COLUMN_BY_RANK(OPCODE, LEFT, MIDDLE, RIGHT, ...)                                      \
  static_assert(Rank >= 3, "an im2col map has channels, at least one spatial dimension, and images"); \
  if constexpr (Rank == 3)                                                                            \
    TMA_JIT_COLUMN(OPCODE ".3d" LEFT "{%0, %1, %2}" MIDDLE "{%5}" RIGHT, __VA_ARGS__);                \
  else if constexpr (Rank == 4)                                                                       \
    TMA_JIT_COLUMN(OPCODE ".4d" LEFT "{%0, %1, %2, %3}" MIDDLE "{%5, %6}" RIGHT, __VA_ARGS__);        \
  else                                                                                                \
    TMA_JIT_COLUMN(OPCODE ".5d" LEFT "{%0, %1, %2, %3, %4}" MIDDLE "{%5, %6, %7}" RIGHT, __VA_ARGS__)

template <int I, int Count> __device__ inline u16 offset(const int (&offsets)[Count]) {
  if constexpr (I < Count)
    return static_cast<u16>(offsets[I]);
  else
    return 0;
}

// `at` is the base of the first filter, {c, w, h, n}, within the bounding box. `offsets` is the position of one tap in
// the filter, {w, h}, added to every base: 0 to 255 for rank 4, 0 to 31 for rank 5, 0 to 65535 for rank 3. Elements
// outside the tensor are filled.
template <int Rank>
__device__ inline void load_im2col(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[Rank],
                                   const int (&offsets)[Rank - 2]) {
  TMA_JIT_COLUMN_BY_RANK("cp.async.bulk.tensor", ".shared::cta.global.im2col.mbarrier::complete_tx::bytes [%8], [%9, ",
                         "], [%10], ", ";", "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)));
}
template <int Rank>
__device__ inline void load_im2col(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[Rank],
                                   const int (&offsets)[Rank - 2], l2::Policy policy) {
  TMA_JIT_COLUMN_BY_RANK(
      "cp.async.bulk.tensor", ".shared::cta.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint [%8], [%9, ",
      "], [%10], ", ", %11;", "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)), "l"(policy.bits));
}
template <int Rank>
__device__ inline void load_im2col_multicast(void* tile, const CUtensorMap& map, Barrier& full, u16 blocks,
                                             const int (&at)[Rank], const int (&offsets)[Rank - 2]) {
  TMA_JIT_COLUMN_BY_RANK("cp.async.bulk.tensor",
                         ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%8], [%9, ",
                         "], [%10], ", ", %11;", "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)),
                         "h"(blocks));
}
template <int Rank>
__device__ inline void prefetch_im2col(const CUtensorMap& map, const int (&at)[Rank], const int (&offsets)[Rank - 2]) {
  TMA_JIT_COLUMN_BY_RANK("cp.async.bulk.prefetch.tensor", ".L2.global.im2col [%8, ", "], ", ";", "l"(&map));
}

// Loads through a map of im2col_w: successive pixels along W, and the images, from `at`; H and D are fixed. `halo` more
// pixels follow, the next ones along W regardless of the bounding box: `pixels + halo` of the map's channels arrive.
// `offset` moves the bounding box along W. sm_100a, sm_103a, sm_120a, sm_121a.
template <int Rank>
__device__ inline void load_im2col_w(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[Rank], int halo,
                                     int offset) {
  static_assert(Rank >= 3, "an im2col map has channels, at least one spatial dimension, and images");
  TMA_JIT_BY_RANK("cp.async.bulk.tensor", ".shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%5], [%6, ",
                  "], [%7], {%8, %9};", "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)),
                  "h"(static_cast<u16>(halo)), "h"(static_cast<u16>(offset)));
}
// Loads through a map of im2col_w128: 128 pixels in four groups of 32, each followed by its own halo. sm_100a, sm_103a.
template <int Rank>
__device__ inline void load_im2col_w128(void* tile, const CUtensorMap& map, Barrier& full, const int (&at)[Rank],
                                        int halo, int offset) {
  static_assert(Rank >= 3, "an im2col map has channels, at least one spatial dimension, and images");
  TMA_JIT_BY_RANK("cp.async.bulk.tensor", ".shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes [%5], [%6, ",
                  "], [%7], {%8, %9};", "r"(smem_address(tile)), "l"(&map), "r"(smem_address(&full)),
                  "h"(static_cast<u16>(halo)), "h"(static_cast<u16>(offset)));
}
// sm_100a, sm_103a.
template <int Rank>
__device__ inline void prefetch_im2col_w(const CUtensorMap& map, const int (&at)[Rank], int halo, int offset) {
  TMA_JIT_BY_RANK("cp.async.bulk.prefetch.tensor", ".L2.global.im2col::w [%5, ", "], {%6, %7};", "l"(&map),
                  "h"(static_cast<u16>(halo)), "h"(static_cast<u16>(offset)));
}

// Stores columns without offsets; the bounding box must be within the tensor.
template <int Rank>
__device__ inline void store_im2col(const CUtensorMap& map, const void* tile, const int (&at)[Rank]) {
  TMA_JIT_BY_RANK("cp.async.bulk.tensor", ".global.shared::cta.im2col_no_offs.bulk_group [%5, ", "], [%6];", "l"(&map),
                  "r"(smem_address(tile)));
}
// The reductions that a convolution's gradients need; others are analogous to tma_reduce.cuh.
template <int Rank> __device__ inline void add_im2col(const CUtensorMap& map, const void* tile, const int (&at)[Rank]) {
  TMA_JIT_BY_RANK("cp.reduce.async.bulk.tensor", ".global.shared::cta.add.im2col_no_offs.bulk_group [%5, ", "], [%6];",
                  "l"(&map), "r"(smem_address(tile)));
}

}  // namespace tma
