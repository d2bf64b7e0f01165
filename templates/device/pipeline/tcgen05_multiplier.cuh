#pragma once
// The multiplying thread of a matrix product by tcgen05 whose operands are loaded by TMA. Its Smem has operand tiles
// `a` and `b` of each slot of its `operands`, the pipeline `accumulators`, which the storing warps drain, and the
// `address` of these in tensor memory, of Columns columns each.
#include "device/pipeline/pipeline.cuh"
#include "device/tile/tcgen05_tile.cuh"

// Multiplies this block's tiles, or a pair's. Called by one thread of the even block. wait() returns the next slot
// whose operands may be read, and issue(d, slot, accumulate) starts the products of one step. Loop invariant: before
// step i of a tile, the products of steps 0 to i - 1 have been issued to the tile's accumulator; the first one
// overwrites it, so that it needs no clearing.
template <int Blocks, int Columns, class Smem, class Tiles, class Wait, class Issue>
__device__ inline void multiply_tiles(Smem& smem, const Tiles& tiles, int steps, Wait wait, Issue issue) {
  Producer accumulators(smem.accumulators);
  const u32 d = smem.address;
  for ([[maybe_unused]] const int index : tiles) {
    if (steps == 0) continue;
    const u32 tile = accumulators.acquire_cluster();
    tcgen05::fence_after();
    for (int step = 0; step < steps; ++step) {
      const u32 slot = wait();
      tcgen05::fence_after();
      issue(d + tile * Columns, slot, step > 0);
      tcgen05::commit_blocks<Blocks>(smem.operands.empty[slot]);
    }
    tcgen05::commit_blocks<Blocks>(smem.accumulators.full[tile]);
  }
}

// The same for operands as they have arrived.
template <int Blocks, int Columns, class Smem, class Tiles>
__device__ inline void multiply_tiles(Smem& smem, const Tiles& tiles, int steps) {
  Consumer operands(smem.operands);
  multiply_tiles<Blocks, Columns>(
      smem, tiles, steps, [&] { return operands.wait(); },
      [&](u32 d, u32 slot, bool accumulate) { tcgen05::multiply<Blocks>(d, smem.a[slot], smem.b[slot], accumulate); });
}
