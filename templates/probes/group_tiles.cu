//! kernel  group_tiles  "D[g,i] = the number among all rows of the i-th row of group g, -1 behind its last row"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     GROUPS = 9
//! param   TILE   = 4  in {1, 4, 16}                 "rows of a tile"
//! tensor  L : s32[GROUPS]                           "lengths, each modulo 8"
//! tensor  D : s32[GROUPS, 8]  out
//! launch  grid 3  block 32
//! work    flops 0  bytes 4 * 9 * GROUPS
//! preset  TILE = 4    "schedule: tiles of groups of different lengths"
//! preset  TILE = 16   "schedule: groups shorter than a tile"
//! reference group_tiles_reference  grid 1  block 32

#include "device/schedule/groups.cuh"

__device__ inline s32 length_of(const View<const s32, 1>& L, int group) {
  return L.data[group * L.stride[0]] & 7;
}

#ifndef TMA_JIT_REFERENCE

// Each block takes every third tile, and the first block also marks the rows after each group's last row.
extern "C" __global__ void group_tiles(View<const s32, 1> L, View<s32, 2> D, const Dims dims) {
  __shared__ s32 lengths[Dims::GROUPS];
  if (threadIdx.x < dims.GROUPS) lengths[threadIdx.x] = length_of(L, threadIdx.x);
  __syncthreads();
  const View<const s32, 1> groups = {lengths, {1}};
  GroupTiles<TILE> tiles(groups, dims.GROUPS);
  for (int index = blockIdx.x, first = 0, group = -1; tiles.seek(index); index += gridDim.x) {
    // The start of a tile within its group: its index among all rows gives the rows of all groups before it.
    if (tiles.group() != group) {
      group = tiles.group();
      first = 0;
      for (int g = 0; g < group; ++g) first += lengths[g];
    }
    const int i = static_cast<int>(tiles.row()) - first + threadIdx.x;
    if (threadIdx.x < tiles.rows()) D.data[group * D.stride[0] + i * D.stride[1]] = first + i;
  }
  if (blockIdx.x != 0 || threadIdx.x >= 8) return;
  for (int g = 0; g < dims.GROUPS; ++g)
    if (threadIdx.x >= lengths[g]) D.data[g * D.stride[0] + threadIdx.x * D.stride[1]] = -1;
}

#else

extern "C" __global__ void group_tiles_reference(View<const s32, 1> L, View<f64, 2> D, const Dims dims) {
  for (int g = 0, row = 0; g < dims.GROUPS; row += length_of(L, g++))
    if (threadIdx.x < 8)
      D.data[g * D.stride[0] + threadIdx.x * D.stride[1]] = threadIdx.x < length_of(L, g) ? row + int(threadIdx.x) : -1;
}

#endif
