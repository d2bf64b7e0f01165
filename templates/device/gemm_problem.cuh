#pragma once
// What the gemm files make, cut into tiles, and which of them a block makes. BM, BN, BK and BAND are the template's.
#include "device/cluster.cuh"
#include "device/tile_order.cuh"

#ifndef TMA_JIT_REFERENCE

// D[m, n], each element a sum over k. A cluster of Blocks blocks makes as many tiles at a time, one below the other.
template <int Blocks> struct GemmProblem {
  int m, n, k;
  __device__ int rows() const { return ceil_div<u32>(m, BM * Blocks); }
  __device__ int columns() const { return ceil_div<u32>(n, BN); }
  __device__ int tiles() const { return rows() * columns(); }  // of whole clusters
  __device__ int steps() const { return ceil_div<u32>(k, BK); }

  // Blocks go over the tiles of their clusters from the first, stride by stride.
  __device__ static int first() { return blockIdx.x / Blocks; }
  __device__ static int stride() { return gridDim.x / Blocks; }
  __device__ static int rank() { return Blocks == 1 ? 0 : cluster::rank(); }
  // The tile of the block of that rank within the index-th of its cluster.
  __device__ Tile tile(int index, int rank = 0) const {
    const Tile shared = tile_at<BAND>(index, rows(), columns());
    return {shared.row * Blocks + rank, shared.column};
  }
};

#endif
