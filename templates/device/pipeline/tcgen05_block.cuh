#pragma once
// The blocks of a matrix product by tcgen05, alone or in pairs: four warps store, one loads, one multiplies, and others
// may follow. Their Smem has the pipelines `operands` and `accumulators`, and the `address` of the latter in tensor
// memory.
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/tensor_memory.cuh"

constexpr int kStoreThreads = 128, kLoadWarp = 4, kMultiplyWarp = 5;
constexpr int kAccumulators = 2;  // tiles in tensor memory: one is multiplied while the other is stored

// Allocates Columns columns of tensor memory for each of Blocks blocks, has store() called by the four warps, load() by
// one thread, multiply() by one thread of the even block, which `even` says this is, and others() by the other warps.
// Called by the whole block, of which thread 0 has initialised its own barriers.
template <int Blocks, int Columns, class Smem, class Store, class Load, class Multiply, class Others>
__device__ inline void run_block(Smem& smem, bool even, Store store, Load load, Multiply multiply, Others others) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    smem.operands.init(1);
    smem.accumulators.init(kStoreThreads / 32);
  }
  if (warp == kMultiplyWarp) {
    tensor_memory::alloc<Columns, Blocks>(&smem.address);
    tensor_memory::relinquish_alloc_permit<Blocks>();
  }
  cluster::sync_blocks<Blocks>();

  if (warp < kLoadWarp)
    store();
  else if (warp == kLoadWarp && lane == 0)
    load();
  else if (warp == kMultiplyWarp && lane == 0 && even)
    multiply();
  else if (warp > kMultiplyWarp)
    others();
  __syncwarp();

  // No block may exit, or free tensor memory, while the pair still multiplies or signals its barriers.
  cluster::sync_blocks<Blocks>();
  if (warp == kMultiplyWarp) tensor_memory::dealloc<Columns, Blocks>(smem.address);
}
template <int Blocks, int Columns, class Smem, class Store, class Load, class Multiply>
__device__ inline void run_block(Smem& smem, bool even, Store store, Load load, Multiply multiply) {
  run_block<Blocks, Columns>(smem, even, store, load, multiply, [] {});
}
