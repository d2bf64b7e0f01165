#pragma once
// The producer of matrix products whose operands are loaded by TMA.
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/tile/tma_operand_tile.cuh"

// Requests each of `steps` steps along K of each of this block's output tiles: load_early(slot, tile, step) and
// load_late for the slot that acquire() returns. Called by one thread of each block. One operand's first tile
// is requested before the kernel waits for the one before it; more of them would arrive before the other's first tile
// and delay the first product. Loop invariant: all earlier steps, in the order of tiles and then of K, have been
// requested, each in the slot that its acquire returned; those not yet released are at most as many as there are slots.
template <class Tiles, class Acquire, class LoadLate, class LoadEarly>
__device__ inline void load_steps(const Tiles& tiles, int steps, Acquire acquire, LoadLate load_late,
                                  LoadEarly load_early) {
  bool waited = false;
  for (const int index : tiles) {
    const auto tile = tiles[index];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const u32 slot = acquire();
      load_early(slot, tile, step);
      if (!waited) grid::wait();
      waited = true;
      load_late(slot, tile, step);
    }
  }
}

// Loads operand tiles of A into `smem.a` and of B into `smem.b`, in the slots of `smem.pipeline`, as load_steps does.
// A cluster's blocks share the tiles of A of those side by side, which are Beside, and of B of those below each other:
// each loads a part into all that share it. The boxes of the maps have BoxA rows of A, of which there are `rows`, and
// BoxB of B, of which there are `columns`. B is requested early, or A.
template <int BoxA, int BoxB, int Beside = 1, bool EarlyA = false, int Stages, int Blocks, class Smem, class Tiles>
__device__ inline void load_operands(Pipeline<Stages, Blocks>& pipeline, Smem& smem, const CUtensorMap& A, int rows,
                                     const CUtensorMap& B, int columns, const Tiles& tiles, int steps) {
  using Tile = decltype(tiles[0]);
  constexpr int kBelow = Blocks / Beside;
  Producer producer(pipeline);
  const auto acquire = [&] { return producer.acquire(sizeof(smem.a[0]) + sizeof(smem.b[0])); };
  const auto load_a = [&](u32 slot, const Tile& tile, int step) {
    auto& a = smem.a[slot];
    tma::load_operand<BoxA, Beside, kBelow>(a, A, pipeline.full[slot], tile.row * a.kExtent, step * a.kDepth, rows,
                                            tiles.beside(), tiles.below());
  };
  const auto load_b = [&](u32 slot, const Tile& tile, int step) {
    auto& b = smem.b[slot];
    tma::load_operand<BoxB, kBelow>(b, B, pipeline.full[slot], tile.column * b.kExtent, step * b.kDepth, columns,
                                    tiles.below(), tiles.beside() * kBelow);
  };
  if constexpr (EarlyA)
    load_steps(tiles, steps, acquire, load_b, load_a);
  else
    load_steps(tiles, steps, acquire, load_a, load_b);
  if constexpr (Blocks > 1) producer.drain();
}

// The same for a batch of products. A has `count_a` matrices and B `count_b`: one for each product, or one for all.
template <int Stages, class Smem, class Tiles>
__device__ inline void load_batch_operands(Pipeline<Stages>& pipeline, Smem& smem, const CUtensorMap& A, int count_a,
                                           const CUtensorMap& B, int count_b, const Tiles& tiles, int steps) {
  Producer producer(pipeline);
  for (const int index : tiles) {
    const auto tile = tiles[index];
    const int of_a = min(tile.matrix, count_a - 1), of_b = min(tile.matrix, count_b - 1);
    const int row = tile.row * smem.a[0].kExtent, column = tile.column * smem.b[0].kExtent;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const int k = step * smem.a[0].kDepth;
      const u32 slot = producer.acquire(sizeof(smem.a[0]) + sizeof(smem.b[0]));
      auto& a = smem.a[slot];
      auto& b = smem.b[slot];
      tma::load(a, A, pipeline.full[slot], {a.column(row, k), a.row(row, k), of_a});
      tma::load(b, B, pipeline.full[slot], {b.column(column, k), b.row(column, k), of_b});
    }
  }
}
